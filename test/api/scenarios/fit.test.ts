import { expect } from 'chai';
import { createApp } from '../../../src/app/build.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { configOf } from '../../support/configured.ts';
import { ask } from '../../support/http.ts';

const steps = [{ after: 1 }];
const feeder = { short_circuit_ratio: 20, x_over_r: 2 };

describe('scenarios for another simulator', () => {
  let app: App;
  let port: number;
  before(async () => {
    const config = configOf('--config', 'mixed-site', '-wp', '0', '-p', '0', '--start_paused', 'yes');
    app = createApp(config, { logBook: createLogBook({ write: () => undefined }), checkReplies: true });
    ({ port } = (await app.start()).http);
  });
  after(() => app.stop());

  const add = async (body: object) => {
    const { status, json } = await ask(port, '/api/sim/scenarios', { method: 'POST', body });
    return { status, ...(json as { readonly detail?: string; readonly id?: string }) };
  };
  const reasonsOf = (detail = '') => detail.replace(/^the scenario is for /, '').split('; ');
  const withConfig = (config: object) => add({ scenario: { config, steps } });

  it('are refused with all reasons: ratings of devices, and the line to the grid', async () => {
    const { status, detail = '' } = await add({ bundled: 'volt-watt' });
    expect(status).to.equal(409);
    const reasons = reasonsOf(detail);
    expect(reasons).to.include.members([
      'device 0: 10kW-3Phase, here 500kW-3Phase',
      'a stiff grid, here a grid behind a feeder of short_circuit_ratio 20 and x_over_r 2',
      'POST scenario-runs starts a simulator for the scenario, and so does derbench run',
    ]);
  });

  it('name a model that a device lacks, the frequency, and the source of irradiance', async () => {
    const pv = { device_type: 'PV-3Phase', profile: { layout: 'classic' } };
    const { status, detail } = await withConfig({
      devices: [pv],
      grid: { nominal_frequency_hz: 50, feeder },
      irradiance_source: 'clear_sky',
      clouds: 'broken',
    });
    expect(status).to.equal(409);
    const reasons = reasonsOf(detail);
    expect(reasons[3]).to.match(/^device 0: model \d.*, here none$/);
    expect(reasons.toSpliced(3, 1)).to.deep.equal([
      'a grid of 50 Hz, here 60 Hz',
      'irradiance_source "clear_sky", here "csv"',
      'clouds "broken", here "scattered"',
      'POST scenario-runs starts a simulator for the scenario, and so does derbench run',
    ]);
  });

  it('name each rating that differs where the profile has no name of its own', async () => {
    const { detail } = await withConfig({
      devices: [{ device_type: 'PV-3Phase', profile: { models: { 702: { WMaxRtg: 20000 } } } }],
      grid: { feeder },
    });
    expect(reasonsOf(detail)).to.include('device 0: Rated current (702.AMaxRtg) 79.39 A, here 1984.6 A');
  });

  it('are taken where their config names what is there, by an alias or without a profile too', async () => {
    const named = { device_type: 'PV', profile: '500kW-3Phase' };
    const grid = { nominal_frequency_hz: 60, feeder };
    for (const config of [
      { devices: [named, { device_type: 'Batt' }], grid, irradiance_source: 'csv' },
      { devices: [{}, { device_type: 'Batt-3Phase' }] },
      // files are not read for a request
      { devices: [{ device_type: 'PV', profile: '/etc/hostname' }] },
      { seed: 3 },
    ])
      expect((await withConfig(config)).status, JSON.stringify(config)).to.equal(201);
    const { status, detail } = await withConfig({ devices: [{ device_type: 'Batt' }] });
    expect([status, detail?.split(',')[0]]).to.deep.equal([409, 'the scenario is for Batt-3Phase']);
  });

  it('are compared with the parameters of the start, and by the name of a bundled configuration', async () => {
    const scenario = {
      parameters: { kind: 'PV', hz: 60 },
      config: { devices: [{ device_type: '${kind}' }], grid: { nominal_frequency_hz: '${hz}', feeder } },
      steps,
    };
    const { id } = await add({ scenario });
    const start = (parameters: object) =>
      ask(port, `/api/sim/scenarios/${id}/start`, { method: 'POST', body: { parameters } });
    expect((await start({ hz: 50 })).status).to.equal(409);
    expect((await start({ kind: 'EVSE' })).json).to.include({ status: 409 });
    const named = await withConfig('one-evse' as unknown as object);
    expect(named.detail).to.match(/^the scenario is for EVSE, here PV-3Phase, /);
    expect((await withConfig('mixed-site' as unknown as object)).status).to.equal(201);
  });

  it('have a profile that there is', async () => {
    for (const profile of ['no-such', { layout: 5 }, { models: { 702: { WMaxRtg: -1 } } }]) {
      const { status, json } = await ask(port, '/api/sim/scenarios', {
        method: 'POST',
        body: { scenario: { config: { devices: [{}, { device_type: 'Batt', profile }] }, steps } },
      });
      expect(status, JSON.stringify(profile)).to.equal(422);
      expect((json as { errors: { name: string }[] }).errors[0]?.name).to.match(
        /^\/scenario\/config\/devices\/1\/profile/,
      );
    }
  });

  it('are refused at their start when a device has left', async () => {
    const { id } = await withConfig({ devices: Array.from({ length: 7 }, () => ({})) });
    expect(id).to.be.a('string');
    await ask(port, '/api/sim/devices/6/remove', { method: 'POST' });
    const { status } = await ask(port, `/api/sim/scenarios/${id}/start`, { method: 'POST', body: {} });
    expect(status).to.equal(409);
  });
});
