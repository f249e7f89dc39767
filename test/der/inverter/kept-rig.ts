/** An inverter over a source of the test, and random ways of driving it. */
import fc from 'fast-check';
import type { InverterParameters } from '../../../src/contract/device.ts';
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
import { KeptSource, LoadedSource } from '../../support/kept-source.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const nominalHz = 60;

function templateOf(type: string, change: Partial<InverterParameters>) {
  const { profile } = configuredDevices('--device_type', type)[0]!;
  const inverter = { ...profile.inverter, cessationReturnS: 0.2, cessationRampS: 2, ...change };
  return createTemplate({ ...profile, inverter }, 'three', nominalHz, start, 0);
}

const templates = {
  generator: templateOf('PV-3Phase', {}),
  'generator with relays': templateOf('PV-3Phase', { rocofRelayHzS: 4, vectorShiftRelayDeg: 30 }),
  storage: templateOf('Batt-3Phase', {}),
  'storage beside loads': templateOf('Batt-3Phase', {}),
};

export const kinds = Object.keys(templates) as readonly (keyof typeof templates)[];

const normal: GridValues = { aPu: 1, bPu: 1, cPu: 1, hz: nominalHz, angleDeg: 0, island: false };
const balanced = (pu: number): Partial<GridValues> => ({ aPu: pu, bPu: pu, cPu: pu });
/** As in the surroundings, one grid is one object. */
const grids: readonly GridValues[] = [
  {},
  balanced(0.94),
  balanced(1.05),
  { aPu: 0.97, bPu: 1.03 },
  { hz: 60.3 },
  { hz: 60.35 },
  { hz: 59.6 },
  { angleDeg: 20 },
  { angleDeg: -15 },
  // from here on grids that no device stands for long
  balanced(0.7),
  balanced(0.4),
  balanced(1.25),
  { hz: 61.3 },
  { hz: 57 },
  { angleDeg: 40 },
  { island: true },
].map((change) => ({ ...normal, ...change }));
const calmGrids = 9;

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
const falling = [
  { x: 99, y: 100 },
  { x: 108, y: 10 },
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
  ({ voltVar, voltWatt }) => ({
    voltVar: { ...voltVar, enabled: true, points: slope, responseS: 0.6 },
    voltWatt: { ...voltWatt, enabled: true, points: falling, responseS: 0.8 },
  }),
  ({ voltWatt }) => ({ voltWatt: { ...voltWatt, enabled: true, points: falling, responseS: 4, ofAvailable: true } }),
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
  ({ droop }) => ({ droop: { ...droop, enabled: true, responseS: 3 }, maxPowerPct: 50, wRampPctS: 6 }),
  () => ({ trips: trips({ lowVoltage: 96, highFrequency: 60.2 }, 2.5) }),
  () => ({ cessations: trips({ lowVoltage: 75, highVoltage: 104 }, 1.2) }),
  () => ({ cessations: trips({ lowVoltage: 98, lowFrequency: 59.8 }, 0.1) }),
  ({ storageFlow }) => ({ storageFlow: { ...storageFlow, ceilingW: 3000 }, wRampPctS: 5 }),
  () => ({ vaMaxVa: 3000 }),
  ({ voltVar }) => ({ voltVar: { ...voltVar, enabled: true, points: slope, responseS: 0.7 } }),
  // from here on out of service
  ({ enterService }) => ({ enterService: { ...enterService, permit: false } }),
  () => ({ operator: 'STOP' as const, wRampPctS: 8 }),
];
const serviceSettings = changes.length - 2;

export interface Step {
  /** changes in force, by their positions; null: the settings stay */
  readonly settings: readonly number[] | null;
  readonly grid: number;
  readonly irradianceWm2: number;
  readonly site: readonly [floorW: number, ceilingW: number] | null;
  readonly act: 'open' | 'close' | 'halt' | 'acknowledge' | 'restart' | null;
  readonly seconds: number;
}

export class InverterRig {
  readonly inverter: Inverter;
  readonly #share: SiteShare;
  readonly #base: Settings;
  readonly #source: KeptSource;
  #now: SimTime = start;
  #changes: readonly number[] = [];
  #grid = 0;

