/** Devices as units of the Modbus stack: one at a unit id, or all devices of a line at their addresses. */
import { Buffer } from 'node:buffer';
import { unitIdOf } from '../../contract/device-protocols.ts';
import type { PlacedAtListeners, PlaceRow } from '../../contract/device-protocols.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { RegisterNames } from '../../core/wire/modbus.ts';
import type { LimitedLog } from '../../core/log/limited-log.ts';
import type { FaultyMap, Permit, FaultyMaps } from '../faults/faulty-map.ts';
import type { Bank, PointBank } from '../map/bank.ts';
import { pointName } from '../map/view.ts';
import { checkReadRight, checkWriteRight } from './access/access-bridge.ts';
import { JudgedMap } from './findings/map-bridge.ts';
import { namesInLayout } from './names-bridge.ts';
import { exceptionOf } from './server/unit.ts';
import { broadcastAddress } from './framing/rtu.ts';
import type { ModbusUnit, RegisterPlace, Requester } from './server/unit.ts';

/** Effect of faults on a write; filled in when the write is carried out. */
interface WriteNote {
  /** the point cut by a fault */
  dropped: string | null;
}

/** A bank as a Modbus unit, behind its faults if it has any. */
abstract class ServedBank implements ModbusUnit {
  readonly faultIndex: number;
  /** address on a serial line; null: none */
  abstract readonly address: number | null;
  /** name in messages */
  abstract readonly name: string;
  readonly #bank: PointBank;
  #faulty: FaultyMap | null = null;
  readonly #unfollowFaults: (() => void) | undefined;
  /** note of the request last passed to `names`, which is carried out next */
  #note: WriteNote | null = null;
  #judged: JudgedMap | undefined;
  /** right of a reader without a role */
  readonly #permitRead: Permit = (address, count) => {
    checkReadRight(this.#bank.layout, null, address, count);
  };

  constructor(faultIndex: number, bank: PointBank, faultyMaps?: FaultyMaps) {
    this.faultIndex = faultIndex;
    this.#bank = bank;
    this.#unfollowFaults = faultyMaps?.follow({ index: faultIndex, bank }, (map) => {
      this.#faulty = map;
    });
  }

  /** Stops following the faults of the device. */
  release(): void {
    this.#unfollowFaults?.();
  }

  /** PDU address of the marker */
  get base(): number {
    return this.#bank.layout.base;
  }

  get judged(): JudgedMap | null {
    return this.#faulty?.isMoved === true ? null : (this.#judged ??= new JudgedMap(this.#bank));
  }

  realPlaces(address: number, count: number): readonly RegisterPlace[] {
    const requested = { address, count };
    return this.#faulty?.mapRanges(requested) ?? [requested];
  }

  read(address: number, count: number, { role }: Requester): Buffer {
    if (this.#faulty !== null) return this.#faulty.read(address, count, role === null ? this.#permitRead : undefined);
    if (role === null) checkReadRight(this.#bank.layout, role, address, count);
    return this.#bank.read(address, count);
  }

  /**
   * The present result of `read` for a master that may read everything; no fault counts the read.
   * @throws SimError as `read`
   */
  peek(address: number, count: number): Buffer {
    return this.#faulty === null ? this.#bank.read(address, count) : this.#faulty.peek(address, count);
  }

  names(_functionCode: number, address: number, count: number): () => RegisterNames {
    const { layout } = this.#bank;
    const requested = { address, count };
    // faults may have changed before the names are needed
    const real = this.#faulty === null ? null : this.#faulty.mapRanges(requested);
    if (real === null) return () => namesInLayout(layout, requested, null);
    const note: WriteNote = { dropped: null };
    this.#note = note;
    return () => {
      const names = namesInLayout(layout, requested, real);
      return note.dropped === null ? names : { ...names, ignored: [...names.ignored, note.dropped] };
    };
  }

  /** @param keepsAddress true: a write of 1.DA is refused */
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
      const addressSlot = keepsAddress ? layout.slot(1, 'DA') : undefined;
      if (addressSlot !== undefined && addressSlot.address >= address && addressSlot.address < address + count) {
        throw new SimError('MAP_READ_ONLY', 'a broadcast does not set 1.DA');
      }
    };
  }
}

/** A device with its bank. */
export interface UnitDevice extends PlacedAtListeners {
  readonly bank: Bank;
}

/** The bank of a device; its address on a line is in its map. */
export class BankUnit extends ServedBank {
  readonly device: UnitDevice;
  readonly deviceIndex: number;
  /** on a port for several devices, as the device had it when it joined */
  readonly unitId: number;

  constructor(device: UnitDevice, faultyMaps?: FaultyMaps, row: PlaceRow = {}) {
    super(device.index, device.bank, faultyMaps);
    this.device = device;
    this.deviceIndex = device.index;
    this.unitId = unitIdOf(row, device);
  }

  get name(): string {
    return `device ${this.deviceIndex}`;
  }

  /** 1.DA; null: not implemented */
  get address(): number | null {
    return this.device.bank.map.m1.DA;
  }
}

/** The meter of the connection point, whose address is a setting. */
export class MeterUnit extends ServedBank {
  readonly name = 'the meter';
  readonly address: number;

  constructor(address: number, bank: PointBank, faultyMaps?: FaultyMaps) {
    super(meterIndex, bank, faultyMaps);
    this.address = address;
  }
}

