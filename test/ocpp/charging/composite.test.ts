import { expect } from 'chai';
import fc from 'fast-check';
import { compositeSchedule, inUnit, maxPhaseCurrentA, wattsPerAmpere } from '../../../src/ocpp/charging/composite.ts';
import type { CompositeQuery } from '../../../src/ocpp/charging/composite.ts';
import type { ChargingState, Limit, SchedulePeriod } from '../../../src/ocpp/charging/model.ts';
import { holds } from '../../support/property.ts';
import { noonMs } from './arbitrary.ts';
import { one, periods, station, stateOf } from './profiles.ts';
import type { Change } from './profiles.ts';

const three = { type: 'ac', phases: 3, nominalVoltageV: 230 } as const;
const single = { type: 'ac', phases: 1, nominalVoltageV: 230 } as const;
const dc = { type: 'dc', phases: 1, nominalVoltageV: 1000 } as const;
const connector = { ...three, connectorId: 1, maxPowerW: 22_000, maxCurrentA: 32, supplyPhases: [1, 2, 3] };
const open: Limit = { limitW: null, limitA: null, numberPhases: null };

const query: CompositeQuery = {
  connectorId: 1,
  startMs: noonMs,
  durationS: 60,
  unit: 'W',
  connectors: [connector],
  station,
  maxPeriods: 100,
};
const composite = (state: ChargingState, change: Partial<CompositeQuery> = {}) =>
  compositeSchedule(state, { ...query, ...change }) ?? expect.fail('no such connector');
/** Start and limit of each period. */
const rows = (state: ChargingState, change: Partial<CompositeQuery> = {}) =>
  composite(state, change).periods.map(({ startS, limit }) => [startS, limit]);
/** The first period, without its start. */
const first = (state: ChargingState, change: Partial<CompositeQuery> = {}) => {
  const { startS, ...period } = composite(state, change).periods[0] ?? expect.fail('no period');
  expect(startS).to.equal(0);
  return period;
};

const atConnector: Change = { connectorId: 1, purpose: 'external' };
const inAmperes = (period: Partial<SchedulePeriod>) => ({ unit: 'A', periods: one(period) }) as const;
const inWatts = (period: Partial<SchedulePeriod>) => ({ unit: 'W', periods: one(period) }) as const;

describe('Composite schedules: units', () => {
  it('an ampere is the voltage of each phase in use, at most those of the connector, and the one voltage of DC', () => {
    const phasesOf = (nominal: typeof three | typeof single | typeof dc) =>
      [null, 1, 3].map((numberPhases) => wattsPerAmpere(nominal, numberPhases));
    expect(phasesOf(three)).to.deep.equal([690, 230, 690]);
    expect(phasesOf(single)).to.deep.equal([230, 230, 230]);
    expect(phasesOf(dc)).to.deep.equal([1000, 1000, 1000]);
    expect(wattsPerAmpere({ ...dc, phases: 3 }, null)).to.equal(1000);
  });

  it('the lower one of watts and amperes counts, and none is none', () => {
    const shown = (limit: Partial<Limit>) =>
      (['W', 'A'] as const).map((unit) => inUnit({ ...open, ...limit }, unit, three));
    expect(shown({})).to.deep.equal([null, null]);
    expect(shown({ limitW: 6900 })).to.deep.equal([6900, 10]);
    expect(shown({ limitA: 10 })).to.deep.equal([6900, 10]);
    expect(shown({ limitW: 6900, limitA: 9 })).to.deep.equal([6210, 9]);
    expect(shown({ limitW: 5520, limitA: 9 })).to.deep.equal([5520, 8]);
    expect(shown({ limitW: 0, limitA: 9 })).to.deep.equal([0, 0]);
    expect(shown({ limitW: 2300, numberPhases: 1 })).to.deep.equal([2300, 10]);
  });

  it('the last bits of a conversion are none of the limit, and a limit of a millionth is', () => {
    expect(inUnit({ ...open, limitW: 1000 }, 'A', three)).to.equal(1.449275);
    expect(inUnit({ ...open, limitW: 0.000_002 }, 'W', three)).to.equal(0.000_002);
    expect(inUnit({ ...open, limitW: 2e9 }, 'W', three)).to.equal(1e9);
    expect(inUnit({ ...open, limitA: 2e9 }, 'A', three)).to.equal(1e9);
  });

  it('amperes of the station are those of an AC connector, whatever its phases', () => {
    const state = stateOf([{ schedule: inAmperes({ limit: 16 }) }]);
    const connectors = [{ ...connector, ...single }];
    expect(first(state, { connectors, unit: 'A' })).to.deep.equal({ limit: 16, numberPhases: null });
    expect(first(state, { connectors, unit: 'W' })).to.deep.equal({ limit: 3680, numberPhases: null });
  });

  it('amperes of a DC supply reach an AC connector as watts, and watts as they are', () => {
    const supply = { ...dc, connectorId: 0, maxPowerW: 50_000 };
    const of = (schedule: Change['schedule']) => stateOf([{ ...(schedule && { schedule }) }], { station: supply });
    expect(first(of(inAmperes({ limit: 6.9 })), { station: supply, unit: 'A' }).limit).to.equal(10);
    expect(first(of(inWatts({ limit: 6900 })), { station: supply, unit: 'A' }).limit).to.equal(10);
    expect(first(of(inWatts({ limit: null })), { station: supply, unit: 'A' }).limit).to.equal(null);
  });
});

