import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { LogBook, LogLevel } from '../../../src/core/log/log.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions } from '../../../src/sunspec/modbus/bridge.ts';
import { createModbusContext, createModbusTcpServer } from '../../../src/sunspec/modbus/server/server.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { MemoryUnit } from '../../support/modbus-unit.ts';
import { testPlant } from '../../support/plant.ts';
import { rtu } from '../../support/rtu.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const hex = (...words: number[]) => words.map((word) => word.toString(16).padStart(4, '0')).join('');

class CountingUnit extends MemoryUnit {
  lookedUp = 0;

  names() {
    this.lookedUp += 1;
    return () => ({ points: ['x'], ignored: [], values: () => ({}) });
  }
}

describe('What masters do, in the log', () => {
  let plant: SimPlant;
  let book: LogBook;
  let adapter: ModbusAdapter;
  let client: RawClient;
  let transactionId = 0;

  afterEach(async () => {
    client.destroy();
    await adapter.stop();
  });

  async function start(level: LogLevel, options: Partial<ModbusAdapterOptions> = {}): Promise<void> {
    const wall = new HandWall();
    plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], unitAddressOf: (index) => 1 + index });
    book = createLogBook({ level, clock: wall, later: new HandTimers(wall).later, write: () => undefined });
    adapter = createModbusAdapter({
      devices: plant.devices,
      host: '127.0.0.1',
      port: 0,
      sharedPort: true,
      clock: wall,
      logger: book.logger('Modbus'),
      ...options,
    });
    await adapter.start();
    client = await RawClient.open(adapter.endpointOf(0)?.port ?? 0);
  }

  const addressOf = (modelId: number, path: string) => plant.device(0).bank.layout.slot(modelId, path)?.address ?? 0;

  async function ask(unitId: number, pdu: string): Promise<string> {
    transactionId += 1;
    return (await client.request(adu(transactionId, unitId, pdu))).slice(14);
  }

  /** A listener in front of one unit that counts how often names are asked for. */
  function counting() {
    const unit = new CountingUnit();
    const wall = new HandWall();
    const context = createModbusContext({
      clock: wall,
      later: new HandTimers(wall).later,
      logger: book.logger('Modbus'),
    });
    return { context, unit, server: createModbusTcpServer({ host: '127.0.0.1', port: 0, context, units: () => unit }) };
  }

  /** Level, device and text of all lines since the start of the adapter, without addresses of peers. */
  const lines = () =>
    book
      .entries()
      .filter(({ message }) => !/^Modbus (TCP|RTU)|connected/.test(message))
      .map(
        ({ level, deviceIndex, message }) => `${level} ${deviceIndex} ${message.replace(/127\.0\.0\.1:\d+/, 'PEER')}`,
      );

  /** One good write, three refused ones, a wrong unit id twice, a refused read, a function that is not served. */
  async function session(): Promise<void> {
    const limit = addressOf(704, 'WMaxLimPctEna');
    const power = addressOf(701, 'W');
    const setPoint = addressOf(704, 'WSet');
    expect(await ask(2, `10${hex(limit)}000204${hex(1, 5000)}`)).to.equal(`10${hex(limit)}0002`);
    expect(await ask(2, `06${hex(limit + 1, 15_000)}`)).to.equal('8603');
    expect(await ask(1, `06${hex(power, 1)}`)).to.equal('8602');
    expect(await ask(1, `06${hex(setPoint, 1)}`)).to.equal('8603');
    expect(await ask(7, `06${hex(limit, 1)}`)).to.equal('860b');
    expect(await ask(7, `03${hex(limit, 1)}`)).to.equal('830b');
    expect(await ask(1, `03${hex(100, 1)}`)).to.equal('8302');
    expect(await ask(1, '0500010000')).to.equal('8501');
  }

  function refusals(): string[] {
    const limit = addressOf(704, 'WMaxLimPctEna');
    const power = addressOf(701, 'W');
    const setPoint = addressOf(704, 'WSet');
    return [
      `warning 1 PEER, unit 2: function 6 (write single register) of register ${limit + 1} (704.WMaxLimPct) refused with ` +
        'exception 3 (illegal data value): 704.WMaxLimPct: 150 is outside 0..100',
      `warning 0 PEER, unit 1: function 6 (write single register) of register ${power} (701.W) refused with ` +
        'exception 2 (illegal data address): 701.W is read only',
      `warning 0 PEER, unit 1: function 6 (write single register) of register ${setPoint} (704.WSet) refused with ` +
        'exception 3 (illegal data value): 704.WSet spans 2 registers and must be written whole',
      'info null PEER asks for unit 7, which is not served here (served: 1..2): ' +
        'it gets exception 11 (gateway target device failed to respond)',
    ];
  }
  const notServed =
    'warning 0 PEER, unit 1: function 5 (write single coil) of register 1 refused with exception 1 (illegal function): ' +
    'this function is not served';

  it('refused writes with their reason at warning, and at info unit ids that are not served, each once', async () => {
    await start('info');
    await session();
    expect(lines()).to.deep.equal([...refusals(), notServed]);
    const { text } = adapter.status().lastError ?? {};
    expect(`warning 0 ${text?.replace(/127\.0\.0\.1:\d+/, 'PEER')}`).to.equal(notServed);
  });

  it('at debug: also good writes with their values, and refused reads', async () => {
    await start('debug');
    await session();
    const limit = addressOf(704, 'WMaxLimPctEna');
    expect(lines()).to.deep.equal([
      `debug 1 PEER, unit 2: function 16 (write multiple registers) of registers ${limit}..${limit + 1} ` +
        '(704.WMaxLimPctEna = ENABLED, 704.WMaxLimPct = 50) carried out',
      ...refusals(),
      'debug 0 PEER, unit 1: function 3 (read holding registers) of register 100 refused with ' +
        'exception 2 (illegal data address): register 100 is not in the map',
      notServed,
    ]);
  });

  it('names the unit ids of a port of its own, and the silence', async () => {
    await start('info', { sharedPort: false, foreignUnit: 'silent' });
    client.send(readRequest(1, 40_000, 2, 5));
    await ask(1, `03${hex(40_000, 2)}`);
    expect(lines()).to.deep.equal([
      'info 0 PEER asks for unit 5, which is not served here (served: 0..1, 255): it gets no answer',
    ]);
  });

  it('a flood costs ten lines, and no text beyond them; good writes have no names looked up', async () => {
    await start('info');
    const { context, unit, server } = counting();
    client.destroy();
    client = await RawClient.open(await server.listen());
    for (let i = 0; i < 40; i += 1) await ask(1, `06${hex(100, i)}`);
    expect([unit.lookedUp, lines()]).to.deep.equal([0, []]);
    for (let i = 0; i < 60; i += 1) await ask(1, `06${hex(99, i)}`);
    expect([unit.lookedUp, lines().length]).to.deep.equal([10, 10]);
    await server.close();
    expect([lines().at(-1), context.counters.exceptions]).to.deep.equal([
      'warning null PEER: 50 more lines about refused writes were left out',
      60,
    ]);
  });

  it('a flood of one master does not hide what another is refused', async () => {
    await start('info');
    const floods = await RawClient.open(adapter.endpointOf(0)?.port ?? 0);
    const write = `06${hex(addressOf(701, 'W'), 1)}`;
    for (let i = 0; i < 12; i += 1) await floods.request(adu(i, 1, write));
    floods.destroy();
    await ask(1, write);
    const said = lines().filter((line) => line.includes('refused'));
    expect(said).to.deep.equal(Array.from({ length: 11 }, () => refusals()[1]));
  });

  it('a broadcast that devices refuse, which no answer tells', async () => {
    await start('info', { framing: 'rtu' });
    const limit = addressOf(704, 'WMaxLimPct');
    client.send(Buffer.concat([rtu(0, `06${hex(limit, 15_000)}`), rtu(1, `03${hex(limit, 1)}`)]));
    await client.take(7);
    expect(lines()).to.deep.equal([
      `warning null PEER, unit 0: function 6 (write single register) of register ${limit} (704.WMaxLimPct) refused with ` +
        'exception 3 (illegal data value): devices 0, 1: 704.WMaxLimPct: 150 is outside 0..100',
    ]);
  });
});
