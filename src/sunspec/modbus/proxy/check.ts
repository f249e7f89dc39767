/** Rules of a proxy map that do not depend on the devices; issues are named by JSON pointers into the map. */
import { Buffer } from 'node:buffer';
import { outsideWords, pointerStep } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import type { ProxyMap, ProxyRegister } from './schema.ts';
import { limitsOf, registersOf, wireFormOf } from './wire-form.ts';

export const registerSpace = 0x10000;

/** Kinds of content of a register. */
export type Content = 'point' | 'sum' | 'constant' | 'commands' | 'keeps';
const contents: readonly Content[] = ['point', 'sum', 'constant', 'commands', 'keeps'];

/** Pointer to a member of a register. */
export function pointerOf(index: number, ...steps: readonly PropertyKey[]): string {
  return ['registers', index, ...steps].map(pointerStep).join('');
}

/** The only member that gives the content of a register; null: none, or several. */
export function contentOf(register: ProxyRegister): Content | null {
  const presentContents = contents.filter((name) => register[name] !== undefined);
  return presentContents.length === 1 ? (presentContents[0] ?? null) : null;
}

export function isWritable({ access, commands, keeps }: ProxyRegister): boolean {
  return access === 'rw' || (access === undefined && (commands !== undefined || keeps !== undefined));
}

export function tablesOf({ table = 'holding' }: ProxyRegister): readonly ('holding' | 'input')[] {
  return table === 'both' ? ['holding', 'input'] : [table];
}

/** The violated limit of a register in words; null: the value is inside. */
export function outsideLimits({ min, max }: ProxyRegister, value: number): string | null {
  // a limit may not be exact in binary
  const slack = 1e-9 * Math.max(1, Math.abs(value));
  const fits = value >= (min ?? -Infinity) - slack && value <= (max ?? Infinity) + slack;
  return fits
    ? null
    : outsideWords({ given: value, ...(min !== undefined && { min }), ...(max !== undefined && { max }) });
}

type Report = (detail: string, ...steps: readonly PropertyKey[]) => void;

/** Checks members that need others. */
function checkCompanions(register: ProxyRegister, report: Report): void {
  const content = contentOf(register);
  const writable = isWritable(register);
  const number = register.type !== 'string';
  const scaled =
    number &&
    !register.type.startsWith('bitfield') &&
    (content === 'point' || content === 'sum') &&
    !register.values &&
    !register.bits;
  const settable = writable && content === 'point';
  const limited = (settable || content === 'keeps') && number && !register.values;
  const rules: readonly (readonly [keyof ProxyRegister, boolean, string])[] = [
    ['size', !number, 'only a string has a size'],
    ['scale', scaled, 'only a number of a point or of a sum is scaled, without values and bits'],
    ['offset', scaled, 'only a number of a point or of a sum is scaled, without values and bits'],
    [
      'values',
      number && (content === 'point' || content === 'keeps') && !register.bits,
      'only a number that shows a point or keeps what is written has values, and no bits beside them',
    ],
    [
      'bits',
      ['uint16', 'uint32', 'bitfield16', 'bitfield32'].includes(register.type) && content === 'point',
      'only an unsigned number of 16 or 32 bits that shows a point has bits',
    ],
    [
      'otherwise',
      (register.values !== undefined && content === 'point') || content === 'commands',
      'is allowed only with commands, or with values of a point',
    ],
    ['absent', content === 'point' || content === 'sum', 'is allowed only with point or sum'],
    ['min', limited, 'only a number that can be written has limits (access rw), without values'],
    ['max', limited, 'only a number that can be written has limits (access rw), without values'],
    ['also', settable, 'only a point that can be written sets others (access rw)'],
    ['write_word_order', number && writable, 'only a number that can be written has an order of writing'],
    ['commands', number, 'a string takes no commands'],
  ];
  for (const [member, fits, words] of rules) if (register[member] !== undefined && !fits) report(words, member);
  if (!number && register.size === undefined) report('a string needs its size in registers', 'size');
  checkHeartbeat(register, report);
  checkAccess(register, report);
}

/** Checks that a heartbeat has both of its members, beside a kept value. */
function checkHeartbeat({ keeps, watchdog_s: watchdogS, lost }: ProxyRegister, report: Report): void {
  if (watchdogS !== undefined && (keeps === undefined || lost === undefined))
    report('is allowed only with keeps and lost', 'watchdog_s');
  if (lost !== undefined && watchdogS === undefined) report('is allowed only with watchdog_s', 'lost');
}

/** Checks the access against the content and the table. */
function checkAccess(register: ProxyRegister, report: Report): void {
  const content = contentOf(register);
  if (register.access === 'rw' && (content === 'sum' || register.bits))
    report('a sum and bits cannot be written', 'access');
  if (register.access === 'r' && content === 'keeps')
    report('a register that keeps what is written is rw; a value that never changes is a constant', 'access');
  if (isWritable(register) && register.table === 'input')
    report('an input register cannot be written; allowed: holding, both', 'table');
}

