import { expect } from 'chai';
import { byTest } from '../../support/rig.ts';
import { scenarioFleet, wholeApp } from '../support/scenario-fleet.ts';

type Mapping = Readonly<Record<string, unknown>>;

const pv = { device_type: 'PV-3Phase', profile: '10kW-3Phase' };

describe('fleet/gateway: the site over two shards', function () {
  this.timeout(20_000);

  it('has the history and the connection points of one process', async () => {
    const config = { seed: 3, devices: [pv, pv, pv, pv], tick: 1 };
    const { ask } = await scenarioFleet(config, [2, 2]);
    const { plant, api } = wholeApp(config);
    const alone = async (path: string) => {
      const request = { method: 'GET', path: `/api/sim${path}`, body: new Uint8Array(0), by: byTest, id: 'r1' };
      const { bytes } = await api.performBytes(request);
      return JSON.parse(Buffer.from(bytes as Uint8Array).toString()) as Mapping;
    };
    const group = { devices: [2, 3], export_limit_kw: 4 };
    expect((await ask('POST', '/site', group)).status).to.equal(200);
    plant.setSite({ export: 4000 }, byTest, { devices: [2, 3] });
    expect((await ask('POST', '/controls/time/step', { ticks: 20 })).status).to.equal(200);
    await plant.step(20, byTest);
    const { missing, ...past } = (await ask('GET', '/site/history')).body as Mapping;
    const whole = await alone('/site/history');
    expect([missing, (past['timestamp'] as readonly unknown[]).length]).to.deep.equal([[], 5]);
    for (const name of ['timestamp', 'voltage_pct', 'export_limit_kw']) expect(past[name]).to.deep.equal(whole[name]);
    (whole['net_power_kw'] as readonly number[]).forEach((powerKw, at) => {
      expect((past['net_power_kw'] as readonly number[])[at]).to.be.closeTo(powerKw, 1e-6);
    });
    const shown = (scopes: unknown) =>
      (scopes as readonly Mapping[]).map(({ devices, export_limit_kw: limit, binding }) => ({
        devices,
        limit,
        binding,
      }));
    const { scopes, recorded_groups: groups } = (await ask('GET', '/site/scopes')).body as Mapping;
    const one = await alone('/site/scopes');
    expect(shown(scopes)).to.deep.equal(shown(one['scopes']));
    expect(groups).to.deep.equal(one['recorded_groups']);
  });
});
