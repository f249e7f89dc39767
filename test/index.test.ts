import { expect } from 'chai';
import { configOfOptions } from '../src/config/layers/load.ts';
import type { SimError } from '../src/core/errors.ts';
import { createSimulator, DerbenchError } from '../src/index.ts';

const issuesOf = (options: Record<string, unknown>): string[] => {
  try {
    configOfOptions(options);
  } catch (error) {
    return (error as SimError).issues.map(({ name, detail }) => `${name}: ${detail}`);
  }
  return [];
};

describe('createSimulator', () => {
  it('takes the settings and blocks of a configuration file, on free ports and with a paused clock', () => {
    const { web, modbus, clock, devices, tickS } = configOfOptions({
      tick: 1,
      seed: undefined,
      devices: [{ device_type: 'Batt', count: 2 }],
    });
    expect([web.port, modbus.port, clock.startsPaused, tickS]).to.deep.equal([0, 0, true, 1]);
    expect(devices.map(({ assetType }) => assetType)).to.deep.equal(['battery', 'battery']);
    expect(configOfOptions({ wall_clock: true }).clock).to.include({ startsPaused: false, followsWall: true });
    expect(configOfOptions({ start_paused: false, website_port: 8200 })).to.have.nested.include({
      'web.port': 8200,
      'clock.startsPaused': false,
    });
    expect(configOfOptions({ dnp3_enable: true }).dnp3).to.include({ port: 0 });
    expect(configOfOptions({}).unused).to.deep.equal([]);
  });

  it('takes a bundled configuration with settings beside it', () => {
    const { devices, tickS, seed } = configOfOptions({ config: 'mixed-site', seed: 3 });
    expect([devices.length, tickS, seed]).to.deep.equal([7, 1, 3]);
  });

  it('names every issue', () => {
    const issues = issuesOf({ tick: 0, tik: 1, config: 'mixed-sit', devices: [{ device_type: 'PVV' }] });
    expect(issues).to.have.length(5);
    expect(issues[0]).to.match(/^options: config: .* did you mean mixed-site\?$/);
    expect(issues[1]).to.equal('options: devices: given beside config; allowed: one of the two');
    expect(issues.slice(2).map((issue) => issue.split(' given')[0])).to.deep.equal([
      'options: tick:',
      'options: tik: unknown key; nearest known: tick',
      'options: devices[0].device_type:',
    ]);
    expect(issuesOf({ config: 3 })[0]).to.match(/^options: config: given 3; allowed: a path/);
  });

  it('refuses options that are none, in words', async () => {
    const refused = async (options: unknown): Promise<string> => {
      try {
        const sim = await createSimulator(options as Record<string, unknown>);
        await sim.stop();
      } catch (error) {
        expect(error).to.be.instanceOf(DerbenchError).and.include({ code: 'config-invalid', status: null });
        return (error as DerbenchError).message;
      }
      return 'started';
    };
    for (const options of [null, [], 5, 'mixed-site'])
      expect(await refused(options)).to.match(/must be an object, such as \{ tick: 1 \}$/);
    expect(await refused({ log: 5 })).to.match(/log must be true, false, or a function/);
    expect(await refused({ tick: NaN })).to.match(/given NaN; allowed: finite numbers$/);
    expect(await refused({ seed: 1n })).to.match(/cannot be read/);
    expect(await refused({ quite_another: 1 })).to.match(/allowed: those that derbench --help lists$/);
  });

  it('starts several in one process, and stops each for itself, also by request', async () => {
    const handlers = process.eventNames().map((name) => process.listenerCount(name));
    const first = await createSimulator({ N: 2, dnp3_enable: true });
    const lines: string[] = [];
    const second = await createSimulator({ website_ip: 'localhost', log: (line) => lines.push(line) });
    expect(first.modbus.map(({ device, unitId }) => [device, unitId])).to.deep.equal([
      [0, 1],
      [1, 1],
    ]);
    expect(first.dnp3.map(({ device, outstation }) => [device, outstation])).to.deep.equal([
      [0, 1],
      [1, 1],
    ]);
    expect(first.url).to.equal(`http://127.0.0.1:${first.http.port}`);
    const overview = await first.client.overview();
    expect(overview.devices.map(({ modbus }) => modbus?.port)).to.deep.equal(first.modbus.map(({ port }) => port));
    expect(lines.join('')).to.include('derbench');
    try {
      await createSimulator({ website_port: first.http.port });
      expect.fail('the port is in use');
    } catch (error) {
      expect(error).to.be.instanceOf(DerbenchError).and.include({ code: 'listen-failed', status: null });
    }
    await first[Symbol.asyncDispose]();
    expect((await second.client.time()).mode).to.equal('paused');
    await second.client.post('stop');
    await second.stop();
    expect(process.eventNames().map((name) => process.listenerCount(name))).to.deep.equal(handlers);
  });
});
