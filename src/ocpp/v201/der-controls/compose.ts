/**
 * Controls of several types in force at a time: the points that each of them writes.
 *
 * - Of the functions of reactive power one acts, so one control runs: a scheduled one before a default, then the lower
 *   priority number, then the newer. The two power factors act in different directions and run together.
 * - A point that two controls set belongs to the first of them in that order.
 */
import type { PointValue } from '../../../sunspec/map/grid-support/wish.ts';
import type { DerSettings, DerWanted } from '../../station/der-port.ts';
import type { DERControlEnum, DerControl } from './model.ts';

/** A control in force, with its settings. */
export interface Contribution {
  readonly control: DerControl;
  readonly settings: DerSettings;
}

export interface Composition {
  /** the first has precedence */
  readonly wanted: readonly DerWanted[];
  /** controls that do not run, with the id of the one that runs in their place */
  readonly outweighed: ReadonlyMap<string, string>;
}

function precedence({ control: a }: Contribution, { control: b }: Contribution): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? 1 : -1;
  return a.priority - b.priority || b.order - a.order;
}

const isPowerFactor = ({ control: { type } }: Contribution) => type === 'FixedPFInject' || type === 'FixedPFAbsorb';
const nameOf = ({ model, path }: PointValue) => `${model}.${path}`;

/** Types whose functions exclude each other. */
const reactiveTypes: readonly DERControlEnum[] = ['FixedPFAbsorb', 'FixedPFInject', 'FixedVar', 'VoltVar', 'WattVar'];
export const isReactive = (type: DERControlEnum): boolean => reactiveTypes.includes(type);

/** The enable points of the power factors, which one hold has together. */
const powerFactorEnables: readonly string[] = ['704.PFWInjEna', '704.PFWAbsEna'];

export function compose(contributions: readonly Contribution[]): Composition {
  const ordered = [...contributions].sort(precedence);
  const reactive = ordered.filter(({ control }) => isReactive(control.type));
  const [winner] = reactive;
  const runs = (each: Contribution) =>
    !reactive.includes(each) ||
    each === winner ||
    (winner !== undefined && isPowerFactor(winner) && isPowerFactor(each));
  const outweighed = new Map(
    reactive.flatMap((each) => (winner === undefined || runs(each) ? [] : [[each.control.id, winner.control.id]])),
  );
  const running = ordered.filter(runs);
  // a hold that enables one function of reactive power disables the others, so one of them has both enables
  const enables = running.filter(isPowerFactor).flatMap(({ settings }) => settings.points.filter(isPowerFactorEnable));
  const taken = new Set<string>();
  let hasSlope = false;
  const wanted = running.map(({ control, settings }): DerWanted => {
    const candidates = control === winner?.control ? [...settings.points, ...enables] : settings.points;
    const points = candidates.filter((point) => {
      const isFree = !taken.has(nameOf(point));
      taken.add(nameOf(point));
      return isFree;
    });
    const { slopeWPctPerS } = settings;
    const slope = slopeWPctPerS !== undefined && !hasSlope ? { slopeWPctPerS } : {};
    if (slopeWPctPerS !== undefined) hasSlope = true;
    return { id: control.id, settings: { points, ...slope } };
  });
  return { wanted, outweighed };
}

function isPowerFactorEnable(point: PointValue): boolean {
  return powerFactorEnables.includes(nameOf(point));
}