/** `unit 1`, `units 1..5`, or `3 units from 1 to 9` where ids are left out. */
export function unitsInWords(ids: readonly number[]): string {
  const [first, last] = [Math.min(...ids), Math.max(...ids)];
  const { size } = new Set(ids);
  if (size === 1) return `unit ${first}`;
  return size === last - first + 1 ? `units ${first}..${last}` : `${size} units from ${first} to ${last}`;
}

/** `SunSpec base 40000`, or the bases of devices that differ. */
export function basesInWords(units: Iterable<BankUnit>): string {
  const bases = [...new Set(Array.from(units, ({ base }) => base))].sort((a, b) => a - b);
  return `SunSpec base ${bases.join(', ')}`;
}

/** The writer as in provenance: the peer, with its role if it has one. */
function originOf({ peer, role }: Requester): Origin {
  return { source: 'modbus', peer: role === undefined ? peer : `${peer} (${role ?? 'no role'})` };
}

/** Several devices that receive one request: no answer is sent, since answers would collide. */
class BroadcastGroup implements ModbusUnit {
  readonly mute = true;
  readonly #members: () => Iterable<ServedBank>;
  readonly #acceptsAddress: boolean;

  /** @param acceptsAddress true: a write may set 1.DA */
  constructor(members: () => Iterable<ServedBank>, acceptsAddress: boolean) {
    this.#members = members;
    this.#acceptsAddress = acceptsAddress;
  }

  subset(acts: (deviceIndex: number) => boolean): ModbusUnit {
    const chosen = [...this.#members()].filter(({ faultIndex }) => acts(faultIndex));
    return new BroadcastGroup(() => chosen, this.#acceptsAddress);
  }

  read(_address: number, count: number): Buffer {
    return Buffer.alloc(2 * count);
  }

  /** Names of the first member: devices of one line may differ. */
  names(functionCode: number, address: number, count: number): (() => RegisterNames) | null {
    for (const unit of this.#members()) return unit.names(functionCode, address, count);
    return null;
  }

  /** @throws SimError if any member refuses, which is not answered; the others have acted */
  write(address: number, words: Buffer, by: Requester): void {
    const failures: unknown[] = [];
    const refusals = new Map<string, SimError>();
    for (const unit of this.#members()) {
      try {
        unit.write(address, words, by, !this.#acceptsAddress);
      } catch (error) {
        // the other devices still act
        if (error instanceof SimError && exceptionOf(error) !== undefined) refusals.set(unit.name, error);
        else failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    const [first] = refusals.values();
    if (first === undefined) return;
    throw new SimError(
      first.code,
      `${namesInWords(refusals.keys())}: ${first.message}`,
      first.issues,
      first.protocolCode,
    );
  }
}

/** `device 1`, `devices 1, 2`, `devices 1, 2 and the meter` */
function namesInWords(names: Iterable<string>): string {
  const [numbers, others]: [string[], string[]] = [[], []];
  for (const name of names) {
    if (name.startsWith('device ')) numbers.push(name.slice('device '.length));
    else others.push(name);
  }
  const devices = numbers.length === 0 ? [] : [`${numbers.length === 1 ? 'device' : 'devices'} ${numbers.join(', ')}`];
  return [...devices, ...others].join(' and ');
}

/**
 * The devices of one line, each at the address in its register 1.DA (Modbus over serial line 1.02, 2.2). All of them
 * carry out a broadcast, and none answers it. A broadcast does not set 1.DA, since all devices would get the same
 * address. Devices that share an address all carry out writes to it without an answer, since answers would collide. The
 * meter of the connection point has a separate address and ignores broadcasts.
 */
export class LineUnits {
  readonly #units: ReadonlyMap<number, BankUnit>;
  readonly #log: LimitedLog;
  readonly #meter: MeterUnit | null;
  readonly #broadcast: BroadcastGroup;
  readonly #clashes = new Set<number>();

  /** @param units by device index; live @param meter null: no meter */
  constructor(units: ReadonlyMap<number, BankUnit>, log: LimitedLog, meter: MeterUnit | null = null) {
    this.#units = units;
    this.#meter = meter;
    this.#log = log;
    this.#broadcast = new BroadcastGroup(() => units.values(), false);
  }

  /** The present device, or group of devices, at an address. */
  at(address: number): ModbusUnit | undefined {
    if (address === broadcastAddress) return this.#broadcast;
    let addressedUnit: ServedBank | undefined = this.#meter?.address === address ? this.#meter : undefined;
    for (const unit of this.#units.values()) {
      if (unit.address !== address) continue;
      if (addressedUnit !== undefined) return this.#clash(address);
      addressedUnit = unit;
    }
    this.#clashes.delete(address);
    return addressedUnit;
  }

  #clash(address: number): ModbusUnit {
    const all = [...this.#units.values(), ...(this.#meter === null ? [] : [this.#meter])];
    const members = all.filter((unit) => unit.address === address);
    if (!this.#clashes.has(address)) {
      this.#clashes.add(address);
      this.#log.warning(
        `${namesInWords(members.map(({ name }) => name))} have the same address ${address} (1.DA): all of ` +
          'them carry out writes to it, and none of them answers',
      );
    }
    return new BroadcastGroup(() => members, true);
  }
}