describe('Composite schedules: set-points and discharge (2.1)', () => {
  const power = { limit: 20_000, setpoint: -6900, dischargeLimit: -13_800, mode: 'CentralSetpoint' } as const;

  it('are shown in both units, with the mode', () => {
    const state = stateOf([{ ...atConnector, schedule: inWatts(power) }]);
    expect(first(state)).to.deep.equal({ ...power, numberPhases: null });
    expect(first(state, { unit: 'A' })).to.deep.equal({
      limit: 28.985507,
      numberPhases: null,
      setpoint: -10,
      dischargeLimit: -20,
      mode: 'CentralSetpoint',
    });
    const inA = stateOf([{ ...atConnector, schedule: inAmperes({ setpoint: -10, dischargeLimit: -20 }) }]);
    expect(first(inA)).to.deep.equal({ limit: null, numberPhases: null, setpoint: -6900, dischargeLimit: -13_800 });
    expect(first(inA, { unit: 'A' })).to.deep.include({ setpoint: -10, dischargeLimit: -20 });
  });

  it('on one phase are those of one phase, and DC shows no phases', () => {
    const schedule = inAmperes({ limit: 10, setpoint: 10, numberPhases: 1 });
    const state = stateOf([{ ...atConnector, schedule }]);
    expect(first(state)).to.deep.equal({ limit: 2300, numberPhases: 1, setpoint: 2300 });
    const connectors = [{ ...connector, ...dc }];
    expect(first(state, { connectors })).to.deep.equal({ limit: 10_000, numberPhases: null, setpoint: 10_000 });
  });

  it('of two the one nearer to 0 is shown', () => {
    const both = (watts: number, amperes: number) =>
      stateOf([
        { schedule: inWatts({ dischargeLimit: watts }) },
        { ...atConnector, profileId: 2, schedule: inAmperes({ dischargeLimit: amperes }) },
      ]);
    expect(first(both(-6900, -9)).dischargeLimit).to.equal(-6210);
    expect(first(both(-6900, -11)).dischargeLimit).to.equal(-6900);
    expect(first(both(-6900, -11), { unit: 'A' }).dischargeLimit).to.equal(-10);
    expect(first(both(-6900, 0)).dischargeLimit).to.equal(-0);
  });

  it('beyond what a unit can show are shown as the highest', () => {
    const of = (setpoint: number) => stateOf([{ ...atConnector, schedule: inWatts({ setpoint }) }]);
    expect([1e12, -1e12, 5].map((value) => first(of(value)).setpoint)).to.deep.equal([1e9, -1e9, 5]);
  });

  it('a change of any one of them begins a period, and an equal one does not', () => {
    const next: readonly Partial<SchedulePeriod>[] = [
      { limit: 19_000 },
      { numberPhases: 1 },
      { setpoint: -6800 },
      { dischargeLimit: -13_000 },
      { mode: 'CentralFrequency' },
    ];
    const starts = (...all: readonly Partial<SchedulePeriod>[]) => {
      const schedule = { periods: all.map((each, i) => ({ ...power, numberPhases: null, ...each, startS: i * 10 })) };
      return composite(stateOf([{ ...atConnector, schedule }])).periods.map(({ startS }) => startS);
    };
    for (const change of next) expect(starts({}, change), JSON.stringify(change)).to.deep.equal([0, 10]);
    // boundaries of a second profile which changes nothing
    const lower = { ...atConnector, profileId: 2, stackLevel: 1, schedule: { durationS: 20, periods: one(power) } };
    expect(composite(stateOf([{ ...atConnector, schedule: { periods: one(power) } }, lower])).periods).to.have.length(
      1,
    );
  });
});

