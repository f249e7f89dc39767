/** Tariffs of drivers, as answers to Authorize have brought them (I08), kept over a restart. */
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { createSaver } from '../../station/saver.ts';
import { tokenKey } from '../auth/token.ts';
import type { CustomerRecords } from '../customer/model.ts';
import type { IdToken, Tariff } from '../messages.ts';

/** The oldest one goes first. */
const maxDrivers = 200;

export interface DriverTariff {
  readonly idToken: IdToken;
  /** null: the central system calculates the cost (HandleFailedTariff) */
  readonly tariff: Tariff | null;
}

export interface DriverTariffs {
  readonly all: readonly DriverTariff[];
  /** null: the central system has given no tariff for the token */
  find(idToken: IdToken): DriverTariff | null;
  put(driver: DriverTariff): void;
  remove(idToken: IdToken): void;
  load(): Promise<void>;
}

export function createDriverTariffs(slot: Slot, log: Pick<Logger, 'error'>): DriverTariffs {
  const drivers = new Map<string, DriverTariff>();
  const saver = createSaver(slot, () => [...drivers.values()] as unknown as readonly JsonValue[], log);
  return {
    get all() {
      return [...drivers.values()];
    },
    find: (idToken) => drivers.get(tokenKey(idToken)) ?? null,
    put(driver) {
      const key = tokenKey(driver.idToken);
      drivers.delete(key);
      drivers.set(key, driver);
      const [oldest] = drivers.keys();
      if (drivers.size > maxDrivers && oldest !== undefined) drivers.delete(oldest);
      saver.save();
    },
    remove(idToken) {
      if (drivers.delete(tokenKey(idToken))) saver.save();
    },
    async load() {
      for (const driver of (await slot.read()) as unknown as readonly DriverTariff[])
        drivers.set(tokenKey(driver.idToken), driver);
    },
  };
}

/** What CustomerInformation tells and forgets of them; a running transaction keeps its tariff. */
export function driverRecords(drivers: Pick<DriverTariffs, 'all' | 'remove'>): CustomerRecords {
  return {
    about: (isCustomer) =>
      drivers.all
        .filter(({ idToken }) => isCustomer(idToken))
        .map(({ tariff }) => `tariff of the driver: ${tariff?.tariffId ?? 'none, the central system calculates'}`),
    clear(isCustomer) {
      const found = drivers.all.filter(({ idToken }) => isCustomer(idToken));
      for (const { idToken } of found) drivers.remove(idToken);
      return found.length === 0 ? [] : [`tariff of the driver: ${found.length} removed`];
    },
  };
}
