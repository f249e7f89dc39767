/** Listeners over registers in memory, with faults of the wire and clocks that are moved by hand. */
import type { FaultKind } from '../../../../src/core/faults/kinds.ts';
import { createLogBook } from '../../../../src/core/log/log.ts';
import type { FramingName } from '../../../../src/sunspec/modbus/framing/framing.ts';
import type { ModbusContext } from '../../../../src/sunspec/modbus/server/context.ts';
import { createDisturber } from '../../../../src/sunspec/modbus/faults/disturber.ts';
import { crc16 } from '../../../../src/core/wire/modbus.ts';
import { createModbusContext, createModbusTcpServer } from '../../../../src/sunspec/modbus/server/server.ts';
import type { ModbusTcpServer } from '../../../../src/sunspec/modbus/server/server.ts';
import { FaultBench } from '../../../support/faults.ts';
import type { FaultExtras } from '../../../support/faults.ts';
import { RawClient } from '../../../support/modbus-client.ts';
import { MemoryUnit } from '../../../support/modbus-unit.ts';
import { HandTimers } from '../../../support/timers.ts';

export class DeviceUnit extends MemoryUnit {
  readonly deviceIndex: number;

  constructor(deviceIndex: number) {
    super();
    this.deviceIndex = deviceIndex;
  }
}

/** Registers behind the points that tests name. */
const pointSpans: Readonly<Record<string, { readonly address: number; readonly count: number }>> = {
  pair: { address: 130, count: 2 },
  one: { address: 105, count: 1 },
};

/** Lets the event loop turn until something is so. */
export async function until(ready: () => boolean): Promise<void> {
  while (!ready())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** How a port takes a connection that is not served: `ECONNREFUSED`, or `reset` after it was accepted. */
export async function refusalAt(port: number): Promise<string> {
  try {
    const client = await RawClient.open(port);
    return (await client.untilClosed()).length === 0 ? 'reset' : 'answered';
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string };
    // the reset may come before the client has seen that it is connected
    return code === 'ECONNRESET' ? 'reset' : code;
  }
}

/** Two devices on ports of their own, on one in common, and the first behind RTU framing. */
export class WireRig {
  readonly faults = new FaultBench([0, 1]);
  readonly timers = new HandTimers(this.faults.wall);
  readonly units = [new DeviceUnit(0), new DeviceUnit(1)] as const;
  /** devices at which conditions hold */
  readonly holding = new Set([0, 1]);
  readonly disturber = createDisturber({
    registry: this.faults.registry,
    monotonicMs: () => this.faults.wall.monotonicMs(),
    deviceIndexes: () => [0, 1],
    holds: (_fault, index) => this.holding.has(index),
    spans: (points) => points.flatMap((name) => pointSpans[name] ?? []),
  });
  readonly log = createLogBook({
    level: 'info',
    clock: this.faults.wall,
    later: this.timers.later,
    write: () => undefined,
  });
  readonly context: ModbusContext = createModbusContext({
    clock: this.faults.wall,
    logger: this.log.logger('Modbus'),
    later: this.timers.later,
    disturber: this.disturber,
  });
  readonly own = this.#listener(0);
  readonly other = this.#listener(1);
  readonly shared = this.#listener(undefined);
  readonly rtu = this.#listener(0, 'rtu');
  readonly #clients: RawClient[] = [];

  async start(): Promise<this> {
    await Promise.all(this.#servers.map((server) => server.listen()));
    return this;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  async open(server: ModbusTcpServer = this.own): Promise<RawClient> {
    const client = await RawClient.open(server.port);
    this.#clients.push(client);
    return client;
  }

  refusal(server: ModbusTcpServer = this.own): Promise<string> {
    return refusalAt(server.port);
  }

  inject(kind: FaultKind, parameters: Readonly<Record<string, unknown>> = {}, extras: FaultExtras = {}) {
    return this.faults.inject(kind, parameters, extras);
  }

  clear(): void {
    this.faults.registry.clear();
  }

  /** Waits for a disturbed answer and lets it leave: what has no delay waits for the next turn as well. */
  async release(ms = 0): Promise<void> {
    await until(() => this.timers.waiting > 0);
    this.timers.pass(ms);
  }

  /** Whether a connection still answers as it should, and has nothing else to say. */
  async works(client: RawClient, server: ModbusTcpServer = this.own): Promise<boolean> {
    const [request, size, expected] =
      server === this.rtu
        ? [rtuFrame('010300640001'), 7, rtuFrame('0103020064')]
        : [Buffer.from('fffe00000006010300640001', 'hex'), 11, Buffer.from('fffe000000050103020064', 'hex')];
    client.send(request);
    const answer = await client.take(size);
    return answer.equals(expected) && client.received.length === 0;
  }

  get #servers(): readonly ModbusTcpServer[] {
    return [this.own, this.other, this.shared, this.rtu];
  }

  #listener(deviceIndex: number | undefined, framing: FramingName = 'mbap'): ModbusTcpServer {
    const own = deviceIndex === undefined ? undefined : this.units[deviceIndex];
    return createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      context: this.context,
      framing,
      ...(deviceIndex !== undefined && { deviceIndex }),
      units: (unitId) => (own === undefined ? this.units[unitId - 1] : [0, 1, 255].includes(unitId) ? own : undefined),
      unitOf: (index) => this.units[index],
    });
  }
}

/** Address and PDU in hex, with their CRC. */
export function rtuFrame(hex: string): Buffer {
  const body = Buffer.from(hex, 'hex');
  const tail = Buffer.alloc(2);
  tail.writeUInt16LE(crc16(body, 0, body.length));
  return Buffer.concat([body, tail]);
}