describe('Composite schedules: the grid connection', () => {
  const connectors = [connector, { ...connector, connectorId: 2 }];
  const grid = { connectorId: 0, connectors } as const;
  const ofConnector = (connectorId: number, schedule: Change['schedule']): Change => ({
    ...atConnector,
    connectorId,
    profileId: 10 + connectorId,
    ...(schedule && { schedule }),
  });

  it('a connector without a limit counts with its rated power, and one above it too', () => {
    expect(rows(stateOf([ofConnector(1, inWatts({ limit: 3000 }))]), grid)).to.deep.equal([[0, 25_000]]);
    const above = [ofConnector(1, inWatts({ limit: 3000 })), ofConnector(2, inWatts({ limit: 90_000 }))];
    expect(rows(stateOf(above), grid)).to.deep.equal([[0, 25_000]]);
    const amperes = [1, 2].map((id) => ofConnector(id, inAmperes({ limit: 10 })));
    expect(rows(stateOf(amperes), grid)).to.deep.equal([[0, 13_800]]);
    expect(rows(stateOf(amperes), { ...grid, unit: 'A' })).to.deep.equal([[0, 20]]);
  });

  it('the sum is at most the rated power of the station', () => {
    const small = { ...station, maxPowerW: 24_000 };
    expect(rows(stateOf([ofConnector(1, inWatts({ limit: 3000 }))]), { ...grid, station: small })).to.deep.equal([
      [0, 24_000],
    ]);
  });

  it('without a limit of a connector the own limit is shown with all that belongs to it', () => {
    const power = { limit: 9000, dischargeLimit: -2000, numberPhases: 1 } as const;
    expect(first(stateOf([{ schedule: inWatts(power) }]), grid)).to.deep.equal(power);
    expect(first(stateOf([]), grid)).to.deep.equal({ limit: null, numberPhases: null });
  });

  it('the lower one of both is shown; of equal ones the own, with its discharge limit', () => {
    const with9 = ofConnector(1, inWatts({ limit: 9000 }));
    const own = (limit: number | null) => [
      { schedule: inWatts({ limit, dischargeLimit: -2000, numberPhases: 1 }) },
      with9,
    ];
    const shown = (limit: number | null) => first(stateOf(own(limit)), { ...grid, connectors: [connector] });
    expect(shown(8999)).to.deep.equal({ limit: 8999, numberPhases: 1, dischargeLimit: -2000 });
    expect(shown(9000)).to.deep.equal({ limit: 9000, numberPhases: 1, dischargeLimit: -2000 });
    expect(shown(9001)).to.deep.equal({ limit: 9000, numberPhases: 1 });
    expect(shown(null)).to.deep.equal({ limit: 9000, numberPhases: 1 });
  });

  const amperesOf = (profiles: readonly Change[], change: Partial<CompositeQuery>) =>
    first(stateOf(profiles), { ...grid, unit: 'A', ...change }).limit;

  it('amperes read back as they were set, whatever the voltage of the grid connection', () => {
    const change = { connectors: [connector], station: { ...station, nominalVoltageV: 400 / Math.sqrt(3) } };
    expect(amperesOf([ofConnector(1, inAmperes({ limit: 10 }))], change)).to.equal(10);
    expect(amperesOf([{ schedule: inAmperes({ limit: 10 }) }], change)).to.equal(10);
    expect(amperesOf([ofConnector(1, inAmperes({ limit: 40 }))], change)).to.equal(32);
  });

  it('amperes are those of the phase with the highest sum', () => {
    const port = (connectorId: number) => ({
      ...connector,
      ...single,
      connectorId,
      maxPowerW: 7360,
      supplyPhases: [((connectorId - 1) % 3) + 1],
    });
    const ports = [1, 2, 3, 4].map(port);
    const set10 = ports.map(({ connectorId }) => ofConnector(connectorId, inAmperes({ limit: 10 })));
    expect(amperesOf(set10, { connectors: ports.slice(0, 2) })).to.equal(10);
    expect(amperesOf(set10, { connectors: ports })).to.equal(20);
    expect(amperesOf(set10, { connectors: [connector, ...ports.slice(1)] })).to.equal(20);
    expect(amperesOf(set10.slice(0, 1), { connectors: ports.slice(0, 2) })).to.equal(32);
    // watts of the station may all flow in one of these ports
    expect(amperesOf([{ schedule: inWatts({ limit: 4600 }) }], { connectors: ports.slice(0, 2) })).to.equal(20);
    expect(maxPhaseCurrentA({ connectors: ports, station })).to.equal(64);
    expect(maxPhaseCurrentA({ connectors: ports, station: { ...station, maxPowerW: 11_500 } })).to.equal(50);
  });

  it('watts are those of a single-phase vehicle, which draws them all from L1, up to the current of the connector', () => {
    const watts = (limit: number, numberPhases: 1 | 3 | null = null) => inWatts({ limit, numberPhases });
    for (const numberPhases of [null, 1, 3] as const)
      for (const [limit, limitA] of [
        [4600, 20],
        [9000, 32],
      ] as const) {
        const schedule = watts(limit, numberPhases);
        expect(amperesOf([ofConnector(1, schedule)], { connectors: [connector] })).to.equal(limitA);
        expect(amperesOf([{ schedule }], { connectors: [connector] })).to.equal(limitA);
      }
    expect(amperesOf([{ schedule: watts(9000) }], {})).to.equal(39.130435);
    // the voltage is that of the connector
    const supply = { ...station, nominalVoltageV: 400 / Math.sqrt(3) };
    expect(amperesOf([{ schedule: watts(6900) }], { connectors: [connector], station: supply })).to.equal(30);
    // L2 and L3 carry the third of a three-phase vehicle
    const port = (phase: number) => ({ ...connector, ...single, connectorId: 2, supplyPhases: [phase] });
    const sumsA = [1, 2, 3].map((phase) =>
      amperesOf([ofConnector(1, watts(4600))], { connectors: [connector, port(phase)] }),
    );
    expect(sumsA).to.deep.equal([52, 38.666667, 38.666667]);
    const discharge = { schedule: inWatts({ limit: 4600, dischargeLimit: -2300 }) };
    expect(first(stateOf([discharge]), { ...grid, unit: 'A' })).to.include({ limit: 20, dischargeLimit: -10 });
  });

  it('watts that are left by one connector are those of the next one', () => {
    const output = { ...dc, connectorId: 2, maxPowerW: 50_000, maxCurrentA: 125, supplyPhases: [] };
    const wide = { ...station, maxPowerW: 90_000 };
    const shown = (limit: number, numberPhases: 1 | null = null) =>
      amperesOf([{ schedule: inWatts({ limit, numberPhases }) }], { connectors: [output, connector], station: wide });
    expect(shown(4600)).to.equal(20);
    expect(shown(32 * 230 + 6900)).to.equal(42);
    expect(shown(32 * 230 + 6900, 1)).to.equal(62);
    const outputs = [output, { ...output, connectorId: 3 }];
    expect(maxPhaseCurrentA({ connectors: outputs, station: { ...station, maxPowerW: 69_000 } })).to.equal(100);
  });

  it('no vehicles draw more from a phase than the amperes shown', () => {
    const anyPort = fc.record({
      kind: fc.constantFrom('three', 'single', 'dc'),
      limit: fc.option(fc.integer({ min: 0, max: 25_000 })),
      inAmperes: fc.boolean(),
      numberPhases: fc.constantFrom(null, 1, 3),
      vehiclePhases: fc.constantFrom(1, 3),
      part: fc.constantFrom(0, 0.5, 1, 1, 1),
    });
    const anyGrid = fc.record({
      ports: fc.array(anyPort, { minLength: 1, maxLength: 3 }),
      stationW: fc.option(fc.integer({ min: 0, max: 60_000 })),
    });
    holds(
      'phases within the schedule of connector 0',
      anyGrid,
      ({ ports, stationW }) => {
        const ratings = ports.map(({ kind }, i) => {
          const connectorId = i + 1;
          if (kind === 'dc') return { ...dc, connectorId, maxPowerW: 50_000, maxCurrentA: 125, supplyPhases: [] };
          if (kind === 'three') return { ...connector, connectorId };
          return { ...connector, ...single, connectorId, maxPowerW: 7400, supplyPhases: [(i % 3) + 1] };
        });
        const sumsA = [0, 0, 0];
        let leftW = Math.min(60_000, stationW ?? Infinity);
        for (const [i, { kind, limit, inAmperes: isA, numberPhases, vehiclePhases, part }] of ports.entries()) {
          const phases = kind === 'single' || numberPhases === 1 ? 1 : vehiclePhases;
          const limitW =
            limit === null ? Infinity : isA ? (limit / 500) * (kind === 'dc' ? 1000 : phases * 230) : limit;
          const ratedW = kind === 'dc' ? 50_000 : 32 * phases * 230;
          const powerW = part * Math.min(limitW, ratedW, leftW);
          leftW -= powerW;
          const loaded = kind === 'dc' || phases === 3 ? [0, 1, 2] : kind === 'three' ? [0] : [i % 3];
          for (const at of loaded) sumsA[at] = (sumsA[at] ?? 0) + powerW / 230 / loaded.length;
        }
        const profiles = ports.flatMap(({ limit, inAmperes: isA, numberPhases }, i) => {
          const schedule = isA
            ? inAmperes({ limit: (limit ?? 0) / 500, numberPhases })
            : inWatts({ limit: limit ?? 0, numberPhases });
          return limit === null ? [] : ofConnector(i + 1, schedule);
        });
        const own: Change[] = stationW === null ? [] : [{ schedule: inWatts({ limit: stationW }) }];
        const shownA = amperesOf([...own, ...profiles], {
          connectors: ratings,
          station: { ...station, maxPowerW: 60_000 },
        });
        expect(Math.max(...sumsA)).to.be.at.most((shownA ?? Infinity) + 1e-5);
      },
      { runs: 1000 },
    );
  });

  it('a three-phase connector that may use one phase loads L1', () => {
    const second = { ...connector, ...single, connectorId: 2, supplyPhases: [2] };
    const set = [1, 2].map((id) => ofConnector(id, inAmperes({ limit: 10, numberPhases: 1 })));
    expect(amperesOf(set, { connectors: [connector, second] })).to.equal(10);
    expect(amperesOf(set, { connectors: [connector, { ...second, supplyPhases: [1] }] })).to.equal(20);
    // one phase for the station: the current of all phases together counts
    const onOne = { schedule: inAmperes({ limit: 90, numberPhases: 1 }) } as const;
    expect(amperesOf([onOne, ...set], { connectors: [connector, second] })).to.equal(20);
    expect(amperesOf([onOne, ofConnector(1, inWatts({ limit: 6900 }))], { connectors: [connector] })).to.equal(30);
  });

  it('a DC connector loads all phases with its power', () => {
    const output = { ...dc, connectorId: 1, maxPowerW: 50_000, maxCurrentA: 125, supplyPhases: [] };
    const change = {
      connectors: [output, { ...connector, connectorId: 2 }],
      station: { ...station, maxPowerW: 90_000 },
    };
    const set = [ofConnector(1, inAmperes({ limit: 6.9 })), ofConnector(2, inAmperes({ limit: 16 }))];
    expect(amperesOf(set, change)).to.equal(26);
    expect(maxPhaseCurrentA(change)).to.equal(104.463768);
  });

  it('a split-phase supply has one current', () => {
    const port = { ...connector, type: 'ac', phases: 1, nominalVoltageV: 240, supplyPhases: [1, 2] } as const;
    const supply = { ...station, phases: 1, nominalVoltageV: 120 } as const;
    const change = { connectors: [port, { ...port, connectorId: 2 }], station: supply };
    expect(
      amperesOf(
        [1, 2].map((id) => ofConnector(id, inAmperes({ limit: 10 }))),
        change,
      ),
    ).to.equal(20);
  });

  it('changes where the station or any connector changes', () => {
    const state = stateOf([
      { schedule: { startMs: noonMs, periods: periods([0, 20_000], [10, 12_000]) } },
      ofConnector(1, { startMs: noonMs, periods: periods([0, 22_000], [20, 5000]) }),
      ofConnector(2, { startMs: noonMs, periods: periods([0, 22_000], [30, 4000]) }),
    ]);
    expect(rows(state, grid)).to.deep.equal([
      [0, 20_000],
      [10, 12_000],
      [30, 9000],
    ]);
  });
});

