/** How a station proves itself, and the change to other credentials that may fail (white paper, A01 to A03 and A05). */
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import { SimError } from '../../core/errors.ts';
import { clientMaterial, clientOffers } from '../../core/tls/client-context.ts';
import type { ConnectFailure } from './socket.ts';

export interface Credentials {
  readonly securityProfile: OcppSecurityProfile;
  /** octets of basic authentication in profiles 1 and 2 */
  readonly password: Buffer | null;
  /** PEM; null: the authorities of the system */
  readonly rootCert: string | null;
  /** PEM; shown in profile 3 */
  readonly own: { readonly cert: string; readonly key: string } | null;
}

export type CredentialsChange = Partial<Credentials>;

/** Makes the TLS context of credentials. @throws SimError COMMAND_BAD_VALUE; PEM texts are never in it */
export type ContextMaker = (credentials: Credentials) => SecureContext;

const names = { cert: 'the certificate', key: 'its key', rootCert: 'the root certificate' };
const keptContexts = 32;

function makeContext({ rootCert, own }: Pick<Credentials, 'rootCert' | 'own'>): SecureContext {
  if (rootCert === null) return createSecureContext({ ...own, ...clientOffers.ocpp });
  const material = clientMaterial({ rootCert, ...own }, 'ocpp', names);
  if ('material' in material) return createSecureContext(material.material.context);
  throw new SimError('COMMAND_BAD_VALUE', material.issues.map(({ name, detail }) => `${name} ${detail}`).join('; '));
}

/** Contexts that the stations of a process share: one takes some 100 kB outside the heap. */
export function contextMaker(): ContextMaker {
  const contexts = new Map<string, SecureContext>();
  return ({ securityProfile, rootCert, own }) => {
    const clientCertificate = securityProfile === 3 ? own : null;
    const key = [rootCert, clientCertificate?.cert, clientCertificate?.key].join('\n');
    const cachedContext = contexts.get(key);
    if (cachedContext !== undefined) return cachedContext;
    const context = makeContext({ rootCert, own: clientCertificate });
    const [oldest] = contexts.keys();
    if (contexts.size >= keptContexts && oldest !== undefined) contexts.delete(oldest);
    contexts.set(key, context);
    return context;
  };
}

/** Password of basic authentication; null: the profile uses none. */
export function passwordOf({ securityProfile, password }: Credentials): Buffer | null {
  return securityProfile === 1 || securityProfile === 2 ? password : null;
}

// Credentials in force, and changed ones that are tried with the next connection and given up when they fail.

/** Attempts with new credentials when nothing shows that they are the reason. */
const trialAttempts = 3;
const unrelated: ReadonlySet<ConnectFailure['kind']> = new Set(['network', 'timeout', 'no_version']);

/** True if a failure may have nothing to do with the credentials, for example a central system that restarts. */
const isUnrelated = ({ kind, status }: ConnectFailure) =>
  unrelated.has(kind) || (kind === 'rejected' && status !== 401 && status !== 403);

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

  /** of the next attempt */
  get next(): Credentials {
    return this.#trial?.credentials ?? this.#proven;
  }

  /** of the next attempt may be given up again */
  get isRunning(): boolean {
    return this.#trial !== null;
  }

  /** From the next attempt on, until it shows that they do not work. */
  begin(change: CredentialsChange): void {
    this.#trial = { credentials: { ...this.next, ...change }, attempts: 0 };
  }

  /** For good, and for a change that is on trial too: roots, and what the present profile does not use. */
  adopt(change: CredentialsChange): void {
    this.#proven = { ...this.#proven, ...change };
    if (this.#trial !== null) this.#trial = { ...this.#trial, credentials: { ...this.#trial.credentials, ...change } };
  }

  /** By the user, for good: nothing returns when they fail. */
  replace(change: CredentialsChange): void {
    this.#proven = { ...this.next, ...change };
    this.#trial = null;
  }

  /** A connection has opened. @returns true if a trial has ended well */
  opened(): boolean {
    if (this.#trial === null) return false;
    this.#proven = this.#trial.credentials;
    this.#trial = null;
    return true;
  }

  /**
   * An attempt has failed.
   * @param everConnected before the first connection nothing shows that the former ones are any better: the central system
   *   may not be there yet
   * @returns true if the trial has ended, so that the former ones count again
   */
  failed(failure: ConnectFailure, everConnected: boolean): boolean {
    if (this.#trial === null) return false;
    this.#trial.attempts += 1;
    if (isUnrelated(failure) && (!everConnected || this.#trial.attempts < trialAttempts)) return false;
    this.#trial = null;
    return true;
  }
}
