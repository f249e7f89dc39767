import { expect } from 'chai';
import modbusSerial from 'modbus-serial';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import * as kinds from '../../src/fault-kinds/modbus-transport.ts';
import { createDisturber } from '../../src/sunspec/modbus/faults/disturber.ts';
import type { FramingName } from '../../src/sunspec/modbus/framing/framing.ts';
import { createModbusContext, createModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import type { ModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import { FaultBench } from '../support/faults.ts';
import { MemoryUnit } from '../support/modbus-unit.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

/** Time-out of the masters: longer than any answer without a fault takes. */
const timeoutMs = 300;

const lost = /No response received/;
// the end of a connection comes as one or the other, as the master is connecting, reading or writing
const closed = /ConnectionException|ConnectionResetError|BrokenPipeError/;
const timedOut = /Timed out/;

interface Row {
  readonly kind: FaultKind;
  readonly parameters: object;
  readonly framing?: FramingName;
  /** the result of each master for a read of registers 110 and 111: its error, or the values */
  readonly pymodbus: RegExp | readonly number[];
  readonly modbusSerial: RegExp | readonly number[];
  /** modbus-serial is out of step afterwards, or its port is closed: it needs a new connection, as pymodbus makes by itself */
  readonly reconnect?: true;
}

const right = [110, 111];
const rows: readonly Row[] = [
  {
    kind: kinds.exceptionFault,
    parameters: { code: 6 },
    pymodbus: /Modbus exception 6/,
    modbusSerial: /Modbus exception 6: Slave device busy/,
  },
  {
    kind: kinds.exceptionFault,
    parameters: { code: 200 },
    pymodbus: /Modbus exception 200/,
    modbusSerial: /Modbus exception 200/,
  },
  { kind: kinds.delayFault, parameters: { delay_ms: 1.5 * timeoutMs }, pymodbus: lost, modbusSerial: timedOut },
  { kind: kinds.delayFault, parameters: { delay_ms: timeoutMs / 6 }, pymodbus: right, modbusSerial: right },
  { kind: kinds.dropFault, parameters: {}, pymodbus: lost, modbusSerial: timedOut },
  { kind: kinds.truncateFault, parameters: { octets: 9 }, pymodbus: lost, modbusSerial: timedOut, reconnect: true },
  { kind: kinds.truncateFault, parameters: { octets: 3 }, pymodbus: lost, modbusSerial: timedOut, reconnect: true },
  { kind: kinds.garbageFault, parameters: { octets: 20 }, pymodbus: lost, modbusSerial: timedOut, reconnect: true },
  { kind: kinds.wrongUnitFault, parameters: {}, pymodbus: lost, modbusSerial: /expected address 1 got 2/ },
  // pymodbus counts from 1, so it has never used 0
  {
    kind: kinds.wrongTransactionFault,
    parameters: { mode: 'zero' },
    pymodbus: /transaction id=\d+ but received 0/,
    modbusSerial: timedOut,
  },
  { kind: kinds.wrongTransactionFault, parameters: { mode: 'other' }, pymodbus: lost, modbusSerial: timedOut },
  { kind: kinds.wrongFunctionFault, parameters: {}, pymodbus: right, modbusSerial: /expected code 3 got 4/ },
  // modbus-serial believes the count and reads on in what follows
  {
    kind: kinds.wrongByteCountFault,
    parameters: {},
    pymodbus: /Unable to decode request/,
    modbusSerial: [110, 111, 0xa202],
  },
  { kind: kinds.duplicateFault, parameters: {}, pymodbus: right, modbusSerial: right },
  { kind: kinds.splitFault, parameters: { octets: 3, gap_ms: 20 }, pymodbus: right, modbusSerial: right },
  { kind: kinds.disconnectFault, parameters: {}, pymodbus: closed, modbusSerial: timedOut, reconnect: true },
  { kind: kinds.outageFault, parameters: { mode: 'silent' }, pymodbus: lost, modbusSerial: timedOut },
  { kind: kinds.ignoreUnitFault, parameters: { unit_ids: [1] }, pymodbus: lost, modbusSerial: timedOut },
  { kind: kinds.badCrcFault, parameters: {}, framing: 'rtu', pymodbus: lost, modbusSerial: /CRC error/ },
  {
    kind: kinds.exceptionFault,
    parameters: { code: 6 },
    framing: 'rtu',
    pymodbus: /Modbus exception 6/,
    modbusSerial: /Modbus exception 6/,
  },
  { kind: kinds.wrongUnitFault, parameters: {}, framing: 'rtu', pymodbus: lost, modbusSerial: timedOut },
  {
    kind: kinds.truncateFault,
    parameters: { octets: 4 },
    framing: 'rtu',
    pymodbus: lost,
    modbusSerial: timedOut,
    reconnect: true,
  },
];
const titleOf = ({ kind, parameters, framing }: Row) =>
  `${kind.kind} ${JSON.stringify(parameters)}${framing === 'rtu' ? ', RTU over TCP' : ''}`;

/** One device with faults behind each framing, on the clocks of the machine. */
class Bench {
  readonly faults = new FaultBench([0]);
  readonly #servers: Record<FramingName, ModbusTcpServer>;

  constructor() {
    const disturber = createDisturber({
      registry: this.faults.registry,
      monotonicMs: () => this.faults.wall.monotonicMs(),
      deviceIndexes: () => [0],
      holds: () => true,
      spans: () => [],
    });
    const context = createModbusContext({ disturber });
    const unit = Object.assign(new MemoryUnit(), { deviceIndex: 0 });
    const serve = (framing: FramingName) =>
      createModbusTcpServer({
        host: '127.0.0.1',
        port: 0,
        context,
        framing,
        deviceIndex: 0,
        units: (unitId) => (unitId === 1 ? unit : undefined),
      });
    this.#servers = { mbap: serve('mbap'), rtu: serve('rtu') };
  }

  async start(): Promise<void> {
    await Promise.all(Object.values(this.#servers).map((server) => server.listen()));
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#servers).map((server) => server.close()));
  }

  portOf(framing: FramingName): number {
    return this.#servers[framing].port;
  }

  strikeOnce({ kind, parameters }: Row): void {
    this.faults.inject(kind, { ...parameters }, { count: 1, seed: 1 });
  }
}

/** The result of a request: its values, or the message of its error. */
async function outcomeOf(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    // modbus-serial also throws objects that are not errors
    return (error as { readonly message: string }).message;
  }
}

function expectOutcome(outcome: unknown, expected: RegExp | readonly number[]): void {
  if (expected instanceof RegExp) expect(outcome).to.be.a('string').and.match(expected);
  else expect(outcome).to.deep.equal(expected);
}

describe('faults of the wire as masters see them', () => {
  const bench = new Bench();
  before(() => bench.start());
  after(() => bench.stop());
  afterEach(() => {
    bench.faults.registry.clear();
  });

  describeWith(['pymodbus'], 'by its errors, and it recovers', () => {
    let masters: Record<FramingName, PythonPeer>;
    before(() => {
      const open = (framing: FramingName, framer: string) =>
        new PythonPeer('modbus_master', bench.portOf(framing), String(timeoutMs / 1000), framer);
      masters = { mbap: open('mbap', 'socket'), rtu: open('rtu', 'rtu') };
    });
    after(() => Promise.all(Object.values(masters).map((master) => master.stop())));

    const read = (address: number, framing: FramingName = 'mbap') =>
      masters[framing].ask('read_holding', { address, count: 2 });

    for (const row of rows) {
      it(titleOf(row), async () => {
        expect(await read(100, row.framing)).to.deep.equal([100, 101]);
        bench.strikeOnce(row);
        expectOutcome(await outcomeOf(read(110, row.framing)), row.pymodbus);
        for (const address of [120, 140])
          expect(await read(address, row.framing)).to.deep.equal([address, address + 1]);
      });
    }

    /** Repeats a request until it is answered; returns the errors before. */
    async function errorsBeforeAnswer(): Promise<unknown[]> {
      const errors: unknown[] = [];
      for (;;) {
        const outcome = await outcomeOf(read(110));
        if (typeof outcome !== 'string') return [...errors, outcome];
        errors.push(outcome);
      }
    }

    it('connection_limit: the server closes each new connection until a slot is free', async () => {
      await read(100);
      bench.faults.inject(kinds.disconnectFault, {}, { count: 1 });
      const limit = bench.faults.inject(kinds.connectionLimitFault, { connections: 0 }, { count: 2 });
      const outcomes = await errorsBeforeAnswer();
      expect(outcomes.pop()).to.deep.equal(right);
      for (const outcome of outcomes) expectOutcome(outcome, closed);
      expect([outcomes.length >= 2, limit.strikeCount]).to.deep.equal([true, 2]);
    });

    it('deaf_after_connect: the first requests are lost', async () => {
      await read(100);
      bench.faults.inject(kinds.disconnectFault, {}, { count: 1 });
      bench.faults.inject(kinds.deafAfterConnectFault, { deaf_ms: timeoutMs / 2 }, { count: 1 });
      const outcomes = await errorsBeforeAnswer();
      expect(outcomes.pop()).to.deep.equal(right);
      expectOutcome(outcomes.pop(), lost);
      for (const outcome of outcomes) expectOutcome(outcome, closed);
    });
  });

  describe('modbus-serial, by its errors, and it recovers', () => {
    async function connect(framing: FramingName = 'mbap') {
      const master = new modbusSerial.default();
      const options = { port: bench.portOf(framing) };
      await (framing === 'mbap' ? master.connectTCP('127.0.0.1', options) : master.connectTelnet('127.0.0.1', options));
      master.on('error', () => undefined);
      master.setTimeout(timeoutMs);
      master.setID(1);
      return {
        read: async (address: number) => (await master.readHoldingRegisters(address, 2)).data,
        // a closed port calls nothing back
        end: () =>
          new Promise<void>((resolve) => {
            if (master.isOpen)
              master.close(() => {
                resolve();
              });
            else resolve();
          }),
      };
    }

    for (const row of rows) {
      it(titleOf(row), async () => {
        let master = await connect(row.framing);
        expect(await master.read(100)).to.deep.equal([100, 101]);
        bench.strikeOnce(row);
        expectOutcome(await outcomeOf(master.read(110)), row.modbusSerial);
        if (row.reconnect === true) {
          await master.end();
          master = await connect(row.framing);
        }
        for (const address of [120, 140]) expect(await master.read(address)).to.deep.equal([address, address + 1]);
        await master.end();
      });
    }
  });
});
