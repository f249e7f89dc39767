/** Credentials of a station, and the change to others, which may fail (white paper, A01 to A03 and A05). */
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import { SimError } from '../../core/errors.ts';
import { clientMaterial, clientOffers } from '../../core/tls/client-context.ts';
import type { ConnectFailure } from './socket.ts';

export interface Credentials {
  readonly securityProfile: OcppSecurityProfile;
  /** octets, for basic authentication in profiles 1 and 2; null: none */
  readonly password: Buffer | null;
  /** PEM; null: the authorities of the system */
  readonly rootCert: string | null;
  /** client certificate in PEM, presented in profile 3; null: none */
  readonly own: { readonly cert: string; readonly key: string } | null;
}

export type CredentialsChange = Partial<Credentials>;

/** Makes the TLS context of credentials. @throws SimError COMMAND_BAD_VALUE; the message has no PEM text */
export type ContextMaker = (credentials: Credentials) => SecureContext;

const names = { cert: 'the certificate', key: 'its key', rootCert: 'the root certificate' };
const maxContexts = 32;

function makeContext({ rootCert, own }: Pick<Credentials, 'rootCert' | 'own'>): SecureContext {
  if (rootCert === null) return createSecureContext({ ...own, ...clientOffers.ocpp });
  const material = clientMaterial({ rootCert, ...own }, 'ocpp', names);
  if ('material' in material) return createSecureContext(material.material.context);
  throw new SimError('COMMAND_BAD_VALUE', material.issues.map(({ name, detail }) => `${name} ${detail}`).join('; '));
}

/** Caches contexts for all stations of the process: each takes about 100 kB outside the heap. */
export function contextMaker(): ContextMaker {
  const contexts = new Map<string, SecureContext>();
  return ({ securityProfile, rootCert, own }) => {
    const clientCertificate = securityProfile === 3 ? own : null;
    const key = [rootCert, clientCertificate?.cert, clientCertificate?.key].join('\n');
    const cachedContext = contexts.get(key);
    if (cachedContext !== undefined) return cachedContext;
    const context = makeContext({ rootCert, own: clientCertificate });
    const [oldest] = contexts.keys();
    if (contexts.size >= maxContexts && oldest !== undefined) contexts.delete(oldest);
    contexts.set(key, context);
    return context;
  };
}

/** Password of basic authentication; null: the profile uses none. */
export function passwordOf({ securityProfile, password }: Credentials): Buffer | null {
  return securityProfile === 1 || securityProfile === 2 ? password : null;
}

export function isSamePassword(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

// Credentials in force, and changed credentials that are tried with the next connection and dropped if they fail.

/** Maximum of attempts with changed credentials if the failures may have other reasons. */
const trialAttempts = 3;
const unrelatedKinds: ReadonlySet<ConnectFailure['kind']> = new Set(['network', 'timeout', 'no_version']);

/** True if a failure may have nothing to do with the credentials, for example a central system that restarts. */
const isUnrelated = ({ kind, status }: ConnectFailure) =>
  unrelatedKinds.has(kind) || (kind === 'rejected' && status !== 401 && status !== 403);

/** True if all members are the same; of passwords the octets. */
function isSame(a: Credentials, b: Credentials): boolean {
  return (
    a.securityProfile === b.securityProfile &&
    isSamePassword(a.password, b.password) &&
    a.rootCert === b.rootCert &&
    a.own?.cert === b.own?.cert &&
    a.own?.key === b.own?.key
  );
}

interface Trial {
  readonly credentials: Credentials;
  attempts: number;
}

export class CredentialsTrial {
  #proven: Credentials;
  #trial: Trial | null = null;

  constructor(inForce: Credentials) {
    this.#proven = inForce;
  }

  /** Credentials that a connection has proved, or that were adopted. */
  get proven(): Credentials {
    return this.#proven;
  }

  /** Credentials of the next attempt. */
  get next(): Credentials {
    return this.#trial?.credentials ?? this.#proven;
  }

  /** true: changed credentials are on trial */
  get isRunning(): boolean {
    return this.#trial !== null;
  }

  /** Tries changed credentials from the next attempt on. */
  begin(change: CredentialsChange): void {
    this.#trial = { credentials: { ...this.next, ...change }, attempts: 0 };
  }

  /**
   * Adopts a change without a trial: what a user or a network profile gives, root certificates, and credentials that the
   * present profile does not use. Members on trial that it does not have stay on trial.
   */
  adopt(change: CredentialsChange): void {
    this.#proven = { ...this.#proven, ...change };
    if (this.#trial === null) return;
    const credentials = { ...this.#trial.credentials, ...change };
    this.#trial = isSame(credentials, this.#proven) ? null : { ...this.#trial, credentials };
  }

  /** Notes that a connection has opened. @returns true if a trial has succeeded */
  opened(): boolean {
    if (this.#trial === null) return false;
    this.#proven = this.#trial.credentials;
    this.#trial = null;
    return true;
  }

  /**
   * Notes that an attempt has failed.
   * @param everConnected false: the former credentials may be no better, since the central system may not run yet
   * @returns true if the trial has ended, so that the former credentials are in force again
   */
  failed(failure: ConnectFailure, everConnected: boolean): boolean {
    if (this.#trial === null) return false;
    this.#trial.attempts += 1;
    if (isUnrelated(failure) && (!everConnected || this.#trial.attempts < trialAttempts)) return false;
    this.#trial = null;
    return true;
  }
}
