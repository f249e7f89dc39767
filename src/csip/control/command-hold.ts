/** State of a device without a register, taken and given back as a hold does with points. */
import type { Device } from '../../contract/device.ts';
import type { Gradient } from '../../contract/gradient.ts';
import type { HybridPolicy } from '../../contract/kinds/hybrid.ts';
import type { OverrideName } from '../../contract/overrides.ts';
import type { Origin } from '../../core/origin.ts';
import type { Asked } from './composition.ts';

/** One such state. */
export interface CommandState<Value> {
  read(): Value;
  /** @throws SimError as `Device.command` */
  write(value: Value, by: Origin): void;
  /** what stays the same as long as nobody else writes */
  mark(): unknown;
  /** default: the same value */
  equal?(a: Value, b: Value): boolean;
}

interface Taken<Value> {
  readonly base: Value;
  readonly asked: Asked<Value>;
  readonly mark: unknown;
}

export class CommandHold<Value> {
  readonly #state: CommandState<Value>;
  #taken: Taken<Value> | null = null;

  constructor(state: CommandState<Value>) {
    this.#state = state;
  }

  /** The control that has the state; null: none. */
  get id(): string | null {
    return this.#taken?.asked.id ?? null;
  }

  /** Whether somebody else has written the state since. */
  get overwritten(): boolean {
    return this.#taken !== null && this.#state.mark() !== this.#taken.mark;
  }

  /**
   * Sets the state for a control, or gives it back with null unless somebody else has written it since.
   * @throws SimError as `Device.command`; then nothing has changed
   */
  change(asked: Asked<Value> | null): void {
    const taken = this.#taken;
    if (asked === null) {
      // the device's own doing, as the end of a hold: local control does not prevent it
      if (taken && !this.overwritten)
        this.#state.write(taken.base, { source: 'reversion', peer: `csip ${taken.asked.id}` });
      this.#taken = null;
      return;
    }
    const isSame = (a: Value, b: Value) => this.#state.equal?.(a, b) ?? a === b;
    if (taken?.asked.id === asked.id && (isSame(taken.asked.value, asked.value) || this.overwritten)) return;
    const base = taken && !this.overwritten ? taken.base : this.#state.read();
    this.#state.write(asked.value, { source: 'csip', peer: asked.id });
    this.#taken = { base, asked, mark: this.#state.mark() };
  }

  /** The device has been reset: there is nothing to give back. */
  forget(): void {
    this.#taken = null;
  }
}

/** The last writer of an override, as an object of its own per command. */
const writerOf = (device: Device, override: OverrideName) => device.overrides.find(({ name }) => name === override);

/** Position of the disconnect switch. */
export function switchState(device: Device): CommandState<boolean> {
  return {
    read: () => device.switchClosed,
    write: (closed, by) => {
      device.command({ kind: 'switch', closed }, by);
    },
    mark: () => writerOf(device, 'switch'),
  };
}

/** One slope of commands, percent per second; null: the register decides. */
export function slopeState(device: Device, name: keyof Gradient): CommandState<number | null> {
  const read = () => {
    const { pctPerS, source } = device.gradient[name === 'wPctPerS' ? 'w' : 'var'];
    return source === 'gradient' ? pctPerS : null;
  };
  return {
    read,
    write: (value, by) => {
      device.command({ kind: 'gradient', [name]: value }, by);
    },
    // both slopes have one writer: the value tells whether this one is as it was set
    mark: read,
  };
}

/** Battery power of a hybrid, W; null: as its policy says. */
export function storageState(device: Device): CommandState<StoragePin> {
  const read = (): StoragePin => {
    const { detail } = device;
    return detail.kind === 'hybrid-dc' ? { policy: detail.policy, powerW: detail.manualBatteryW } : null;
  };
  return {
    read,
    write: (pin, by) => {
      if (pin === null) return;
      if (read()?.policy !== pin.policy) device.command({ kind: 'hybrid.policy', policy: pin.policy }, by);
      if (pin.policy === 'manual') device.command({ kind: 'hybrid.battery', powerW: pin.powerW }, by);
    },
    mark: () => {
      const pin = read();
      return `${String(pin?.policy)} ${String(pin?.powerW)}`;
    },
    equal: (a, b) => a?.policy === b?.policy && a?.powerW === b?.powerW,
  };
}

/** Policy and pinned battery power of a hybrid; null: the device is none. */
export type StoragePin = {
  readonly policy: HybridPolicy;
  readonly powerW: number | null;
} | null;
