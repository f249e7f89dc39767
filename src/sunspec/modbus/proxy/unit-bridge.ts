/** A device behind a proxy map, as a Modbus unit. */
import { Buffer } from 'node:buffer';
import { SimError } from '../../../core/errors.ts';
import type { RegisterNames } from '../../../core/wire/modbus.ts';
import type { Bank } from '../../map/bank.ts';
import { isInSet1, memoPerLayoutAndKey } from '../../map/layout.ts';
import type { ModbusUnit, Requester } from '../server/unit.ts';
import { tablesOf } from './check.ts';
import { bindMap } from './points-bridge.ts';
import type { BoundMap } from './points-bridge.ts';
import type { Assignments, MappedDevice, BoundRegister, KeptOctets, WriteDraft } from './register-bridge.ts';
import type { Layout, PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';
import type { ProxyMap } from './schema.ts';
import { Watchdog } from './watchdog.ts';
import type { DeviceTime } from './watchdog.ts';

/** Maximum size of an entry: a string of 123 registers. */
const maxEntryOctets = 246;

/** One of the two address spaces. */
class Table {
  readonly #at = new Map<number, BoundRegister>();
  #first = Infinity;
  #last = -Infinity;

  add(register: BoundRegister): void {
    for (let i = 0; i < register.registers; i += 1) this.#at.set(register.address + i, register);
    this.#first = Math.min(this.#first, register.address);
    this.#last = Math.max(this.#last, register.address + register.registers - 1);
  }

  /** The entry that covers a register. */
  at(address: number): BoundRegister | undefined {
    return this.#at.get(address);
  }

  /** True if a register lies between registers of the map. */
  isGap(address: number): boolean {
    return address > this.#first && address < this.#last && !this.#at.has(address);
  }
}

/** A proxy map in front of all devices of one layout. */
export interface ProxyImage {
  readonly bound: BoundMap;
  readonly tables: { readonly holding: Table; readonly input: Table };
}

const imageFor = memoPerLayoutAndKey((layout, map: ProxyMap): ProxyImage => {
  const bound = bindMap(map, layout);
  const tables = { holding: new Table(), input: new Table() };
  for (const [index, register] of map.registers.entries()) {
    const entry = bound.registers[index];
    if (entry) for (const table of tablesOf(register)) tables[table].add(entry);
  }
  return { bound, tables };
});

/** The image of a layout, cached: devices of one shape share it. */
export function imageOf(map: ProxyMap, layout: Layout): ProxyImage {
  return imageFor(layout, map);
}

export interface ProxyDevice {
  readonly index: number;
  readonly bank: Bank;
}

/** Called once per register of a device whose value exceeds its type. */
export type SaturationListener = (name: string) => void;

/** Called for a read of a part of a register. @returns true if a fault refuses it */
export type PartCheck = (address: number) => boolean;

export interface ProxyUnitOptions {
  /** default: no fault refuses reads of parts */
  readonly refusesPart?: PartCheck;
  /** absent: heartbeats are not watched */
  readonly time?: DeviceTime;
  /** called when the device refuses the values for a missing heartbeat */
  readonly onLossRefused?: (error: unknown) => void;
}

export class ProxyUnit implements ModbusUnit {
  readonly deviceIndex: number;
  readonly #bank: Bank;
  readonly #keptOctets: KeptOctets = new Map();
  readonly #device: MappedDevice;
  readonly #unfollowResets: () => void;
  readonly #image: ProxyImage;
  readonly #gaps: ProxyMap['gaps'];
  readonly #refusesPart: PartCheck;
  /** by the name of the heartbeat register */
  readonly #watchdogs = new Map<string, Watchdog>();
  readonly #onSaturated: SaturationListener;
  readonly #reportedRegisters = new Set<BoundRegister>();
  readonly #scratch = Buffer.alloc(maxEntryOctets);

  constructor(
    map: ProxyMap,
    { index, bank }: ProxyDevice,
    onSaturated: SaturationListener,
    { refusesPart = () => false, time, onLossRefused = () => undefined }: ProxyUnitOptions = {},
  ) {
    this.deviceIndex = index;
    this.#bank = bank;
    this.#device = { bank, kept: this.#keptOctets };
    const keeps = map.registers.some((register) => register.keeps !== undefined);
    this.#unfollowResets = keeps
      ? bank.onReload(() => {
          this.#keptOctets.clear();
          for (const watchdog of this.#watchdogs.values()) watchdog.stop();
        })
      : () => undefined;
    this.#image = imageOf(map, bank.layout);
    this.#gaps = map.gaps;
    this.#refusesPart = refusesPart;
    this.#onSaturated = onSaturated;
    for (const register of this.#image.bound.registers) {
      if (register.loss === null || time === undefined) continue;
      const watchdog = new Watchdog(register.loss, time, (settings) => {
        this.#writeLoss(settings, onLossRefused);
      });
      this.#watchdogs.set(register.name, watchdog);
    }
  }

  /** Stops following the device and its heartbeat. */
  release(): void {
    this.#unfollowResets();
    for (const watchdog of this.#watchdogs.values()) watchdog.stop();
  }

  /** Holding registers. @throws SimError MAP_ILLEGAL_ADDRESS, MAP_NOT_IMPLEMENTED, MAP_PARTIAL_POINT */
  read(address: number, count: number): Buffer {
    return this.#read(this.#image.tables.holding, address, count);
  }

  /** Input registers. @throws SimError MAP_ILLEGAL_ADDRESS, MAP_NOT_IMPLEMENTED, MAP_PARTIAL_POINT */
  readInput(address: number, count: number): Buffer {
    return this.#read(this.#image.tables.input, address, count);
  }

  /** The names of the entries in the map. */
  names(functionCode: number, address: number, count: number): () => RegisterNames {
    const { holding, input } = this.#image.tables;
    const table = functionCode === 4 ? input : holding;
    const isWrite = functionCode === 6 || functionCode === 16;
    return () => namesInTable(table, address, count, isWrite);
  }

  /**
   * @throws SimError MAP_ILLEGAL_ADDRESS for registers outside of the map, MAP_READ_ONLY, MAP_PARTIAL_POINT,
   * MAP_BAD_VALUE, and refusals of the bank
   */
  write(address: number, written: Buffer, by: Requester): void {
    const words = inReadOrder(this.#image.tables.holding, address, written);
    const writtenNames = new Set<string>();
    const draft: WriteDraft = { also: new Map(), direct: new Map(), kept: new Map() };
    const end = address + words.length / 2;
    const table = this.#image.tables.holding;
    for (let at = address; at < end; ) {
      const register = table.at(at);
      if (!register) throw illegal(at, 1);
      if (register.writable && (register.address < at || register.address + register.registers > end)) {
        throw new SimError(
          'MAP_PARTIAL_POINT',
          `${register.name} spans ${register.registers} registers and must be written whole`,
        );
      }
      register.write(words, 2 * (at - address), draft);
      writtenNames.add(register.name);
      at += register.registers;
    }
    this.#commit(new Map([...draft.also, ...draft.direct]), by);
    for (const [name, octets] of draft.kept) this.#keptOctets.set(name, octets);
    for (const [name, watchdog] of this.#watchdogs) watchdog.written(writtenNames.has(name));
  }

  /** Writes the values for a missing heartbeat, with the source `reversion`. */
  #writeLoss(settings: ReadonlyMap<PointSlot, AnyPointValue>, onRefused: (error: unknown) => void): void {
    try {
      this.#bank.assign(
        { source: 'reversion' },
        Array.from(settings, ([slot, value]) => ({ slot, value })),
      );
    } catch (error) {
      onRefused(error);
    }
  }

  /**
   * Commits all assignments together. An empty list is committed too, so that local control refuses it. The set in
   * force of a curve model can be changed by `adopt` only.
   */
  #commit(assignments: Assignments, { peer }: Requester): void {
    const origin = { source: 'modbus', peer } as const;
    const values = Array.from(assignments, ([slot, value]) => ({ slot, value }));
    if (!values.some(({ slot }) => isInSet1(slot))) {
      this.#bank.assign(origin, values);
      return;
    }
    this.#bank.adopt(origin, (_, set) => {
      for (const { slot, value } of values) set(slot, value);
    });
  }

  #read(table: Table, address: number, count: number): Buffer {
    const out = Buffer.alloc(2 * count);
    const end = address + count;
    for (let at = address; at < end; ) {
      const register = table.at(at);
      if (!register) {
        if (this.#gaps === undefined || this.#gaps === 'refuse' || !table.isGap(at)) throw illegal(address, count);
        if (this.#gaps === 'ones') out.writeUInt16BE(0xffff, 2 * (at - address));
        at += 1;
        continue;
      }
      this.#checkWhole(register, address, end);
      if (register.read(this.#device, this.#scratch, 0) === 'saturated') this.#saturated(register);
      const next = Math.min(end, register.address + register.registers);
      this.#scratch.copy(out, 2 * (at - address), 2 * (at - register.address), 2 * (next - register.address));
      at = next;
    }
    return out;
  }

  /** @throws SimError MAP_PARTIAL_POINT for a part of a register where a fault refuses it */
  #checkWhole({ name, address, registers }: BoundRegister, start: number, end: number): void {
    if (address >= start && address + registers <= end) return;
    if (this.#refusesPart(address))
      throw new SimError('MAP_PARTIAL_POINT', `${name} has ${registers} registers and must be read whole`);
  }

  #saturated(register: BoundRegister): void {
    if (this.#reportedRegisters.has(register)) return;
    this.#reportedRegisters.add(register);
    this.#onSaturated(register.name);
  }
}

/** Written registers in the order in which they are read. */
function inReadOrder(table: Table, address: number, words: Buffer): Buffer {
  const ordered = Buffer.from(words);
  const end = address + words.length / 2;
  for (let at = address; at < end; at += 1) {
    const register = table.at(at);
    if (!register?.swapsWrites || register.address !== at || at + register.registers > end) continue;
    for (let i = 0; i < register.registers; i += 1) {
      const from = 2 * (at - address + register.registers - 1 - i);
      words.copy(ordered, 2 * (at - address + i), from, from + 2);
    }
  }
  return ordered;
}

function namesInTable(table: Table, address: number, count: number, isWrite: boolean): RegisterNames {
  const registers = Array.from({ length: count }, (_, i) => table.at(address + i));
  const entries = [...new Set(registers.filter((entry) => entry !== undefined))];
  const isWhole = (entry: BoundRegister) =>
    entry.address >= address && entry.address + entry.registers <= address + count;
  return {
    points: entries.map(({ name }) => name),
    addresses: entries.map((entry) => entry.address),
    ignored: entries.filter(({ ignoresWrites }) => ignoresWrites).map(({ name }) => name),
    values(octets) {
      const words = isWrite ? inReadOrder(table, address, octets) : octets;
      return Object.fromEntries(
        entries.filter(isWhole).map((entry) => [entry.name, entry.decode(words, 2 * (entry.address - address))]),
      );
    },
  };
}

function illegal(address: number, count: number): SimError {
  return new SimError(
    'MAP_ILLEGAL_ADDRESS',
    `registers ${address}..${address + count - 1} are not all in the proxy map`,
  );
}
