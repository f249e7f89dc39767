/** The connection of a station, as the parts of a version change it. */
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import type { OcppBackOffOptions } from '../../core/net/back-off.ts';
import type { Credentials } from '../rpc/credentials.ts';
import type { Link } from '../rpc/link.ts';
import type { Transport } from '../rpc/transport.ts';
import type { LineState, NetworkAccess } from './line.ts';

export type { NetworkAccess } from './line.ts';

// Where a station connects to and how it tries, as network profiles and variables of 2.x change it.

export interface Network {
  /** for the next attempt to connect */
  readonly access: NetworkAccess;
  /** the address of the flags or of REST, with the credentials that have proved themselves or were given with it */
  readonly settings: NetworkAccess;
  /** slot of the network profile in use; null: `access` is that of the settings */
  readonly slot: number | null;
  /** octets of basic authentication that a central system has set, or REST since; null: those of the settings count */
  readonly password: Buffer | null;
  /** true: a connection has opened since the start of the process */
  readonly hasConnected: boolean;
  /**
   * From the next attempt on, for good: the former access does not return when it fails. A password on trial that the
   * access has too stays on trial.
   * @param slot of the network profile; null: the access is that of the settings, where a password that a central system
   * has set is tried before theirs
   */
  setAccess(access: NetworkAccess, slot: number | null): void;
  /** Network profiles take note of another address that a user has given. @returns false: none since the last call */
  takeAddress(): boolean;
  /** From the next wait on. */
  setBackOff(options: OcppBackOffOptions): void;
  /** Time in which the central system has to answer a call, s; for calls that are sent from now on. */
  setMessageTimeout(seconds: number): void;
  /** @param allowed a certificate of the central system may name its host by a wildcard, from the next attempt on */
  setWildcards(allowed: boolean): void;
}

export function networkOf(
  { link, setCallTimeout }: Pick<Transport, 'link' | 'setCallTimeout'>,
  line: LineState,
): Network {
  return {
    get access() {
      return line.access;
    },
    get settings() {
      return line.settings;
    },
    get slot() {
      return line.slot;
    },
    get password() {
      return line.password;
    },
    get hasConnected() {
      return line.hasConnected;
    },
    setAccess: (access, slot) => {
      line.setAccess(access, slot);
    },
    takeAddress: () => line.takeAddress(),
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

/**
 * Another version takes over: form of the back-off, time to answer and wildcards are the defaults again; the target
 * stays, and waits go on growing.
 */
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
  /** of the next connection */
  readonly securityProfile: OcppSecurityProfile;
  /**
   * octets of basic authentication that a central system or REST has set, if the next connection has them; null: it has none, or
   * those of the settings or of a network profile
   */
  readonly password: Buffer | null;
}

/** Time for which a station that restarts has no connection. */
const restartMs = 2000;

export function connectionOf(link: Link, line: LineState): Connection {
  return {
    reconnect: (reason) => {
      link.reconnect(reason);
    },
    restart: (reason) => {
      link.restart(reason, restartMs);
    },
    setPassword: (password) => {
      line.setPassword(password);
    },
    setSecurityProfile: (securityProfile) => {
      line.setSecurityProfile(securityProfile);
    },
    setCertificates({ rootCert, own }) {
      if (rootCert !== undefined) link.adoptCredentials({ rootCert });
      const inForce = link.credentials.own;
      // a version that begins brings the certificate that is in force already
      if (own === undefined || (own.cert === inForce?.cert && own.key === inForce.key)) return;
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
    get password() {
      return line.passwordInForce;
    },
  };
}

/** True if credentials have what a profile needs (white paper, A05.FR.02 to FR.04). */
export function isReady({ password, rootCert, own }: Credentials, profile: 1 | 2 | 3): boolean {
  if (profile === 1) return password !== null;
  return rootCert !== null && (profile === 3 ? own : password) !== null;
}
