import { expect } from 'chai';
import fc from 'fast-check';
import type { MeteredFlow } from '../../../src/contract/map-layout.ts';
import type { SitePatch } from '../../../src/contract/site.ts';
import { SimError } from '../../../src/core/errors.ts';
import { keptList, keptMembers, keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { Source } from '../../../src/core/origin.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { AddPhase } from '../../../src/der/inverter/site-share.ts';
import { SiteFlows } from '../../../src/der/site/flows.ts';
import type { MeterFaceOptions } from '../../../src/der/site/meter-face.ts';
import { ConnectionMeter } from '../../../src/der/site/meter.ts';
import { Metering } from '../../../src/der/site/metering.ts';
import type { DeviceWithMeters } from '../../../src/der/site/metering.ts';
import { Site } from '../../../src/der/site/site.ts';
import type { GridValues } from '../../../src/der/surroundings/environment.ts';
import { expectContinuation } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';
import { FakeDevice, seconds } from './fakes.ts';

type Act =
  | { readonly limits: SitePatch; readonly by: Source; readonly devices: readonly number[] | undefined }
  | { readonly demandW: readonly number[] }
  | { readonly loadW: number }
  | { readonly tickS: number }
  | { readonly leaves: number };

/** A site of devices that reach their demand within their bounds at once. */
class Driven {
  readonly all = [0, 1, 2, 3].map((index) => new FakeDevice(index, 5 + index));
  devices: readonly FakeDevice[] = this.all;
  loadW = 0;
  /** us */
  at = 0;
  readonly site = new Site(() => this.devices, {
    loadW: (index) => this.loadW * (index + 1),
    nextEvent: () => Infinity,
  });

  constructor() {
    this.site.measure();
  }

  act(act: Act, step: number): void {
    if ('demandW' in act)
      this.all.forEach((device, i) => {
        device.demandW = act.demandW[i] ?? 0;
      });
    else if ('loadW' in act) this.loadW = act.loadW;
    else if ('tickS' in act) this.#tick(act.tickS);
    else if ('limits' in act) this.#limit(act, step);
    else {
      this.devices = this.devices.filter(({ index }) => index !== act.leaves);
      this.site.forget(act.leaves);
      this.site.measure();
      this.#tick(0.4);
    }
  }

  #limit({ limits, by, devices }: Extract<Act, { limits: SitePatch }>, step: number): void {
    const writer = { source: by, peer: `client ${step}`, at: this.at as SimTime, wallMs: step };
    const present = devices?.filter((index) => this.devices.some((device) => device.index === index));
    try {
      this.site.set(limits, writer, present && { devices: present });
    } catch (error) {
      // groups that cross, or none of whose devices is left
      if (!(error instanceof SimError)) throw error;
    }
  }

  #tick(tickS: number): void {
    const end = this.at + seconds(tickS);
    while (this.at < end) {
      this.at = this.site.share(this.at as SimTime, end as SimTime);
      this.site.advanced(this.at as SimTime);
    }
    for (const device of this.devices) {
      const [floorW, ceilingW] = device.last ?? [-Infinity, Infinity];
      device.powerW = Math.max(floorW, Math.min(ceilingW, device.demandW));
      device.loadW = this.loadW * (device.index + 1);
    }
    this.site.measure();
  }

  get view(): unknown {
    const { site, devices } = this;
    return {
      now: site.now,
      scopes: site.scopes,
      parts: devices.map(({ index }) => site.of([index])),
      cuts: devices.map(({ index }) => site.cutOf(index)),
      told: devices.map(({ bounds, piecesS, last }) => [bounds.length, piecesS, last]),
    };
  }

  kept(): Kept {
    const device = (of: FakeDevice) =>
      keptParts({
        members: keptMembers(of, 'powerW', 'loadW', 'demandW'),
        told: keptRecord(
          () => ({ bounds: of.bounds, piecesS: of.piecesS }),
          ({ bounds, piecesS }) => {
            of.bounds.splice(0, of.bounds.length, ...bounds);
            of.piecesS.splice(0, of.piecesS.length, ...piecesS);
          },
        ),
      });
    return keptParts({
      members: keptMembers(this, 'loadW', 'at'),
      present: keptRecord(
        () => ({ indexes: this.devices.map(({ index }) => index) }),
        ({ indexes }) => {
          this.devices = this.all.filter(({ index }) => indexes.includes(index));
        },
      ),
      devices: keptList(this.all.map(device)),
      site: this.site.kept(),
    });
  }
}

