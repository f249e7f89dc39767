/** What compiles is proved by `npm run typecheck`: each `@ts-expect-error` must stand above an error. */
import { expect } from 'chai';
import type { Device } from '../../../src/contract/device.ts';
import type { Bank } from '../../../src/sunspec/map/bank.ts';
import type { View } from '../../../src/sunspec/map/types.ts';
import type { MapView, MeasurementView, WritableMapView } from '../../../src/sunspec/map/view.ts';
import type { m704 } from '../../../src/sunspec/models/m704.ts';
import { byRest, createTestBank } from '../../support/map.ts';

/** Never called: types only. */
export const readers = {
  point({ bank }: Device): void {
    // @ts-expect-error a setting goes through a transaction
    bank.map.m704.WMaxLimPct = 12_345;
    // @ts-expect-error a measurement is published by the device itself
    bank.map.m701.W = 0;
  },

  groups({ map }: Bank): void {
    // @ts-expect-error a group of points
    map.m704.PFWInj.PF = 0.9;
    // @ts-expect-error a set of a curve model
    map.m705.Crv[0]!.ActPt = 2;
    // @ts-expect-error a point of a curve
    map.m705.Crv[0]!.Pt[0]!.V = 1;
    // @ts-expect-error groups of three levels
    map.m707.Crv[0]!.MustTrip.Pt[0]!.Tms = 1;
    // @ts-expect-error a DC port of model 714
    map.m714.Prt[0]!.DCW = 1;
    // @ts-expect-error a model that not every device has
    map.m802!.SoC = 1;
    // @ts-expect-error a model as a whole
    map.m704 = map.m704;
    // @ts-expect-error a repetition as a whole
    map.m705.Crv[0] = map.m705.Crv[1]!;
  },

  detours(bank: Bank, publish: (map: MeasurementView) => void, fill: (map: WritableMapView) => void): void {
    // @ts-expect-error only the registers of the device itself have the view for measurements
    publish(bank.measurements);
    // @ts-expect-error a view for reading is none for measurements
    publish(bank.map);
    // @ts-expect-error nor one in which everything can be assigned
    fill(bank.map);
    // @ts-expect-error the same for one model
    const model: View<typeof m704, 'all'> = bank.map.m704;
    // @ts-expect-error and for one curve
    const set: WritableMapView['m705']['Crv'][number] = bank.map.m705.Crv[0]!;
    expect([model, set]).to.equal(null);
  },

  values({ map }: Bank): void {
    // @ts-expect-error no such point
    expect(map.m704.WMaxLimPtc).to.equal(null);
    // @ts-expect-error no such symbol
    expect(map.m701.St === 'RUNNING').to.equal(true);
  },
} as const;

/** Never called: types only. */
export const publishers = {
  settings({ m704, m705, m715 }: MeasurementView): void {
    // @ts-expect-error a setting goes through a transaction, also for the device itself
    m704.WMaxLimPct = 50;
    // @ts-expect-error a point of a curve
    m705.Crv[0]!.Pt[0]!.V = 1;
    // @ts-expect-error an operator command
    m715.OpCtl = 'START';
  },

  transactions(map: MeasurementView, fill: (map: WritableMapView) => void): void {
    // @ts-expect-error the view of measurements is none of a transaction
    fill(map);
  },
} as const;

describe('view: what can be assigned', () => {
  it('the device publishes measurements and status', () => {
    const { bank, value } = createTestBank({ storage: true });
    const { m701, m714, m715, m802 } = bank.measurements;
    m701.W = 5000;
    m714.Prt[0]!.DCW = 5100;
    m715.LocRemCtl = 'LOCAL';
    // the reserve follows commands of the storage
    m802!.SoCRsvMin = 25;
    expect(['701.W', '714.Prt[0].DCW', '715.LocRemCtl', '802.SoCRsvMin'].map(value)).to.deep.equal([
      5000,
      5100,
      'LOCAL',
      25,
    ]);
  });

  it('a transaction assigns settings, in groups too', () => {
    const { bank, value } = createTestBank();
    bank.transact(byRest, (tx) => {
      tx.m704.WMaxLimPct = 50;
      tx.m704.PFWInj.PF = 0.95;
      tx.m705.Crv[1]!.Pt[0]!.V = 92;
    });
    bank.adopt(byRest, (tx) => {
      tx.m705.Crv[0]!.Pt[0]!.V = 93;
    });
    expect(['704.WMaxLimPct', '704.PFWInj.PF', '705.Crv[1].Pt[0].V', '705.Crv[0].Pt[0].V'].map(value)).to.deep.equal([
      50, 0.95, 92, 93,
    ]);
  });

  it('any view serves for reading', () => {
    const { bank } = createTestBank();
    const limits: unknown[] = [];
    const look = ({ m704: { WMaxLimPct } }: MapView) => limits.push(WMaxLimPct);
    look(bank.map);
    look(bank.measurements);
    bank.transact(byRest, (tx) => {
      tx.m704.WMaxLimPct = 40;
      look(tx);
    });
    expect(limits).to.deep.equal([100, 100, 40]);
  });
});
