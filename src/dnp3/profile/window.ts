/** The windows on curves and schedules: the master that holds a window, and the output that selects its content. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin } from '../../core/origin.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { ControlStatus } from '../stack/outstation/types.ts';
import { success } from './bind.ts';
import type { OutputTarget, PartContext } from './types.ts';

/** Kept state of the window on curves or schedules. */
interface KeptWindow {
  readonly selected: number;
  readonly master: string | null;
}

/** The link address of a master, which outlives its connections: `4@127.0.0.1:50123`. */
const masterOf = ({ peer }: Origin) => peer?.split('@')[0] ?? null;

/**
 * The master that made the last selection holds the window: another master has to select before it can write into the
 * window.
 */
export class WindowHolder {
  #master: string | null = null;

  take(by: Origin): void {
    this.#master = masterOf(by);
  }

  isOther(by: Origin): boolean {
    return this.#master !== null && this.#master !== masterOf(by);
  }

  /** Frees the window after a reset of the device. */
  forget(): void {
    this.#master = null;
  }

  /** The selection and its master, as state that a restart keeps. */
  kept(store: { selected: number }): Kept {
    return keptRecord<KeptWindow>(
      () => ({ selected: store.selected, master: this.#master }),
      ({ selected, master }) => {
        store.selected = selected;
        this.#master = master;
      },
    );
  }
}

/** The output that selects a curve or schedule, from 1 to `count`. Every master may take the window over. */
export function selectorOutput(
  { changed }: Pick<PartContext, 'changed'>,
  store: { selected: number; readonly holder: WindowHolder; readonly changed: () => void },
  count: number,
  bound: string,
): OutputTarget {
  const check = (value: number | boolean): ControlStatus =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= count ? success : controlStatus.outOfRange;
  return {
    read: () => store.selected,
    check,
    operate(value, by) {
      const status = check(value);
      if (status !== success) return status;
      store.selected = Number(value);
      store.holder.take(by);
      store.changed();
      changed();
      return success;
    },
    range: () => [1, count],
    bound,
  };
}

/** Outputs whose values are members of the entry that a window shows. */
interface MemberOutputs<M> {
  read(member: M): number;
  check(member: M, value: number | boolean, by: Origin): ControlStatus;
  operate(member: M, value: number | boolean, by: Origin): ControlStatus;
}

/** The output for a member of the entry in a window. Closures for each would take most of the memory of an outstation. */
export class MemberOutput<M> implements OutputTarget {
  readonly bound: string;
  readonly #outputs: MemberOutputs<M>;
  readonly #member: M;

  constructor(bound: string, outputs: MemberOutputs<M>, member: M) {
    this.bound = bound;
    this.#outputs = outputs;
    this.#member = member;
  }

  read(): number {
    return this.#outputs.read(this.#member);
  }

  check(value: number | boolean, by: Origin): ControlStatus {
    return this.#outputs.check(this.#member, value, by);
  }

  operate(value: number | boolean, by: Origin): ControlStatus {
    return this.#outputs.operate(this.#member, value, by);
  }
}
