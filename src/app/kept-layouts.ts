/** The layouts of register maps under which devices are kept: a version with another map finds their points by name. */
import { isJsonObject } from '../core/json-object.ts';
import type { Logger } from '../core/log/log.ts';
import type { JsonValue } from '../core/store.ts';
import type { Layout } from '../sunspec/map/layout.ts';
import { layoutDigest, layoutTable, packTable, unpackTable } from '../sunspec/map/layout-table.ts';
import type { KeptPlace } from '../sunspec/map/layout-table.ts';

/** Layouts of earlier maps that stay for devices which are left out of the configuration for a while. */
const maxUnused = 50;

/** Tables of layouts by digest, packed: one for all devices of a layout. */
export class KeptLayouts {
  #packed: Map<string, string>;
  readonly #used = new Set<string>();
  readonly #places = new Map<string, readonly KeptPlace[]>();
  #isChanged = false;

  /** @param saved of an earlier process */
  constructor(saved: JsonValue | undefined, log: Pick<Logger, 'warning'>) {
    const isUsable = isJsonObject(saved);
    if (saved !== undefined && !isUsable)
      log.warning('the kept layouts of register maps cannot be used: they are no object; they start anew');
    const entries = isUsable ? Object.entries(saved) : [];
    this.#packed = new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  /** The points of a layout by its digest; null: unknown. */
  readonly placesOf = (digest: string): readonly KeptPlace[] | null => {
    const packed = this.#packed.get(digest);
    if (packed === undefined) return null;
    const places = this.#places.get(digest) ?? unpackTable(packed);
    this.#places.set(digest, places);
    return places;
  };

  /** Adds the layout of a device. */
  use(layout: Layout): void {
    const digest = layoutDigest(layout);
    if (this.#used.has(digest)) return;
    this.#used.add(digest);
    if (!this.#packed.has(digest)) this.#packed.set(digest, packTable(layoutTable(layout)));
    this.#isChanged = true;
  }

  /** The tables to be kept before the next device is, once all devices are restored; null: they are. */
  changes(): JsonValue {
    if (!this.#isChanged) return null;
    this.#isChanged = false;
    const unused = [...this.#packed].filter(([digest]) => !this.#used.has(digest));
    const used = [...this.#packed].filter(([digest]) => this.#used.has(digest));
    this.#packed = new Map([...unused.slice(-maxUnused), ...used]);
    return Object.fromEntries(this.#packed);
  }
}