const limitW = fc.option(fc.constantFrom(0, 1.5, 6, 11, 30));
const limits: fc.Arbitrary<SitePatch> = fc
  .record({ export: limitW, import: limitW, generation: limitW, load: limitW }, { requiredKeys: [] })
  .filter((patch) => Object.keys(patch).length > 0);
const scopes = fc.constantFrom<readonly number[] | undefined>(undefined, undefined, [0], [0, 1], [2, 3], [0, 1, 2]);
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ limits, by: fc.constantFrom<Source>('rest', 'csip', 'modbus'), devices: scopes }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ demandW: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 4, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ loadW: fc.constantFrom(0, 0.5, 2) }) },
  { weight: 6, arbitrary: fc.record({ tickS: fc.constantFrom(0.3, 0.4, 1, 1.6) }) },
  { weight: 1, arbitrary: fc.record({ leaves: fc.constantFrom(1, 3) }) },
);

/** A course in which the site is restored before each of its acts. */
function expectAnyCut(course: readonly Act[]): void {
  for (let before = 0; before <= course.length; before += 1)
    expectContinuation({
      make: () => new Driven(),
      drive: (driven, step) => {
        driven.act(course[step] ?? { tickS: 1 }, step);
      },
      observe: ({ view }) => view,
      before,
      after: course.length - before,
    });
}

describe('site: state that a restart keeps', () => {
  it('a load that falls or rises within a piece has new shares', () => {
    for (const loadW of [0.5, 3])
      expectAnyCut([
        { limits: { export: 6 }, by: 'rest', devices: undefined },
        { loadW: 2 },
        { tickS: 0.3 },
        { loadW },
        { tickS: 0.4 },
      ]);
  });

  it('a limit that began after the last sharing cuts nothing yet, also in the place of a former group', () => {
    const by = 'rest';
    const devices = [0, 1];
    expectAnyCut([
      { limits: { export: 1.5 }, by, devices },
      { tickS: 0.3 },
      { limits: { export: null }, by, devices },
      { limits: { export: 30 }, by, devices },
      { tickS: 0.3 },
    ]);
  });

  it('a limit that another one has replaced since the last sharing cuts on', () => {
    const course = (limitW: number): readonly Act[] => [
      { limits: { export: 6 }, by: 'rest', devices: undefined },
      { demandW: [9, 9, 9, 9] },
      { tickS: 1 },
      { tickS: 0.3 },
      { limits: { export: limitW }, by: 'rest', devices: undefined },
      { tickS: 0.3 },
    ];
    for (const limitW of [1.5, 30]) expectAnyCut(course(limitW));
  });

  it('lists the groups that it had, and no others', () => {
    const [none, one] = [new Driven().site, new Driven().site];
    const by = { source: 'rest', peer: '', at: 0 as SimTime, wallMs: 0 } as const;
    one.set({ export: 6 }, by, { devices: [1, 0] });
    const saved = [one, none].map((site) => site.kept().save());
    const restored = new Driven().site;
    const listed = saved.map((state) => {
      restored.kept().restore(state);
      return restored.groups;
    });
    expect(listed).to.deep.equal([[[0, 1]], []]);
  });

  it('limits, their owners and writers, and the shares of the piece under way', () => {
    holds(
      'a site goes on',
      [fc.array(acts, { minLength: 2, maxLength: 20 }), fc.nat({ max: 20 })],
      (list, cut) => {
        const before = Math.min(cut, list.length);
        const tail: readonly Act[] = [{ tickS: 0.3 }, { demandW: [9, 9, -9, 3] }, { tickS: 0.4 }, { tickS: 1 }];
        const course = [...list, ...tail];
        expectContinuation({
          make: () => new Driven(),
          drive: (driven, step) => {
            driven.act(course[step] ?? { tickS: 1 }, step);
          },
          observe: ({ view }) => view,
          before,
          after: course.length - before,
        });
      },
      { runs: 300 },
    );
  });

  it('of other devices than before: the limits stay, and the next piece shares them', () => {
    const first = new Driven();
    first.act({ limits: { export: 6 }, by: 'rest', devices: undefined }, 0);
    first.act({ tickS: 0.5 }, 1);
    const second = new Driven();
    second.devices = second.all.slice(0, 2);
    second.site.kept().restore(first.site.kept().save());
    expect(second.site.now.limits.export).to.include({ limitW: 6, owner: 'rest' });
    expect(second.site.cutOf(0)).to.equal(null);
    second.act({ tickS: 1 }, 2);
    expect(second.site.now.netW).to.be.closeTo(6, 1e-9);
  });
});

