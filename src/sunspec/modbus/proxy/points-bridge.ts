/**
 * The registers of a proxy map bound to the points of one layout: the reading from a bank, and the values assigned by a
 * write.
 */
import type { Buffer } from 'node:buffer';
import type { Issue } from '../../../core/errors.ts';
import type { Bank } from '../../map/bank.ts';
import type { Layout, PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';
import { pointName } from '../../map/view.ts';
import { contentOf, isWritable, pointerOf } from './check.ts';
import { constantBinding, keptBinding, bad, checkLimits, lacks, put, readOnly, take } from './register-bridge.ts';
import type { Assignments, Binding, BoundRegister } from './register-bridge.ts';
import type { ProxyMap, ProxyRegister } from './schema.ts';
import type { Loss } from './watchdog.ts';
import { registersOf, wireFormOf } from './wire-form.ts';
import type { NumberForm, TextForm, WireForm } from './wire-form.ts';

/** Looks up names in one layout, and collects missing ones. */
interface Names {
  /** undefined: missing in this layout */
  slot(name: string, use: 'read' | 'write', ...steps: readonly PropertyKey[]): PointSlot | undefined;
  issue(detail: string, ...steps: readonly PropertyKey[]): void;
}

/** The map bound to a layout, and its issues. */
export interface BoundMap {
  readonly registers: readonly BoundRegister[];
  /** issues that do not depend on the device behind the map */
  readonly issues: readonly Issue[];
  /** names of missing points by JSON pointer: an issue only if all layouts lack them */
  readonly lacking: ReadonlyMap<string, string>;
  /** pointers to present points */
  readonly present: ReadonlySet<string>;
  /** names of points that are present but not implemented */
  readonly empty: ReadonlySet<string>;
}

const isEnum = ({ def }: PointSlot) => def.type.startsWith('enum') && def.symbols !== undefined;
const isBits = ({ def }: PointSlot) => def.type.startsWith('bitfield');
const isText = ({ def }: PointSlot) => def.type === 'string';

/** The number of a point: the register value for enumerations and bits, engineering units otherwise. */
function numberOf(slot: PointSlot, value: AnyPointValue): number | null {
  return typeof value === 'string' ? (slot.def.symbols?.[value] ?? null) : value;
}

/** A translation between the number in a register and the value of a point. */
interface Conversion {
  toRegister(value: AnyPointValue): number | null;
  /** undefined: the number has no meaning */
  toPoint(number: number): AnyPointValue | undefined;
}

function scaling(slot: PointSlot, { scale = 1, offset = 0 }: ProxyRegister): Conversion {
  return {
    toRegister(value) {
      const number = numberOf(slot, value);
      return number === null ? null : (number - offset) / scale;
    },
    toPoint: (number) => number * scale + offset,
  };
}

function translation(slot: PointSlot, register: ProxyRegister, names: Names): Conversion {
  const symbols = slot.def.symbols ?? {};
  const byNumber = new Map<number, string>();
  for (const [key, symbol] of Object.entries(register.values ?? {})) {
    if (Object.hasOwn(symbols, symbol)) byNumber.set(Number(key), symbol);
    else
      names.issue(
        `${symbol} is not a symbol of ${pointName(slot)}; allowed: ${Object.keys(symbols).join(', ')}`,
        'values',
        key,
      );
  }
  const bySymbol = new Map([...byNumber].sort(([a], [b]) => b - a).map(([number, symbol]) => [symbol, number]));
  const missing = Object.keys(symbols).filter((symbol) => !bySymbol.has(symbol));
  if (missing.length > 0 && register.otherwise === undefined) {
    names.issue(`${pointName(slot)} can also be ${missing.join(', ')}: give these a number, or otherwise`, 'values');
  }
  return {
    toRegister: (value) => (value === null ? null : (bySymbol.get(String(value)) ?? register.otherwise ?? null)),
    toPoint: (number) => byNumber.get(number),
  };
}

function bitMap(slot: PointSlot, register: ProxyRegister, names: Names): Conversion {
  const symbols = slot.def.symbols ?? {};
  const masks = Object.entries(register.bits ?? {}).map(([bit, symbolNames]) => {
    const mask = [symbolNames].flat().reduce((sum, symbol) => {
      if (Object.hasOwn(symbols, symbol)) return sum + 2 ** (symbols[symbol] ?? 0);
      names.issue(
        `${symbol} is not a bit of ${pointName(slot)}; allowed: ${Object.keys(symbols).join(', ')}`,
        'bits',
        bit,
      );
      return sum;
    }, 0);
    return { mask, weight: 2 ** Number(bit) };
  });
  return {
    toRegister: (value) =>
      typeof value === 'number'
        ? masks.reduce((sum, { mask, weight }) => sum + ((value & mask) === 0 ? 0 : weight), 0)
        : null,
    toPoint: () => undefined,
  };
}

function conversionOf(slot: PointSlot, register: ProxyRegister, names: Names): Conversion {
  if (register.values) {
    if (isEnum(slot)) return translation(slot, register, names);
    names.issue(`${pointName(slot)} is no enumeration`, 'values');
  }
  if (register.bits) {
    if (isBits(slot)) return bitMap(slot, register, names);
    names.issue(`${pointName(slot)} is no bit field`, 'bits');
  }
  if (isText(slot)) names.issue(`${pointName(slot)} is text; allowed: the type string`, 'type');
  if (isBits(slot) && !register.bits && !holdsBits(slot, register)) {
    names.issue(
      `${pointName(slot)} has ${16 * slot.def.size} bits; allowed: an unsigned or bitfield type with at least as many, or bits`,
      'type',
    );
  }
  for (const member of ['scale', 'offset'] as const) {
    if (register[member] !== undefined && (isEnum(slot) || isBits(slot)))
      names.issue(`${pointName(slot)} is no quantity`, member);
  }
  return scaling(slot, register);
}

/** True if all bits of a point fit; a saturated number would show bits that are not set. */
function holdsBits(slot: PointSlot, register: ProxyRegister): boolean {
  return /^(uint|bitfield)/.test(register.type) && registersOf(register) >= slot.def.size;
}

/** The reason why a point cannot be set to a value, apart from its range; null: the point can be set. */
function assignmentIssue(slot: PointSlot, value: AnyPointValue): string | null {
  if (isEnum(slot)) {
    const symbols = slot.def.symbols ?? {};
    return typeof value === 'string' && Object.hasOwn(symbols, value)
      ? null
      : `must be one of ${Object.keys(symbols).join(', ')}`;
  }
  const type = isText(slot) ? 'string' : 'number';
  return typeof value === type ? null : `must be ${type === 'string' ? 'text' : 'a number'}`;
}

/** Checks the points and values that a register also sets: writable points, known symbols; null: a point is missing. */
function assignmentsOf(
  settings: Readonly<Record<string, AnyPointValue>>,
  names: Names,
  ...steps: readonly PropertyKey[]
): Assignments | null {
  const assignments: Assignments = new Map();
  let whole = true;
  for (const [name, value] of Object.entries(settings)) {
    const slot = names.slot(name, 'write', ...steps, name);
    const issue = slot === undefined ? null : assignmentIssue(slot, value);
    if (slot === undefined) whole = false;
    else if (issue === null) assignments.set(slot, value);
    else names.issue(issue, ...steps, name);
  }
  return whole ? assignments : null;
}

const useOf = (register: ProxyRegister) => (isWritable(register) ? 'write' : 'read');

function textBinding(form: TextForm, register: ProxyRegister, names: Names): Binding {
  const slot = register.point === undefined ? undefined : names.slot(register.point, useOf(register), 'point');
  if (slot && !isText(slot)) names.issue(`${pointName(slot)} is no text; allowed: a type of numbers`, 'type');
  return {
    read({ bank }, out, at) {
      const value = slot && bank.value(slot);
      if (!form.write(typeof value === 'string' ? value : null, out, at)) throw lacks(register);
      return 'fits';
    },
    write(bytes, at, { direct }) {
      if (!slot) throw lacks(register);
      direct.set(slot, form.read(bytes, at));
    },
  };
}

function pointBinding(form: NumberForm, register: ProxyRegister, names: Names): Binding {
  const slot = names.slot(register.point ?? '', useOf(register), 'point');
  const conversion = slot && conversionOf(slot, register, names);
  const beside = assignmentsOf(register.also ?? {}, names, 'also');
  return {
    read({ bank }, out, at) {
      const value = slot && conversion ? conversion.toRegister(bank.value(slot)) : null;
      return put(form, value, out, at, register);
    },
    write(bytes, at, { also, direct }) {
      const number = take(form, bytes, at, register);
      if (!slot || !conversion || !beside) throw lacks(register);
      const value = conversion.toPoint(number);
      if (value === undefined || value === null) throw bad(register, `${number} is not one of its values`);
      if (typeof value === 'number') checkLimits(value, register);
      for (const [point, setting] of beside) also.set(point, setting);
      direct.set(slot, symbolOf(slot, value, register));
    },
  };
}

/** The symbol of an untranslated number of an enumeration. @throws SimError MAP_BAD_VALUE */
function symbolOf(slot: PointSlot, value: AnyPointValue, register: ProxyRegister): AnyPointValue {
  if (!isEnum(slot) || typeof value === 'string') return value;
  const symbol = Object.entries(slot.def.symbols ?? {}).find(([, number]) => number === value)?.[0];
  if (symbol === undefined) throw bad(register, `${value ?? 'nothing'} is not one of its values`);
  return symbol;
}

function sumBinding(form: NumberForm, register: ProxyRegister, names: Names): Binding {
  const { scale = 1, offset = 0, sum = [] } = register;
  const slots = sum.flatMap((name, i) => {
    const slot = names.slot(name, 'read', 'sum', i);
    if (slot && (isText(slot) || isEnum(slot) || isBits(slot))) names.issue(`${name} is no quantity`, 'sum', i);
    return slot ?? [];
  });
  return {
    read({ bank }, out, at) {
      const values = slots.map((slot) => bank.value(slot)).filter((value) => typeof value === 'number');
      const total = values.length === 0 ? null : values.reduce((all, value) => all + value, 0);
      return put(form, total === null ? null : (total - offset) / scale, out, at, register);
    },
    write: readOnly(register),
  };
}

/** True if a point has a value, within half a step of its register. */
function standsAt(bank: Bank, slot: PointSlot, value: AnyPointValue): boolean {
  const presentValue = bank.value(slot);
  return typeof presentValue === 'number' && typeof value === 'number'
    ? Math.abs(presentValue - value) <= 0.5 * 10 ** slot.sf
    : presentValue === value;
}

function commandBinding(form: NumberForm, register: ProxyRegister, names: Names): Binding {
  const commands = new Map(
    Object.entries(register.commands ?? {}).map(([key, settings]) => [
      Number(key),
      assignmentsOf(settings, names, 'commands', key),
    ]),
  );
  return {
    read({ bank }, out, at) {
      const activeCommand = [...commands].find(
        ([, settings]) => settings && [...settings].every(([slot, value]) => standsAt(bank, slot, value)),
      );
      return put(form, activeCommand?.[0] ?? register.otherwise ?? 0, out, at, register);
    },
    write(bytes, at, { also }) {
      const number = take(form, bytes, at, register);
      const settings = commands.get(number);
      if (settings === undefined) throw bad(register, `${number} is not one of its commands`);
      if (settings === null) throw lacks(register);
      for (const [slot, value] of settings) also.set(slot, value);
    },
  };
}

function bindingOf(register: ProxyRegister, form: WireForm, names: Names): Binding {
  const content = contentOf(register);
  if (content === 'constant') return constantBinding(form, register);
  if (content === 'keeps') return keptBinding(form, register);
  if (form.kind === 'text') return textBinding(form, register, names);
  switch (content) {
    case 'point':
      return pointBinding(form, register, names);
    case 'sum':
      return sumBinding(form, register, names);
    case 'commands':
      return commandBinding(form, register, names);
    default:
      // a map with such a register is refused
      return constantBinding(form, register);
  }
}

/** True if the registers of a number are written in the other order than they are read. */
function swapsWrites(register: ProxyRegister, map: ProxyMap): boolean {
  const read = register.word_order ?? map.word_order ?? 'big';
  return (register.write_word_order ?? map.write_word_order ?? read) !== read;
}

function lossOf({ watchdog_s: afterS, lost }: ProxyRegister, names: Names): Loss | null {
  if (afterS === undefined || lost === undefined) return null;
  const settings = assignmentsOf(lost, names, 'lost');
  return settings && { afterS, settings };
}

/** Binds a map to the devices of one layout. If `checkProxyMap` finds issues, only `issues` is valid. */
export function bindMap(map: ProxyMap, layout: Layout): BoundMap {
  const issues: Issue[] = [];
  const lacking = new Map<string, string>();
  const present = new Set<string>();
  const empty = new Set<string>();
  const registers = map.registers.map((register, index) => {
    const names: Names = {
      slot(name, use, ...steps) {
        const slot = layout.named(name);
        const has = slot !== undefined && (use === 'read' || slot.implemented);
        if (slot && use === 'write' && slot.def.access !== 'RW') names.issue(`${name} is read only`, ...steps);
        else if (has) present.add(pointerOf(index, ...steps));
        else lacking.set(pointerOf(index, ...steps), name);
        if (slot?.implemented === false) empty.add(name);
        return slot;
      },
      issue: (detail, ...steps) => {
        issues.push({ name: pointerOf(index, ...steps), detail });
      },
    };
    const form = wireFormOf(register, map);
    const binding = bindingOf(register, form, names);
    const { name, address, scale = 1, offset = 0 } = register;
    const writable = isWritable(register);
    return {
      name,
      address,
      registers: form.registers,
      writable,
      swapsWrites: form.kind === 'number' && swapsWrites(register, map),
      loss: lossOf(register, names),
      ignoresWrites: writable && contentOf(register) === 'constant',
      read: binding.read,
      write: writable ? binding.write : readOnly(register),
      decode(bytes: Buffer, at: number) {
        const value = form.read(bytes, at);
        if (typeof value !== 'number') return value;
        const scaled = value * scale + offset;
        // a scale such as 0.1 is not exact in binary
        return Number.isFinite(scaled) ? Number(scaled.toPrecision(12)) : null;
      },
    };
  });
  return { registers, issues: issues, lacking, present, empty };
}