describe('Composite schedules: where they end', () => {
  const steps = { ...atConnector, schedule: { startMs: noonMs, periods: periods([0, 1], [10, 2], [20, 3], [60, 4]) } };

  it('a change at the end belongs to the next schedule', () => {
    expect(rows(stateOf([steps]))).to.deep.equal([
      [0, 1],
      [10, 2],
      [20, 3],
    ]);
    expect(rows(stateOf([steps]), { durationS: 60.001 }).at(-1)).to.deep.equal([60, 4]);
    expect(composite(stateOf([steps]))).to.deep.include({ startMs: noonMs, durationS: 60, unit: 'W' });
  });

  it('starts count from the start of the schedule', () => {
    const change = { startMs: noonMs + 4500, durationS: 10 };
    expect(rows(stateOf([steps]), change)).to.deep.equal([
      [0, 1],
      [5.5, 2],
    ]);
    expect(composite(stateOf([steps]), change).startMs).to.equal(noonMs + 4500);
  });

  it('the station bounds a connector at its own instants', () => {
    const ofStation = { schedule: { startMs: noonMs, periods: periods([0, 9], [15, 0]) } };
    expect(rows(stateOf([steps, ofStation]))).to.deep.equal([
      [0, 1],
      [10, 2],
      [15, 0],
    ]);
  });

  it('as many periods as are permitted are no reason to end; one more is', () => {
    expect(composite(stateOf([steps]), { maxPeriods: 3 })).to.deep.include({ durationS: 60 });
    const cut = composite(stateOf([steps]), { maxPeriods: 2, unit: 'A' });
    expect(cut).to.deep.include({ startMs: noonMs, durationS: 20, unit: 'A' });
    expect(cut.periods.map(({ startS }) => startS)).to.deep.equal([0, 10]);
    // an instant without a change needs no period
    const same = { ...atConnector, schedule: { startMs: noonMs, durationS: 30, periods: one({ limit: 5 }) } };
    const state = stateOf([same, { ...same, schedule: { periods: one({ limit: 5 }) }, receivedMs: noonMs - 1 }]);
    expect(composite(state, { maxPeriods: 1 })).to.deep.include({ durationS: 60 });
  });

  it('a schedule ends when 100 000 profiles have been looked at', () => {
    const seconds = Array.from({ length: 300 }, (_, i) => [i, i % 2] as const);
    const busy = { ...atConnector, stackLevel: 1, schedule: { startMs: noonMs, periods: periods(...seconds) } };
    const idle = Array.from({ length: 199 }, (_, i): Change => ({ ...atConnector, connectorId: 9, profileId: i }));
    // two places with 200 profiles: 250 instants, and the one that is too many
    const connectors = [connector, { ...connector, connectorId: 2 }];
    const long = { durationS: 1000, maxPeriods: 1000, connectors };
    expect(composite(stateOf([busy, ...idle]), long).durationS).to.equal(251);
    expect(composite(stateOf([]), { durationS: 1000 })).to.deep.include({ durationS: 1000 });
  });
});