  constructor(kind: keyof typeof templates) {
    const template = templates[kind];
    const { enterService } = template.settings;
    this.#base = { ...template.settings, enterService: { ...enterService, delayS: 0.4, randomDelayS: 1, rampS: 3 } };
    this.#source =
      kind === 'storage beside loads' ? new LoadedSource(11_000, true) : new KeptSource(11_000, kind === 'storage');
    this.inverter = new Inverter(
      inverterRatings(template, null, null),
      this.#base,
      this.#source,
      createRandom(5, 'enter-service'),
    );
    this.#share = new SiteShare(this.inverter, { loadW: 0, loadWh: 0 });
    this.#source.settle(this.#input(600));
    this.inverter.settle(this.#present, this.#source);
  }

  get #present(): GridValues {
    return grids[this.#grid] ?? normal;
  }

  #settings(): Settings {
    return this.#changes.reduce((settings, at) => ({ ...settings, ...changes[at]?.(settings) }), this.#base);
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
        () => ({ now: this.#now, changes: this.#changes, grid: this.#grid }),
        (saved) => {
          ({ now: this.#now, changes: this.#changes, grid: this.#grid } = saved);
          this.inverter.resume(this.#settings());
        },
      ),
      source: this.#source.kept(),
      inverter,
    });
  }

  step({ settings, grid, irradianceWm2, site, act, seconds }: Step): void {
    const { inverter } = this;
    this.#grid = grid;
    if (settings !== null) {
      this.#changes = settings;
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

const often = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
const nothing = fc.constant(null);
/** An index, each as often as the others. */
const anyOf = (count: number) => fc.constantFrom(...Array(count).keys());

/** Most steps leave the inverter in service, with something under way. */
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    settings: often<Step['settings']>(
      2,
      nothing,
      fc.array(often(12, anyOf(serviceSettings), anyOf(changes.length)), { minLength: 1, maxLength: 4 }),
    ),
    grid: often(10, often(2, fc.constant(0), anyOf(calmGrids)), anyOf(grids.length)),
    irradianceWm2: fc.constantFrom(800, 1100, 1100, 1100, 1100),
    site: often<Step['site']>(
      3,
      nothing,
      fc.tuple(fc.constantFrom(-Infinity, -2000, 0), fc.constantFrom(Infinity, 3000, 500)),
    ),
    act: often<Step['act']>(15, nothing, fc.constantFrom('open', 'close', 'close', 'halt', 'acknowledge', 'restart')),
    seconds: fc.constantFrom(0.02, 0.1, 0.35, 0.6, 1, 2.2, 2.5),
  }),
  { minLength: 8, maxLength: 24 },
);

const at = (change: Partial<Step>): Step => ({
  settings: null,
  grid: 0,
  irradianceWm2: 1100,
  site: null,
  act: null,
  seconds: 1,
  ...change,
});
const times = (count: number, change: Partial<Step>): readonly Step[] => Array<Step>(count).fill(at(change));

/** Runs in which something particular is under way at most instants. */
export const scenarios: readonly (readonly Step[])[] = [
  // a cessation that begins, holds and returns
  [at({ settings: [14] }), ...times(3, { grid: 2, seconds: 0.5 }), ...times(6, { seconds: 0.1 }), ...times(3, {})],
  // droop in both directions, commands meanwhile, and its return under changing light
  [
    at({ settings: [10] }),
    ...times(3, { grid: 4 }),
    at({ settings: [10, 1], grid: 4 }),
    ...times(3, { grid: 6 }),
    ...times(3, {}),
    at({ settings: [10, 3] }),
    ...times(4, { grid: 5, seconds: 0.35 }),
  ],
  [
    at({ settings: [12] }),
    ...times(3, { grid: 4 }),
    ...Array.from({ length: 10 }, (_, i) => at({ irradianceWm2: 1100 - 300 * (i % 2), seconds: 2.2 })),
  ],
  [at({ settings: [12] }), ...times(4, { grid: 6 }), ...times(4, { grid: 5, seconds: 0.6 }), ...times(2, {})],
  // relays: rate of change, vector shift, island
  [at({}), ...times(3, { grid: 4, seconds: 0.02 }), ...times(3, { grid: 5, seconds: 0.02 }), at({ grid: 6 }), at({})],
  [at({}), ...times(2, { grid: 7 }), ...times(2, { grid: 8, seconds: 0.1 }), at({ grid: 8 })],
  [at({}), ...times(8, { grid: grids.length - 1, seconds: 0.35 }), ...times(3, {})],
  // at rest
  [at({ settings: [0] }), ...times(20, { seconds: 2.5 })],
  // a trip, the delay and the ramp of enter service
  [at({ settings: [13] }), ...times(4, { grid: 1 }), ...times(16, { seconds: 0.35 })],
  [
    at({ settings: [13] }),
    ...times(4, { grid: 1 }),
    ...times(4, { seconds: 2.2 }),
    ...times(4, { grid: 1 }),
    ...times(8, { seconds: 0.35 }),
  ],
  // a stop that is revoked, and one that is not
  [at({}), at({}), ...times(4, { settings: [20] }), ...times(5, { settings: [0] }), ...times(14, { settings: [20] })],
  // bounds of a storage
  [at({ settings: [4] }), ...times(5, {}), at({ settings: [4, 16], seconds: 0.1 }), ...times(10, { seconds: 0.35 })],
  // functions of reactive power in turn
  [
    ...times(2, { settings: [5] }),
    at({ settings: [5, 6] }),
    at({ settings: [6] }),
    at({ settings: [6, 5], seconds: 0.6 }),
    at({ settings: [6, 5, 17], seconds: 0.6 }),
    ...times(3, { settings: [5, 17] }),
  ],
  [at({ settings: [7] }), ...times(8, { grid: 1, seconds: 2.2 }), ...times(3, { grid: 2 })],
  // quick responses
  [at({ settings: [18] }), ...times(3, { grid: 2, seconds: 0.35 }), ...times(4, { grid: 1, seconds: 0.35 })],
  [at({ settings: [8] }), ...times(3, { grid: 2, seconds: 0.35 }), ...times(4, { grid: 1, seconds: 0.35 })],
  [at({ settings: [11] }), ...times(3, { grid: 4, seconds: 0.35 }), ...times(4, { grid: 6, seconds: 0.35 })],
  [at({ settings: [9] }), ...times(4, { grid: 2, irradianceWm2: 600 }), ...times(4, { seconds: 0.35 })],
  // bounds of the connection point
  [
    at({ settings: [3] }),
    ...times(4, { site: [-2000, 3000], seconds: 0.6 }),
    ...times(4, { site: [-Infinity, Infinity], seconds: 0.6 }),
    at({ settings: [2], site: [0, 500] }),
    ...times(4, { site: [-Infinity, 2000], seconds: 0.35 }),
  ],
];
