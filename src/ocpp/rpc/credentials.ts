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
  const kept = new Map<string, SecureContext>();
  return ({ securityProfile, rootCert, own }) => {
    const clientCertificate = securityProfile === 3 ? own : null;
    const key = [rootCert, clientCertificate?.cert, clientCertificate?.key].join('\n');
    const cachedContext = kept.get(key);
    if (cachedContext !== undefined) return cachedContext;
    const context = makeContext({ rootCert, own: clientCertificate });
    const [oldest] = kept.keys();
    if (kept.size >= keptContexts && oldest !== undefined) kept.delete(oldest);
    kept.set(key, context);
    return context;
  };
}

/** Value of basic authentication. */
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

interface Tried {
  readonly credentials: Credentials;
  attempts: number;
}

export class CredentialsTrial {
  #proven: Credentials;
  #tried: Tried | null = null;

  constructor(inForce: Credentials) {
    this.#proven = inForce;
  }

  /** of the next attempt */
  get next(): Credentials {
    return this.#tried?.credentials ?? this.#proven;
  }

  /** of the next attempt may be given up again */
  get isRunning(): boolean {
    return this.#tried !== null;
  }

  /** From the next attempt on, until it shows that they do not work. */
  begin(change: CredentialsChange): void {
    this.#tried = { credentials: { ...this.next, ...change }, attempts: 0 };
  }

  /** For good, and for a change that is on trial too: roots, and what the present profile does not use. */
  adopt(change: CredentialsChange): void {
    this.#proven = { ...this.#proven, ...change };
    if (this.#tried !== null) this.#tried = { ...this.#tried, credentials: { ...this.#tried.credentials, ...change } };
  }

  /** By the user, for good: nothing returns when they fail. */
  replace(change: CredentialsChange): void {
    this.#proven = { ...this.next, ...change };
    this.#tried = null;
  }

  /** A connection has opened. @returns true if a trial has ended well */
  opened(): boolean {
    if (this.#tried === null) return false;
    this.#proven = this.#tried.credentials;
    this.#tried = null;
    return true;
  }

  /**
   * An attempt has failed.
   * @param everConnected before the first connection nothing shows that the former ones are any better: the central system
   *   may not be there yet
   * @returns true if the trial has ended, so that the former ones count again
   */
  failed(failure: ConnectFailure, everConnected: boolean): boolean {
    if (this.#tried === null) return false;
    this.#tried.attempts += 1;
    if (isUnrelated(failure) && (!everConnected || this.#tried.attempts < trialAttempts)) return false;
    this.#tried = null;
    return true;
  }
}
