/**
 * The address of the user as the last resort. A version of 2.x may have left a network profile in use, and 1.6, which has
 * no others to try, would stay at its address for ever. The two are tried in turn.
 */
import type { Logger } from '../../core/log/log.ts';
import type { Network, NetworkAccess } from '../station/connection.ts';

/** Failed attempts after which the other address is used: the default of NetworkProfileConnectionAttempts. */
const attempts = 3;

export type ResortNetwork = Pick<Network, 'access' | 'settings' | 'slot' | 'setAccess'>;

interface LastResort {
  opened(): void;
  /** An attempt to connect has failed. @param isReverted the former credentials are tried at the same address at once */
  failed(isReverted: boolean): void;
}

interface Resort {
  readonly access: NetworkAccess;
  /** of the network profile; null: the access is that of the settings */
  readonly slot: number | null;
}

interface LeftProfile extends Resort {
  /** URL of the settings that follow it */
  readonly settingsUrl: string;
}

/** @param retargeted the next connection leads to another central system, which knows nothing of the station yet */
export function createLastResort(
  network: ResortNetwork,
  log: Pick<Logger, 'info'>,
  retargeted: () => void,
): LastResort {
  let failures = 0;
  let left: LeftProfile | null = null;
  const nextResort = (): Resort | null => {
    if (network.slot !== null) return { access: network.settings, slot: null };
    // an address that a user has given since stays
    return left?.settingsUrl === network.settings.url ? left : null;
  };
  return {
    opened: () => {
      failures = 0;
    },
    failed: (isReverted) => {
      if (isReverted) return;
      failures += 1;
      const next = nextResort();
      // a lower security profile is no resort (A05)
      if (next === null || failures < attempts || next.access.securityProfile < network.access.securityProfile) return;
      failures = 0;
      const { slot, access, settings } = network;
      if (slot !== null) left = { slot, access, settingsUrl: settings.url };
      network.setAccess(next.access, next.slot);
      const name = next.slot === null ? 'the address of the settings' : `network profile ${next.slot}`;
      log.info(`${name} is used from the next connection on`);
      retargeted();
    },
  };
}
