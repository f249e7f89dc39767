/** Default tariffs of the EVSEs (I07, I10), kept over a restart. */
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { instantOf } from '../../station/instants.ts';
import { createSaver } from '../../station/saver.ts';
import type { Tariff } from '../messages.ts';

/** default tariffs of a station, each counted once for each EVSE */
export const maxInstalled = 200;

export interface InstalledTariff {
  readonly evseId: number;
  readonly tariff: Tariff;
  /** ms since the epoch; of one that was valid at once the instant of its arrival */
  readonly validFromMs: number;
}

export interface InstalledTariffs {
  /** in the order of their arrival, without those that another one has replaced */
  readonly all: readonly InstalledTariff[];
  /** the one in force at an EVSE; null: none */
  at(evseId: number): Tariff | null;
  /** @returns false: there is no room */
  install(evseIds: readonly number[], tariff: Tariff): boolean;
  /** Removes those that fit, and returns them. */
  remove(fits: (installed: InstalledTariff) => boolean): readonly InstalledTariff[];
  load(): Promise<void>;
}

/** The default tariff of an EVSE at an instant: the one that became valid last; of two the one that came last. */
function inForce(all: readonly InstalledTariff[], evseId: number, nowMs: number): InstalledTariff | null {
  return all
    .filter((each) => each.evseId === evseId && each.validFromMs <= nowMs)
    .reduce<InstalledTariff | null>(
      (best, each) => (best === null || each.validFromMs >= best.validFromMs ? each : best),
      null,
    );
}

export function createInstalledTariffs(slot: Slot, nowMs: () => number, log: Pick<Logger, 'error'>): InstalledTariffs {
  let kept: readonly InstalledTariff[] = [];
  const saver = createSaver(slot, () => kept as unknown as readonly JsonValue[], log);
  /** Tariffs that are in force or will be: a later one replaces those that were valid before it. */
  const current = () => {
    const now = nowMs();
    return kept.filter((each) => each.validFromMs > now || inForce(kept, each.evseId, now) === each);
  };
  return {
    get all() {
      return current();
    },
    at: (evseId) => inForce(kept, evseId, nowMs())?.tariff ?? null,
    install(evseIds, tariff) {
      const now = nowMs();
      const validFromMs = Math.max(now, tariff.validFrom === undefined ? now : instantOf(tariff.validFrom));
      const stays = (old: InstalledTariff) => !(evseIds.includes(old.evseId) && old.validFromMs === validFromMs);
      const next = [...current().filter(stays), ...evseIds.map((evseId) => ({ evseId, tariff, validFromMs }))];
      if (next.length > maxInstalled) return false;
      kept = next;
      saver.save();
      return true;
    },
    remove(fits) {
      const all = current();
      const removed = all.filter(fits);
      kept = all.filter((each) => !removed.includes(each));
      saver.save();
      return removed;
    },
    async load() {
      kept = (await slot.read()) as unknown as readonly InstalledTariff[];
    },
  };
}