/** Checks numbers in the register: inside the range of the type, unique, and distinct from the "no value" numbers. */
function checkNumbers(register: ProxyRegister, map: ProxyMap, report: Report): void {
  const limits = limitsOf(register.type);
  const form = wireFormOf(register, map);
  const fit = (value: number, ...steps: readonly PropertyKey[]) => {
    if (limits && (value < limits.min || value > limits.max))
      report(`${value} does not fit ${register.type} (${limits.min} to ${limits.max})`, ...steps);
    else if (
      register.values &&
      steps[0] !== 'absent' &&
      form.kind === 'number' &&
      (value < form.min || value > form.max)
    ) {
      report(`${value} means that the point does not exist: choose another number, or another absent`, ...steps);
    }
  };
  for (const member of ['values', 'commands'] as const) {
    const keysByNumber = new Map<number, string>();
    for (const key of Object.keys(register[member] ?? {})) {
      const sameNumberKey = keysByNumber.get(Number(key));
      if (sameNumberKey !== undefined) report(`is the same number as ${sameNumberKey}`, member, key);
      keysByNumber.set(Number(key), key);
      fit(Number(key), member, key);
    }
  }
  const width = 16 * registersOf(register);
  for (const bit of Object.keys(register.bits ?? {}))
    if (Number(bit) >= width) report(`${register.type} has bits 0 to ${width - 1}`, 'bits', bit);
  for (const member of ['otherwise', 'absent', 'constant', 'keeps'] as const) {
    const value = register[member];
    if (typeof value === 'number') fit(value, member);
  }
  if (typeof register.absent === 'number' && limits === null)
    report('a string has no number: without the point it is empty text', 'absent');
  if (register.min !== undefined && register.max !== undefined && register.min > register.max)
    report('is above max', 'min');
}

/** Checks values in the map file: within their type, and a start value among the writable ones. */
function checkFileValues(register: ProxyRegister, report: Report): void {
  const { type, size = 1 } = register;
  for (const member of ['constant', 'keeps'] as const) {
    const value = register[member];
    if (value === undefined) continue;
    const text = typeof value === 'string';
    if (text !== (type === 'string'))
      report(`must be ${type === 'string' ? 'text' : 'a number'} in a register of type ${type}`, member);
    else if (text && Buffer.byteLength(value) > 2 * size) report(`is longer than ${2 * size} octets`, member);
    else if (!text && !type.startsWith('float') && !Number.isInteger(value))
      report(`must be a whole number in a register of type ${type}`, member);
  }
  const { keeps, values } = register;
  if (typeof keeps !== 'number') return;
  if (values !== undefined && !Object.keys(values).some((key) => Number(key) === keeps))
    report(`${keeps} is not one of its values`, 'keeps');
  const outside = outsideLimits(register, keeps);
  if (outside !== null) report(outside, 'keeps');
}

/** Registers claimed by two entries of a table, and entries beyond the last register. */
function overlapIssues(registers: readonly ProxyRegister[]): Issue[] {
  const issues: Issue[] = [];
  const owners = { holding: new Map<number, string>(), input: new Map<number, string>() };
  for (const [index, register] of registers.entries()) {
    const end = register.address + registersOf(register);
    if (end > registerSpace) {
      issues.push({
        name: pointerOf(index, 'address'),
        detail: `${register.name} would end at register ${end - 1}; the last one is ${registerSpace - 1}`,
      });
    }
    for (const table of tablesOf(register)) {
      const owner = owners[table];
      const occupied = Array.from({ length: end - register.address }, (_, i) => register.address + i).find((at) =>
        owner.has(at),
      );
      if (occupied !== undefined) {
        issues.push({
          name: pointerOf(index, 'address'),
          detail: `${register.name} overlaps ${owner.get(occupied) ?? ''} at ${table} register ${occupied}`,
        });
      }
      for (let at = register.address; at < end; at += 1) owner.set(at, register.name);
    }
  }
  return issues;
}

/** All issues of a map that matches the schema. */
export function checkProxyMap(map: ProxyMap): Issue[] {
  const issues: Issue[] = [];
  const names = new Set<string>();
  for (const [index, register] of map.registers.entries()) {
    const report: Report = (detail, ...steps) => {
      issues.push({ name: pointerOf(index, ...steps), detail });
    };
    if (contentOf(register) === null) report(`exactly one of ${contents.join(', ')} must be given`);
    if (names.has(register.name)) report(`${register.name} is the name of another register too`, 'name');
    names.add(register.name);
    checkCompanions(register, report);
    checkNumbers(register, map, report);
    checkFileValues(register, report);
  }
  if (map.unit_id !== undefined && map.device === undefined) {
    issues.push({
      name: '/unit_id',
      detail: 'is allowed only with device: of all devices, each has unit id 1 + index',
    });
  }
  return [...issues, ...overlapIssues(map.registers)];
}
