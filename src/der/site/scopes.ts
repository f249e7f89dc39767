/** The limits of the whole site, of devices and of groups, by owner: the tightest one is in force. */
import { keptWriter, keptWriterOrNull } from '../../core/kept-dates.ts';
import { plainProvenance } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Issue } from '../../core/errors.ts';
import {
  maxSiteGroups,
  maxSiteLimitW,
  maxSiteOwnerLength,
  maxSiteOwners,
  resolvedLimitW,
  siteLimitNames,
  siteOwnerOf,
} from '../../contract/site.ts';
import type { SiteLimitName, SiteOwnerNow, SitePatch, SiteTarget } from '../../contract/site.ts';

/** One limit of one owner. */
interface OwnLimit {
  readonly limitW: number;
  readonly setBy: Provenance;
}

type ByLimit<T> = Record<SiteLimitName, T>;
const byLimit = <T>(value: T): ByLimit<T> => ({ export: value, import: value, generation: value, load: value });
const mapLimits = <T, R>(of: ByLimit<T>, change: (value: T) => R): ByLimit<R> => ({
  export: change(of.export),
  import: change(of.import),
  generation: change(of.generation),
  load: change(of.load),
});

/** @throws SimError INTERNAL for a limit that no request sets */
function keptLimit(limit: OwnLimit | null): OwnLimit | null {
  if (limit === null) return null;
  const { limitW, setBy } = limit;
  if (!(typeof limitW === 'number' && limitW >= 0 && limitW <= maxSiteLimitW))
    throw new SimError('INTERNAL', 'a kept limit of the site is out of range');
  return { limitW, setBy: keptWriter(setBy, 'writer of a limit') };
}

/** The limits that one owner has in a scope. */
interface Owned {
  readonly limits: ByLimit<OwnLimit | null>;
  changedBy: Provenance;
}

/** A limit in force. */
interface Tightest extends OwnLimit {
  readonly owner: string;
}

type LimitInForce = Pick<Tightest, 'limitW' | 'owner'>;

export class SiteScope {
  /** ascending indexes; null: the whole site */
  readonly devices: readonly number[] | null;
  /** true: limits set or ended since the last sharing */
  readonly fresh = byLimit(true);
  readonly #owners = new Map<string, Owned>();
  /** last writers that ended a limit */
  readonly #endedBy = byLimit<Provenance | null>(null);
  readonly #tightest = byLimit<Tightest | null>(null);

  constructor(devices: readonly number[] | null) {
    this.devices = devices;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    const plainLimit = (limit: OwnLimit | null) =>
      limit && { limitW: limit.limitW, setBy: plainProvenance(limit.setBy) };
    return keptRecord(
      () => ({
        owners: Array.from(this.#owners, ([owner, { limits, changedBy }]) => ({
          owner,
          limits: mapLimits(limits, plainLimit),
          changedBy: plainProvenance(changedBy),
        })),
        endedBy: mapLimits(this.#endedBy, (by) => by && plainProvenance(by)),
        fresh: this.fresh,
      }),
      ({ owners, endedBy, fresh }) => {
        this.#owners.clear();
        for (const { owner, limits, changedBy } of owners)
          this.#owners.set(owner, {
            limits: mapLimits(limits, keptLimit),
            changedBy: keptWriter(changedBy, 'writer of the limits of an owner'),
          });
        Object.assign(
          this.#endedBy,
          mapLimits(endedBy, (by) => keptWriterOrNull(by, 'writer that ended a limit')),
        );
        Object.assign(this.fresh, fresh);
        this.#updateTightest();
      },
    );
  }

  /** True if there is a limit. */
  get limited(): boolean {
    return this.#owners.size > 0;
  }

  /** The limit in force; null: no limit. */
  tightest(name: SiteLimitName): Tightest | null {
    return this.#tightest[name];
  }

  /** The limits in force at present; later changes leave the copy alone. */
  get inForce(): Readonly<ByLimit<LimitInForce | null>> {
    return mapLimits(this.#tightest, (limit) => limit && { limitW: limit.limitW, owner: limit.owner });
  }

  /** Writer of the limit in force; without a limit the last writer that ended one; null: no writer yet. */
  setBy(name: SiteLimitName): Provenance | null {
    return this.#tightest[name]?.setBy ?? this.#endedBy[name];
  }

  get owners(): SiteOwnerNow[] {
    return Array.from(this.#owners, ([owner, { limits, changedBy }]) => ({
      owner,
      limitsW: {
        export: limits.export?.limitW ?? null,
        import: limits.import?.limitW ?? null,
        generation: limits.generation?.limitW ?? null,
        load: limits.load?.limitW ?? null,
      },
      changedBy,
    }));
  }

  /** True if this owner can set a limit. */
  hasRoomFor(owner: string): boolean {
    return this.#owners.has(owner) || this.#owners.size < maxSiteOwners;
  }

  /** Sets or ends limits of one owner, already checked. */
  set(patch: SitePatch, owner: string, by: Provenance): void {
    const owned = this.#owners.get(owner) ?? { limits: byLimit(null), changedBy: by };
    owned.changedBy = by;
    for (const name of siteLimitNames) {
      const limitW = patch[name];
      if (limitW === undefined) continue;
      if (limitW === null) {
        owned.limits[name] = null;
        this.#endedBy[name] = by;
      } else owned.limits[name] = { limitW: resolvedLimitW(limitW) ?? limitW, setBy: by };
      this.fresh[name] = true;
    }
    if (siteLimitNames.some((name) => owned.limits[name])) this.#owners.set(owner, owned);
    else this.#owners.delete(owner);
    this.#updateTightest();
  }

  /** Takes over the limits of a scope that now has the same devices; of two limits of an owner the lower one stays. */
  merge(other: SiteScope): void {
    for (const [owner, { limits, changedBy }] of other.#owners) {
      const owned = this.#owners.get(owner) ?? { limits: byLimit(null), changedBy };
      for (const name of siteLimitNames) {
        const [ownLimit, theirs] = [owned.limits[name], limits[name]];
        if (theirs && (!ownLimit || theirs.limitW < ownLimit.limitW)) owned.limits[name] = theirs;
      }
      this.#owners.set(owner, owned);
    }
    this.#updateTightest();
  }

  #updateTightest(): void {
    for (const name of siteLimitNames) {
      let tightest: Tightest | null = null;
      for (const [owner, { limits }] of this.#owners) {
        const limit = limits[name];
        if (limit && (!tightest || limit.limitW < tightest.limitW)) tightest = { ...limit, owner };
      }
      this.#tightest[name] = tightest;
    }
  }
}

