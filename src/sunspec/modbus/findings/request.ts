/** The request that the judge looks at, and what it remembers of masters. */
import { Buffer } from 'node:buffer';
import { SimError } from '../../../core/errors.ts';
import type { Case, Deadline, Findings, RuleHandles } from '../../../core/findings/rule.ts';
import type { Peer } from '../../../core/findings/peer.ts';
import type { modbusRules } from '../../../finding-rules/modbus.ts';
import type { Framing } from '../framing/framing.ts';
import type { ModbusUnit } from '../server/unit.ts';
import type { JudgedMap } from './map-bridge.ts';

export type ModbusHandles = RuleHandles<typeof modbusRules>;

/** The registry and clocks that all judges share. */
export interface JudgeContext {
  readonly findings: Findings;
  readonly rules: ModbusHandles;
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

/** A refused write, for repetitions of it. */
interface RefusedWrite {
  readonly address: number;
  readonly words: Buffer;
  repetitions: number;
  lastMs: number;
}

/** A request that comes again after a longer pause is a new attempt: the master or the device may have changed. */
const episodeMs = 600_000;

/** Requests of one kind, with short pauses between them. */
export class Episode {
  count = 1;
  sinceMs: number;
  #lastMs: number;

  constructor(nowMs: number) {
    this.sinceMs = this.#lastMs = nowMs;
  }

  /** Counts a request. @returns false: it begins anew */
  goesOn(nowMs: number): boolean {
    const goesOn = nowMs - this.#lastMs <= episodeMs;
    this.#lastMs = nowMs;
    this.count = goesOn ? this.count + 1 : 1;
    if (!goesOn) this.sinceMs = nowMs;
    return goesOn;
  }
}

/** A read that was refused. */
interface RefusedRead {
  readonly address: number;
  readonly count: number;
  readonly reads: Episode;
}

/** An adoption whose result the master has to read. */
interface OpenAdoption {
  readonly resultAt: number;
  readonly deadline: Deadline;
}

/** Requests of a master since the registers of a device have moved. */
interface Move {
  /** time of the first one */
  readonly sinceMs: number;
  /** to places that are others now, since the last case */
  requests: number;
  /** true: it has looked for the models since */
  hasLooked: boolean;
}

/** A request that a fault has left without an answer. */
export interface Unanswered {
  readonly unitId: number;
  readonly pdu: Buffer;
  readonly atMs: number;
  /** true: the master asks for it so often anyway */
  readonly isPolled: boolean;
}

/** One connection of a master, as long as it is open. */
export interface ConnectionState {
  isOpen: boolean;
  requests: number;
  /** time since the master ended the connection before; null: it did not, or has others */
  readonly pauseMs: number | null;
  unanswered: Unanswered | null;
}

/** A connection over which a device is used. */
interface DeviceUser {
  readonly connection: ConnectionState;
  readonly sinceMs: number;
}

/** Reads of scaled values, by scale factor. */
interface ScaleState {
  /** 1: the master has read it */
  readonly read: Uint8Array;
  /** reads of its values before the first read of itself */
  readonly uses: Uint8Array;
}

/** Memory of one master at one device. */
export interface MasterAtDevice {
  hasFoundModels: boolean;
  /** requests for data before the first marker or model id */
  blindRequests: number;
  refusedWrite: RefusedWrite | null;
  refusedReads: readonly RefusedRead[];
  /** the last one of each model */
  readonly adoptions: Map<number, OpenAdoption>;
  /** by `setKey`: the last wait for the adoption of a stored set that the master has written */
  readonly staged: Map<string, Deadline>;
  /** the last map that its requests met; null: none */
  map: JudgedMap | null;
  /** its requests since the registers moved; null: they are where the layout has them */
  move: Move | null;
  /** true: the map has changed since the master has looked for the models */
  isLost: boolean;
  /** null: it has read no values yet */
  scales: ScaleState | null;
  /** true: it has written set-points that it has not read back */
  awaitsReadback: boolean;
  /** the connection of the last request, as looked at from time to time */
  user: ConnectionState | null;
  users: readonly DeviceUser[];
  lookedMs: number;
  /** writes of settings that changed nothing */
  unchangedSettings: number;
  settingsSinceMs: number;
  /** writes that were refused because of local control; null: none since the last one that was carried out */
  localRefusals: Episode | null;
}

/** Devices of one master that the judge remembers. */
const maxDevices = 64;

const newAtDevice = (nowMs: number): MasterAtDevice => ({
  hasFoundModels: false,
  blindRequests: 0,
  refusedWrite: null,
  refusedReads: [],
  adoptions: new Map(),
  staged: new Map(),
  map: null,
  move: null,
  isLost: false,
  scales: null,
  awaitsReadback: false,
  user: null,
  users: [],
  lookedMs: -Infinity,
  unchangedSettings: 0,
  settingsSinceMs: nowMs,
  localRefusals: null,
});

/** Memory of one master. */
export class Master {
  readonly peer: Peer;
  readonly sinceMs: number;
  /** refused requests by function */
  readonly functions = new Map<number, Episode>();
  /** requests to units that are not served */
  readonly units = new Map<number, Episode>();
  /** by unit id: 1 if the unit was served once */
  readonly servedUnits = new Uint8Array(256);
  /** times of the last connections with one request */
  shortConnections: readonly number[] = [];
  /** times of the last connections that followed at once */
  hastyMs: readonly number[] = [];
  hastyRetries: Episode | null = null;
  /** end of the last connection, by the master; null: others were open, or it had one request */
  departure: { readonly listener: number | undefined; readonly atMs: number } | null = null;
  /** time of the last write */
  wroteMs = -Infinity;
  inputReads = 0;
  holdingReads = 0;
  /** false: it has had more devices than are remembered, so that discoveries may be forgotten */
  remembersAll = true;
  readonly #devices = new Map<number, MasterAtDevice>();

