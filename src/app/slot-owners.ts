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
import { ownersSlot } from '../state/slots.ts';
import type { SlotOwner } from '../state/slots.ts';
import type { StateFiles } from './state.ts';

interface SlotOwnersOptions {
  /** null: no table is kept */
  readonly files: StateFiles | null;
  readonly plant: Pick<Plant, 'devices' | 'onDevices'>;
  readonly chargePointId: ChargePointIdOf;
  readonly csip: Pick<CsipClient, 'certificates'>;
  readonly log: Pick<Logger, 'error'>;
}

export class SlotOwners {
  readonly #options: SlotOwnersOptions;
  #saved: readonly SlotOwner[] = [];

  constructor(options: SlotOwnersOptions) {
    this.#options = options;
    if (options.files === null) return;
    options.plant.onDevices(() => {
      this.save();
    });
  }

  /** Saves the table if it has changed; never throws. */
  save(): void {
    const { files, log } = this.#options;
    if (files === null) return;
    const owners = this.#owners();
    if (isDeepStrictEqual(owners, this.#saved)) return;
    this.#saved = owners;
    files.store
      .slot(ownersSlot)
      .replace(owners.map(({ device, slots }) => ({ device, slots })))
      .catch((error: unknown) => {
        log.error(`the devices of the kept state cannot be listed: ${errorText(error)}`);
      });
  }

  #owners(): readonly SlotOwner[] {
    const { plant, chargePointId } = this.#options;
    const lfdis = this.#lfdis();
    return plant.devices.flatMap((device): SlotOwner[] => {
      const id = chargePointId(device);
      const lfdi = lfdis.get(device.index);
      const slots = [
        ...(id === null ? [] : [slotName('ocpp', id)]),
        ...(lfdi === undefined ? [] : [slotName('csip', lfdi)]),
      ];
      return slots.length === 0 ? [] : [{ device: device.index, slots }];
    });
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
