/** Which curve each function has been given, and what follows from it: locks, and curves put into force. */
import type { CurveFunction } from '../../../sunspec/map/functions.ts';
import type { DevicePort, PointWrite } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { success } from '../bind.ts';
import type { OutputTarget, PartContext, PointName } from '../types.ts';
import { converted, isInForce } from './convert.ts';
import type { CurveUse } from './convert.ts';
import { curveCount, curveType } from './store.ts';
import type { CurveStore } from './store.ts';

/** One setting that names a curve. */
export interface Naming {
  readonly output: PointName;
  readonly use: CurveUse;
  /** 0: the function has the curve of its registers, whoever wrote it */
  number: number;
  /** whether a command waits that puts the curve into force */
  readonly isWaiting: () => boolean;
}

/** Something else that puts curves of the store into force. */
export interface CurveUser {
  /** whether it needs a curve as it is */
  names(number: number): boolean;
  /** whether the curve of a function that is in force is its own for now */
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

  /** A curve that another writer has put into force is none of the store. */
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

  /** Whether any function or other user names a curve. */
  isNamed(number: number): boolean {
    return this.#isUsed(number) || this.#all.some((naming) => naming.number === number);
  }

  /** Whether a function that is enabled or about to be, or another user names it: it must not change. */
  isLocked(number: number): boolean {
    const acts = ({ use, isWaiting }: Naming) => this.#port.isEnabled(use.name) || isWaiting();
    return this.#isUsed(number) || this.#all.some((naming) => naming.number === number && acts(naming));
  }

  /** The writes that put the named curve into force; none for the curve of the registers. A status refuses. */
  writes({ number, use }: Pick<Naming, 'number' | 'use'>): readonly PointWrite[] | ControlStatus {
    if (number === 0) return [];
    const curve = this.#store.curve(number);
    if (curve.type !== use.type || curve.count === 0) return controlStatus.notSupported;
    if (curve.count > this.#port.curveCapacity(use.name)) return controlStatus.outOfRange;
    return converted(this.#port, curve, use)?.writes ?? controlStatus.notSupported;
  }

  /** The output that names the curve of a function. */
  target(naming: Naming, isIdle: () => boolean): OutputTarget {
    const check: OutputTarget['check'] = (value, by) => {
      const number = Number(value);
      if (!Number.isInteger(number) || number > curveCount) return controlStatus.outOfRange;
      const writes = this.writes({ number, use: naming.use });
      if (typeof writes === 'number') return writes;
      // also while the function is off: a curve that cannot be in force is refused here
      if (writes.length > 0) this.#port.check(writes, by);
      return success;
    };
    return {
      read: () => naming.number,
      check,
      operate: (value, by) => {
        const status = check(value, by);
        if (status !== success) return status;
        const before = naming.number;
        const writes = this.writes({ number: Number(value), use: naming.use });
        naming.number = Number(value);
        if (!this.#port.isEnabled(naming.use.name) || typeof writes === 'number' || writes.length === 0) return success;
        try {
          this.#port.write(writes, by);
        } catch (error) {
          naming.number = before;
          throw error;
        }
        return success;
      },
      isIdle,
      bound: `curve of ${naming.use.name}${naming.use.group === undefined ? '' : ` ${naming.use.group}`}`,
    };
  }

  #isUsed(number: number): boolean {
    return this.#users.some((user) => user.names(number));
  }

  #isOther({ number, use }: Naming): boolean {
    if (!this.#port.isEnabled(use.name) || this.#users.some((user) => user.acts(use.name))) return false;
    const curve = this.#store.curve(number);
    const own = curve.type === curveType.undefined ? null : converted(this.#port, curve, use);
    return own !== null && !isInForce(this.#port, own, use);
  }
}
