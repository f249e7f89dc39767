import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../src/core/errors.ts';
import type { MapView, WritableMapView } from '../../src/sunspec/map/view.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { testPlant } from '../support/plant.ts';
import { holdsAsync } from '../support/property.ts';
import { byTest } from '../support/rig.ts';

/** One act on the plant, as data: the case of a failure can be kept. */
type Act =
  | { readonly set: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  | { readonly grid: Parameters<SimPlant['setGrid']>[0] }
  | { readonly surroundings: Parameters<SimPlant['setSurroundings']>[0] }
  | { readonly command: 'start' | 'stop' | 'reset' }
  | { readonly closed: boolean };

function write(tx: WritableMapView, values: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
  for (const [model, points] of Object.entries(values))
    for (const [name, value] of Object.entries(points)) {
      const group = tx[model as 'm704'] as unknown as Record<string, unknown>;
      if (typeof value === 'object') Object.assign(group[name] as object, value);
      else group[name] = value;
    }
}

function perform(plant: SimPlant, act: Act): void {
  const [device] = plant.devices;
  if ('grid' in act) plant.setGrid(act.grid);
  else if ('surroundings' in act) plant.setSurroundings(act.surroundings);
  else if ('command' in act) plant.commands.submit({ command: act.command, deviceIndex: 0 }, byTest);
  else if ('closed' in act) device!.command({ kind: 'switch', closed: act.closed }, byTest);
  else
    try {
      device!.bank.transact(byTest, (tx) => {
        write(tx, act.set);
      });
    } catch (error) {
      // a refused value changes nothing; anything else is a fault of ours
      if (!(error instanceof SimError) || !error.code.startsWith('MAP_')) throw error;
    }
}

const num = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const pct = fc.oneof(fc.constantFrom(0, 100, -100, 50), num(-100, 100));
const onOff = fc.constantFrom<'ENABLED' | 'DISABLED'>('ENABLED', 'DISABLED');

/** Values for points of a model. */
const points = (model: string, values: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Act> =>
  fc.record(values).map((set) => ({ set: { [model]: set } }));

const settings: fc.Arbitrary<Act>[] = [
  points('m704', { WMaxLimPctEna: onOff, WMaxLimPct: pct.map(Math.abs), WMaxLimPctRvrtTms: fc.nat(20) }),
  points('m704', {
    WSetEna: onOff,
    WSetMod: fc.constantFrom('W_MAX_PCT', 'WATTS'),
    WSetPct: pct,
    WSet: num(0, 10_000),
  }),
  points('m704', {
    VarSetEna: onOff,
    VarSetMod: fc.constantFrom('W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT', 'VARS'),
    VarSetPri: fc.constantFrom('ACTIVE', 'REACTIVE'),
    VarSetPct: pct,
    VarSet: pct.map((value) => 44 * value),
  }),
  points('m704', {
    PFWInjEna: onOff,
    PFWInj: fc.record({ PF: num(0.9, 1), Ext: fc.constantFrom('OVER_EXCITED', 'UNDER_EXCITED') }),
  }),
  points('m704', {
    WRmp: fc.integer({ min: 1, max: 1000 }),
    VarRmp: fc.integer({ min: 1, max: 1000 }),
    WRmpRef: fc.constantFrom('W_MAX', 'A_MAX'),
  }),
  points('m702', {
    WMax: num(1, 10_000),
    VAMax: num(1, 10_000),
    VarMaxInj: num(0, 4400),
    VarMaxAbs: num(0, 4400),
    AMax: num(0.01, 13),
  }),
  points('m702', { VNom: num(240, 576) }),
  points('m703', {
    ES: onOff,
    ESDlyTms: fc.nat(10),
    ESRndTms: fc.nat(10),
    ESRmpTms: fc.nat(10),
    ESVHi: fc.constant(120),
    ESVLo: fc.constant(50),
  }),
  points('m715', { OpCtl: fc.constantFrom('STOP', 'START', 'ENTER_STANDBY', 'EXIT_STANDBY') }),
  fc.tuple(onOff, onOff, onOff, onOff).map(([m707, m708, m709, m710]) => ({
    set: { m707: { Ena: m707 }, m708: { Ena: m708 }, m709: { Ena: m709 }, m710: { Ena: m710 } },
  })),
  points('m715', { AlarmReset: fc.constant(1) }),
];

const pu = fc.oneof(fc.constantFrom(0, 0.3, 0.5, 0.88, 1, 1.1, 1.2, 2), num(0, 1.4));
const gridPatch: fc.Arbitrary<Act> = fc
  .record(
    {
      voltagePu: pu,
      voltageBPu: pu,
      frequencyHz: num(50, 70),
      outage: fc.boolean(),
      rampS: num(0, 10),
      durationS: fc.option(num(0.01, 20)),
    },
    { requiredKeys: ['voltagePu'] },
  )
  .map((patch) => ({ grid: patch }));

const sun: fc.Arbitrary<Act> = fc
  .record(
    {
      irradianceWm2: fc.oneof(fc.constant(0), num(0, 1500)),
      rampS: num(0, 10),
      durationS: fc.option(num(0.01, 20)),
      cellTemperatureC: fc.option(num(-40, 90)),
      ambientTemperatureC: fc.option(num(-40, 60)),
    },
    { requiredKeys: ['irradianceWm2'] },
  )
  .map((patch) => ({ surroundings: patch }));

const command: fc.Arbitrary<Act> = fc.oneof(
  fc.constantFrom('start', 'stop', 'reset').map((name) => ({ command: name })),
  fc.boolean().map((closed) => ({ closed })),
);

const act = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(...settings) },
  { weight: 3, arbitrary: gridPatch },
  { weight: 2, arbitrary: sun },
  { weight: 1, arbitrary: command },
);
const stepS = fc.constantFrom(0.05, 0.16, 1, 1.5, 7, 30);

