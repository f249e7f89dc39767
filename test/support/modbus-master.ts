/** Masters without sockets: their frames pass the server's code and the judge, on clocks that a test moves. */
import type { Peer } from '../../src/core/findings/peer.ts';
import type { CellState } from '../../src/core/findings/report.ts';
import { BankUnit } from '../../src/sunspec/modbus/unit-bridge.ts';
import { ModbusJudge } from '../../src/sunspec/modbus/findings/judge.ts';
import { MbapFraming, maxAdu } from '../../src/sunspec/modbus/framing/framing.ts';
import { crc16 } from '../../src/core/wire/modbus.ts';
import { RtuFraming, streamTiming } from '../../src/sunspec/modbus/framing/rtu.ts';
import type { ConnectionJudge, MasterIdentity } from '../../src/sunspec/modbus/server/context.ts';
import { serve } from '../../src/sunspec/modbus/server/exchange.ts';
import type { Service } from '../../src/sunspec/modbus/server/exchange.ts';
import { createModbusContext } from '../../src/sunspec/modbus/server/server.ts';
import type { ModbusUnit } from '../../src/sunspec/modbus/server/unit.ts';
import type { Role } from '../../src/sunspec/modbus/access/certificate-role.ts';
import { FindingsRig } from './findings.ts';
import { createTestBank, named, words } from './map.ts';
import type { TestBank } from './map.ts';

const word = (value: number) => [(value >> 8) & 0xff, value & 0xff];

export const readPdu = (address: number, count: number, functionCode = 3) =>
  Buffer.from([functionCode, ...word(address), ...word(count)]);
export const writePdu = (address: number, values: readonly number[]) =>
  Buffer.from([16, ...word(address), ...word(values.length), 2 * values.length, ...words(...values)]);

interface Frame {
  readonly pdu: Buffer;
  readonly transaction?: number;
  readonly unitId?: number;
}

export class JudgeRig {
  readonly findings = new FindingsRig();
  readonly device: TestBank;
  readonly judge: ModbusJudge;
  service: Service;
  unit: ModbusUnit;

  constructor(options: Parameters<typeof createTestBank>[0] = {}) {
    const { wall, timers, registry } = this.findings;
    this.device = createTestBank(options);
    this.judge = new ModbusJudge(registry, wall);
    this.unit = new BankUnit({ index: 0, bank: this.device.bank });
    this.service = {
      context: createModbusContext({ clock: wall, later: timers.later, judge: this.judge, foreignUnit: 'gateway' }),
      deviceIndex: 0,
      units: (unitId) => (unitId === 1 || unitId === 0 ? this.unit : undefined),
    };
  }

  /** Lets wall time and simulated time pass. */
  pass(seconds: number): void {
    this.findings.timers.pass(seconds * 1000);
    this.device.pass(seconds);
  }

  at(point: string): number {
    return named(this.device.layout, point).address;
  }

  connect(identity: Partial<MasterIdentity> = {}): RiggedMaster {
    return new RiggedMaster(this, { address: '192.0.2.7', transport: 'tcp', ...identity });
  }

  /** The peer of an address. */
  peer(address = '192.0.2.7', certificate?: string): Peer {
    return this.findings.registry.peer({
      protocol: 'modbus',
      address,
      ...(certificate !== undefined && { certificate }),
    });
  }

  /** Ids of the rules in a state at the usual peer. */
  ids(state: CellState = 'broken', peer = this.peer()): readonly string[] {
    return this.findings.ids(peer, state).map((id) => id.replace('modbus.', ''));
  }

  /** The last case of a rule at the usual peer. */
  caseOf(rule: string, peer = this.peer()) {
    const { cases } = this.findings.row(peer, `modbus.${rule}`);
    return cases.at(-1);
  }

  /** Occasions of a rule at the usual peer. */
  exercised(rule: string, peer = this.peer()): number {
    return this.findings.row(peer, `modbus.${rule}`).exercised;
  }
}

