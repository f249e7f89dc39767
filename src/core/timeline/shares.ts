/**
 * Entries by part, which is their kind and source, and within a part by host. The largest gives up its oldest entry, so that
 * a client that writes without end displaces its own entries as soon as they are the largest part.
 */

interface Part<E> {
  size: number;
  /** oldest first, by host */
  readonly hosts: Map<string, Set<E>>;
}

/** The entry of a map with the largest size; of equal ones that which has lost or gained an entry least recently. */
function largestOf<V extends { readonly size: number }>(map: ReadonlyMap<string, V>): readonly [string, V] | null {
  let largest: readonly [string, V] | null = null;
  for (const each of map) if (largest === null || each[1].size > largest[1].size) largest = each;
  return largest;
}

export class Shares<E> {
  readonly #parts = new Map<string, Part<E>>();

  add(part: string, host: string, entry: E): void {
    const { hosts } = this.#resized(part, 1);
    const entries = hosts.get(host) ?? new Set();
    hosts.delete(host);
    hosts.set(host, entries.add(entry));
  }

  /** Removes the oldest entry of the largest host of the largest part; null: there is no entry. */
  drop(): E | null {
    const part = largestOf(this.#parts);
    const host = part && largestOf(part[1].hosts);
    if (!host) return null;
    const [name, { hosts }] = part;
    const [address, entries] = host;
    const [oldest = null] = entries;
    if (oldest !== null) entries.delete(oldest);
    hosts.delete(address);
    if (entries.size > 0) hosts.set(address, entries);
    this.#resized(name, -1);
    return oldest;
  }

  /** Changes the size of a part, and moves it behind the others. */
  #resized(name: string, by: number): Part<E> {
    const part = this.#parts.get(name) ?? { size: 0, hosts: new Map<string, Set<E>>() };
    part.size += by;
    this.#parts.delete(name);
    if (part.size > 0) this.#parts.set(name, part);
    return part;
  }
}