const counters = (map: MapView) =>
  [
    map.m701.TotWhInj,
    map.m701.TotWhAbs,
    map.m701.TotVarhInj,
    map.m701.TotVarhAbs,
    map.m714.DCWhInj,
    map.m714.DCWhAbs,
    map.m715.DERHb,
  ].map((value) => value ?? 0);

/** One watt, one var, one volt-ampere of rounding each. */
const rounding = 2;

function check(plant: SimPlant): void {
  const { bank } = plant.devices[0]!;
  const { m701, m702, m704, m714 } = bank.map;
  for (const slot of bank.layout.slots) {
    const value = bank.value(slot);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`${slot.modelId}.${slot.path} is ${value}`);
  }
  const [w, q] = [m701.W!, m701.Var!];
  expect(Math.hypot(w, q), 'S').to.be.at.most(m702.VAMax! + rounding);
  // an inverter that sleeps takes 0.02 % of its rating
  const nightW = -0.0002 * m702.WMaxRtg!;
  expect(w, 'P').to.be.within(m701.InvSt === 'SLEEPING' ? nightW : 0, m702.WMax! + rounding);
  expect(q, 'Q').to.be.within(-m702.VarMaxAbs! - rounding, m702.VarMaxInj! + rounding);
  expect(m714.DCW, 'DC').to.be.at.least(w - rounding);
  if (m701.ConnSt === 'DISCONNECTED') expect([w, q, m714.DCW, m701.A], 'disconnected').to.deep.equal([0, 0, 0, 0]);
  if (m701.InvSt === 'STANDBY' || m701.InvSt === 'OFF') expect(w, m701.InvSt).to.equal(0);
  if (m701.InvSt === 'SLEEPING') expect(w, m701.InvSt).to.be.within(nightW, 0);
  expect(
    (m701.St === 'ON') === ['SLEEPING', 'STARTING', 'RUNNING', 'THROTTLED'].includes(m701.InvSt!),
    `${m701.St!} ${m701.InvSt!}`,
  ).to.equal(true);
  expect(m701.ThrotPct, 'ThrotPct').to.be.within(0, 100);
  // a trip stands to the end of its tick, also where the device is back by then
  const tripBits = (1 << 4) | (0xf << 8);
  // an array in bitter cold is above its window and works all the same
  const dcOverVoltBit = 1 << 1;
  expect((m701.Alrm! & ~(tripBits | dcOverVoltBit)) === 0 || m701.St === 'OFF', 'alarms').to.equal(true);
  expect(m704.WMaxLimPctRvrtRem).to.be.at.most(m704.WMaxLimPctRvrtTms!);
}

describe('Invariants under random settings, grids and suns', () => {
  for (const type of ['PV-3Phase', 'PV-1Phase']) {
    it(`hold for a ${type} device`, async () => {
      await holdsAsync(
        `${type}: invariants`,
        fc.array(fc.tuple(act, stepS), { minLength: 1, maxLength: 40 }),
        async (script) => {
          const plant = testPlant({ types: [type], tickIntervalS: 0.1 });
          const { map } = plant.devices[0]!.bank;
          let before = counters(map);
          for (const [change, seconds] of script) {
            perform(plant, change);
            plant.setTime({ rate: seconds / 0.1 });
            await plant.step(1);
            check(plant);
            const now = counters(map);
            now.forEach((value, i) => {
              expect(value, `counter ${i}`).to.be.at.least(before[i]!);
            });
            before = now;
          }
        },
        { runs: 100 },
      );
    }).timeout(60_000);
  }

  it('settled limits are kept: P at or below every limit that has had time to ramp', async () => {
    await holdsAsync(
      'settled limits are kept',
      [num(0, 100), num(0, 100), num(1, 10_000), num(100, 10_000), num(0, 1400)],
      async (limit, point, wMax, vaMax, light) => {
        const plant = testPlant();
        plant.setSurroundings({ irradianceWm2: light });
        plant.devices[0]!.bank.transact(byTest, (tx) => {
          Object.assign(tx.m702, { WMax: wMax, VAMax: vaMax });
          Object.assign(tx.m704, {
            WRmp: 100,
            WMaxLimPctEna: 'ENABLED',
            WMaxLimPct: limit,
            WSetEna: 'ENABLED',
            WSetPct: point,
          });
        });
        await plant.step(20);
        const { m701, m702, m704 } = plant.devices[0]!.bank.map;
        const least = Math.min(
          (m702.WMax! * m704.WMaxLimPct!) / 100,
          Math.max(0, (m702.WMax! * m704.WSetPct!) / 100),
          m702.VAMax!,
        );
        expect(m701.W).to.be.at.most(least + 1);
      },
      { runs: 60 },
    );
  }).timeout(60_000);
});