/** One connection of a master. */
export class RiggedMaster {
  readonly rig: JudgeRig;
  readonly judge: ConnectionJudge | null;
  readonly #role: Role | null | undefined;
  readonly #framing: MbapFraming | RtuFraming;
  #transaction = 0;

  constructor(rig: JudgeRig, identity: MasterIdentity) {
    this.rig = rig;
    this.#role = identity.role;
    this.judge = rig.judge.connected(identity);
    const isSerial = identity.transport === 'serial';
    this.#framing = isSerial
      ? new RtuFraming({ ...streamTiming, isOwn: () => true, onUnreadable: () => undefined })
      : new MbapFraming();
  }

  /** Sends requests together that a fault leaves without an answer. */
  unanswered(...requests: readonly (Buffer | Frame)[]): void {
    this.#withheld(requests, 0);
  }

  /** Sends a request to which a fault gives an exception in place of the answer. */
  refusedByFault(exception: number, pdu: Buffer): void {
    this.#withheld([pdu], exception);
  }

  #withheld(requests: readonly (Buffer | Frame)[], exception: number): void {
    const nowMs = this.rig.findings.wall.monotonicMs();
    this.judge?.received(nowMs);
    this.#framing.push(
      Buffer.concat(requests.map((one) => this.#adu(Buffer.isBuffer(one) ? { pdu: one } : one))),
      nowMs,
    );
    while (this.#framing.next() === 'frame') this.judge?.withheld(this.#framing, this.rig.unit, exception);
  }

  /** Sends frames together. @returns the exception of each; 0: none, -1: no answer */
  together(frames: readonly Frame[]): number[] {
    const { findings, service } = this.rig;
    const nowMs = findings.wall.monotonicMs();
    const framing = this.#framing;
    this.judge?.received(nowMs);
    framing.push(Buffer.concat(frames.map((frame) => this.#adu(frame))), nowMs);
    const exceptions: number[] = [];
    while (framing.next() === 'frame') {
      const out = Buffer.alloc(maxAdu);
      const asker = {
        peer: '192.0.2.7:4711',
        judge: this.judge,
        ...(this.#role !== undefined && { role: this.#role }),
        internalError(error: unknown) {
          throw error;
        },
      };
      const end = serve(framing, service, asker, out, 0);
      const at = framing.headSize;
      exceptions.push(end === 0 ? -1 : ((out[at] ?? 0) & 0x80) === 0 ? 0 : (out[at + 1] ?? 0));
    }
    return exceptions;
  }

  send(pdu: Buffer, unitId = 1): number {
    return this.together([{ pdu, unitId }])[0] ?? -1;
  }

  read(address: number, count: number, functionCode = 3): number {
    return this.send(readPdu(address, count, functionCode));
  }

  /** Reads a point, or all points from it to another one. */
  readPoint(point: string, last = point): number {
    const { address, def } = named(this.rig.device.layout, last);
    return this.read(this.rig.at(point), address + def.size - this.rig.at(point));
  }

  /** Writes registers from a point on. */
  write(point: string | number, ...values: readonly number[]): number {
    return this.send(writePdu(typeof point === 'number' ? point : this.rig.at(point), values));
  }

  /** Reads the marker and goes on with a read at the end of a wait, as a master does that polls. */
  poll(seconds: number): void {
    this.rig.pass(seconds - 1);
    this.readPoint('701.W');
    this.rig.pass(1);
  }

  close(byMaster = true): void {
    this.judge?.closed(byMaster);
  }

  #adu({ pdu, transaction, unitId = 1 }: Frame): Buffer {
    if (this.#framing instanceof RtuFraming) {
      const body = Buffer.concat([Buffer.from([unitId]), pdu]);
      const crc = crc16(body, 0, body.length);
      return Buffer.concat([body, Buffer.from([crc & 0xff, crc >> 8])]);
    }
    this.#transaction += 1;
    const id = transaction ?? this.#transaction;
    return Buffer.concat([Buffer.from([...word(id), 0, 0, ...word(1 + pdu.length), unitId]), pdu]);
  }
}
