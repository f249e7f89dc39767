/** Effects that a control mode asks of one device, before conflicts with the other controls in force are resolved. */
import type { SiteLimitName } from '../../contract/site.ts';
import type { FunctionWish } from '../../sunspec/map/grid-support/wish.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { RefusedWrite } from '../../sunspec/map/point-holds.ts';
import type { LeftOutMode, ModeName } from './model.ts';

/** Modes of one contest exclude each other; the least magnitude takes precedence. */
export interface Contest {
  /** functions of reactive power: var; limits of the injected active power: W */
  readonly group: 'reactive' | 'injected power';
  /** of the effect of the mode at the present operating point */
  readonly magnitude: () => number;
}

/** The power at which a mode aims, from which `rampTms` becomes a slope. */
export interface Aim {
  readonly w?: number;
  readonly var?: number;
}

/** The effects of the value of a mode. */
export interface ModeWish {
  readonly functions: readonly FunctionWish[];
  /** position of the disconnect switch */
  readonly switchClosed?: boolean;
  /** battery power of a hybrid, W, positive = discharge */
  readonly storageW?: number;
  readonly contest?: Contest;
  readonly aim?: Aim;
}

/** A wish as points of one device. */
export interface Wish extends Omit<ModeWish, 'functions'> {
  /** the points that carry out `functions` */
  readonly points: readonly HoldValue[];
}

/** The reason why a mode cannot run. */
export type Refusal = RefusedWrite;

/** A limit at the connection point of the EndDevice, W. */
export interface SiteWish {
  readonly limit: SiteLimitName;
  readonly limitW: number;
}

export const invalid = (detail: string): Refusal => ({ refused: 'invalid', detail });
export const unsupported = (detail: string): Refusal => ({ refused: 'unsupported', detail });

export function isRefusal(result: object): result is Refusal {
  return 'refused' in result;
}

export function leftOut(mode: ModeName, { refused, detail }: Refusal): LeftOutMode {
  return { mode, reason: refused, detail };
}
