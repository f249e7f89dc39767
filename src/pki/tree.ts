/** A hierarchy of certificates as a list of entries, and the generation of those that are missing. */
import { SimError } from '../core/errors.ts';
import { certificatesOf } from '../core/tls/material.ts';
import { issue } from './issue.ts';
import type { Identity, Template } from './issue.ts';

/** A certificate of a hierarchy. Issuers precede what they issue. */
export interface Entry extends Template {
  readonly name: string;
  /** name of the entry that signs it; null: it signs itself */
  readonly issuer: string | null;
  /** intermediates that follow it in its PEM text */
  readonly chain: readonly string[];
  /** its purpose in one line */
  readonly meaning: string;
  /** true: only an issuer of bad chains, which nobody gets by itself */
  readonly isHidden: boolean;
}

export interface Generated extends Identity {
  readonly entry: Entry;
  /** false: it was there before */
  readonly isNew: boolean;
}

/** Hosts by which clients reach a server in any case. */
export const localHosts = ['localhost', '127.0.0.1', '::1'] as const;

/** The first certificate of a PEM text. */
const leafOf = (pem: string) => certificatesOf(pem)?.[0]?.toString() ?? pem;

/** Issues the certificates of one hierarchy, each at most once. */
class Generation {
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #existing: (name: string) => Identity | null;
  readonly #identities = new Map<string, Generated>();

  constructor(entries: readonly Entry[], existing: (name: string) => Identity | null) {
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#existing = existing;
  }

  async identity(name: string): Promise<Generated> {
    const before = this.#identities.get(name);
    if (before !== undefined) return before;
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new RangeError(`${name} is no entry of the hierarchy`);
    const existing = entry.isHidden ? null : this.#existing(name);
    const identity = existing === null ? await this.#issued(entry) : { ...existing, entry, isNew: false };
    this.#identities.set(name, identity);
    return identity;
  }

  async #issued(entry: Entry): Promise<Generated> {
    const issuer = entry.issuer === null ? null : await this.identity(entry.issuer);
    if (issuer?.key === '')
      throw new SimError('COMMAND_CONFLICT', `${issuer.entry.name} has no key, so it cannot issue ${entry.name}`);
    const { cert, key } = await issue(entry, issuer);
    const chain: string[] = [];
    for (const name of entry.chain) chain.push(leafOf((await this.identity(name)).cert));
    return { cert: cert + chain.map((pem) => `${pem.trimEnd()}\n`).join(''), key, entry, isNew: true };
  }
}

/**
 * Generates the certificates of a hierarchy that do not exist.
 * @param existing certificate and key of an entry from before; null: there is none
 * @returns all entries but the hidden ones, in their order
 * @throws SimError COMMAND_CONFLICT for an existing issuer that cannot sign, SHORTAGE
 */
export async function generateTree(
  entries: readonly Entry[],
  existing: (name: string) => Identity | null = () => null,
): Promise<readonly Generated[]> {
  const generation = new Generation(entries, existing);
  const generated: Generated[] = [];
  for (const { name, isHidden } of entries) if (!isHidden) generated.push(await generation.identity(name));
  return generated;
}
