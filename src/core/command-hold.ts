/**
 * Sets a state without a register while a control lasts, and restores it afterwards, as `PointHolds` does with points.
 */
import { keptRecord } from './kept.ts';
import type { Kept } from './kept.ts';
import type { Origin, Source } from './origin.ts';

/** A state without a register, and the control that asks for it. */
export interface ControlValue<Value> {
  readonly id: string;
  readonly value: Value;
}

/** Access to a state without a register. */
export interface CommandState<Value> {
  read(): Value;
  /** @throws SimError as `Device.command` */
  write(value: Value, by: Origin): void;
  /** a value that stays the same until another writer changes the state */
  mark(): unknown;
  /** default: the same value */
  equal?(a: Value, b: Value): boolean;
}

interface Taken<Value> {
  readonly base: Value;
  readonly requested: ControlValue<Value>;
  readonly mark: unknown;
}

export class CommandHold<Value> {
  readonly #state: CommandState<Value>;
  readonly #source: Source;
  #taken: Taken<Value> | null = null;

  /** @param source of the commands */
  constructor(state: CommandState<Value>, source: Source) {
    this.#state = state;
    this.#source = source;
  }

  /** Id of the control that holds the state; null: none. */
  get id(): string | null {
    return this.#taken?.requested.id ?? null;
  }

  /** True if another writer has changed the state since the control set it. */
  get overwritten(): boolean {
    return this.#taken !== null && this.#state.mark() !== this.#taken.mark;
  }

  /**
   * Sets the state for a control; null: restores it unless another writer has changed it since.
   * @throws SimError as `Device.command`; then nothing has changed
   */
  change(requested: ControlValue<Value> | null): void {
    const taken = this.#taken;
    if (requested === null) {
      // as at the end of a hold, the source is `reversion`, which local control does not refuse
      if (taken && !this.overwritten)
        this.#state.write(taken.base, { source: 'reversion', peer: `${this.#source} ${taken.requested.id}` });
      this.#taken = null;
      return;
    }
    const isSame = (a: Value, b: Value) => this.#state.equal?.(a, b) ?? a === b;
    if (taken?.requested.id === requested.id && (isSame(taken.requested.value, requested.value) || this.overwritten))
      return;
    const base = taken && !this.overwritten ? taken.base : this.#state.read();
    this.#state.write(requested.value, { source: this.#source, peer: requested.id });
    this.#taken = { base, requested, mark: this.#state.mark() };
  }

  /**
   * State that a restart keeps, restored after that of the device; a value is kept as JSON. Marks are objects of one
   * process, so that the mark of a state that nobody has overwritten is that of the restored device.
   */
  kept(): Kept {
    return keptRecord(
      () => ({
        taken: this.#taken && { base: this.#taken.base, requested: this.#taken.requested },
        overwritten: this.overwritten,
      }),
      ({ taken, overwritten }) => {
        this.#taken = taken && { ...taken, mark: overwritten ? Symbol('overwritten') : this.#state.mark() };
      },
    );
  }

  /** Forgets the held state after a reset of the device, without restoring it. */
  forget(): void {
    this.#taken = null;
  }
}
