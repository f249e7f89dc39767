/** The connection of a station, as the parts of a version change it. */
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import type { OcppBackOffOptions } from '../../core/net/back-off.ts';
import { isSamePassword } from '../rpc/credentials.ts';
import type { Credentials } from '../rpc/credentials.ts';
import type { Link } from '../rpc/link.ts';
import type { Transport } from '../rpc/transport.ts';

// Where a station connects to and how it tries, as network profiles and variables of 2.x change it.

/** Settings of one network profile. */
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
  /** for the next attempt to connect */
  readonly access: NetworkAccess;
  /** the address of the flags or of REST, with the credentials that have proved themselves or were given with it */
  readonly settings: NetworkAccess;
  /** true: `access` is that of the settings; false: a network profile of a version is in use */
  readonly usesSettings: boolean;
  /** true: a connection has opened since the start of the process */
  readonly hasConnected: boolean;
  /**
   * From the next attempt on, for good: the former access does not return when it fails. A password on trial that the
   * access has too stays on trial.
   * @param ofSettings false: `settings` stays as it is
   */
  setAccess(access: NetworkAccess, ofSettings: boolean): void;
  /** From the next wait on. */
  setBackOff(options: OcppBackOffOptions): void;
  /** Time in which the central system has to answer a call, s; for calls that are sent from now on. */
  setMessageTimeout(seconds: number): void;
  /** @param allowed a certificate of the central system may name its host by a wildcard, from the next attempt on */
  setWildcards(allowed: boolean): void;
}

export interface StationNetwork extends Network {
  /** The target of the link is that of the settings from now on: the user has given an address. */
  addressGiven(): void;
}

export function networkOf({ link, setCallTimeout }: Pick<Transport, 'link' | 'setCallTimeout'>): StationNetwork {
  /** null: in use */
  let settings: NetworkAccess | null = null;
  const accessBy = ({ securityProfile, password }: Credentials): NetworkAccess => {
    const { url, guarded } = link.target;
    return { url, guarded, securityProfile, password };
  };
  const settingsNow = () => settings ?? accessBy(link.provenCredentials);
  return {
    get access() {
      return accessBy(link.credentials);
    },
    get settings() {
      return settingsNow();
    },
    get usesSettings() {
      return settings === null;
    },
    get hasConnected() {
      return link.connects > 0;
    },
    setAccess: ({ url, guarded, securityProfile, password }, ofSettings) => {
      settings = ofSettings ? null : settingsNow();
      link.retarget({ ...link.target, url, guarded });
      const isNew = !isSamePassword(password, link.credentials.password);
      link.adoptCredentials({ securityProfile, ...(isNew && { password }) });
    },
    addressGiven: () => {
      settings = null;
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

/** Another version takes over: back-off, time to answer and wildcards are the defaults again; the target stays. */
export function resetNetwork({ link, setCallTimeout }: Pick<Transport, 'link' | 'setCallTimeout'>): void {
  link.setBackOff();
  setCallTimeout();
  link.retarget({ ...link.target, wildcards: true });
}

export interface Connection {
  /** Closes and connects again, for example with other credentials. */
  reconnect(reason: string): void;
  /**
   * Closes; connects again after a time in which the station is off. The next BootNotification follows a restart.
   * @param bootReason in the next BootNotification of 2.x: RemoteReset, FirmwareUpdate, ...; default Unknown
   */
  restart(reason: string, bootReason?: string): void;
  /** Octets of basic authentication from the next connection on; the old ones return when it fails. */
  setPassword(password: Buffer): void;
  /** From the next connection on; the old one returns when it fails. */
  setSecurityProfile(profile: 1 | 2 | 3): void;
  /**
   * Certificates in PEM from the next connection on; an absent member stays as it is. Roots are in force for good (null:
   * none are left); the old certificate of the station returns when a connection with the new one fails.
   */
  setCertificates(pem: {
    readonly rootCert?: string | null;
    readonly own?: { readonly cert: string; readonly key: string };
  }): void;
  /** WebSocketPingInterval, s; 0: no pings */
  setPingInterval(seconds: number): void;
  readonly securityProfile: OcppSecurityProfile;
}

/** Time for which a station that restarts has no connection. */
const restartMs = 2000;

export function connectionOf(link: Link): Connection {
  return {
    reconnect: (reason) => {
      link.reconnect(reason);
    },
    restart: (reason) => {
      link.restart(reason, restartMs);
    },
    setPassword: (password) => {
      link.setCredentials({ password });
    },
    setSecurityProfile: (securityProfile) => {
      link.setCredentials({ securityProfile });
    },
    setCertificates({ rootCert, own }) {
      if (rootCert !== undefined) link.adoptCredentials({ rootCert });
      if (own === undefined) return;
      // another profile does not show it, so that a failed connection proves nothing about it
      if (link.credentials.securityProfile === 3) link.setCredentials({ own });
      else link.adoptCredentials({ own });
    },
    setPingInterval: (seconds) => {
      link.setPingInterval(seconds);
    },
    get securityProfile() {
      return link.credentials.securityProfile;
    },
  };
}

/** True if credentials have what a profile needs (white paper, A05.FR.02 to FR.04). */
export function isReady({ password, rootCert, own }: Credentials, profile: 1 | 2 | 3): boolean {
  if (profile === 1) return password !== null;
  return rootCert !== null && (profile === 3 ? own : password) !== null;
}
