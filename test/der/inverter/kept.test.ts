import fc from 'fast-check';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { createRandom } from '../../../src/core/random.ts';
import { addSeconds, secondsBetween, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { createTemplate, inverterRatings } from '../../../src/der/device/template.ts';
import { traceRow } from '../../../src/der/device/trace.ts';
import { Inverter } from '../../../src/der/inverter/inverter.ts';
import { availablePower, consumptionLimit } from '../../../src/der/inverter/power-bounds.ts';
import type { Settings, TripSettings } from '../../../src/der/inverter/settings.ts';
import { SiteShare } from '../../../src/der/inverter/site-share.ts';
import type { SourceInput } from '../../../src/der/source/source.ts';
import type { GridValues } from '../../../src/der/surroundings/environment.ts';
import { configuredDevices } from '../../support/configured.ts';
import { expectContinuation } from '../../support/continuation.ts';
import { KeptSource } from '../../support/kept-source.ts';
import { holds } from '../../support/property.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const nominalHz = 60;

function templateOf(type: string) {
  const { profile } = configuredDevices('--device_type', type)[0]!;
  const inverter = { ...profile.inverter, rocofRelayHzS: 4, vectorShiftRelayDeg: 30, cessationRampS: 2 };
  return createTemplate({ ...profile, inverter }, 'three', nominalHz, start, 0);
}

const templates = { generator: templateOf('PV-3Phase'), storage: templateOf('Batt-3Phase') };

const normal: GridValues = { aPu: 1, bPu: 1, cPu: 1, hz: nominalHz, angleDeg: 0, island: false };
const balanced = (pu: number): Partial<GridValues> => ({ aPu: pu, bPu: pu, cPu: pu });
/** As in the surroundings, one grid is one object. */
const grids: readonly GridValues[] = [
  {},
  balanced(0.7),
  balanced(0.4),
  balanced(1.06),
  balanced(1.25),
  { aPu: 0.95, bPu: 1.04 },
  { hz: 60.4 },
  { hz: 61.3 },
  { hz: 59.5 },
  { hz: 57 },
  { angleDeg: 40 },
  { island: true },
].map((change) => ({ ...normal, ...change }));

const trips = (points: Partial<Record<keyof TripSettings, number>>, seconds: number): TripSettings => {
  const of = (kind: keyof TripSettings) => {
    const limit = points[kind];
    return { enabled: limit !== undefined, points: limit === undefined ? [] : [{ limit, seconds }] };
  };
  return {
    lowVoltage: of('lowVoltage'),
    highVoltage: of('highVoltage'),
    lowFrequency: of('lowFrequency'),
    highFrequency: of('highFrequency'),
  };
};

const slope = [
  { x: 90, y: 40 },
  { x: 110, y: -40 },
];

/** Settings over those of the profile. */
const changes: readonly ((base: Settings) => Partial<Settings>)[] = [
  () => ({}),
  () => ({ maxPowerPct: 30, wRampPctS: 5 }),
  () => ({ setPointW: 2500, wRampPctS: 3 }),
  () => ({ setPointW: -6000, wRampPctS: 10 }),
  () => ({ setPointW: 4000, maxPowerPct: 60, wRampPctS: 2 }),
  ({ constantVar }) => ({ constantVar: { ...constantVar, enabled: true, pct: 40 }, varRampPctS: 4 }),
  ({ pfInject }) => ({ pfInject: { ...pfInject, enabled: true, pf: 0.9, overExcited: false }, varRampPctS: 6 }),
  ({ voltVar }) => ({
    voltVar: { ...voltVar, enabled: true, points: slope, responseS: 5, autoReference: true, autoReferenceS: 30 },
  }),
  ({ voltWatt }) => ({ voltWatt: { ...voltWatt, enabled: true, points: slope, responseS: 4, ofAvailable: true } }),
  ({ droop, constantVar }) => ({
    droop: { ...droop, enabled: true, responseS: 4 },
    constantVar: { ...constantVar, enabled: true, pct: -30 },
  }),
  ({ droop, voltVar, wattVar }) => ({
    droop: { ...droop, enabled: true, responseS: 0.5 },
    setPointW: 3000,
    wRampPctS: 4,
    voltVar: { ...voltVar, enabled: true },
    wattVar: { ...wattVar, enabled: true },
  }),
  ({ enterService }) => ({ enterService: { ...enterService, permit: false } }),
  () => ({ operator: 'STOP' as const, wRampPctS: 8 }),
  () => ({ trips: trips({ lowVoltage: 88, highFrequency: 61 }, 1.5), cessations: trips({ highVoltage: 105 }, 0.3) }),
  () => ({ cessations: trips({ lowVoltage: 75, lowFrequency: 59.8 }, 0.1) }),
  ({ storageFlow }) => ({ storageFlow: { ...storageFlow, ceilingW: 3000 }, wRampPctS: 5 }),
];

interface Step {
  /** null: the settings stay */
  readonly setting: number | null;
  readonly grid: number;
  readonly irradianceWm2: number;
  readonly site: readonly [floorW: number, ceilingW: number] | null;
  readonly act: 'open' | 'close' | 'halt' | 'acknowledge' | 'restart' | null;
  readonly seconds: number;
}

class Rig {
  readonly inverter: Inverter;
  readonly #share: SiteShare;
  readonly #base: Settings;
  readonly #source: KeptSource;
  #now: SimTime = start;
  #setting = 0;
  #grid = 0;

  constructor(kind: keyof typeof templates) {
    const template = templates[kind];
    const { enterService } = template.settings;
    this.#base = { ...template.settings, enterService: { ...enterService, delayS: 1, randomDelayS: 2, rampS: 4 } };
    this.#source = new KeptSource(11_000, kind === 'storage');
    this.inverter = new Inverter(
      inverterRatings(template, null, null),
      this.#base,
      this.#source,
      createRandom(5, 'enter-service'),
    );
    this.#share = new SiteShare(this.inverter, { loadW: 0 });
    this.#source.settle(this.#input(600));
    this.inverter.settle(this.#present, this.#source);
  }

  get #present(): GridValues {
    return grids[this.#grid] ?? normal;
  }

  #settings(): Settings {
    return { ...this.#base, ...changes[this.#setting]?.(this.#base) };
  }

  #input(irradianceWm2: number): SourceInput {
    return {
      irradianceWm2,
      ambientTemperatureC: 20,
      cellTemperatureC: null,
      windSpeedMS: 1,
      terminalPu: 1,
      phaseLnV: [277, 277, 277],
      loadW: 0,
      frequencySupport: false,
      rate: 1,
    };
  }

  kept(): Kept {
    const inverter = this.inverter.kept(() => this.#present);
    return keptParts({
      rig: keptRecord(
        () => ({ now: this.#now, setting: this.#setting, grid: this.#grid }),
        (saved) => {
          ({ now: this.#now, setting: this.#setting, grid: this.#grid } = saved);
          this.inverter.resume(this.#settings());
        },
      ),
      source: this.#source.kept(),
      inverter,
    });
  }

  step({ setting, grid, irradianceWm2, site, act, seconds }: Step): void {
    const { inverter } = this;
    this.#grid = grid;
    if (setting !== null && setting !== this.#setting) {
      this.#setting = setting;
      inverter.applySettings(this.#settings());
    }
    if (site) this.#share.admit(...site);
    if (act === 'open' || act === 'close') inverter.switchClosed = act === 'close';
    if (act === 'halt') inverter.halt();
    if (act === 'acknowledge') inverter.acknowledge();
    if (act === 'restart') inverter.restart();
    const end = addSeconds(this.#now, seconds);
    const present = this.#present;
    while (this.#now < end) {
      inverter.decide(this.#now, present);
      const next = Math.min(end, inverter.nextStep(this.#now, 'still', present, this.#source)) as SimTime;
      const dtS = secondsBetween(this.#now, next);
      this.#source.prepare(dtS, this.#input(irradianceWm2));
      inverter.step(this.#now, dtS, present, this.#source);
      this.#now = next;
    }
  }

  get seen(): unknown {
    const { inverter } = this;
    const { phase, lastTrip, clipped, apparentPowerLimited, phaseLoads, switchClosed, meter, protection } = inverter;
    return {
      row: traceRow(inverter, this.#present, this.#now),
      flags: { phase, lastTrip, clipped, apparentPowerLimited, phaseLoads, switchClosed, ceasedBy: inverter.ceasedBy },
      phases: meter.phases,
      ports: meter.ports,
      functions: [...inverter.activeFunctions()],
      pending: [protection.pendingTrips, protection.standingTrips(this.#now, lastTrip)],
      available: availablePower(inverter),
      consumption: consumptionLimit(inverter, this.#now, 20_000),
      site: [this.#share.demandW, this.#share.reachW(3), this.#share.maxInjectW, this.#share.maxAbsorbW],
      ranks: ['volt_var', 'constant_var', 'watt_var'].map((name) =>
        inverter.reactivePower.rankOf(name as 'volt_var' | 'constant_var' | 'watt_var'),
      ),
      vRefPct: inverter.reactivePower.vRefPct,
    };
  }
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    setting: fc.oneof(fc.constant(null), fc.nat(changes.length - 1)),
    grid: fc.oneof(fc.constant(0), fc.nat(grids.length - 1)),
    irradianceWm2: fc.constantFrom(0, 300, 800, 800, 1100),
    site: fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom(-Infinity, -2000), fc.constantFrom(Infinity, 3000)) },
    ),
    act: fc.oneof(
      { weight: 8, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('open', 'close', 'halt', 'acknowledge', 'restart') },
    ),
    seconds: fc.constantFrom(0.02, 0.1, 0.35, 1, 1, 3, 6),
  }),
  { minLength: 8, maxLength: 20 },
);

describe('the state of an inverter over a restart', () => {
  for (const kind of ['generator', 'storage'] as const) {
    it(`a ${kind} goes on where it was`, () => {
      holds(`inverter of a ${kind}`, [steps, fc.nat(1000)], (all, cut) => {
        const before = cut % all.length;
        expectContinuation({
          make: () => new Rig(kind),
          drive: (rig, at) => {
            rig.step(all[at]!);
          },
          observe: (rig) => rig.seen,
          before,
          after: all.length - before,
        });
      });
    });
  }
});
