/** Devices as the Modbus stack sees them: one at a unit id, or those of a line at their addresses. */
import { Buffer } from 'node:buffer';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { LimitedLog } from '../../core/log/limited-log.ts';
import type { FaultyMap, Permit } from '../faults/faulty-map.ts';
import type { FaultyMaps } from '../faults/faulty-maps.ts';
import type { Bank } from '../map/bank.ts';
import { checkReadRight, checkWriteRight } from './access/access-bridge.ts';
import { exceptionOf } from './server/errors.ts';
import { broadcastAddress } from './framing/rtu.ts';
import type { ModbusUnit, Requester } from './server/unit.ts';

/** A bank as a Modbus unit, behind its faults while there are some. */
export class BankUnit implements ModbusUnit {
  readonly deviceIndex: number;
  readonly #bank: Bank;
  #faulty: FaultyMap | null = null;
  readonly #forget: (() => void) | undefined;
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

  /** Ends following the faults of the device. */
  release(): void {
    this.#forget?.();
  }

  /** 1.DA, where the device has it; null: it has not */
  get address(): number | null {
    return this.#bank.map.m1.DA;
  }

  read(address: number, count: number, { role }: Requester): Buffer {
    if (this.#faulty !== null) return this.#faulty.read(address, count, role === null ? this.#permitRead : undefined);
    if (role === null) checkReadRight(this.#bank.layout, role, address, count);
    return this.#bank.read(address, count);
  }

  /** @param keepsAddress whether 1.DA is not to be written */
  write(address: number, words: Buffer, by: Requester, keepsAddress = false): void {
    const permit = this.#permitWrite(by, keepsAddress);
    if (this.#faulty !== null) {
      this.#faulty.write(address, words, originOf(by), permit);
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

/** `unit 1`, `units 1..5`: what the unit ids of devices in a row run from and to. */
export function unitsInWords(first: number, last: number): string {
  return first === last ? `unit ${first}` : `units ${first}..${last}`;
}

/** Who writes, as the registers remember it: with its role where it has one. */
function originOf({ peer, role }: Requester): Origin {
  return { source: 'modbus', peer: role === undefined ? peer : `${peer} (${role ?? 'no role'})` };
}

/** Several devices that are asked at once: what they answer nobody could read, so nothing leaves. */
class Party implements ModbusUnit {
  readonly mute = true;
  readonly #members: () => Iterable<BankUnit>;
  readonly #takesAddress: boolean;

  /** @param takesAddress whether a write may set 1.DA */
  constructor(members: () => Iterable<BankUnit>, takesAddress: boolean) {
    this.#members = members;
    this.#takesAddress = takesAddress;
  }

  those(act: (deviceIndex: number) => boolean): ModbusUnit {
    const chosen = [...this.#members()].filter(({ deviceIndex }) => act(deviceIndex));
    return new Party(() => chosen, this.#takesAddress);
  }

  read(_address: number, count: number): Buffer {
    return Buffer.alloc(2 * count);
  }

  write(address: number, words: Buffer, by: Requester): void {
    const failures: unknown[] = [];
    for (const unit of this.#members()) {
      try {
        unit.write(address, words, by, !this.#takesAddress);
      } catch (error) {
        // a refusal is one device's own, and nobody hears it
        if (exceptionOf(error) === undefined) failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/**
 * The devices of one line, each at the address in its register 1.DA (Modbus over serial line 1.02, 2.2).
 *
 * A broadcast is carried out by all of them and never answered. It does not set 1.DA: afterwards no device could be
 * told from another. Where several have one address, all carry out what is written there, and the answers would
 * destroy each other: none leaves.
 */
export class LineUnits {
  readonly #units: ReadonlyMap<number, BankUnit>;
  readonly #log: LimitedLog;
  readonly #everybody: Party;
  readonly #clashes = new Set<number>();

  /** @param units by device index; read at each request */
  constructor(units: ReadonlyMap<number, BankUnit>, log: LimitedLog) {
    this.#units = units;
    this.#log = log;
    this.#everybody = new Party(() => units.values(), false);
  }

  /** Who is meant by an address now. */
  at(address: number): ModbusUnit | undefined {
    if (address === broadcastAddress) return this.#everybody;
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
      const who = members.map(({ deviceIndex }) => deviceIndex).join(', ');
      this.#log.warning(
        `devices ${who} have the same address ${address} (1.DA): all of them carry out what is written there, and no answer can be read`,
      );
    }
    return new Party(() => members, true);
  }
}