/** A device of three phases whose powers a test decides. */
class Tap {
  readonly wiring = 'three';
  readonly vNomV = 400;
  readonly ratedVa = 10_000;
  readonly loadShare = 1 / 3;
  /** watts and vars drawn by phase */
  drawn: readonly (readonly [number, number])[] = [];
  readonly energy = [0, 1, 2].map(() => ({ whInjected: 0, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 0 }));

  addPowers(_grid: GridValues, add: AddPhase, of: string): void {
    this.drawn.forEach(([watts, vars], phase) => {
      add(phase, of === 'generation' ? watts / 2 : watts, vars);
    });
  }

  count(hours: number): void {
    this.energy.forEach((phase, i) => {
      const [watts, vars] = this.drawn[i] ?? [0, 0];
      phase.whAbsorbed += Math.max(0, watts) * hours;
      phase.whInjected += Math.max(0, -watts) * hours;
      phase.varhAbsorbed += Math.max(0, vars) * hours;
      phase.varhInjected += Math.max(0, -vars) * hours;
    });
  }

  kept(): Kept {
    return keptParts({
      drawn: keptRecord(
        () => ({ drawn: this.drawn }),
        ({ drawn }) => {
          this.drawn = drawn;
        },
      ),
      energy: keptList(
        this.energy.map((phase) => keptMembers(phase, 'whInjected', 'whAbsorbed', 'varhInjected', 'varhAbsorbed')),
      ),
    });
  }
}

interface MeterAct {
  /** a third device with two meters joins, or leaves again; absent: neither */
  readonly change?: boolean;
  readonly drawn: readonly (readonly [number, number])[];
  readonly tickS: number;
  /** counters of the first device begin again */
  readonly reset: boolean;
}

class DrivenMeters {
  readonly taps = [new Tap(), new Tap(), new Tap()];
  /** registers of the meters in maps: of the first device one, of the last device two */
  readonly points: readonly Record<string, number | null>[] = [{}, {}, {}];
  /** s */
  at: number;
  readonly all: readonly DeviceWithMeters[] = this.taps.map((tap, index) => {
    const faces = [this.#faceOf('generation', 0), this.#faceOf('generation', 1), this.#faceOf('load', 2)];
    const mapMeters = [faces.slice(0, 1), [], faces.slice(1)][index];
    return { index, siteShare: { meterTap: () => tap }, mapMeters } as unknown as DeviceWithMeters;
  });
  devices: readonly DeviceWithMeters[] = this.all.slice(0, 2);
  readonly meter: ConnectionMeter;
  readonly metering: Metering;

  constructor(at: number) {
    this.at = at;
    const options = {
      surroundings: {
        loadW: (index: number) => 500 * (index + 1),
        gridAt: (_index: number, t: SimTime) => {
          const pu = 1 - ((t / 1e6) % 7) / 100;
          return { aPu: pu, bPu: 1, cPu: pu, hz: 50 + (t % 3e6) / 1e7, angleDeg: 0, island: false };
        },
      },
      start: seconds(at),
    };
    const flows = new SiteFlows(options);
    const clock = { sim: () => 0 as SimTime, wallMs: () => 0 };
    this.meter = new ConnectionMeter(this.devices, { ...options, float: true, version: '1', clock }, flows);
    this.metering = new Metering(flows, this.meter);
    this.metering.publish(this.devices);
  }

  #faceOf(of: MeteredFlow, at: number): MeterFaceOptions {
    const shape = { wiring: 'three', float: true, vNomV: 400, ratedVa: 10_000 } as const;
    return { of, shape, points: this.points[at] ?? {}, energySf: 0 };
  }

