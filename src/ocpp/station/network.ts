/** Where a station connects to and how it tries, as network profiles and variables of 2.x change it. */
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import type { OcppBackOffOptions } from '../../core/net/back-off.ts';
import type { Transport } from '../rpc/transport.ts';

/** What one network profile sets. */
export interface NetworkAccess {
  /** without the identity */
  readonly url: string;
  /** not of the settings: outbound rules apply */
  readonly guarded: boolean;
  readonly securityProfile: OcppSecurityProfile;
  /** octets of basic authentication; null: none */
  readonly password: Buffer | null;
}

export interface Network {
  /** what the next attempt to connect uses */
  readonly access: NetworkAccess;
  /** From the next attempt on, for good: nothing returns when it fails. */
  setAccess(access: NetworkAccess): void;
  /** From the next wait on. */
  setBackOff(options: OcppBackOffOptions): void;
  /** Time in which the central system has to answer a call, s; for calls that are sent from now on. */
  setMessageTimeout(seconds: number): void;
  /** Whether a certificate of the central system may name its host by a wildcard, from the next attempt on. */
  setWildcards(allowed: boolean): void;
}

export function networkOf({ link, setCallTimeout }: Pick<Transport, 'link' | 'setCallTimeout'>): Network {
  return {
    get access() {
      const { target, credentials } = link;
      const { securityProfile, password } = credentials;
      return { url: target.url, guarded: target.guarded, securityProfile, password };
    },
    setAccess: ({ url, guarded, securityProfile, password }) => {
      link.retarget({ ...link.target, url, guarded });
      link.replaceCredentials({ securityProfile, password });
    },
    setBackOff: (options) => {
      link.setBackOff(options);
    },
    setMessageTimeout: (seconds) => {
      setCallTimeout(seconds * 1000);
    },
    setWildcards: (wildcards) => {
      if ((link.target.wildcards ?? true) !== wildcards) link.retarget({ ...link.target, wildcards });
    },
  };
}
