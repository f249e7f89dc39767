/** Devices as the Modbus stack sees them: one at a unit id, or all devices of a line at their addresses. */
import { Buffer } from 'node:buffer';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { RegisterNames } from '../../core/wire/modbus-messages.ts';
import type { LimitedLog } from '../../core/log/limited-log.ts';
import type { FaultyMap, Permit } from '../faults/faulty-map.ts';
import type { FaultyMaps } from '../faults/faulty-maps.ts';
import type { Bank } from '../map/bank.ts';
import { pointName } from '../map/view.ts';
import { checkReadRight, checkWriteRight } from './access/access-bridge.ts';
import { namesInLayout } from './names-bridge.ts';
import { exceptionOf } from './server/errors.ts';
import { broadcastAddress } from './framing/rtu.ts';
import type { ModbusUnit, Requester } from './server/unit.ts';

/** What faults make of a write; filled in when it is carried out. */
interface WriteNote {
  /** the point of which they have dropped a part */
  dropped: string | null;
}

/** A bank as a Modbus unit, behind its faults while there are some. */
export class BankUnit implements ModbusUnit {
  readonly deviceIndex: number;
  readonly #bank: Bank;
  #faulty: FaultyMap | null = null;
  readonly #forget: (() => void) | undefined;
  /** of the request whose names were asked for last, and which is carried out next */
  #note: WriteNote | null = null;
  /** of a reader without a role */
  readonly #permitRead: Permit = (address, count) => {
    checkReadRight(this.#bank.layout, null, address, count);
  };

  constructor(deviceIndex: number, bank: Bank, faultyMaps?: FaultyMaps) {
    this.deviceIndex = deviceIndex;
    this.#bank = bank;
    this.#forget = faultyMaps?.follow({ index: deviceIndex, bank }, (map) => {
      this.#faulty = map;
    });
  }

  /** No longer follows the faults of the device. */
  release(): void {
    this.#forget?.();
  }

  /** PDU address of the marker */
  get base(): number {
    return this.#bank.layout.base;
  }

  /** 1.DA; null: the device does not implement it */
  get address(): number | null {
    return this.#bank.map.m1.DA;
  }

  read(address: number, count: number, { role }: Requester): Buffer {
    if (this.#faulty !== null) return this.#faulty.read(address, count, role === null ? this.#permitRead : undefined);
    if (role === null) checkReadRight(this.#bank.layout, role, address, count);
    return this.#bank.read(address, count);
  }

  names(_functionCode: number, address: number, count: number): () => RegisterNames {
    const { layout } = this.#bank;
    const asked = { address, count };
    // faults may have changed by the time somebody wants to know
    const real = this.#faulty === null ? null : this.#faulty.under(asked);
    if (real === null) return () => namesInLayout(layout, asked, null);
    const note: WriteNote = { dropped: null };
    this.#note = note;
    return () => {
      const names = namesInLayout(layout, asked, real);
      return note.dropped === null ? names : { ...names, ignored: [...names.ignored, note.dropped] };
    };
  }

  /** @param keepsAddress whether a write of 1.DA is refused */
  write(address: number, words: Buffer, by: Requester, keepsAddress = false): void {
    const permit = this.#permitWrite(by, keepsAddress);
    if (this.#faulty !== null) {
      const note = this.#note;
      this.#note = null;
      const dropped = this.#faulty.write(address, words, originOf(by), permit);
      if (note !== null && dropped !== null) note.dropped = pointName(dropped);
      return;
    }
    permit?.(address, words.length / 2);
    this.#bank.write(address, words, originOf(by));
  }

  #permitWrite({ role }: Requester, keepsAddress: boolean): Permit | undefined {
    if (role === undefined && !keepsAddress) return undefined;
    const { layout } = this.#bank;
    return (address, count) => {
      if (role !== undefined) checkWriteRight(layout, role, address, count);
      const own = keepsAddress ? layout.slot(1, 'DA') : undefined;
      if (own !== undefined && own.address >= address && own.address < address + count) {
        throw new SimError('MAP_READ_ONLY', 'a broadcast does not set 1.DA');
      }
    };
  }
}

