import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../src/core/errors.ts';
import type { MapView, WritableMapView } from '../../src/sunspec/map/view.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { testPlant } from '../support/plant.ts';
import { holdsAsync } from '../support/property.ts';
import { byTest } from '../support/rig.ts';

type Act = (plant: SimPlant) => void;

const num = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const pct = fc.oneof(fc.constantFrom(0, 100, -100, 50), num(-100, 100));
const onOff = fc.constantFrom<'ENABLED' | 'DISABLED'>('ENABLED', 'DISABLED');

const write = (values: fc.Arbitrary<(tx: WritableMapView) => void>): fc.Arbitrary<Act> =>
  values.map((change) => (plant) => {
    try {
      plant.devices[0]!.bank.transact(byTest, change);
    } catch (error) {
      // a refused value changes nothing; anything else is a fault of ours
      if (!(error instanceof SimError) || !error.code.startsWith('MAP_')) throw error;
    }
  });

const settings: fc.Arbitrary<Act>[] = [
  write(
    fc.tuple(onOff, pct, fc.nat(20)).map(([ena, value, revert]) => (tx) => {
      Object.assign(tx.m704, { WMaxLimPctEna: ena, WMaxLimPct: Math.abs(value), WMaxLimPctRvrtTms: revert });
    }),
  ),
  write(
    fc.tuple(onOff, fc.constantFrom('W_MAX_PCT', 'WATTS'), pct, num(0, 10_000)).map(([ena, mode, value, w]) => (tx) => {
      Object.assign(tx.m704, { WSetEna: ena, WSetMod: mode, WSetPct: value, WSet: w });
    }),
  ),
  write(
    fc
      .tuple(
        onOff,
        fc.constantFrom('W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT', 'VARS'),
        fc.constantFrom('ACTIVE', 'REACTIVE'),
        pct,
      )
      .map(([ena, mode, pri, value]) => (tx) => {
        Object.assign(tx.m704, {
          VarSetEna: ena,
          VarSetMod: mode,
          VarSetPri: pri,
          VarSetPct: value,
          VarSet: 44 * value,
        });
      }),
  ),
  write(
    fc.tuple(onOff, num(0.9, 1), fc.constantFrom('OVER_EXCITED', 'UNDER_EXCITED')).map(([ena, value, ext]) => (tx) => {
      tx.m704.PFWInjEna = ena;
      Object.assign(tx.m704.PFWInj, { PF: value, Ext: ext });
    }),
  ),
  write(
    fc
      .tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1000 }), fc.constantFrom('W_MAX', 'A_MAX'))
      .map(([w, q, ref]) => (tx) => {
        Object.assign(tx.m704, { WRmp: w, VarRmp: q, WRmpRef: ref });
      }),
  ),
  write(
    fc
      .tuple(num(1, 10_000), num(1, 10_000), num(0, 4400), num(0, 4400), num(0.01, 13))
      .map(([w, va, inj, abs, a]) => (tx) => {
        Object.assign(tx.m702, { WMax: w, VAMax: va, VarMaxInj: inj, VarMaxAbs: abs, AMax: a });
      }),
  ),
  write(
    num(240, 576).map((v) => (tx) => {
      tx.m702.VNom = v;
    }),
  ),
  write(
    fc.tuple(onOff, fc.nat(10), fc.nat(10), fc.nat(10)).map(([es, delay, random, ramp]) => (tx) => {
      Object.assign(tx.m703, { ES: es, ESDlyTms: delay, ESRndTms: random, ESRmpTms: ramp, ESVHi: 120, ESVLo: 50 });
    }),
  ),
  write(
    fc.constantFrom('STOP', 'START', 'ENTER_STANDBY', 'EXIT_STANDBY').map((op) => (tx) => {
      Object.assign(tx.m715, { OpCtl: op });
    }),
  ),
  write(
    fc.tuple(onOff, onOff, onOff, onOff).map(([a, b, c, d]) => (tx) => {
      tx.m707.Ena = a;
      tx.m708.Ena = b;
      tx.m709.Ena = c;
      tx.m710.Ena = d;
    }),
  ),
  write(
    fc.constant((tx) => {
      tx.m715.AlarmReset = 1;
    }),
  ),
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
  .map((patch) => (plant) => {
    plant.setGrid(patch);
  });

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
  .map((patch) => (plant) => {
    plant.setSurroundings(patch);
  });

const command: fc.Arbitrary<Act> = fc.oneof(
  fc.constantFrom('start', 'stop', 'reset').map(
    (name): Act =>
      (plant) => {
        plant.commands.submit({ command: name, deviceIndex: 0 }, byTest);
      },
  ),
  fc.boolean().map(
    (closed): Act =>
      (plant) => {
        plant.devices[0]!.command({ kind: 'switch', closed }, byTest);
      },
  ),
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
  if (m701.InvSt === 'SLEEPING') expect(w, m701.InvSt).to.be.oneOf([nightW, 0]);
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
            change(plant);
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
