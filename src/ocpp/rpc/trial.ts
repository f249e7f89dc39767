/** Credentials in force, and changed ones that are tried with the next connection and given up when they fail. */
import type { Credentials, CredentialsChange } from './credentials.ts';
import type { ConnectFailure } from './failures.ts';

/** Attempts with new credentials when nothing shows that they are the reason. */
const trialAttempts = 3;
const unrelated: ReadonlySet<ConnectFailure['kind']> = new Set(['network', 'timeout', 'no_version']);

/** Whether a failure may have nothing to do with the credentials, for example a central system that restarts. */
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

  /** those of the next attempt */
  get next(): Credentials {
    return this.#tried?.credentials ?? this.#proven;
  }

  /** those of the next attempt may be given up again */
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

  /** A connection has opened. @returns whether a trial has ended well */
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
   * @returns whether the trial has ended, so that the former ones count again
   */
  failed(failure: ConnectFailure, everConnected: boolean): boolean {
    if (this.#tried === null) return false;
    this.#tried.attempts += 1;
    if (isUnrelated(failure) && (!everConnected || this.#tried.attempts < trialAttempts)) return false;
    this.#tried = null;
    return true;
  }
}
