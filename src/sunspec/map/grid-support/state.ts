/** State of a grid-support function in the registers of a device, as REST and the protocols show it. */
import type { Bank } from '../bank.ts';
import { hasBit } from '../codec.ts';
import { ctrlModeMask, functionTable, reactivePowerFunctions, remainingPoint } from './functions.ts';
import type { CtrlMode } from './functions.ts';
import { memoPerLayout } from '../layout.ts';
import type { Layout, PointSlot } from '../layout.ts';
import { hasPoint, pointNumber, pointValue } from '../bank.ts';

/** The points that show the state of a function: a row of the table of functions, or a part of one. */
export interface FunctionPoints {
  readonly model: number;
  /** the point that switches the function on; without a switch the limit itself */
  readonly enable: string;
  /** absent: no bit in 702.CtrlModes */
  readonly mode?: CtrlMode;
  /** the point of the reversion time; absent: no reversion */
  readonly timer?: string;
}

/** True if a device has a function: its enable point, and its bit of 702.CtrlModes if the function has one. */
export function isSupported(bank: Bank, { model, enable, mode }: FunctionPoints): boolean {
  if (!hasPoint(bank, model, enable)) return false;
  return mode === undefined || hasBit(pointNumber(bank, 702, 'CtrlModes') ?? 0, ctrlModeMask(mode));
}

/** True if a function is switched on; a function without a switch is on while its limit is above 0. */
export function isEnabled(bank: Bank, { model, enable }: FunctionPoints): boolean {
  const value = pointValue(bank, model, enable);
  return value === 'ENABLED' || (typeof value === 'number' && value > 0);
}

/** The reversion time that is set, s; 0: none is set, null: the function has no reversion. */
export function reversionTimeS(bank: Bank, { model, timer }: FunctionPoints): number | null {
  return timer === undefined ? null : pointNumber(bank, model, timer);
}

/** Seconds that a reversion timer still runs, 0 once it is over; null while no reversion time is set. */
export function reversionRemainingS(bank: Bank, points: FunctionPoints): number | null {
  const { model, timer } = points;
  if (timer === undefined || (reversionTimeS(bank, points) ?? 0) === 0) return null;
  return pointNumber(bank, model, remainingPoint(timer));
}

/** The points of a map that enable the functions of reactive power. */
export const reactiveEnables = memoPerLayout((layout: Layout): readonly PointSlot[] =>
  reactivePowerFunctions.flatMap((name) => {
    const slot = layout.slot(functionTable[name].model, functionTable[name].enable);
    return slot?.implemented === true ? [slot] : [];
  }),
);
