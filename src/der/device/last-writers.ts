/** Last writers of what has no register. Nothing physical may depend on them. */
import type { SimTime } from '../../core/time/clock.ts';
import type { DeviceCommand } from '../../contract/device.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { overridesOf } from '../../contract/overrides.ts';
import type { Override } from '../../contract/overrides.ts';

interface StampClock {
  sim(): SimTime;
  wallMs(): number;
}

/** Who gave the last command of each kind to one device. */
export class CommandWriters {
  readonly #clock: StampClock;
  /** in the order in which they came; one entry per name and connector */
  readonly #last = new Map<string, Override>();

  constructor(clock: StampClock) {
    this.#clock = clock;
  }

  /** Newest first. */
  get list(): readonly Override[] {
    return [...this.#last.values()].reverse();
  }

  /** Nothing that was set before stands any longer. */
  clear(): void {
    this.#last.clear();
  }

  /** Remembers a command that was carried out. */
  note(command: DeviceCommand, { source, peer }: Origin): void {
    const connectorId = 'connectorId' in command ? command.connectorId : null;
    const writer = { source, ...(peer !== undefined && { peer }), at: this.#clock.sim(), wallMs: this.#clock.wallMs() };
    for (const name of overridesOf(command)) {
      const key = `${name} ${connectorId ?? ''}`;
      // a key that is there already would keep its place
      this.#last.delete(key);
      this.#last.set(key, { name, connectorId, ...writer });
    }
  }
}

/** Who changed the common surroundings last, and those of single devices. */
export class ScopeWriters {
  #common: Provenance | null = null;
  readonly #local = new Map<number, Provenance>();

  /** A common change ends every deviation, and so is the last for every device. @param deviceIndex absent: common */
  note(writer: Provenance, deviceIndex?: number): void {
    if (deviceIndex !== undefined) {
      this.#local.set(deviceIndex, writer);
      return;
    }
    this.#common = writer;
    this.#local.clear();
  }

  /** The last writer of what surrounds a device, or of the common part; null: as started. */
  of(deviceIndex?: number): Provenance | null {
    return (deviceIndex === undefined ? undefined : this.#local.get(deviceIndex)) ?? this.#common;
  }

  /** The deviation of a device is gone with whatever it was about. */
  forget(deviceIndex: number): void {
    this.#local.delete(deviceIndex);
  }
}
