/** Conditions of faults on the registers of a device. */
import type { Issue } from '../../core/errors.ts';
import { didYouMean, givenText } from '../../core/nearest.ts';
import type { FaultCondition } from '../../core/faults/kinds.ts';
import type { PointBank } from '../map/bank.ts';
import type { Layout, PointSlot } from '../map/layout.ts';

/** The point of a name such as `705.Crv[1].Pt[0].V`; undefined: no such point. */
export function slotNamed(layout: Layout, name: string): PointSlot | undefined {
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
}

/**
 * True if a condition is met by the true registers, or is null. False for a point that is missing or not implemented.
 */
export function holds(bank: PointBank, when: FaultCondition | null): boolean {
  if (when === null) return true;
  const slot = slotNamed(bank.layout, when.point);
  if (slot === undefined) return false;
  const value = bank.value(slot);
  if (value === null) return false;
  const { below, above, equals } = when;
  if (below !== undefined && !(typeof value === 'number' && value < below)) return false;
  if (above !== undefined && !(typeof value === 'number' && value > above)) return false;
  return (
    equals === undefined || value === equals || (typeof equals === 'number' && slot.def.symbols?.[value] === equals)
  );
}

/** The reason why a condition does not fit the layout, at the pointer of the member; null: it fits. */
export function conditionIssue(layout: Layout, when: FaultCondition): Issue | null {
  const slot = slotNamed(layout, when.point);
  if (slot === undefined) return { name: '/when/point', detail: `the device has no point ${when.point}` };
  if (!slot.implemented)
    return {
      name: '/when/point',
      detail: `the device does not implement ${when.point}, so that the condition could never hold`,
    };
  const { below, above, equals } = when;
  if (below === undefined && above === undefined && equals === undefined) {
    return { name: '/when', detail: 'needs one of below, above, equals' };
  }
  if (below !== undefined && above !== undefined && above >= below) {
    return { name: '/when/above', detail: `no value is above ${above} and below ${below}` };
  }
  if (!isOrdered(slot) && (below !== undefined || above !== undefined)) {
    return {
      name: below === undefined ? '/when/above' : '/when/below',
      detail: `${when.point} is not a number that has an order; equals compares it`,
    };
  }
  return equals === undefined ? null : equalsIssue(slot, equals);
}

const isEnumeration = ({ def }: PointSlot) => def.symbols !== undefined && def.type.startsWith('enum');

/** types whose value is text */
const texts: readonly string[] = ['string', 'ipv6addr', 'eui48'];

function isOrdered(slot: PointSlot): boolean {
  return !isEnumeration(slot) && !texts.includes(slot.def.type);
}

function equalsIssue(slot: PointSlot, equals: string | number): Issue | null {
  const name = '/when/equals';
  if (isEnumeration(slot)) {
    const { symbols = {} } = slot.def;
    const isSymbol =
      typeof equals === 'number' ? Object.values(symbols).includes(equals) : Object.hasOwn(symbols, equals);
    return isSymbol
      ? null
      : {
          name,
          detail: `${givenText(equals)} is not one of its values${didYouMean(String(equals), Object.keys(symbols))}`,
          allowed: Object.keys(symbols),
        };
  }
  const valueType = texts.includes(slot.def.type) ? 'string' : 'number';
  return typeof equals === valueType
    ? null
    : { name, detail: valueType === 'string' ? 'must be text' : 'must be a number' };
}
