/**
 * The table of the slots that belong to each device, in the store itself: charge point identities and LFDIs name slots,
 * and only a running simulator knows whose they are.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ChargePointIdOf } from '../contract/charge-point-ids.ts';
import type { CsipClient } from '../contract/csip-client.ts';
import type { Plant } from '../contract/plant.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import { ownersIn, ownersSlot, slotsOfDevice } from '../state/slots.ts';
import type { SlotOwner } from '../state/slots.ts';
import type { StateFiles } from './state.ts';

interface SlotOwnersOptions {
  /** null: no table is kept */
  readonly files: StateFiles | null;
  readonly plant: Pick<Plant, 'devices' | 'onDevices'>;
  readonly chargePointId: ChargePointIdOf;
  readonly csip: Pick<CsipClient, 'certificates'>;
  readonly log: Pick<Logger, 'error' | 'warning'>;
}

export class SlotOwners {
  readonly #options: SlotOwnersOptions;
  #saved: readonly SlotOwner[];
  /** rows of devices that have left, until their adapters have let go of the slots */
  readonly #left = new Map<number, SlotOwner>();

  constructor(options: SlotOwnersOptions) {
    this.#options = options;
    this.#saved = ownersIn(options.files?.store.values(ownersSlot) ?? []);
    if (options.files === null) return;
    // an earlier process has ended before the adapters had let go of them
    for (const row of this.#saved) if (row.hasLeft) this.#left.set(row.device, row);
    options.plant.onDevices(({ added, removed }) => {
      const row = this.#saved.find(({ device }) => device === removed?.index);
      if (row && !added) this.#left.set(row.device, { ...row, hasLeft: true });
      this.save();
    });
  }

  /** Saves the table if it has changed; never throws. */
  save(): void {
    const { files, log } = this.#options;
    if (files === null) return;
    const owners = [...this.#owners(), ...this.#left.values()];
    if (isDeepStrictEqual(owners, this.#saved)) return;
    this.#saved = owners;
    files.store
      .slot(ownersSlot)
      .replace(owners.map((owner) => ({ ...owner })))
      .catch((error: unknown) => {
        log.error(`the devices of the kept state cannot be listed: ${errorText(error)}`);
      });
  }

  /** Beginnings of the names of the slots of its identities. */
  placesOf(index: number): readonly string[] {
    return this.#owners().flatMap(({ device, slots }) => (device === index ? slots : []));
  }

  /** Empties the slots of a device that has left; once its adapters have let go of it. */
  forget(index: number): void {
    this.#empty(index);
    this.save();
  }

  #empty(index: number): void {
    const row = this.#left.get(index);
    this.#left.delete(index);
    const taken = new Set(this.#owners().flatMap(({ slots }) => slots));
    const slots = (row?.slots ?? []).filter((place) => !taken.has(place));
    this.#options.files?.store.forget(slotsOfDevice(index, [{ device: index, slots }]));
  }

  /**
   * Empties the slots of identities that another device had, and those of devices that were removed when an earlier
   * process ended: before the adapters read them.
   */
  settleMoves(): void {
    const { files, log } = this.#options;
    for (const { device, id, place } of this.#stations()) {
      const former = this.#saved.find((row) => row.device !== device && row.slots.includes(place));
      if (former === undefined) continue;
      log.warning(
        `the kept state of the charge point ${id} is that of device ${former.device}: it starts anew`,
        device,
      );
      files?.store.forget((name) => name.startsWith(`${place}/`));
    }
    for (const index of [...this.#left.keys()]) this.#empty(index);
  }

  #stations(): readonly { readonly device: number; readonly id: string; readonly place: string }[] {
    const { plant, chargePointId } = this.#options;
    return plant.devices.flatMap((device) => {
      const id = chargePointId(device);
      return id === null ? [] : [{ device: device.index, id, place: slotName('ocpp', id) }];
    });
  }

  #owners(): readonly SlotOwner[] {
    const stations = new Map(this.#stations().map(({ device, place }) => [device, place]));
    const lfdis = this.#lfdis();
    return this.#options.plant.devices.flatMap(({ index }): SlotOwner[] => {
      const station = stations.get(index);
      const lfdi = lfdis.get(index);
      // without CSIP the simulator does not know whose its slots are
      const csip = lfdi === undefined && lfdis.size === 0 ? this.#formerOf(index) : [];
      const slots = [
        ...(station === undefined ? [] : [station]),
        ...(lfdi === undefined ? csip : [slotName('csip', lfdi)]),
      ];
      return slots.length === 0 ? [] : [{ device: index, slots }];
    });
  }

  #formerOf(index: number): readonly string[] {
    const row = this.#saved.find(({ device }) => device === index);
    return (row?.slots ?? []).filter((place) => place.startsWith('csip/'));
  }

  /** LFDIs of EndDevices that stand for one device alone, by its index. */
  #lfdis(): ReadonlyMap<number, string> {
    const lfdis = new Map<number, string>();
    for (const { deviceIndices, lfdi } of this.#options.csip.certificates(null).endDevices) {
      const [index, ...others] = deviceIndices;
      if (index !== undefined && others.length === 0) lfdis.set(index, lfdi);
    }
    return lfdis;
  }
}
