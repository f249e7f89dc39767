import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { Stream } from './support/stream.ts';

const wMaxW = 10_000;
const vNomV = 480;

describeWith(['py20305'], 'the SunSpec connector of an IEEE 2030.5 client', () => {
  let simulator: RunningSimulator;
  let connector: PythonPeer;
  let stream: Stream;

  before(async () => {
    simulator = await startSimulator(['--tick', '0.1']);
    stream = await Stream.open(simulator.httpPort);
    connector = new PythonPeer('der_connector', simulator.modbusPort);
    await stream.until('full power', 15, ({ metrics }) => metrics.power_kw > 9 || undefined);
  });
  after(async () => {
    await stream.close();
    await connector.stop();
    expect(await simulator.stop()).to.equal(0);
  });

  const fetched = (what: 'monitoring' | 'nameplate' | 'configuration' | 'status'): Promise<Json> =>
    connector.ask('call', { name: `fetch_${what}` });
  const apply = (control: string, params: Json) => connector.ask('call', { name: `update_${control}`, params });
  const atVoltage = async (voltagePu: number): Promise<void> => {
    const { status, text } = await ask(simulator.httpPort, '/api/sim/controls/grid', {
      body: { voltage_pu: voltagePu },
    });
    expect(status, text).to.equal(200);
  };
  /** What the connector measures once it is as wanted. */
  const expectMeasured = (what: string, wanted: (now: Json) => boolean): Promise<Json> =>
    stream.until(what, 20, async () => {
      const now = await fetched('monitoring');
      return wanted(now) ? now : undefined;
    });
  const near = (value: number, wanted: number) => Math.abs(value - wanted) <= 0.002 * wMaxW;

  it('reads ratings, settings, state and measurements', async () => {
    const nameplate = await fetched('nameplate');
    const watts = ({ value, multiplier }: Json) => value * 10 ** multiplier;
    expect(watts(nameplate.WMaxRtg)).to.equal(wMaxW);
    expect(watts(nameplate.VNomRtg)).to.be.closeTo(vNomV, 1e-6);
    expect(watts((await fetched('configuration')).WMax)).to.equal(wMaxW);
    expect((await fetched('status')).connectStatus.value).to.equal(1);
    expect(await fetched('monitoring')).to.include({ Hz: 60, V: vNomV, ACType: 2 });
  });

  it('writes a volt-var curve, which the reactive power follows at every voltage', async () => {
    await apply('qv', {
      qv_mode_enable: 1,
      qv_vref: 100,
      qv_olrt: 0.5,
      qv_curve_v_pts: [92, 98, 102, 108],
      qv_curve_q_pts: [30, 0, 0, -30],
    });
    for (const [voltagePu, varPct] of [
      [0.92, 30],
      [0.95, 15],
      [1, 0],
      [1.05, -15],
      [1.08, -30],
    ] as const) {
      await atVoltage(voltagePu);
      await expectMeasured(
        `${varPct} % at ${voltagePu}`,
        ({ V, Var }) => Math.abs(V - voltagePu * vNomV) < 0.2 && near(Var, (varPct * wMaxW) / 100),
      );
    }
    await apply('qv', { qv_mode_enable: 0 });
    await atVoltage(1);
    await expectMeasured('no reactive power', ({ Var }) => Var === 0);
  });

  it('writes a volt-var curve without a reference, which then is the nominal voltage', async () => {
    await apply('qv', {
      qv_mode_enable: 1,
      qv_olrt: 0.5,
      qv_curve_v_pts: [95, 100, 105],
      qv_curve_q_pts: [20, 0, -20],
    });
    await atVoltage(1.025);
    await expectMeasured('-10 % at 1.025', ({ Var }) => near(Var, -0.1 * wMaxW));
    await apply('qv', { qv_mode_enable: 0 });
    await atVoltage(1);
    await expectMeasured('no reactive power', ({ Var }) => Var === 0);
  });

  it('writes a volt-watt curve, which the active power follows', async () => {
    await apply('pv', { pv_mode_enable: 1, pv_olrt: 0.5, pv_curve_v_pts: [104, 110], pv_curve_p_pts: [100, 0] });
    for (const [voltagePu, ceilingPct] of [
      [1.06, 66.667],
      [1.08, 33.333],
    ] as const) {
      await atVoltage(voltagePu);
      await expectMeasured(`${ceilingPct} %`, ({ W }) => near(W, (ceilingPct * wMaxW) / 100));
    }
    await apply('pv', { pv_mode_enable: 0 });
    await atVoltage(1);
    await expectMeasured('full power', ({ W }) => W > 9000);
  });

  it('limits the power; of several limits the lowest counts, and all can be taken back', async () => {
    await apply('p_lim', { p_lim_mode_enable: 1, p_lim_w: 60 });
    await expectMeasured('60 %', ({ W }) => near(W, 6000));
    await apply('gen_lim', { gen_lim_mode_enable: 1, gen_lim_w: 4500 });
    await expectMeasured('4500 W', ({ W }) => near(W, 4500));
    await apply('p_lim_inj', { p_lim_mode_enable: 1, p_lim_watts: 2500 });
    await expectMeasured('2500 W', ({ W }) => near(W, 2500));
    await apply('p_lim_inj', { p_lim_mode_enable: 0 });
    await expectMeasured('4500 W again', ({ W }) => near(W, 4500));
    await apply('gen_lim', { gen_lim_mode_enable: 0 });
    await expectMeasured('60 % again', ({ W }) => near(W, 6000));
    await apply('p_lim', { p_lim_mode_enable: 0 });
    await expectMeasured('full power', ({ W }) => W > 9000);
  });

  it('sets a power factor of either sign, and reactive power by percent of VAMax', async () => {
    await apply('p_lim', { p_lim_mode_enable: 1, p_lim_w: 50 });
    for (const [excitation, sign] of [
      [true, 1],
      [false, -1],
    ] as const) {
      await apply('const_pf', { inj: { mode: 1, pf: 0.9, excitation } });
      const { W, Var, PF } = await expectMeasured(
        `power factor 0.9, ${sign}`,
        (now) => near(now.W, 5000) && near(now.Var, sign * 5000 * Math.tan(Math.acos(0.9))),
      );
      expect(Math.abs(PF)).to.be.closeTo(0.9, 0.002);
      expect(W / Math.hypot(W, Var)).to.be.closeTo(0.9, 0.002);
    }
    // the connector has no way to take a power factor back
    const off = await ask(simulator.httpPort, '/api/sim/registers/704', { body: { points: { PFWInjEna: 0 } } });
    expect(off.status, off.text).to.equal(200);
    await apply('const_q', { const_q_mode_enable: 1, const_q_pct: -20, ref_type: 8 });
    await expectMeasured('-2000 var', ({ Var }) => near(Var, -2000));
    await apply('const_q', { const_q_mode_enable: 0 });
    await apply('p_lim', { p_lim_mode_enable: 0 });
    await expectMeasured('full power without reactive power', ({ W, Var }) => W > 9000 && Var === 0);
  });
});
