/** The certificates of a simulator by name, with their keys, in one slot of its state. */
import { certificateNamePattern, maxCertificates, maxStoredLength } from '../contract/certificates.ts';
import type {
  CertificateAddition,
  CertificatePem,
  CertificateStore,
  GeneratedPki,
  PkiRequest,
  StoredCertificate,
} from '../contract/certificates.ts';
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue, Slot } from '../core/store.ts';
import { csipTree } from './csip-tree.ts';
import { checkedPem, factsOf, warningsOf } from './inspect.ts';
import type { CheckedPem } from './inspect.ts';
import { generateTree } from './tree.ts';

export const certificatesSlot = slotName('certificates', 'kept');

/** A certificate as the slot keeps it. An export of the state leaves `key` out. */
interface KeptCertificate extends CheckedPem {
  readonly name: string;
  readonly addedAtMs: number;
}

interface Entry {
  readonly kept: KeptCertificate;
  readonly facts: ReturnType<typeof factsOf>;
  /** one for each use */
  readonly uses: Map<symbol, string>;
}

interface StoreOptions {
  readonly slot: Pick<Slot, 'append' | 'replace'>;
  /** values of the slot from an earlier process */
  readonly earlier: readonly JsonValue[];
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'warning'>;
}

const lengthOf = ({ cert, key, ca }: CheckedPem) => cert.length + (key?.length ?? 0) + (ca?.length ?? 0);
const entryOf = (kept: KeptCertificate): Entry => ({ kept, facts: factsOf(kept), uses: new Map() });

export class KeptCertificates implements CertificateStore {
  readonly #options: StoreOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: StoreOptions) {
    this.#options = options;
    for (const value of options.earlier) {
      const { name, cert, key = null, ca = null, addedAtMs = 0 } = value as unknown as Partial<KeptCertificate>;
      try {
        if (name === undefined || cert === undefined) throw new RangeError('a kept certificate has no name or text');
        this.#entries.set(name, entryOf({ name, cert, key, ca, addedAtMs }));
      } catch {
        options.log.warning(`the kept certificate ${JSON.stringify(name ?? '')} cannot be read and is left out`);
      }
    }
  }

  list(): readonly StoredCertificate[] {
    const names = [...this.#entries.keys()].sort((a, b) => (a < b ? -1 : 1));
    return names.map((name) => this.get(name));
  }

  get(name: string): StoredCertificate {
    const { kept, facts, uses } = this.#find(name);
    return {
      name,
      ...facts,
      addedAtMs: kept.addedAtMs,
      warnings: warningsOf(facts, this.#options.nowMs()),
      usedBy: [...new Set(uses.values())],
    };
  }

  tls(name: string): CertificatePem {
    const { cert, key, ca } = this.#find(name).kept;
    if (key === null) throw new SimError('COMMAND_CONFLICT', `the certificate ${JSON.stringify(name)} has no key`);
    return { cert, key, ca };
  }

  use(name: string, by: string): () => void {
    const { uses } = this.#find(name);
    const id = Symbol(by);
    uses.set(id, by);
    return () => {
      uses.delete(id);
    };
  }

  async add({ name, ...texts }: CertificateAddition): Promise<StoredCertificate> {
    if (!certificateNamePattern.test(name))
      throw new SimError('COMMAND_BAD_VALUE', `${JSON.stringify(name)} is no name`);
    if (this.#entries.has(name))
      throw new SimError(
        'COMMAND_CONFLICT',
        `there is a certificate ${JSON.stringify(name)}; DELETE certificates/{name} removes it`,
      );
    await this.#keep([{ name, ...checkedPem(texts), addedAtMs: this.#options.nowMs() }]);
    return this.get(name);
  }

  async generate({ devices, hosts, prefix }: PkiRequest): Promise<GeneratedPki> {
    const generated = await generateTree(csipTree({ devices, hosts }), (name) => {
      const kept = this.#entries.get(prefix + name)?.kept;
      return kept === undefined ? null : { cert: kept.cert, key: kept.key ?? '' };
    });
    const root = generated.find(({ entry }) => entry.name === 'root')?.cert ?? '';
    const nameOf = ({ entry }: { readonly entry: { readonly name: string } }) => prefix + entry.name;
    const created = generated.filter(({ isNew }) => isNew);
    const taken = created.map(nameOf).find((name) => this.#entries.has(name));
    if (taken !== undefined)
      throw new SimError('COMMAND_CONFLICT', `a certificate ${JSON.stringify(taken)} was added meanwhile`);
    const addedAtMs = this.#options.nowMs();
    await this.#keep(
      created.map((each) => ({ name: nameOf(each), cert: each.cert, key: each.key, ca: root, addedAtMs })),
    );
    return {
      created: created.map((each) => this.get(nameOf(each))),
      kept: generated.filter(({ isNew }) => !isNew).map(nameOf),
    };
  }

  async remove(name: string): Promise<StoredCertificate> {
    const removed = this.get(name);
    if (removed.usedBy.length > 0)
      throw new SimError(
        'COMMAND_CONFLICT',
        `the certificate ${JSON.stringify(name)} is in use by ${removed.usedBy.join(', ')}`,
      );
    this.#entries.delete(name);
    await this.#options.slot.replace([...this.#entries.values()].map(({ kept }) => kept as unknown as JsonValue));
    return removed;
  }

  /** Keeps all of them or, in a store without room, none. */
  async #keep(added: readonly KeptCertificate[]): Promise<void> {
    const count = this.#entries.size + added.length;
    if (count > maxCertificates) throw this.#full(`${maxCertificates} certificates`);
    const all = [...[...this.#entries.values()].map(({ kept }) => kept), ...added];
    if (all.reduce((sum, each) => sum + lengthOf(each), 0) > maxStoredLength)
      throw this.#full(`${maxStoredLength} characters`);
    for (const each of added) this.#entries.set(each.name, entryOf(each));
    await this.#options.slot.append(...(added as unknown as readonly JsonValue[]));
  }

  #full(bound: string): SimError {
    return new SimError('COMMAND_CONFLICT', `${bound} are kept at most; DELETE certificates/{name} makes room`);
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no certificate ${JSON.stringify(name)}`);
    return entry;
  }
}
