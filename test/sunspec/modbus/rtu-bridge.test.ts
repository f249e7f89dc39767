import { expect } from 'chai';
import { SerialPortMock } from 'serialport';
import { SimError } from '../../../src/core/errors.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { Disturber } from '../../../src/sunspec/modbus/server/context.ts';
import { createModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter, ModbusRtuOptions } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import { lineTiming, createSerialOpener } from '../../../src/sunspec/modbus/serial-line.ts';
import { testPlant } from '../../support/plant.ts';
import { rtu, rtuRead, rtuWrite } from '../../support/rtu.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

/** What is used of `@serialport/binding-mock`, whose declarations its package does not export. */
interface MockPorts {
  reset(): void;
  createPort(path: string, options: { record: boolean }): void;
}

interface MockPort {
  readonly openOptions: Readonly<Record<string, unknown>>;
  readonly recording: Buffer;
  emitData(data: Buffer): void;
}

const mockPorts = SerialPortMock.binding as MockPorts;
const path = '/dev/ttyTEST';
const marker = (address: number) => rtu(address, '0304' + '53756e53').toString('hex');
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Lets the port do what it does by itself: nothing of it takes time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn();
}

describe('Modbus RTU on a serial line', () => {
  let wall: HandWall;
  let timers: HandTimers;
  let plant: SimPlant;
  let adapter: ModbusRtuAdapter;
  let lines: string[];
  const opened: SerialPortMock[] = [];

  /** The port as the binding has it: what we write, what we are sent. */
  const binding = () => opened.at(-1)!.port as MockPort;

  class Port extends SerialPortMock {
    constructor(options: ConstructorParameters<typeof SerialPortMock>[0]) {
      super(options);
      opened.push(this);
    }
  }

  function create(options: Partial<ModbusRtuOptions> = {}): void {
    wall = new HandWall();
    timers = new HandTimers(wall);
    plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], unitAddressOf: (index) => 1 + index });
    lines = [];
    const write = (level: string) => (message: string) => {
      lines.push(`${level} ${message}`);
    };
    const logger: Logger = {
      debug: write('debug'),
      info: write('info'),
      warning: write('warning'),
      error: write('error'),
    };
    adapter = createModbusRtuAdapter({
      devices: plant.devices,
      line: { path, baudRate: 9600, parity: 'even', stopBits: 1 },
      clock: wall,
      later: timers.later,
      logger,
      open: createSerialOpener(() => Promise.resolve({ SerialPort: Port })),
      ...options,
    });
  }

  beforeEach(() => {
    mockPorts.reset();
    mockPorts.createPort(path, { record: true });
    opened.length = 0;
    create();
  });

  afterEach(() => adapter.stop());

  async function send(...frames: Buffer[]): Promise<void> {
    binding().emitData(Buffer.concat(frames));
    await settle();
  }

  async function pass(ms: number): Promise<void> {
    timers.pass(ms);
    await settle();
  }

  /** Nothing comes for longer than a frame may be interrupted. */
  async function quiet(): Promise<void> {
    await pass(5);
    await pass(40);
  }

  const recorded = () => binding().recording.toString('hex');

  it('opens the port as the settings say', async () => {
    await adapter.start();
    expect(binding().openOptions).to.include({ path, baudRate: 9600, parity: 'even', stopBits: 1, dataBits: 8 });
    expect(adapter.status()).to.include({ state: 'listening', endpoint: path, detail: '9600 8E1', peers: 0 });
    expect(adapter.endpointOf(1)).to.deep.equal({ protocol: 'modbus_rtu', path, unitId: 2 });
    expect(lines).to.include(`info Modbus RTU on ${path} (9600 8E1), 2 devices`);
    expect(adapter.startLines()).to.deep.equal([`RTU       ${path} (9600 8E1, units 1..2, SunSpec base 40000)`]);
    await adapter.stop();
    expect(opened[0]?.isOpen).to.equal(false);
    expect(adapter.status()).to.include({ state: 'stopped', endpoint: null });
    opened[0]?.emit('error', new Error('Canceled'));
    expect(lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
  });

  it('answers not before the pause of 3.5 characters', async () => {
    await adapter.start();
    await send(rtuRead(2, 40_000, 2));
    await pass(4);
    expect(recorded()).to.equal('');
    await pass(1);
    expect(recorded()).to.equal(marker(2));
    expect(adapter.counters).to.include({ requests: 1, answers: 1 });
    expect(adapter.clients()).to.have.length(1);
    expect(adapter.clients()[0]).to.include({ peer: path, port: 0, requests: 1, paused: false });
    expect(adapter.report().listeners[0]).to.include({ transport: 'rtu', endpoint: path });
  });

  it('sends one answer at a time', async () => {
    await adapter.start();
    await send(rtuRead(1, 40_000, 2), rtuRead(2, 40_000, 2), rtuRead(3, 40_000, 2), rtuRead(1, 40_000, 2));
    expect(adapter.clients()[0]?.paused).to.equal(true);
    await pass(5);
    await pass(1);
    await pass(1);
    expect(recorded()).to.equal(marker(1) + marker(2) + marker(1));
    expect(adapter.counters).to.include({ requests: 3, answers: 3, foreign: 1 });
  });

  it('a frame in bursts, noise, a damaged frame', async () => {
    await adapter.start();
    const request = rtuRead(1, 40_000, 2);
    await send(request.subarray(0, 3));
    await pass(16);
    await send(request.subarray(3));
    await pass(5);
    expect(recorded()).to.equal(marker(1));
    const damaged = rtuWrite(1, 40_068, 9);
    damaged[5] = 10;
    await send(damaged);
    await quiet();
    await send(Buffer.from('ff00ff', 'hex'));
    await quiet();
    await send(request);
    await pass(5);
    expect(recorded()).to.equal(marker(1) + marker(1));
    expect(adapter.counters).to.include({ unreadable: 2, requests: 2 });
    expect(plant.device(0).bank.map.m1.DA).to.equal(1);
  });

  it('a pause of the process is none of the line', async () => {
    await adapter.start();
    const request = rtuRead(1, 40_000, 2);
    for (let at = 1; at < request.length; at++) {
      await send(request.subarray(0, at));
      wall.advance(200);
      for (let ms = 0; ms < 3; ms++) await pass(ms);
      await send(request.subarray(at));
      await pass(5);
      expect(recorded(), `${at} octets before it`).to.equal(marker(1).repeat(at));
    }
    expect(adapter.counters.unreadable).to.equal(0);
  });

  it('an unknown function, when the line has been silent', async () => {
    await adapter.start();
    await send(rtu(1, '32aabb'));
    await pass(4);
    expect(recorded()).to.equal('');
    await pass(2);
    await pass(5);
    expect(recorded()).to.equal(rtu(1, 'b201').toString('hex'));
  });

  it('a broadcast acts on every device and is not answered', async () => {
    await adapter.start();
    const { address } = plant.device(0).bank.layout.slot(704, 'WMaxLimPct')!;
    await send(rtuWrite(0, address, 5000));
    await pass(100);
    expect(plant.devices.map(({ bank }) => bank.map.m704.WMaxLimPct)).to.deep.equal([50, 50]);
    expect(recorded()).to.equal('');
    expect(plant.device(1).bank.provenance(plant.device(1).bank.layout.slot(704, 'WMaxLimPct')!)).to.include({
      source: 'modbus',
      peer: path,
    });
  });

  it('devices join and leave', async () => {
    await adapter.start();
    await adapter.removeDevice(0);
    await send(rtuRead(1, 40_000, 2));
    await pass(100);
    expect([recorded(), adapter.endpointOf(0)]).to.deep.equal(['', null]);
    await adapter.addDevice(plant.device(0));
    await send(rtuRead(1, 40_000, 2));
    await pass(100);
    expect(recorded()).to.equal(marker(1));
    const error: unknown = await adapter
      .addDevice({ index: 247, bank: plant.device(0).bank })
      .catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(SimError).and.to.include({ code: 'COMMAND_CONFLICT' });
  });

  it('refuses more devices than there are addresses', () => {
    expect(() => {
      create({ devices: [{ index: 247, bank: plant.device(0).bank }] });
    })
      .to.throw(SimError, /at most 247 devices/)
      .with.property('code', 'CONFIG_INVALID');
    create();
  });

  describe('a port that is not there', () => {
    it('ends the start in words', async () => {
      mockPorts.reset();
      const error: unknown = await adapter.start().catch((cause: unknown) => cause);
      expect(error).to.include({
        code: 'LISTEN_FAILED',
        message: `cannot open the serial port ${path}: there is no such device`,
      });
      expect(adapter.status()).to.include({ state: 'error', endpoint: null });
    });

    it('so does one that another program has', async () => {
      const other = new SerialPortMock({ path, baudRate: 9600 });
      await settle();
      const error: unknown = await adapter.start().catch((cause: unknown) => cause);
      expect(error).to.include({
        code: 'LISTEN_FAILED',
        message: `cannot open the serial port ${path}: another program uses it`,
      });
      other.close();
      await settle();
    });

    it('so does a library that cannot be loaded', async () => {
      create({
        open: createSerialOpener(() => Promise.reject(new Error('No native build was found\n    loaded from: here'))),
      });
      const error: unknown = await adapter.start().catch((cause: unknown) => cause);
      expect(error)
        .to.include({ code: 'LISTEN_FAILED' })
        .and.to.have.property('message')
        .that.equals(
          `cannot open the serial port ${path}: the native part of the package serialport cannot be loaded (No native build was found)`,
        );
    });

    it('a lack of descriptors is not told as a fault of the library', async () => {
      const lack = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
      create({ open: createSerialOpener(() => Promise.reject(lack)) });
      const error: unknown = await adapter.start().catch((cause: unknown) => cause);
      expect(error).to.include({ code: 'SHORTAGE' }).and.to.have.property('message').that.not.contains('serialport');
    });

    it('one that disappears is opened again when it is back, asked for at growing intervals', async () => {
      await adapter.start();
      await send(rtuRead(1, 40_000, 2));
      mockPorts.reset();
      opened[0]?._disconnected(new Error('gone'));
      await settle();
      expect(adapter.status()).to.include({
        state: 'retrying',
        endpoint: null,
        detail: `the serial port ${path} has disappeared; tries again in 1 s`,
      });
      const attempts: number[] = [];
      for (let s = 1; s <= 100; s++) {
        const before = opened.length;
        await pass(1000);
        if (opened.length > before) attempts.push(s);
      }
      expect(attempts).to.deep.equal([1, 3, 7, 15, 31, 63]);
      expect(adapter.status().detail).to.match(/: there is no such device; tries again in 23 s$/);
      mockPorts.createPort(path, { record: true });
      await pass(30_000);
      expect(adapter.status()).to.include({ state: 'listening', endpoint: path });
      await send(rtuRead(2, 40_000, 2));
      await pass(5);
      expect(recorded()).to.equal(marker(2));
      expect(lines.filter((line) => line.startsWith('warning'))).to.have.length(1);
    });

    it('an answer that was under way is dropped', async () => {
      await adapter.start();
      await send(rtuRead(1, 40_000, 2));
      opened[0]?._disconnected(new Error('gone'));
      await settle();
      await pass(1000);
      expect(opened).to.have.length(2);
      await pass(100);
      expect(recorded()).to.equal('');
    });

    it('a stop while it is away ends the attempts', async () => {
      await adapter.start();
      opened[0]?._disconnected(new Error('gone'));
      await settle();
      await adapter.stop();
      await pass(100_000);
      expect(opened).to.have.length(1);
      expect(adapter.status()).to.include({ state: 'stopped' });
    });

    it('a stop while it is being opened closes it', async () => {
      const starting = adapter.start();
      await adapter.stop();
      await starting;
      expect(opened[0]?.isOpen).to.equal(false);
      expect(adapter.status()).to.include({ state: 'stopped' });
    });

    it('it is free when a stop has come to its end', async () => {
      let taken = 0;
      const open = createSerialOpener(() => Promise.resolve({ SerialPort: Port }));
      create({
        open: async (settings) => {
          const port = await open(settings);
          taken += 1;
          const close = port.close.bind(port);
          return Object.assign(port, {
            close: (then: () => void) => {
              close(() => {
                setImmediate(() => {
                  taken -= 1;
                  then();
                });
              });
            },
          });
        },
      });
      const starting = adapter.start();
      await Promise.all([adapter.stop(), adapter.stop()]);
      expect(taken).to.equal(0);
      await starting;
      await adapter.start();
      expect([adapter.status().state, taken]).to.deep.equal(['listening', 1]);
    });
  });

  it('fault injection holds an answer back, and those behind it', async () => {
    let asked = 0;
    const disturber: Disturber = {
      active: true,
      onConnect: () => ({ kind: 'serve' }),
      onRequest: ({ deviceIndex, unitId, functionCode, address, count }, framing) => {
        expect({ deviceIndex, unitId, functionCode, address, count, framing }).to.deep.equal({
          deviceIndex: asked,
          unitId: 1 + asked,
          functionCode: 3,
          address: 40_000,
          count: 2,
          framing: 'rtu',
        });
        asked += 1;
        return asked === 1 ? { delayMs: 300 } : null;
      },
      cuts: () => false,
      shutForMs: () => 0,
      onChange: () => () => undefined,
      aliasOf: () => undefined,
    };
    create({ disturber });
    await adapter.start();
    await send(rtuRead(9, 40_000, 2), rtuRead(1, 40_000, 2), rtuRead(2, 40_000, 2));
    await pass(299);
    expect(recorded()).to.equal('');
    await pass(1);
    await pass(5);
    expect(recorded()).to.equal(marker(1) + marker(2));
    expect(asked).to.equal(2);
  });

  it('an answer whose fault is taken back waits for the pause of 3.5 characters alone', async () => {
    let takeBack: () => void = () => undefined;
    const disturber: Disturber = {
      active: true,
      onConnect: () => ({ kind: 'serve' }),
      onRequest: () => ({
        delayMs: 600_000,
        onTakenBack(then) {
          takeBack = then;
          return () => undefined;
        },
      }),
      cuts: () => false,
      shutForMs: () => 0,
      onChange: () => () => undefined,
      aliasOf: () => undefined,
    };
    create({ disturber });
    await adapter.start();
    await send(rtuRead(1, 40_000, 2));
    takeBack();
    await pass(4);
    expect(recorded()).to.equal('');
    await pass(1);
    expect(recorded()).to.equal(marker(1));
    expect(adapter.clients()[0]?.paused).to.equal(false);
  });

  it('2.5.1.1: the pause is 3.5 characters of 11 bits, and 1.75 ms above 19200 Bd', () => {
    const pauses = [300, 1200, 9600, 19_200, 19_201, 115_200].map((baudRate) =>
      lineTiming(baudRate).pauseMs.toFixed(3),
    );
    expect(pauses).to.deep.equal(['128.333', '32.083', '4.010', '2.005', '1.750', '1.750']);
  });
});
