import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { ask } from '../../support/http.ts';
import { testPki } from '../../support/pki.ts';
import { prefix, Rest } from '../../support/rest.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import { openBattery } from './support.ts';
import type { PolledBattery } from './support.ts';

/** One simulator polls the battery of another, or of itself. */
describe('REST sunspec-client', () => {
  let app: App;
  let port: number;
  let modbusPort: number;
  let call: PolledBattery['call'];
  let connect: PolledBattery['connect'];
  beforeEach(async () => {
    ({ app, port, modbusPort, call, connect } = await openBattery());
  });
  afterEach(() => app.stop());
  const comm = async (): Promise<Json> => (await call('/overview')).comm_status.sunspec_client;

  it('is there and disabled until it is told to connect', async () => {
    expect(await call('/sunspec-client')).to.include({
      enabled: false,
      state: 'disabled',
      target: null,
      endpoint: null,
      base_address: null,
      summary: null,
    });
    expect(await comm()).to.include({ enabled: false, state: 'disabled', endpoint: null, peers: 0 });
    for (const [path, body] of [
      ['/sunspec-client/scan', {}],
      ['/sunspec-client/models', undefined],
      ['/sunspec-client/models/1', undefined],
      ['/sunspec-client/read', { model: 1 }],
      ['/sunspec-client/write', { address: 0, registers: [1] }],
    ] as const) {
      expect((await call(path, body, 409)).code, path).to.equal('not-connected');
    }
  });

  it('connects, shows the chain, and disconnects', async () => {
    const status = await connect();
    expect(status).to.include({
      enabled: true,
      state: 'connected',
      endpoint: `tcp://127.0.0.1:${modbusPort}`,
      base_address: 40_000,
      chain_end: 'end_model',
      last_error: null,
    });
    expect(status.target).to.deep.equal({
      transport: 'tcp',
      host: '127.0.0.1',
      port: modbusPort,
      serial: null,
      unit_id: 1,
      timeout_s: 1,
      base_address: null,
      transaction_id: 'strict',
    });
    expect(status.identity).to.include({ manufacturer: 'derbench', model: 'Batt-3Phase' });
    const { models } = await call('/registers');
    expect(status.models).to.deep.equal(models.map((model: Json) => ({ ...model, index: 0 })));
    expect(await comm()).to.include({
      enabled: true,
      state: 'connected',
      endpoint: `tcp://127.0.0.1:${modbusPort}`,
      peers: 1,
    });
    expect((await call('/sunspec-client/scan', {})).models).to.deep.equal(status.models);
    expect((await call('/sunspec-client/models')).models).to.deep.equal(status.models);
    expect(await call('/sunspec-client/disconnect', {})).to.include({ enabled: false, state: 'disabled' });
    expect(app.logBook.entries().map(({ message }) => message)).to.include(
      `SunSpec client: tcp://127.0.0.1:${modbusPort}, unit 1, ${models.length} models`,
    );
  });

  it('reads a model as the registers of the device show it', async () => {
    await connect();
    const own = await call('/registers/802?raw=true');
    const seen = await call('/sunspec-client/models/802');
    expect(seen).to.include({
      id: 802,
      index: 0,
      name: own.name,
      address: own.address,
      length: own.length,
      registers: null,
      expected_length: null,
    });
    for (const point of own.points) {
      const { name, label, type, address, size, raw, value, unit, implemented, scale_factor: sf } = point;
      const same = seen.points.find((each: Json) => each.name === name);
      expect(same, name).to.deep.include({ label, type, address, size, value, unit, raw });
      if (implemented) expect(same, name).to.include({ scale_factor: sf });
    }
    const first = seen.read_at;
    expect((await call('/sunspec-client/models/802')).read_at).to.equal(first);
    expect(Date.parse((await call('/sunspec-client/models/802?refresh=true')).read_at)).to.be.at.least(
      Date.parse(first),
    );
  });

  it('reads points and registers now', async () => {
    await connect();
    const read = await call('/sunspec-client/read', { model: 705, points: ['Ena', 'Crv[0].Pt[1].V'] });
    expect(read.points.map(({ name }: Json) => name)).to.deep.equal(['Ena']);
    expect(read.groups.map(({ name, points }: Json) => [name, points.map((point: Json) => point.name)])).to.deep.equal([
      ['Crv[0].Pt[1]', ['Crv[0].Pt[1].V']],
    ]);
    expect(await call('/sunspec-client/read', { address: 40_000, count: 3 })).to.deep.equal({
      address: 40_000,
      registers: [0x5375, 0x6e53, 1],
    });
    const faults = await call('/sunspec-client/read', { model: 705, points: ['Ena', 'Nope'] }, 422);
    expect(faults.errors).to.deep.equal([
      { in: 'body', name: '/points/1', detail: 'model 705 of the device has no point "Nope"' },
    ]);
  });

  it('writes points, and says what reads back', async () => {
    await connect();
    const written = await call('/sunspec-client/write', {
      model: 704,
      points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' },
    });
    expect(written).to.deep.include({ match: true });
    expect(written.requests.map(({ function: code, count }: Json) => [code, count])).to.deep.equal([[16, 2]]);
    expect(
      written.points.map(({ name, written: value, match, read_back: back }: Json) => [name, value, match, back.value]),
    ).to.deep.equal([
      ['WMaxLimPct', 50, true, 50],
      ['WMaxLimPctEna', 1, true, 1],
    ]);
    const { points } = await call('/registers/704');
    expect(points.find(({ name }: Json) => name === 'WMaxLimPct')).to.include({ value: 50, source: 'modbus' });
    const { address } = points.find(({ name }: Json) => name === 'WMaxLimPct');
    expect(await call('/sunspec-client/write', { address, registers: [4000] })).to.deep.equal({
      address,
      match: true,
      registers: [4000],
      read_back: [4000],
      requests: [{ function: 6, address, count: 1 }],
    });
  });

  it('answers an exception of the device with 502 and its code', async () => {
    await connect();
    const problem = await call('/sunspec-client/read', { address: 50_000, count: 2 }, 502);
    expect(problem).to.include({
      code: 'upstream-error',
      detail: 'exception 2 (illegal data address)',
      modbus_exception: 2,
    });
    const refused = await call('/sunspec-client/write', { model: 704, points: { WMaxLimPct: 150 } }, 502);
    expect(refused).to.include({
      detail: 'exception 3 (illegal data value) for WMaxLimPct; nothing was written before',
      modbus_exception: 3,
    });
    expect(await call('/sunspec-client')).to.include({ state: 'connected', last_error: refused.detail });
  });

  it('answers 504 where nothing answers, 502 where nothing listens, and health does not suffer', async () => {
    const silent = await ScriptedPeer.open(Buffer.alloc(0), 0, () => 'silence');
    const slow = await call('/sunspec-client/connect', { host: '127.0.0.1', port: silent.port, timeout_s: 0.1 }, 504);
    expect(slow).to.include({
      code: 'upstream-timeout',
      detail: 'no answer from unit 1 within 0.1 s, reading 2 registers at 40000',
    });
    await silent.close();
    const refused = await call('/sunspec-client/connect', { host: '127.0.0.1', port: silent.port }, 502);
    expect(refused).to.include({
      code: 'upstream-error',
      detail: `cannot connect to tcp://127.0.0.1:${silent.port}: the connection was refused`,
    });
    expect(refused).not.to.have.property('modbus_exception');
    expect(await call('/sunspec-client')).to.include({ enabled: true, state: 'error', last_error: refused.detail });
    expect((await call('/health')).status).to.equal('ok');
    expect((await call('/sunspec-client/models/1', undefined, 409)).detail).to.contain(refused.detail);
  });

  it('refuses what does not go together, or leads nowhere', async () => {
    for (const [body, name] of [
      [{}, '/host'],
      [{ host: '169.254.169.254' }, '/host'],
      [{ device: 99 }, '/device'],
      [{ device: 0, port: 502 }, '/port'],
      [{ transport: 'rtu', serial: { path: '/dev/ttyS0' }, device: 0 }, '/device'],
      [{ host: 'a b' }, '/host'],
      [{ host: '127.0.0.1', tls: { cert: 'x', key: 'x', root_cert: 'x' } }, '/tls'],
      [{ host: '127.0.0.1', serial: { path: '/dev/ttyS0' } }, '/serial'],
      [{ transport: 'rtu' }, '/serial'],
      [{ transport: 'tls', host: 'x' }, '/tls'],
      [{ transport: 'rtu', serial: { path: '/etc/passwd' } }, '/serial/path'],
      [{ transport: 'rtu', serial: { path: '/dev/ttyS0' }, unit_id: 0 }, '/unit_id'],
      [{ transport: 'rtu', serial: { path: '/dev/ttyS0' }, host: 'x' }, '/host'],
      [{ transport: 'rtu', serial: { path: '/dev/ttyS0' }, transaction_id: 'zero' }, '/transaction_id'],
      [{ host: '127.0.0.1', transaction_id: 'any' }, '/transaction_id'],
      [{ host: '127.0.0.1', timeout_s: 31 }, '/timeout_s'],
      [{ host: '127.0.0.1', unit_id: 256 }, '/unit_id'],
      [{ host: '127.0.0.1', base_address: 65_534 }, '/base_address'],
      [{ transport: 'tls', host: 'x', tls: { cert: '/etc/passwd', key: 'x', root_cert: 'x' } }, '/tls/root_cert'],
    ] as const) {
      const { errors } = await call('/sunspec-client/connect', body, 422);
      expect(
        errors.map((fault: Json) => fault.name),
        JSON.stringify(body),
      ).to.include(name);
    }
    for (const [host, detail] of [
      ['', 'must be a host name or an IP address, up to 253 characters'],
      ['a b', 'must be a host name or an IP address, up to 253 characters'],
      ['[::1]', 'must be an IPv6 address without brackets, such as ::1'],
    ] as const)
      expect((await call('/sunspec-client/connect', { host }, 422)).errors).to.deep.equal([
        { in: 'body', name: '/host', detail: `${detail}; given ${JSON.stringify(host)}` },
      ]);
    expect(await call('/sunspec-client')).to.include({ state: 'disabled' });
  });

  it('says what a read is made of', async () => {
    const detailOf = async (body: object) => (await call('/sunspec-client/read', body, 422)).detail;
    expect(await detailOf({})).to.equal('body: must be an object with model or an object with address and count');
    expect(await detailOf({ model: 701, address: 1, count: 1 })).to.equal(
      'body: must be an object without address and count or an object without model',
    );
  });

  it('refuses models and points that the device does not have', async () => {
    await connect();
    expect((await call('/sunspec-client/models/103', undefined, 404)).code).to.equal('unknown-resource');
    expect((await call('/sunspec-client/models/701?index=1', undefined, 404)).code).to.equal('unknown-resource');
    const { errors } = await call('/sunspec-client/write', { model: 704, points: { W: 1, WMaxLimPctEna: 'x' } }, 422);
    expect(errors.map(({ name }: Json) => name)).to.deep.equal(['/points/W', '/points/WMaxLimPctEna']);
    expect(errors[1].allowed).to.deep.equal(['DISABLED', 'ENABLED']);
    expect((await call('/sunspec-client/write', { model: 704, points: {} }, 422)).code).to.equal('validation');
    const beyond = { in: 'body', detail: 'leads beyond the last address: from 65530 on there are 6 registers' };
    expect((await call('/sunspec-client/read', { address: 65_530, count: 7 }, 422)).errors).to.deep.equal([
      { ...beyond, name: '/count' },
    ]);
    expect(
      (await call('/sunspec-client/write', { address: 65_530, registers: [1, 2, 3, 4, 5, 6, 7] }, 422)).errors,
    ).to.deep.equal([{ ...beyond, name: '/registers' }]);
    expect((await call('/sunspec-client/poll', { models: [701, 999] }, 422)).errors[0]).to.deep.include({
      name: '/models/1',
    });
  });

  it('never shows certificates or keys, neither in answers nor in the log', async () => {
    const {
      clients: {
        ReadOnlySunSpec: { cert, key },
      },
      ca,
    } = await testPki();
    const answer = await ask(port, `${prefix}/sunspec-client/connect`, {
      body: {
        transport: 'tls',
        host: '127.0.0.1',
        port: modbusPort,
        timeout_s: 0.5,
        tls: { cert, key, root_cert: ca.cert },
      },
    });
    expect(answer.status).to.be.oneOf([502, 504]);
    const shown = [
      answer.text,
      JSON.stringify(await call('/sunspec-client')),
      JSON.stringify(app.logBook.entries()),
    ].join('\n');
    expect(shown).not.to.contain('BEGIN').and.not.to.contain(key.split('\n')[1]);
    expect(shown).to.contain(`tls://127.0.0.1:${modbusPort}`);
  });

  it('takes certificates that are longer than other texts may be', async () => {
    const long = { cert: 'x'.repeat(2000), key: 'x', root_cert: 'x'.repeat(32_768) };
    const { errors } = await call('/sunspec-client/connect', { transport: 'tls', host: '127.0.0.1', tls: long }, 422);
    expect(errors.map(({ name }: { name: string }) => name)).to.deep.equal(['/tls/cert', '/tls/key', '/tls/root_cert']);
    const { errors: tooLong } = await call(
      '/sunspec-client/connect',
      { transport: 'tls', host: '127.0.0.1', tls: { ...long, cert: 'x'.repeat(32_769) } },
      422,
    );
    expect(tooLong[0].name).to.equal('/tls/cert');
    expect(
      (await call('/sunspec-client/write', { model: 1, points: { Mn: 'x'.repeat(1001) } }, 422)).errors[0].name,
    ).to.equal('/points/Mn');
  });

  it('ends what is under way when the simulator stops', async () => {
    const silent = await ScriptedPeer.open(oldInverter().image, 40_000);
    await call('/sunspec-client/connect', { host: '127.0.0.1', port: silent.port, timeout_s: 20 });
    silent.rule = () => 'silence';
    const pending = ask(port, `${prefix}/sunspec-client/scan`, { body: {} });
    while (silent.requests.at(-1)?.address !== 40_000)
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    await app.stop();
    expect((await pending).status, 'not 504, which a time-out has').to.be.oneOf([409, 503]);
    await silent.close();
  });
});

describe('examples of sunspec-client', () => {
  it('are those of a device of the simulator', async () => {
    const rest = await Rest.open();
    const { models } = await rest.get('/registers');
    expect(examples('scan_sunspec_client').reply.models).to.deep.equal(
      models.map((model: Json) => ({ ...model, index: 0 })),
    );
    for (const point of examples('get_client_model').reply.points) {
      const live = (await rest.get('/registers/704')).points.find(({ name }: Json) => name === point.name);
      const { name, label, type, address, size, scale_factor: sf, unit, access } = live;
      expect(point).to.include({ name, label, type, address, size, scale_factor: sf, unit, access });
    }
    await rest.api.stop();
  });
});
