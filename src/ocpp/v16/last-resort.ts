/**
 * The address of the user as the last resort. A version of 2.x may have left a network profile in use, and 1.6, which has
 * no others to try, would stay at its address for ever.
 */
import type { Logger } from '../../core/log/log.ts';
import type { Network } from '../station/connection.ts';

/** Failed attempts after which the address of the user is used: the default of NetworkProfileConnectionAttempts. */
const attempts = 3;

export type ResortNetwork = Pick<Network, 'access' | 'settings' | 'slot' | 'setAccess'>;

interface LastResort {
  opened(): void;
  /** An attempt to connect has failed. */
  failed(): void;
}

/** @param retargeted the next connection leads to another central system, which knows nothing of the station yet */
export function createLastResort(
  network: ResortNetwork,
  log: Pick<Logger, 'info'>,
  retargeted: () => void,
): LastResort {
  let failures = 0;
  return {
    opened: () => {
      failures = 0;
    },
    failed: () => {
      const { slot, settings, access } = network;
      failures += 1;
      // a lower security profile is no resort (A05)
      if (slot === null || failures < attempts || settings.securityProfile < access.securityProfile) return;
      failures = 0;
      network.setAccess(settings, null);
      log.info(`the address of the settings is used from the next connection on, in place of network profile ${slot}`);
      retargeted();
    },
  };
}
