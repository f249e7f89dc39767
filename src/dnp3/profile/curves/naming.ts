/** The curve that each function names, with its consequences: locks, and curves put into force. */
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { Origin } from '../../../core/origin.ts';
import type { FunctionWish } from '../../../sunspec/map/grid-support/wish.ts';
import type { DevicePort } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { success } from '../bind.ts';
import type { OutputTarget, PartContext, PointName } from '../types.ts';
import { curveWish } from './convert.ts';
import type { CurveUse } from './convert.ts';
import { curveCount, curveType } from './store.ts';
import type { CurveStore } from './store.ts';

/** One setting that names a curve. */
export interface Naming {
  readonly output: PointName;
  readonly use: CurveUse;
  /** 0: the function keeps the curve of its registers, whoever wrote it */
  number: number;
  /** true while a delayed command is to put the curve into force */
  readonly isWaiting: () => boolean;
}

/** Another user that puts curves of the store into force. */
export interface CurveUser {
  /** true if it needs the curve unchanged */
  names(number: number): boolean;
  /** true if the curve in force of the function comes from this user */
  acts(name: CurveFunction): boolean;
}

export class Namings {
  readonly #port: DevicePort;
  readonly #store: CurveStore;
  readonly #all: Naming[] = [];
  readonly #users: CurveUser[] = [];

  constructor({ port, settings, onSettings }: PartContext, store: CurveStore) {
    this.#port = port;
    this.#store = store;
    settings.onReset(() => {
      for (const naming of this.#all) naming.number = 0;
    });
    onSettings(() => this.look());
  }

  /** Sets a naming to 0 when another writer has put a different curve into force. */
  look(): void {
    for (const naming of this.#all) if (naming.number > 0 && this.#isOther(naming)) naming.number = 0;
  }

  add(output: PointName, use: CurveUse, isWaiting: () => boolean): Naming {
    const naming = { output, use, number: 0, isWaiting };
    this.#all.push(naming);
    return naming;
  }

  addUser(user: CurveUser): void {
    this.#users.push(user);
  }

  /** True if a function or another user names the curve. */
  isNamed(number: number): boolean {
    return this.#isUsed(number) || this.#all.some((naming) => naming.number === number);
  }

  /** True if the curve must not change: an enabled or waiting function, or another user, names it. */
  isLocked(number: number): boolean {
    const acts = ({ use, isWaiting }: Naming) => this.#port.isEnabled(use.name) || isWaiting();
    return this.#isUsed(number) || this.#all.some((naming) => naming.number === number && acts(naming));
  }

  /** The named curve as wishes for its function; empty for the curve of the registers. A status refuses. */
  wanted({ number, use }: Pick<Naming, 'number' | 'use'>): readonly FunctionWish[] | ControlStatus {
    if (number === 0) return [];
    const curve = this.#store.curve(number);
    if (curve.type !== use.type || curve.count === 0) return controlStatus.notSupported;
    if (curve.count > this.#port.capacity(use.name)) return controlStatus.outOfRange;
    const wish = curveWish(this.#port, curve, use);
    return wish === null ? controlStatus.notSupported : [wish];
  }

  /** The output that names the curve of a function. */
  target(naming: Naming, isIdle: () => boolean): OutputTarget {
    const wanted = (value: number | boolean) => {
      const number = Number(value);
      if (!Number.isInteger(number) || number > curveCount) return controlStatus.outOfRange;
      return this.wanted({ number, use: naming.use });
    };
    // a curve that cannot be in force is refused while the function is off as well
    const checked = (curve: readonly FunctionWish[], by: Origin) => {
      if (curve.length > 0) this.#port.check(curve, by);
    };
    return {
      read: () => naming.number,
      check: (value, by) => {
        const curve = wanted(value);
        if (typeof curve === 'number') return curve;
        checked(curve, by);
        return success;
      },
      operate: (value, by) => {
        const curve = wanted(value);
        if (typeof curve === 'number') return curve;
        const before = naming.number;
        naming.number = Number(value);
        try {
          if (curve.length > 0 && this.#port.isEnabled(naming.use.name)) this.#port.write(curve, by);
          else checked(curve, by);
        } catch (error) {
          naming.number = before;
          throw error;
        }
        return success;
      },
      isIdle,
      bound: `curve of ${naming.use.name}${naming.use.region === undefined ? '' : ` ${naming.use.region}`}`,
    };
  }

  #isUsed(number: number): boolean {
    return this.#users.some((user) => user.names(number));
  }

  #isOther({ number, use }: Naming): boolean {
    if (!this.#port.isEnabled(use.name) || this.#users.some((user) => user.acts(use.name))) return false;
    const curve = this.#store.curve(number);
    const wish = curve.type === curveType.undefined ? null : curveWish(this.#port, curve, use);
    return wish !== null && !this.#port.isInForce([wish]);
  }
}