/** @throws SimError COMMAND_BAD_VALUE for a limit outside 0..`maxSiteLimitW`, for none at all, or for a bad owner */
function checkPatch(patch: SitePatch, owner: string): void {
  const named = siteLimitNames.filter((name) => patch[name] !== undefined);
  if (named.length === 0)
    throw new SimError('COMMAND_BAD_VALUE', `give at least one limit of ${siteLimitNames.join(', ')}`);
  const issues: Issue[] = named.flatMap((name) => {
    const limitW = patch[name] ?? null;
    return limitW === null || (limitW >= 0 && limitW <= maxSiteLimitW)
      ? []
      : [{ name, detail: `given ${limitW} W; allowed: 0 to ${maxSiteLimitW} W, or null for no limit` }];
  });
  if (issues.length > 0) throw new SimError('COMMAND_BAD_VALUE', 'a limit of the site is out of range', issues);
  if (owner.length === 0 || owner.length > maxSiteOwnerLength) {
    const detail = `given ${owner.length} characters; allowed: 1 to ${maxSiteOwnerLength}`;
    const fault = owner.length === 0 ? 'empty' : 'too long';
    throw new SimError('COMMAND_BAD_VALUE', `the name of the owner of a limit is ${fault}`, [
      { name: 'owner', detail },
    ]);
  }
}

const keyOf = (devices: readonly number[]): string => devices.join();
const isGroup = ({ devices }: SiteScope): boolean => devices !== null && devices.length > 1;

/** Device indexes in ascending order without duplicates. @throws SimError COMMAND_BAD_VALUE for an empty list */
export function scopeDevices(devices: readonly number[]): readonly number[] {
  if (devices.length === 0)
    throw new SimError('COMMAND_BAD_VALUE', 'a group needs at least one device', [
      { name: 'devices', detail: 'given none; allowed: at least one index' },
    ]);
  return [...new Set(devices)].sort((a, b) => a - b);
}

/** True if two groups share devices and neither has all devices of the other. */
function crosses(some: readonly number[], others: ReadonlySet<number>): boolean {
  let common = 0;
  for (const index of some) if (others.has(index)) common += 1;
  return common > 0 && common < some.length && common < others.size;
}