  #present(count: number): void {
    if (count === this.devices.length) return;
    this.devices = this.all.slice(0, count);
    this.metering.publish(this.devices);
  }

  act({ change = false, drawn, tickS, reset }: MeterAct): void {
    if (change) this.#present(this.devices.length === 2 ? 3 : 2);
    if (reset) for (const phase of this.taps[0]?.energy ?? []) Object.assign(phase, { whInjected: 0, varhAbsorbed: 0 });
    // a device that joins or leaves has the powers measured between ticks
    if (tickS === 0) this.metering.publish(this.devices);
    const end = seconds(this.at + tickS);
    let from = seconds(this.at);
    this.taps.forEach((tap, i) => {
      tap.drawn = i === 0 ? drawn : drawn.map(([watts, vars]) => [-watts / 3, vars] as const);
    });
    while (from < end) {
      const to = this.metering.begin(this.devices, from, end);
      for (const { index } of this.devices) this.taps[index]?.count((to - from) / 3600e6);
      this.metering.advance(to);
      from = to;
    }
    this.at += tickS;
    if (tickS > 0) this.metering.publish(this.devices);
  }

  get view(): unknown {
    const { bank, now } = this.meter;
    const { base, size } = bank.layout;
    const points = this.points.slice(0, this.devices.length === 2 ? 1 : 3).map((of) => ({ ...of }));
    return {
      now,
      registers: Buffer.from(bank.read(base, size)).toString('hex'),
      points,
    };
  }

  kept(): Kept {
    return keptParts({
      at: keptMembers(this, 'at'),
      present: keptRecord(
        () => ({ count: this.devices.length }),
        ({ count }) => {
          this.#present(count);
        },
      ),
      taps: keptList(this.taps.map((tap) => tap.kept())),
      metering: this.metering.kept(),
    });
  }
}

const watts = fc.integer({ min: -3000, max: 3000 });
const meterActs: fc.Arbitrary<MeterAct> = fc.record({
  drawn: fc.array(fc.tuple(watts, watts), { minLength: 3, maxLength: 3 }),
  tickS: fc.constantFrom(0, 0.25, 0.5, 1.75),
  change: fc.boolean(),
  reset: fc.boolean(),
});

describe('meters: state that a restart keeps', () => {
  it('counters, the interval under way, and the values in registers', () => {
    holds('meters go on', [fc.array(meterActs, { minLength: 2, maxLength: 10 }), fc.nat({ max: 9 })], (list, cut) => {
      const before = Math.min(cut, list.length);
      const still: MeterAct = { drawn: [], tickS: 0, reset: false };
      const last: MeterAct = { drawn: [[100, -50]], tickS: 1.75, reset: false };
      const course = [...list.slice(0, before), still, ...list.slice(before), last];
      // the second process begins later than the instant that it takes over
      let at = 10;
      expectContinuation({
        make: () => new DrivenMeters((at += 1000)),
        drive: (driven, step) => {
          driven.act(course[step] ?? last);
        },
        observe: ({ view }) => view,
        before,
        after: course.length - before,
      });
    });
  });
});
