import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { ask } from '../../support/http.ts';
import type { Json, JsonAnswer } from '../../support/http.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';

describe('GET and POST modbus/messages', () => {
  let app: App;
  let port: number;
  const masters: RawClient[] = [];

  async function start(types: readonly string[] = ['PV-3Phase'], ...flags: string[]): Promise<void> {
    ({ app, port } = await startApp(types, flags));
  }
  afterEach(async () => {
    for (const master of masters.splice(0)) master.destroy();
    await app.stop();
  });

  const path = '/api/sim/modbus/messages';
  const set = (body: unknown): Promise<JsonAnswer> => ask(port, path, { body });
  async function get(query = ''): Promise<Json> {
    const answer = await ask(port, path + query);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }
  async function open(device = 0): Promise<RawClient> {
    const master = await RawClient.open(modbusEndpoint(app, device).port);
    masters.push(master);
    return master;
  }
  const slot = (name: string): PointSlot => {
    const [model, point = ''] = name.split('.');
    return app.plant.device(0).bank.layout.slot(Number(model), point)!;
  };
  const hex = (number: number) => number.toString(16).padStart(4, '0');
  const idsOf = ({ messages }: Json) => messages.map(({ id }: Json) => id);

  it('is off until asked for, and keeps nothing before', async () => {
    await start();
    const master = await open();
    await master.request(readRequest(1, 40000, 2));
    expect(await get()).to.deep.equal({
      enabled: false,
      entries: 1000,
      kept: 0,
      dropped: 0,
      last_id: 0,
      changed_by: null,
      messages: [],
    });
    const on = await set({ enabled: true, entries: 20 });
    expect(on.status).to.equal(200);
    expect(on.json).to.include({ enabled: true, entries: 20, kept: 0 });
    expect(on.json.changed_by.source).to.equal('rest');
    await master.request(readRequest(2, 40000, 2));
    expect(idsOf(await get())).to.deep.equal([1, 2]);
  });

  it('names the points of a write with their values, and those of a read', async () => {
    await start();
    await set({ enabled: true });
    const master = await open();
    const limit = slot('704.WMaxLimPct');
    const raw = Math.round(50 / 10 ** limit.sf);
    await master.request(adu(7, 1, `06${hex(limit.address)}${hex(raw)}`));
    await master.request(adu(8, 1, `03${hex(limit.address)}0001`));
    const { messages } = await get();
    const address = limit.address;
    expect(messages).to.have.lengthOf(4);
    expect(messages[0]).to.deep.include({
      id: 1,
      exchange_id: 1,
      interface: 'modbus_tcp',
      direction: 'in',
      kind: 'request',
      peer: `127.0.0.1:${masters[0]!.socket.localPort!}`,
      device_index: 0,
      whole: true,
      transaction_id: 7,
      unit_id: 1,
      function: 6,
      function_name: 'write single register',
      address,
      count: 1,
      points: ['704.WMaxLimPct'],
      values: { '704.WMaxLimPct': 50 },
      exception_code: null,
      no_answer: null,
      duration_ms: null,
      raw: `0007000000060106${hex(address)}${hex(raw)}`,
    });
    expect(messages[2]).to.deep.include({ id: 3, exchange_id: 3, points: ['704.WMaxLimPct'], values: null });
    expect(messages[3]).to.deep.include({ id: 4, exchange_id: 3, points: null, values: { '704.WMaxLimPct': 50 } });
    expect(messages[3].duration_ms).to.be.at.least(0);
    expect(messages[3].sim_time).to.equal(new Date(app.plant.time.dateMs).toISOString());
  });

  it('shows a refused write with its exception, symbols and half a point', async () => {
    await start();
    await set({ enabled: true });
    const master = await open();
    const enable = slot('704.WMaxLimPctEna');
    const watts = slot('704.WSet');
    expect(watts.def.size).to.equal(2);
    await master.request(adu(1, 1, `06${hex(enable.address)}0001`));
    await master.request(adu(2, 1, `06${hex(watts.address)}0001`));
    await master.request(readRequest(3, 100, 1));
    const { messages } = await get();
    expect(messages[0].values).to.deep.equal({ '704.WMaxLimPctEna': 'ENABLED' });
    expect([messages[2].points, messages[2].values]).to.deep.equal([['704.WSet'], {}]);
    expect([messages[3].function, messages[3].exception_code, messages[3].exception_name]).to.deep.equal([
      6,
      3,
      'illegal data value',
    ]);
    expect([messages[4].points, messages[5].exception_name]).to.deep.equal([[], 'illegal data address']);
  });

  it('has counts of writes and of connections beside each other, by name', async () => {
    await start();
    const master = await open();
    const enable = slot('704.WMaxLimPctEna');
    await master.request(adu(1, 1, `06${hex(enable.address)}0001`));
    await master.request(adu(2, 1, `06${hex(enable.address)}0007`));
    await master.request(readRequest(3, 40_000, 1));
    const { interfaces } = (await ask(port, '/api/sim/modbus')).json;
    expect(interfaces[0].counters).to.include({
      requests: 3,
      exceptions: 1,
      writes: 1,
      refused_writes: 1,
      accepted_connections: 1,
      refused_connections: 0,
    });
    expect(interfaces[0].listeners[0].accepting).to.equal(true);
    app.faults.inject([{ protocol: 'modbus', kind: 'outage', parameters: { mode: 'refuse' } }], { source: 'rest' });
    const shut = (await ask(port, '/api/sim/modbus')).json;
    expect(shut.interfaces[0].listeners[0]).to.deep.include({ accepting: false });
  });

  it('filters by device, function, address, peer and direction, and follows by id', async () => {
    await start(['PV-3Phase', 'PV-3Phase']);
    await set({ enabled: true });
    const [first, second] = [await open(0), await open(1)];
    await first.request(readRequest(1, 40000, 4));
    await first.request(adu(2, 1, '06ffff0000'));
    await second.request(readRequest(3, 40003, 2));
    const ids = async (query: string) => idsOf(await get(query));
    const peer = `127.0.0.1:${first.socket.localPort!}`;
    expect(await ids('?device=1')).to.deep.equal([5, 6]);
    expect(await ids('?function=6')).to.deep.equal([3, 4]);
    expect(await ids('?address=40003')).to.deep.equal([1, 2, 5, 6]);
    expect(await ids('?address=40004')).to.deep.equal([5, 6]);
    expect(await ids('?address=65535')).to.deep.equal([3, 4]);
    expect(await ids(`?peer=${encodeURIComponent(peer)}`)).to.deep.equal([1, 2, 3, 4]);
    expect(await ids('?peer=127.0.0.1&direction=out')).to.deep.equal([2, 4, 6]);
    expect(await ids('?peer=127.0.0.2')).to.deep.equal([]);
    expect(await ids('?after_id=4')).to.deep.equal([5, 6]);
    expect(await ids('?limit=1&device=0')).to.deep.equal([4]);
  });

  it('refuses what is no filter or setting', async () => {
    await start();
    for (const query of [
      'limit=0',
      'after_id=x',
      'function=0',
      'function=128',
      'address=65536',
      'peer=',
      'direction=up',
    ])
      expect((await ask(port, `${path}?${query}`)).status, query).to.equal(422);
    expect((await ask(port, `${path}?device=9`)).status).to.equal(404);
    for (const body of [{}, { enabled: 'yes' }, { enabled: true, entries: 0 }, { enabled: true, entries: 10_001 }])
      expect((await set(body)).status, JSON.stringify(body)).to.equal(422);
    expect((await get()).enabled).to.equal(false);
  });

  it('keeps what there is when it is switched off, until it is cleared', async () => {
    await start();
    await set({ enabled: true, entries: 3 });
    const master = await open();
    for (const id of [1, 2, 3]) await master.request(readRequest(id, 40000, 2));
    expect((await set({ enabled: false })).json).to.include({ enabled: false, kept: 3, dropped: 3, last_id: 6 });
    await master.request(readRequest(4, 40000, 2));
    expect(idsOf(await get())).to.deep.equal([4, 5, 6]);
    expect((await set({ enabled: false, clear: true })).json).to.include({ kept: 0, last_id: 6, entries: 3 });
  });

  it('follows structure faults: names and values are those that the master meets', async () => {
    await start();
    await set({ enabled: true });
    const master = await open();
    const fault = await ask(port, '/api/sim/modbus/fault', {
      body: { kind: 'shift', model: 704, registers: 2 },
    });
    expect(fault.status, fault.text).to.equal(200);
    const { address } = slot('704.WMaxLimPct');
    await master.request(readRequest(1, address + 2, 1));
    await ask(port, '/api/sim/modbus/fault', { body: { clear: true } });
    await master.request(readRequest(2, address + 2, 1));
    const { messages } = await get();
    expect(messages[0].points).to.deep.equal(['704.WMaxLimPct']);
    expect(messages[1].values).to.deep.equal({ '704.WMaxLimPct': 100 });
    expect(messages[2].points).to.not.include('704.WMaxLimPct');
  });

  it('has the messages of the proxy with the names of its map, and of the built-in client', async () => {
    await start(['PV-3Phase'], '--proxy', 'string-inverter-basic', '--proxy_port', '0');
    const { endpoint } = app.adapters.find(({ comm }) => comm === 'modbus_proxy')!.status();
    await set({ enabled: true });
    const connected = await ask(port, '/api/sim/sunspec-client/connect', {
      body: { host: '127.0.0.1', port: modbusEndpoint(app, 0).port },
    });
    expect(connected.status, connected.text).to.equal(200);
    const both = (await get('?limit=1000')).messages;
    const own = both.filter((each: Json) => each.interface === 'sunspec_client');
    expect(own.length)
      .to.be.above(2)
      .and.to.equal(both.length / 2);
    expect(own[0]).to.include({ direction: 'out', kind: 'request', device_index: null, points: null });
    expect(own[1]).to.include({ direction: 'in', kind: 'answer', exchange_id: own[0].id, whole: true });
    await set({ enabled: true, clear: true });
    const master = await RawClient.open(Number(new URL(endpoint!).port));
    masters.push(master);
    const map = (await import('../../../config/proxy/string-inverter-basic.json', { with: { type: 'json' } })).default;
    const entry = map.registers.find((each: Json) => each.point !== undefined && each.type === 'uint16') as Json;
    const isInput = [entry.table].flat().includes('input');
    await master.request(adu(1, 1, `0${isInput ? 4 : 3}${hex(entry.address)}0001`));
    const [request, answer] = (await get()).messages;
    expect(request).to.include({ interface: 'modbus_proxy', device_index: 0 });
    expect(request.points).to.deep.equal([entry.name]);
    expect(answer.values).to.have.all.keys(entry.name);
  });

  it('records the built-in client alone while Modbus is switched off, also what gets no answer', async () => {
    await start(['PV-3Phase'], '-mb', 'no');
    expect(await get()).to.include({ enabled: false, kept: 0 });
    const on = await set({ enabled: true });
    expect([on.status, on.json.enabled]).to.deep.equal([200, true]);
    const { layout, image } = oldInverter();
    const peer = await ScriptedPeer.open(Buffer.from(image), layout.base, () => 'silence');
    try {
      const body = { host: '127.0.0.1', port: peer.port, timeout_s: 0.1 };
      const refused = await ask(port, '/api/sim/sunspec-client/connect', { body });
      expect(refused.status, refused.text).to.be.above(399);
      const { messages } = await get();
      expect(messages[0]).to.include({ interface: 'sunspec_client', kind: 'request', direction: 'out' });
      expect(messages[1]).to.include({
        kind: 'no_answer',
        direction: 'in',
        exchange_id: 1,
        no_answer: 'no_answer_in_time',
        whole: null,
        raw: '',
      });
    } finally {
      await peer.close();
    }
  });

  it('escapes text of a master that is not ASCII', async () => {
    await start();
    await set({ enabled: true });
    const master = await open();
    const version = slot('1.Opt');
    const text = Buffer.alloc(2 * version.def.size);
    text.write('Größe 1');
    await master.request(adu(1, 1, `10${hex(version.address)}${hex(version.def.size)}10${text.toString('hex')}`));
    expect((await get()).messages[0].values).to.deep.equal({ '1.Opt': 'Größe 1' });
  });
});