/** `unit 1`, `units 1..5`: the range of the unit ids of consecutive devices. */
export function unitsInWords(first: number, last: number): string {
  return first === last ? `unit ${first}` : `units ${first}..${last}`;
}

/** `SunSpec base 40000`, or the bases of devices that differ. */
export function basesInWords(units: Iterable<BankUnit>): string {
  const bases = [...new Set(Array.from(units, ({ base }) => base))].sort((a, b) => a - b);
  return `SunSpec base ${bases.join(', ')}`;
}

/** The writer as provenance keeps it: the peer, with its role where there is one. */
function originOf({ peer, role }: Requester): Origin {
  return { source: 'modbus', peer: role === undefined ? peer : `${peer} (${role ?? 'no role'})` };
}

/** Several devices that get one request: their answers would collide on the line, so none leaves. */
class BroadcastGroup implements ModbusUnit {
  readonly mute = true;
  readonly #members: () => Iterable<BankUnit>;
  readonly #takesAddress: boolean;

  /** @param takesAddress whether a write may set 1.DA */
  constructor(members: () => Iterable<BankUnit>, takesAddress: boolean) {
    this.#members = members;
    this.#takesAddress = takesAddress;
  }

  subset(acts: (deviceIndex: number) => boolean): ModbusUnit {
    const chosen = [...this.#members()].filter(({ deviceIndex }) => acts(deviceIndex));
    return new BroadcastGroup(() => chosen, this.#takesAddress);
  }

  read(_address: number, count: number): Buffer {
    return Buffer.alloc(2 * count);
  }

  /** As its first member has them: devices of one line may differ. */
  names(functionCode: number, address: number, count: number): (() => RegisterNames) | null {
    for (const unit of this.#members()) return unit.names(functionCode, address, count);
    return null;
  }

  /** @throws SimError for a refusal by any of them, which is not answered; the others have acted */
  write(address: number, words: Buffer, by: Requester): void {
    const failures: unknown[] = [];
    const refusals = new Map<number, SimError>();
    for (const unit of this.#members()) {
      try {
        unit.write(address, words, by, !this.#takesAddress);
      } catch (error) {
        // must not keep the other devices from acting
        if (error instanceof SimError && exceptionOf(error) !== undefined) refusals.set(unit.deviceIndex, error);
        else failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    const [first] = refusals.values();
    if (first === undefined) return;
    const who = `${refusals.size === 1 ? 'device' : 'devices'} ${[...refusals.keys()].join(', ')}`;
    throw new SimError(first.code, `${who}: ${first.message}`, first.issues, first.protocolCode);
  }
}

/**
 * The devices of one line, each at the address in its register 1.DA (Modbus over serial line 1.02, 2.2).
 *
 * All of them carry out a broadcast, and none answers it. A broadcast does not set 1.DA: afterwards all devices would
 * have the same address. Where several devices share an address, all carry out what is written there, and no answer
 * leaves: the answers would collide.
 */
export class LineUnits {
  readonly #units: ReadonlyMap<number, BankUnit>;
  readonly #log: LimitedLog;
  readonly #broadcast: BroadcastGroup;
  readonly #clashes = new Set<number>();

  /** @param units by device index; read at each request */
  constructor(units: ReadonlyMap<number, BankUnit>, log: LimitedLog) {
    this.#units = units;
    this.#log = log;
    this.#broadcast = new BroadcastGroup(() => units.values(), false);
  }

  /** The device, or group of devices, at an address now. */
  at(address: number): ModbusUnit | undefined {
    if (address === broadcastAddress) return this.#broadcast;
    let found: BankUnit | undefined;
    for (const unit of this.#units.values()) {
      if (unit.address !== address) continue;
      if (found !== undefined) return this.#clash(address);
      found = unit;
    }
    this.#clashes.delete(address);
    return found;
  }

  #clash(address: number): ModbusUnit {
    const members = [...this.#units.values()].filter((unit) => unit.address === address);
    if (!this.#clashes.has(address)) {
      this.#clashes.add(address);
      const names = members.map(({ deviceIndex }) => deviceIndex).join(', ');
      this.#log.warning(
        `devices ${names} have the same address ${address} (1.DA): all of them carry out what is written there, and no answer can be read`,
      );
    }
    return new BroadcastGroup(() => members, true);
  }
}
