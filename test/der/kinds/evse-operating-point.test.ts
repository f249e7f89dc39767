import { expect } from 'chai';
import { KindRig } from './support.ts';
import type { KindSpec } from './support.ts';

const ac: KindSpec = { args: ['-d', 'EVSE'] };
const duo: KindSpec = { args: ['--evse_profile', 'EVSE-AC-7.4kW-2port'] };
const dc: KindSpec = { args: ['--evse_profile', 'EVSE-DC-150kW-CCS-1port'] };
/** reactive power of a charger with power factor 0.99, per watt */
const varPerW = Math.tan(Math.acos(0.99));
/** one phase takes a third of 3 W for the station itself */
const standbyA = 0.005;

async function charging(spec: KindSpec, connectorIds = [1]): Promise<KindRig> {
  const rig = new KindRig(spec);
  for (const connectorId of connectorIds) {
    rig.command({ kind: 'evse.plug', connectorId, ev: { socPct: 30, maxChargeW: 22_000 } });
  }
  await rig.run(60);
  return rig;
}

describe('EVSE device: one operating point for cable and meter', () => {
  it('the current of the cable is that of 701, with the voltage of the terminals and the reactive power of the charger', async () => {
    const rig = await charging(ac);
    const { m701 } = rig.map;
    const connector = rig.connector();
    const [cableA = NaN] = connector.currentA;
    expect(cableA).to.be.closeTo(32, 1e-9);
    for (const meterA of [m701.AL1, m701.AL2, m701.AL3]) expect(meterA).to.be.closeTo(cableA, 0.005 + standbyA);
    expect(connector.voltageV).to.be.closeTo(m701.VL1 ?? NaN, 0.05);
    expect(rig.q).to.be.closeTo(-connector.powerW * varPerW, 1);
    expect(m701.VarL2).to.be.closeTo(rig.q / 3, 1);
    expect(m701.PF).to.be.closeTo(-0.99, 1e-3);
    expect(rig.map.m701.ThrotPct).to.equal(100);
    const [, , injectedBefore = NaN, absorbedBefore = NaN] = rig.counters;
    await rig.run(360);
    const [, , injected = NaN, absorbed = NaN] = rig.counters;
    expect(injected - injectedBefore).to.equal(0);
    expect(absorbed - absorbedBefore).to.be.closeTo((connector.powerW * varPerW) / 10, 2);
  });

  it('a single-phase charger takes its reactive power from its own phase; uneven voltages change both currents alike', async () => {
    const rig = await charging(duo, [1, 2]);
    rig.plant.setGrid({ voltageBPu: 0.92 });
    await rig.run(30);
    const { m701 } = rig.map;
    expect(m701.VL2).to.be.below((m701.VL1 ?? NaN) - 15);
    expect(m701.AL1).to.be.closeTo(rig.connector(1).currentA[0] ?? NaN, 0.02 + standbyA);
    expect(m701.AL2).to.be.closeTo(rig.connector(2).currentA[0] ?? NaN, 0.02 + standbyA);
    expect(m701.VarL2).to.be.closeTo(-rig.connector(2).powerW * varPerW, 2);
    expect([m701.VarL3, m701.AL3]).to.deep.equal([0, 0]);
  });

  it('a function of reactive power decides for the whole station; without it the chargers do again', async () => {
    const rig = await charging(ac);
    const own = rig.q;
    rig.write(({ m704 }) => Object.assign(m704, { VarSetMod: 'VARS', VarSet: 2000, VarSetEna: 'ENABLED' }));
    await rig.run(60);
    expect(rig.q).to.equal(2000);
    for (const vars of [-4000, 8000]) {
      rig.write(({ m704 }) => (m704.VarSet = vars));
      await rig.run(60);
      const { m701 } = rig.map;
      expect(rig.q).to.equal(vars);
      expect(rig.connector().currentA[0]).to.be.closeTo(32, 1e-3);
      for (const meterA of [m701.AL1, m701.AL2, m701.AL3]) expect(meterA).to.be.closeTo(32, 0.005 + standbyA);
    }
    rig.write(({ m704 }) => (m704.VarSetEna = 'DISABLED'));
    await rig.run(60);
    expect(rig.q).to.equal(own);
  });

  it('under a function of reactive power each cable carries the part of its phase, also below the limit', async () => {
    const rig = await charging(duo, [1, 2]);
    for (const connectorId of [1, 2]) rig.command({ kind: 'evse.limit', connectorId, powerW: 3000 * connectorId });
    rig.write(({ m704 }) => Object.assign(m704, { VarSetMod: 'VARS', VarSet: 3000, VarSetEna: 'ENABLED' }));
    await rig.run(60);
    const { m701 } = rig.map;
    expect(m701.VarL1).to.be.closeTo(1000, 2);
    expect(rig.connector(1).currentA[0]).to.be.closeTo(m701.AL1 ?? NaN, 0.02 + standbyA);
    expect(rig.connector(2).currentA[0]).to.be.closeTo(m701.AL2 ?? NaN, 0.02 + standbyA);
  });

  it('a limit of the station in amperes holds at the meter on each phase, reactive current included', async () => {
    for (const [spec, ids] of [
      [ac, [1]],
      [duo, [1, 2]],
    ] as const) {
      const rig = await charging(spec, [...ids]);
      rig.command({ kind: 'evse.profile_limit', connectorId: 0, limitW: null, limitA: 12 });
      for (const vars of [null, 3000, -2000]) {
        if (vars !== null)
          rig.write(({ m704 }) => Object.assign(m704, { VarSetMod: 'VARS', VarSet: vars, VarSetEna: 'ENABLED' }));
        await rig.run(60);
        const { AL1, AL2, AL3 } = rig.map.m701;
        for (const meterA of [AL1, AL2]) expect(meterA, `${vars} var`).to.be.closeTo(12, 0.02);
        // on L3 of the other station there is no charger
        if (ids.length === 1) expect(AL3).to.be.closeTo(12, 0.02);
        else expect(AL3).to.be.below(12);
      }
    }
  });

  it('a lowered 702.VAMax bounds active and reactive power of the chargers together', async () => {
    const rig = await charging(ac);
    rig.write(({ m702 }) => (m702.VAMax = 15_000));
    await rig.run(60);
    expect(Math.hypot(rig.w, rig.q)).to.be.within(14_900, 15_002);
    expect(rig.q).to.be.closeTo(-rig.connector().powerW * varPerW, 2);
  });

  it('a DC station takes no reactive power', async () => {
    const rig = await charging(dc);
    expect(rig.w).to.be.below(-20_000);
    expect(rig.q).to.equal(0);
  });
});
