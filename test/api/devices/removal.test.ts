import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import type { Rest } from '../../support/rest.ts';
import { openDevices } from './support.ts';

let rest: Rest;

async function open(...args: Parameters<typeof openDevices>): Promise<void> {
  rest = await openDevices(...args);
}

describe('interface 13: POST devices/{index}/remove', () => {
  afterEach(() => rest.api.stop());

  it('answers index and what is left; then the index is unknown, on every path', async () => {
    await open({ types: ['PV', 'Batt', 'PV'] });
    expect(await rest.post('/devices/1/remove', {})).to.deep.equal({ device_index: 1, device_count: 2 });
    for (const path of [
      '/devices',
      '/overview',
      '/controls',
      '/battery',
      '/registers',
      '/nameplate',
      '/dc-iv',
      '/controls/grid',
      '/history',
      '/grid-support',
    ]) {
      expect((await rest.refused(`${path}?device=1`, 404, 'unknown-device')).detail, path).to.match(
        /^device 1 was removed; name one that is there with device=/,
      );
    }
    await rest.refused('/devices/1/remove', 404, 'unknown-device', {});
    await rest.refused('/devices/7/remove', 404, 'unknown-device', {});
    await rest.refused('/commands', 404, 'unknown-device', { command: 'stop', device: 1 });
    expect((await rest.post('/devices', {}, 201)).device_index).to.equal(3);
    expect((await rest.get('/devices')).devices.map(({ device_index }: Json) => device_index)).to.deep.equal([0, 2, 3]);
    expect((await rest.get('/devices?device=3')).devices[0].device_index).to.equal(3);
  });

  it('DELETE devices/{index} does the same, for no page of another origin', async () => {
    await open({ types: ['PV', 'Batt', 'PV'] });
    const remove = (headers: Record<string, string> = {}) => rest.call('/devices/1', { method: 'DELETE', headers });
    expect((await remove({ Origin: 'http://evil.example' })).json).to.include({ status: 403, code: 'cross-origin' });
    expect((await remove()).json).to.deep.equal({ device_index: 1, device_count: 2 });
    expect((await remove()).json).to.include({ status: 404, code: 'unknown-device' });
    expect((await rest.get('/overview')).devices).to.have.length(2);
  });

  it('refuses an index that is none, a body and a query', async () => {
    await open();
    await rest.refused('/devices/x/remove', 422, 'validation', {});
    await rest.refused('/devices/-1/remove', 422, 'validation', {});
    const { errors } = await rest.refused('/devices/99999999999999999999/remove', 422, 'validation', {});
    expect(errors).to.deep.equal([
      { in: 'path', name: 'index', detail: 'must be an integer from 0 to 999999999; given 100000000000000000000' },
    ]);
    await rest.refused('/devices/1/remove', 422, 'validation', { force: true });
    await rest.refused('/devices/1/remove?device=1', 422, 'validation', {});
    expect((await rest.call('/devices/1/remove')).status).to.equal(405);
    expect(rest.plant.devices).to.have.length(2);
  });

  it('its open commands are canceled', async () => {
    await open();
    const { id } = await rest.post('/commands', { command: 'stop', device: 1 }, 202);
    await rest.post('/devices/1/remove', {});
    expect(await rest.get(`/commands/${id}`)).to.include({ state: 'canceled', message: 'the device was removed' });
  });

  it('who names no device means the first of the start, not the first that is left', async () => {
    await open();
    await rest.post('/devices/0/remove', {});
    expect((await rest.refused('/overview', 404, 'unknown-device')).detail).to.match(/^device 0 was removed; /);
    await rest.refused('/registers/704', 404, 'unknown-device', { points: { WMaxLimPct: 10 } });
    await rest.get('/overview?device=1');
  });

  it('an empty site answers, steps and takes a new device', async () => {
    await open({ types: ['PV'] });
    await rest.post('/devices/0/remove', {});
    expect(await rest.get('/devices')).to.deep.equal({ devices: [] });
    expect(await rest.get('/evse')).to.deep.equal({ evses: [] });
    expect((await rest.get('/server-info')).device_count).to.equal(0);
    expect((await rest.get('/health')).status).to.equal('ok');
    expect((await rest.get('/controls/grid')).voltage_ln_v).to.equal(null);
    await rest.get('/controls/environment');
    await rest.get('/controls/time');
    await rest.get('/commands');
    await rest.refused('/overview', 404, 'unknown-device');
    for (const path of ['/metrics', '/site']) expect((await rest.call(path)).status, path).to.equal(200);
    const { time, snapshot } = await rest.post('/controls/time/step', { ticks: 2 });
    expect([time.tick, snapshot]).to.deep.equal([2, null]);
    await rest.refused('/controls/time/step?device=0', 404, 'unknown-device', {});
    expect((await rest.post('/devices', {}, 201)).device_index).to.equal(1);
  });

  it('without the first device of the start a step shows no other one unasked', async () => {
    await open();
    await rest.post('/devices/0/remove', {});
    expect((await rest.post('/controls/time/step', {})).snapshot).to.equal(null);
    expect((await rest.post('/controls/time/step?device=1', {})).snapshot).to.include({ device_index: 1, tick: 2 });
  });

  it('a device leaves and joins between the ticks of a step; the step goes on and shows no snapshot of what has left', async () => {
    await open({ types: ['PV', 'Batt', 'PV'] });
    const steps = [1, 2].map((device) => rest.post(`/controls/time/step?device=${device}`, { ticks: 500 }));
    while (rest.plant.latest.tick === 0) await new Promise(setImmediate);
    await rest.post('/devices/1/remove', {});
    const { tick } = rest.plant.latest;
    expect(tick).to.be.below(500);
    await rest.post('/devices', {}, 201);
    expect(rest.plant.latest.tick).to.be.within(tick, 900);
    const [left, there] = await Promise.all(steps);
    expect(left).to.have.property('snapshot', null);
    expect(there.snapshot).to.include({ device_index: 2, tick: 1000 });
    expect(left.time.tick).to.be.within(500, 1000);
  });

  it('two removals of one device at once: one has it', async () => {
    await open();
    const answers = await Promise.all([1, 2].map(() => rest.call('/devices/1/remove', { method: 'POST', body: {} })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 404]);
  });

  it('twenty additions at once have twenty indexes', async () => {
    await open();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => rest.call('/devices', { method: 'POST', body: { device_type: 'PV' } })),
    );
    expect(answers.map(({ json }) => json.device_index).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 20 }, (_, i) => 2 + i),
    );
    expect(rest.plant.devices.map(({ index }) => index)).to.deep.equal(Array.from({ length: 22 }, (_, i) => i));
  });
});
