/** The limits of the whole fleet, as they stand in the shared bucket: a new leader goes on with them. */
import type { FleetLimits } from '../../contract/fleet-site.ts';
import type { JsonValue } from '../../core/store.ts';
import { checkedMembers, jsonOf } from '../clock/messages.ts';
import { isFleetLimits } from './messages.ts';

export const siteKey = 'site';

export interface SiteRecord {
  readonly v: 1;
  /** of the clock: limits end with the fleet that they were set in */
  readonly fleet: string;
  /** grows with each change */
  readonly revision: number;
  /** in force; null: none */
  readonly limits: FleetLimits | null;
  /** limits of all owners with their writers, as the rules of the site keep them */
  readonly book: JsonValue;
}

const what = 'the limits of the fleet';

/** @throws FleetError `refused` */
export const decodedSite = (bytes: Uint8Array): SiteRecord =>
  checkedMembers<SiteRecord>(
    jsonOf(bytes, what),
    {
      v: (value) => value === 1,
      fleet: (value) => typeof value === 'string',
      revision: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
      limits: (value) => value === null || isFleetLimits(value),
      book: (value) => value !== undefined,
    },
    what,
  );

export const encodedSite = (record: SiteRecord): Uint8Array => Buffer.from(JSON.stringify(record));

export const siteEntry = { key: siteKey, decode: decodedSite, encode: encodedSite };