  constructor(peer: Peer, nowMs: number) {
    this.peer = peer;
    this.sinceMs = nowMs;
  }

  at(deviceIndex: number, nowMs: number): MasterAtDevice {
    let device = this.#devices.get(deviceIndex);
    if (device === undefined) {
      if (this.#devices.size >= maxDevices) this.#forgetOne();
      device = newAtDevice(nowMs);
      this.#devices.set(deviceIndex, device);
    }
    return device;
  }

  #forgetOne(): void {
    this.remembersAll = false;
    const [oldest = 0] = this.#devices.keys();
    this.#devices.delete(oldest);
  }
}

/** A request to a unit that is served. */
export type ServedRequest = JudgedRequest & { readonly unit: ModbusUnit; readonly device: MasterAtDevice };

const noFrame: Pick<Framing, 'buffer' | 'pduStart' | 'pduEnd' | 'headSize' | 'unitId'> = {
  buffer: Buffer.alloc(0),
  pduStart: 0,
  pduEnd: 0,
  headSize: 0,
  unitId: 0,
};

/** A request with its outcome; one object per connection, filled anew for each request. */
export class JudgedRequest {
  readonly master: Master;
  nowMs: number;
  functionCode = 0;
  /** first register and number of registers of functions 3, 4, 6 and 16 */
  address = 0;
  count = 0;
  /** as in `ConnectionJudge.served` */
  exception = 0;
  /** refusal of the unit; null: none */
  error: SimError | null = null;
  unit: ModbusUnit | undefined;
  map: JudgedMap | null = null;
  deviceIndex: number | null = null;
  device: MasterAtDevice | null = null;
  messageId: number | null = null;
  #framing = noFrame;
  #namedAddress = 0;
  #namedCount = 0;
  #registers = '';

  constructor(master: Master, nowMs: number) {
    this.master = master;
    this.nowMs = nowMs;
  }

  get peer(): Peer {
    return this.master.peer;
  }

  /** Takes the request at hand. */
  fill(framing: Framing, unit: ModbusUnit | undefined, exception: number): void {
    const { buffer, pduStart } = framing;
    this.#framing = framing;
    this.functionCode = buffer[pduStart] ?? 0;
    this.address = ((buffer[pduStart + 1] ?? 0) << 8) | (buffer[pduStart + 2] ?? 0);
    this.count = this.functionCode === 6 ? 1 : ((buffer[pduStart + 3] ?? 0) << 8) | (buffer[pduStart + 4] ?? 0);
    this.exception = exception;
    this.unit = unit;
    this.map = unit?.judged ?? null;
    this.deviceIndex = unit?.deviceIndex ?? null;
    this.device = unit === undefined ? null : this.master.at(unit.faultIndex ?? unit.deviceIndex ?? -2, this.nowMs);
  }

  /** Forgets the outcome, before the next request. */
  clear(): void {
    this.error = null;
    this.messageId = null;
  }

  /** False: no unit has its unit id. */
  isServed(): this is ServedRequest {
    return this.unit !== undefined;
  }

  refused(error: unknown): void {
    this.error = error instanceof SimError ? error : null;
  }

  get isRead(): boolean {
    return this.functionCode === 3 || this.functionCode === 4;
  }

  get isWrite(): boolean {
    return this.functionCode === 6 || this.functionCode === 16;
  }

  get end(): number {
    return this.address + this.count;
  }

  /** Octets of the frame, valid until the next one. */
  get frame(): Buffer {
    const { buffer, pduStart, pduEnd, headSize } = this.#framing;
    return buffer.subarray(pduStart - headSize, pduEnd);
  }

  /** Octets of the PDU, valid until the next one. */
  get pdu(): Buffer {
    const { buffer, pduStart, pduEnd } = this.#framing;
    return buffer.subarray(pduStart, pduEnd);
  }

  get unitId(): number {
    return this.#framing.unitId;
  }

  /** Number of octets of the PDU. */
  get pduLength(): number {
    return this.#framing.pduEnd - this.#framing.pduStart;
  }

  /** The octet of the PDU at an offset. */
  octet(at: number): number {
    return this.#framing.buffer[this.#framing.pduStart + at] ?? 0;
  }

  /** Unit, function, first register and number of registers of a read as one number; 0: the frame is cut short. */
  get readKey(): number {
    if (this.pduLength < 5) return 0;
    return ((this.unitId * 256 + this.functionCode) * 65_536 + this.address) * 65_536 + this.count;
  }

  /** Registers that a write has, valid until the next request. */
  get words(): Buffer {
    return this.frame.subarray(-2 * this.count);
  }

  /** The registers in words, kept while a master asks for the same ones. */
  get registers(): string {
    const { address, count } = this;
    if (address !== this.#namedAddress || count !== this.#namedCount) {
      this.#namedAddress = address;
      this.#namedCount = count;
      this.#registers = count > 1 ? `registers ${address}..${this.end - 1}` : `register ${address}`;
    }
    return this.#registers;
  }

  /** Evidence that is made when the case is kept. */
  evidence(): Pick<Case, 'message' | 'excerpt'> {
    const { messageId } = this;
    return {
      excerpt: Buffer.from(this.frame),
      ...(messageId !== null && { message: { channel: 'modbus', id: messageId } }),
    };
  }
}
