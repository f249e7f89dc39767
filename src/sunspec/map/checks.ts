/** Checks of a candidate image before its commit, and encoding into it; the first failure names its point. */
import { outsideWords, SimError } from '../../core/errors.ts';
import type { OutsideRange } from '../../core/errors.ts';
import { didYouMean, givenText } from '../../core/nearest.ts';
import { hasBit, numberCodec } from './codec.ts';
import { plainPath, isAdoptionRequest, isInSet1 } from './layout.ts';
import { pointName, readPoint, writePoint } from './view.ts';
import { ctrlModeMask, requiredMode } from './grid-support/functions.ts';
import { boundsOf, allowedWords, dependents, endingWords, inUseRanges, onlySymbol, ranges } from './rules.ts';
import type { RangeRule, ReadPoint } from './rules.ts';
import type { Layout, PointSlot } from './layout.ts';
import type { AnyPointValue } from './types.ts';

/** @throws SimError MAP_READ_ONLY or MAP_NOT_IMPLEMENTED */
export function checkAccess(slot: PointSlot): void {
  if (!slot.writable) throw noAccess(slot);
}

/**
 * Checks the access of a transaction that adopts: set 1 is writable, the request and its result belong to the bank.
 * @throws SimError MAP_READ_ONLY, MAP_NOT_IMPLEMENTED or MAP_BAD_VALUE
 */
export function checkAdoptAccess(slot: PointSlot): void {
  if (isAdoptionRequest(slot)) throw badValue(slot, 'is set by the adoption itself');
  if (!slot.writable && !(isInSet1(slot) && slot.implemented && slot.def.access === 'RW')) throw noAccess(slot);
}

function noAccess(slot: PointSlot): SimError {
  const name = pointName(slot);
  if (slot.def.access === 'RW' && !slot.implemented) {
    return new SimError('MAP_NOT_IMPLEMENTED', `${name} is not implemented in this device`, [
      { name, detail: 'not implemented' },
    ]);
  }
  return new SimError('MAP_READ_ONLY', `${name} is read only`, [{ name, detail: 'read only' }]);
}

function badValue(slot: PointSlot, detail: string, allowed?: readonly (string | number)[]): SimError {
  const name = pointName(slot);
  return new SimError('MAP_BAD_VALUE', `${name}: ${detail}`, [{ name, detail, ...(allowed && { allowed }) }]);
}

function outsideRange(slot: PointSlot, outside: OutsideRange): SimError {
  const name = pointName(slot);
  const detail = outsideWords(outside);
  return new SimError('MAP_BAD_VALUE', `${name}: ${detail}`, [{ name, detail, outside }]);
}

function readerOf(layout: Layout, image: Buffer): ReadPoint {
  return (name) => {
    const slot = layout.named(name);
    return slot?.implemented === true ? readPoint(layout, image, slot) : null;
  };
}

function isAbsent(layout: Layout, image: Buffer, slot: PointSlot): boolean {
  const at = (slot.address - layout.base) * 2;
  return numberCodec(slot.def.type)?.absent(new DataView(image.buffer, image.byteOffset), at) === true;
}

function rangeIssue(
  layout: Layout,
  image: Buffer,
  slot: PointSlot,
  value: number,
  rule: RangeRule | undefined,
): SimError | null {
  if (!rule) return null;
  const bounds = boundsOf(rule, readerOf(layout, image));
  const { min, max, orZero } = bounds;
  // half a register step of slack for fractional steps: a bound need not be a multiple of the step
  const slack = 0.5 * 10 ** slot.sf * (slot.sf < 0 ? 1 : 0) + 1e-9;
  // the slack of a large step would let 0 pass a positive lower bound
  const tooLow = min !== undefined && (value < min - slack || (min > 0 && value <= 0));
  const fits = !tooLow && (max === undefined || value <= max + slack);
  if (fits || (orZero === true && value === 0)) return null;
  return outsideRange(slot, { given: value, ...bounds });
}

function modeIssue(layout: Layout, image: Buffer, slot: PointSlot, value: unknown): SimError | null {
  const mode = requiredMode[`${slot.modelId}.${slot.path}`];
  if (mode === undefined || value !== 'ENABLED') return null;
  const modes = layout.slot(702, 'CtrlModes');
  const field = modes && readPoint(layout, image, modes);
  if (typeof field === 'number' && hasBit(field, ctrlModeMask(mode))) return null;
  const name = pointName(slot);
  return new SimError(
    'MAP_NOT_SUPPORTED',
    `${name}: this device does not have the function (702.CtrlModes lacks ${mode})`,
    [{ name, detail: 'the device does not have this function' }],
  );
}

function symbolIssue(slot: PointSlot, value: unknown): SimError | null {
  const only = onlySymbol[`${slot.modelId}.${slot.path}`];
  if (only === undefined || value === only.symbol) return null;
  const name = pointName(slot);
  return new SimError('MAP_NOT_SUPPORTED', `${name}: ${only.reason}`, [
    { name, detail: `only ${only.symbol} is accepted`, allowed: [only.symbol] },
  ]);
}