export class SiteScopes {
  readonly whole = new SiteScope(null);
  /** devices and groups */
  #parts = new Map<string, SiteScope>();
  #groupCount = 0;
  /** of `groups`; null: to be listed again */
  #groups: readonly (readonly number[])[] | null = null;

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({ whole: this.whole.kept(), parts: this.#keptParts() });
  }

  #keptParts(): Kept {
    return keptRecord(
      () => ({
        scopes: Array.from(this.#parts.values(), (scope) => ({
          devices: scope.devices ?? [],
          state: scope.kept().save(),
        })),
      }),
      ({ scopes }) => {
        this.#parts = new Map();
        this.#groupCount = 0;
        this.#groups = null;
        for (const { devices, state } of scopes) this.#add(new SiteScope(devices)).kept().restore(state);
      },
    );
  }

  /** The scope of a device or group, as `scopeDevices` lists it; null: no limit has been set for it. */
  of(devices: readonly number[] | null): SiteScope | null {
    return devices === null ? this.whole : (this.#parts.get(keyOf(devices)) ?? null);
  }

  get anyLimit(): boolean {
    if (this.whole.limited) return true;
    for (const { limited } of this.#parts.values()) if (limited) return true;
    return false;
  }

  /** Devices of each group with a limit; one object until a group begins or ends. */
  get groups(): readonly (readonly number[])[] {
    return (this.#groups ??= [...this.#parts.values()].flatMap(({ devices }) =>
      devices && devices.length > 1 ? [devices] : [],
    ));
  }

  /** Scopes that have a limit, inner ones before outer ones. */
  get limited(): readonly SiteScope[] {
    const parts = [...this.#parts.values()].filter(({ limited }) => limited);
    parts.sort((a, b) => (a.devices?.length ?? 0) - (b.devices?.length ?? 0));
    return this.whole.limited ? [...parts, this.whole] : parts;
  }

  /**
   * Sets or ends limits of one owner in one scope, all or none of them, rounded to 1 mW. The devices must exist.
   * @throws SimError COMMAND_BAD_VALUE as `checkPatch`; COMMAND_CONFLICT for a group that crosses another one, or when
   *   there are too many groups or owners
   */
  set(patch: SitePatch, by: Provenance, { owner = siteOwnerOf(by), devices: targetDevices }: SiteTarget = {}): void {
    checkPatch(patch, owner);
    const devices = targetDevices ? scopeDevices(targetDevices) : null;
    const existing = this.of(devices);
    const setsLimit = siteLimitNames.some((name) => typeof patch[name] === 'number');
    if (setsLimit && existing?.hasRoomFor(owner) === false)
      throw new SimError('COMMAND_CONFLICT', `${maxSiteOwners} owners have limits here; no further one fits`);
    if (!existing && !setsLimit) return;
    const scope = existing ?? this.#open(devices ?? []);
    scope.set(patch, owner, by);
    // the scope of a device keeps the last writers; a group is dropped with its last limit
    if (isGroup(scope) && !scope.limited) this.#drop(scope);
  }

  /** Ends the scope of a removed device, and removes the device from its groups. */
  forget(index: number): void {
    const affectedScopes = [...this.#parts.values()].filter(({ devices }) => devices?.includes(index));
    for (const scope of affectedScopes) {
      this.#drop(scope);
      const devices = (scope.devices ?? []).filter((each) => each !== index);
      if (devices.length > 0) (this.of(devices) ?? this.#add(new SiteScope(devices))).merge(scope);
    }
  }

  #open(devices: readonly number[]): SiteScope {
    if (devices.length > 1) this.#checkGroup(devices);
    return this.#add(new SiteScope(devices));
  }

  #checkGroup(devices: readonly number[]): void {
    if (this.#groupCount >= maxSiteGroups)
      throw new SimError('COMMAND_CONFLICT', `${maxSiteGroups} groups have limits; no further one fits`);
    const members = new Set(devices);
    for (const { devices: others } of this.#parts.values()) {
      if (others && crosses(others, members))
        throw new SimError(
          'COMMAND_CONFLICT',
          `devices ${listed(devices)} cross the group ${listed(others)}: groups must be disjoint or nested`,
        );
    }
  }

  #add(scope: SiteScope): SiteScope {
    this.#parts.set(keyOf(scope.devices ?? []), scope);
    if (isGroup(scope)) this.#groupCount += 1;
    this.#groups = null;
    return scope;
  }

  #drop(scope: SiteScope): void {
    this.#parts.delete(keyOf(scope.devices ?? []));
    if (isGroup(scope)) this.#groupCount -= 1;
    this.#groups = null;
  }
}

/** Device indexes in words, the first ten of them. */
function listed(devices: readonly number[]): string {
  return devices.length > 10 ? `${devices.slice(0, 10).join(', ')}, ...` : devices.join(', ');
}
