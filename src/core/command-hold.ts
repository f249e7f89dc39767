/** State of a device without a register, taken and given back for a control as a hold does with points. */
import type { Origin, Source } from './origin.ts';

/** A state without a register, and the control that asks for it. */
export interface ControlledValue<Value> {
  readonly id: string;
  readonly value: Value;
}

/** One such state. */
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
  readonly asked: ControlledValue<Value>;
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

  /** The control that has the state; null: none. */
  get id(): string | null {
    return this.#taken?.asked.id ?? null;
  }

  /** True if another writer has changed the state since. */
  get overwritten(): boolean {
    return this.#taken !== null && this.#state.mark() !== this.#taken.mark;
  }

  /**
   * Sets the state for a control; null: restores it unless another writer has changed it since.
   * @throws SimError as `Device.command`; then nothing has changed
   */
  change(asked: ControlledValue<Value> | null): void {
    const taken = this.#taken;
    if (asked === null) {
      // the device's own doing, as the end of a hold: local control does not prevent it
      if (taken && !this.overwritten)
        this.#state.write(taken.base, { source: 'reversion', peer: `${this.#source} ${taken.asked.id}` });
      this.#taken = null;
      return;
    }
    const isSame = (a: Value, b: Value) => this.#state.equal?.(a, b) ?? a === b;
    if (taken?.asked.id === asked.id && (isSame(taken.asked.value, asked.value) || this.overwritten)) return;
    const base = taken && !this.overwritten ? taken.base : this.#state.read();
    this.#state.write(asked.value, { source: this.#source, peer: asked.id });
    this.#taken = { base, asked, mark: this.#state.mark() };
  }

  /** Forgets the hold after a reset of the device: nothing is to be restored. */
  forget(): void {
    this.#taken = null;
  }
}