/** A point of a stored curve may be marked as not in use; any other point must hold a value. */
function mayBeAbsent(slot: PointSlot): boolean {
  return slot.path.includes('.Pt[');
}

function wordIssue(slot: PointSlot, value: string | null): SimError | null {
  const allowed = allowedWords[`${slot.modelId}.${slot.path}`];
  return allowed === undefined || (value !== null && allowed.includes(value))
    ? null
    : badValue(
        slot,
        `${givenText(value)} is not one of its words${value === null ? '' : didYouMean(value, allowed)}`,
        allowed,
      );
}

/** Refuses a word that ends the effect of another point of the same write. */
function endingIssue(layout: Layout, image: Buffer, slot: PointSlot, points: readonly PointSlot[]): SimError | null {
  const byWord = endingWords[`${slot.modelId}.${slot.path}`];
  const word = byWord && readPoint(layout, image, slot);
  const endedPaths = typeof word === 'string' ? (byWord?.[word] ?? []) : [];
  const other = points.find((point) => point.modelId === slot.modelId && endedPaths.includes(point.path));
  return other
    ? badValue(slot, `${String(word)} ends the effect of ${pointName(other)}: write only one of them`)
    : null;
}

function valueIssue(layout: Layout, image: Buffer, slot: PointSlot, rule: RangeRule | undefined): SimError | null {
  const value = readPoint(layout, image, slot);
  const { symbols, type } = slot.def;
  if (symbols && type.startsWith('enum')) {
    // an unknown number decodes to itself
    if (typeof value === 'number') return badValue(slot, `${value} is not one of its values`, Object.keys(symbols));
    return symbolIssue(slot, value) ?? modeIssue(layout, image, slot, value);
  }
  if (typeof value !== 'number') return wordIssue(slot, value);
  if (symbols) {
    const definedBits = Object.values(symbols).reduce((mask, bit) => mask + 2 ** bit, 0);
    return (value & ~definedBits) === 0 ? null : badValue(slot, `${value} sets bits that are not defined`);
  }
  return Number.isFinite(value)
    ? rangeIssue(layout, image, slot, value, rule)
    : badValue(slot, 'must be a finite number');
}

/**
 * Encodes one value into a candidate. A number beyond the register is refused with the range of the setting, if the
 * setting has one: the range of the register would include values that are refused as well.
 * @throws SimError MAP_BAD_VALUE
 */
export function encodePoint(layout: Layout, image: Buffer, slot: PointSlot, value: AnyPointValue): void {
  try {
    writePoint(layout, image, slot, value);
  } catch (error) {
    const beyond = error instanceof SimError ? error.issues[0]?.outside : undefined;
    const rule = ranges[`${slot.modelId}.${plainPath(slot.path)}`];
    throw (beyond && rangeIssue(layout, image, slot, beyond.given, rule)) ?? error;
  }
}

/**
 * Checks one touched point of a candidate: enumeration, range, capability.
 * @throws SimError MAP_BAD_VALUE, MAP_NOT_SUPPORTED
 */
export function checkValue(layout: Layout, image: Buffer, slot: PointSlot): void {
  const hasNoValue = isAbsent(layout, image, slot);
  if (hasNoValue && mayBeAbsent(slot)) return;
  const issue = hasNoValue
    ? badValue(slot, 'the "not implemented" value cannot be written')
    : valueIssue(layout, image, slot, ranges[`${slot.modelId}.${plainPath(slot.path)}`]);
  if (issue) throw issue;
}

/** Why a point cannot be part of a set in force, where each point must have a value in range; null: it can. */
export function inUseIssue(layout: Layout, image: Buffer, slot: PointSlot): string | null {
  if (isAbsent(layout, image, slot)) return 'is not set';
  const key = `${slot.modelId}.${plainPath(slot.path)}`;
  const issue = valueIssue(layout, image, slot, inUseRanges[key] ?? ranges[key]);
  return issue && (issue.issues[0]?.detail ?? issue.message);
}

/**
 * Checks every touched point of a candidate, and those whose range depends on one of them.
 * @throws SimError MAP_BAD_VALUE, MAP_NOT_SUPPORTED
 */
export function checkValues(layout: Layout, image: Buffer, points: readonly PointSlot[]): void {
  for (const slot of points) {
    checkValue(layout, image, slot);
    const ending = endingIssue(layout, image, slot, points);
    if (ending) throw ending;
    const dependent = dependents[`${slot.modelId}.${slot.path}`];
    const other = dependent === undefined ? undefined : layout.slot(slot.modelId, dependent);
    if (other?.implemented === true && !points.includes(other)) checkValue(layout, image, other);
  }
}
