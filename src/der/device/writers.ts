/**
 * Writers of a device: last writers of states that have no register, and the refusal of remote writers under local
 * control. Nothing physical may depend on last writers.
 */
import type { SimTime } from '../../core/time/clock.ts';
import type { DeviceCommand, Override } from '../../contract/device.ts';
import { plainOrigin, remoteSources } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { overridesOf } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import { keptWriter, keptWriterOrNull } from '../../core/kept-dates.ts';
import type { Kept } from '../../core/kept.ts';

interface StampClock {
  sim(): SimTime;
  wallMs(): number;
}

/** One override has this key. */
const keyOf = ({ name, connectorId }: Pick<Override, 'name' | 'connectorId'>) => `${name} ${connectorId ?? ''}`;

/** Writers of the last command of each kind to one device. */
export class CommandWriters {
  readonly #clock: StampClock;
  /** last overrides in order of arrival; one per name and connector */
  readonly #last = new Map<string, Override>();

  constructor(clock: StampClock) {
    this.#clock = clock;
  }

  /** Newest first. */
  get list(): readonly Override[] {
    return [...this.#last.values()].reverse();
  }

  /** The last writer under a name; undefined: none. */
  of(name: Override['name']): Provenance | undefined {
    return this.#last.get(keyOf({ name, connectorId: null }));
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ last: [...this.#last.values()] }),
      ({ last }) => {
        this.#last.clear();
        for (const override of last) this.#last.set(keyOf(override), keptWriter(override, 'writer of a command'));
      },
    );
  }

  /** Forgets all commands. */
  clear(): void {
    this.#last.clear();
  }

  /** Remembers a command that was carried out. */
  recordWriter(command: DeviceCommand, { source, peer }: Origin): void {
    const connectorId = 'connectorId' in command ? command.connectorId : null;
    const writer = { source, ...(peer !== undefined && { peer }), at: this.#clock.sim(), wallMs: this.#clock.wallMs() };
    for (const name of overridesOf(command)) {
      const override = { name, connectorId, ...writer };
      const key = keyOf(override);
      // a repeated key would keep its place
      this.#last.delete(key);
      this.#last.set(key, override);
    }
  }
}

/** Last writers of the common surroundings and of those of single devices. */
export class ScopeWriters {
  #common: Provenance | null = null;
  readonly #local = new Map<number, Provenance>();

  /**
   * Records a change; a common one ends every deviation, so it counts for all devices.
   * @param deviceIndex absent: common
   */
  recordWriter(writer: Provenance, deviceIndex?: number): void {
    if (deviceIndex !== undefined) {
      this.#local.set(deviceIndex, writer);
      return;
    }
    this.#common = writer;
    this.#local.clear();
  }

  /** Last writer of the surroundings of a device, or of the common ones; null: as started. */
  of(deviceIndex?: number): Provenance | null {
    return (deviceIndex === undefined ? undefined : this.#local.get(deviceIndex)) ?? this.#common;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    const plain = ({ at, wallMs, ...by }: Provenance): Provenance => ({ ...plainOrigin(by), at, wallMs });
    return keptRecord(
      () => ({
        common: this.#common && plain(this.#common),
        local: Array.from(this.#local, ([deviceIndex, writer]) => ({ deviceIndex, writer: plain(writer) })),
      }),
      ({ common, local }) => {
        this.#common = keptWriterOrNull(common, 'writer of the surroundings');
        this.#local.clear();
        for (const { deviceIndex, writer } of local)
          this.#local.set(deviceIndex, keptWriter(writer, 'writer of the surroundings of a device'));
      },
    );
  }

  /** Called when the surroundings of a device no longer deviate. */
  forget(deviceIndex: number): void {
    this.#local.delete(deviceIndex);
  }
}

/** @throws SimError with `code` if the writer is remote and the device under local control */
export function admitWriter(by: Origin, localControl: boolean, code: 'MAP_LOCAL_CONTROL' | 'COMMAND_CONFLICT'): void {
  if (!localControl || !remoteSources.includes(by.source)) return;
  throw new SimError(code, 'the device is under local control and refuses remote writes and commands (715.LocRemCtl)');
}
