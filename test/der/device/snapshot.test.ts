import { expect } from 'chai';
import { buildSnapshot } from '../../../src/der/device/snapshot.ts';
import { goldenRows, needsGolden } from '../golden.ts';
import { testPlant } from '../../support/plant.ts';

const stamp = {
  tick: 1,
  timestamp: '2026-06-21T12:00:00.000Z',
  wallTime: '2026-06-21T12:00:00.000Z',
  clockTime: '12:00:00',
};

/** Apparent power and angle that the snapshot makes of 701.W and Var, kW and kvar. */
function pqOf(kw: number, kvar: number) {
  const device = testPlant({ models: { 702: { WMaxRtg: 250_000, VAMaxRtg: 250_000 } } }).device(0);
  const { map, measurements } = device.bank;
  Object.assign(measurements.m701, { W: kw * 1000, Var: kvar * 1000, VA: Math.hypot(kw, kvar) * 1000 });
  return buildSnapshot(map, device, stamp, null).pq;
}

describe('Snapshot: the four quadrants', () => {
  it('angle is that of the apparent power, with the signs of P and Q', () => {
    expect(pqOf(80, 30).angle_deg).to.be.closeTo(20.556, 0.001);
    expect(pqOf(80, -30).angle_deg).to.be.closeTo(-20.556, 0.001);
    expect(pqOf(-80, 30).angle_deg).to.be.closeTo(159.444, 0.001);
    expect(pqOf(0, 0)).to.include({ apparent_kva: 0, angle_deg: 0 });
  });

  it(`agrees with the definitions ${needsGolden}`, function () {
    const rows = goldenRows(this, 'ac_pq_pf.csv');
    expect(rows.length).to.be.above(3);
    for (const row of rows) {
      const [kw, kvar] = [Number(row['p_kw_gen_positive']), Number(row['q_kvar_inject_positive'])];
      const pq = pqOf(kw, kvar);
      // the registers of this device count tens of watts
      expect(pq.apparent_kva, `${kw} ${kvar}`).to.be.closeTo(Number(row['s_kva']), 0.006);
      if (Number(row['s_kva']) > 0)
        expect(pq.angle_deg, `${kw} ${kvar}`).to.be.closeTo(Number(row['angle_s_deg']), 0.002);
    }
  });
});
