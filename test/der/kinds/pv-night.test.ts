/** A PV device in little light and at night. */
import { expect } from 'chai';
import { byTest } from '../../support/rig.ts';
import { KindRig, kindSpec } from './support.ts';

/** A device of 10 kW in this light, at rest. */
async function inLight(irradianceWm2: number): Promise<KindRig> {
  const rig = new KindRig(kindSpec('pv'));
  rig.plant.setSurroundings({ irradianceWm2, cellTemperatureC: 25 });
  await rig.run(30);
  return rig;
}

describe('PV device: night', () => {
  it('sleeps in light that would not pay for its own losses, and takes its night power', async () => {
    const rig = await inLight(0.01);
    expect([rig.state, rig.w, rig.q]).to.deep.equal(['on sleeping connected', -2, 0]);
    expect([rig.map.m714.DCW, rig.detail('pv').mpptState]).to.deep.equal([0, 'off']);
    const { TotWhAbs: before, TotWhInj: injected } = rig.map.m701;
    await rig.run(3 * 3600);
    expect(Number(rig.map.m701.TotWhAbs) - Number(before)).to.be.within(5, 6);
    expect(rig.map.m701.TotWhInj).to.equal(injected);
    expect([rig.alarms, rig.map.m701.ThrotPct]).to.deep.equal([[], 100]);
  });

  it('starts at its start power and sleeps again below three quarters of it', async () => {
    const rig = await inLight(0);
    // 80 W of DC power are 0.8 % of the rating
    const states: string[] = [];
    for (const light of [6, 9, 9, 7, 6, 5]) {
      rig.plant.setSurroundings({ irradianceWm2: light });
      await rig.run(20);
      states.push(`${rig.detail('pv').availableDcW.toFixed(0)} W ${rig.map.m701.InvSt ?? ''}`);
    }
    expect(states).to.deep.equal([
      '57 W SLEEPING',
      '87 W RUNNING',
      '87 W RUNNING',
      '67 W RUNNING',
      '57 W SLEEPING',
      '47 W SLEEPING',
    ]);
  });

  it('takes nothing when it is out of service, or the grid is gone', async () => {
    const rig = await inLight(0);
    rig.plant.setGrid({ voltagePu: 0 });
    await rig.run(0.1);
    await rig.run(0.1);
    expect(rig.w).to.equal(0);
    await rig.run(10);
    expect([rig.w, rig.map.m701.ConnSt]).to.deep.equal([0, 'DISCONNECTED']);
  });

  it('takes no more than its limit of current allows', async () => {
    const rig = await inLight(0);
    rig.plant.devices[0]!.bank.transact(byTest, (tx) => {
      tx.m702.AMax = 0.01;
    });
    rig.plant.setGrid({ voltagePu: 0.06 });
    await rig.run(0.01);
    // 0.06 of 277 V, three phases, 0.01 A: half a watt
    expect(rig.map.m701.W).to.be.within(-1, 0);
    rig.plant.setGrid({ voltagePu: 5e-324 });
    await rig.run(0.01);
    expect(rig.map.m701.A).to.be.at.most(0.03);
  });

  it('wakes at an instant that does not depend on the tick', async () => {
    const woken: (number | null | undefined)[][] = [];
    for (const tickS of [0.1, 1, 60]) {
      const rig = await inLight(0);
      rig.plant.setSurroundings({ irradianceWm2: 100, rampS: 600 });
      await rig.watch(60, tickS, () => undefined);
      woken.push([rig.w, rig.map.m714.DCW, rig.map.m714.Prt[0]?.DCV, rig.map.m714.DCWhInj]);
    }
    expect(woken[1]).to.deep.equal(woken[0]);
    expect(woken[2]).to.deep.equal(woken[0]);
  });
});
