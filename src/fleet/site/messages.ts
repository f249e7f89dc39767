/** Messages about limits of the whole fleet. Columns of numbers stand in the JSON as base64 of their bytes. */
import { claimColumns } from '../../contract/fleet-site.ts';
import type {
  ClaimedScope,
  FleetClaims,
  FleetLimits,
  FleetShares,
  LedPiece,
  SideShares,
} from '../../contract/fleet-site.ts';
import { maxSiteLimitW, maxSiteOwnerLength, siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitsW } from '../../contract/site.ts';
import { isInstant } from '../../core/kept-dates.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { checkedMembers, clockMessage, jsonOf } from '../clock/messages.ts';
import { FleetError } from '../link.ts';
import type { FleetMessage } from '../link.ts';

/** Subject at which the leader tells the budgets of all shards. */
export const sharesSubject = (prefix: string) => `${prefix}.shares`;

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string' && value.length <= maxSiteOwnerLength;
const isPower = (value: unknown) => value === null || (Number.isFinite(value) && (value as number) >= 0);

const refused = (what: string) => new FleetError('refused', `${what} do not add up`);

const isByLimit = (value: unknown, fits: (each: unknown) => boolean): boolean =>
  typeof value === 'object' &&
  value !== null &&
  siteLimitNames.every((name) => fits((value as Readonly<Record<string, unknown>>)[name]));

const isLimitsW = (value: unknown) => isByLimit(value, isPower);
const isLimit = (value: unknown) => {
  if (value === null) return true;
  const { limitW, owner } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isPower(limitW) && limitW !== null && Number(limitW) <= maxSiteLimitW && isText(owner);
};
/** True for limits of a fleet. */
export const isFleetLimits = (value: unknown) => isByLimit(value, isLimit);

const textOf = (column: Float64Array | Int32Array) =>
  Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString('base64');

function bytesOf(text: unknown, length: number, what: string): ArrayBuffer {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : null;
  if (bytes?.length !== length) throw refused(what);
  return Uint8Array.from(bytes).buffer;
}

const floatsOf = (text: unknown, count: number, what: string) => new Float64Array(bytesOf(text, count * 8, what));
const numbersOf = (text: unknown, count: number, what: string) => new Int32Array(bytesOf(text, count * 4, what));

const isIndexes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((index, at) => isCount(index) && (at === 0 || index > value[at - 1]));
const isScopes = (value: unknown): value is readonly ClaimedScope[] =>
  Array.isArray(value) &&
  (value as readonly Partial<ClaimedScope>[]).every(
    ({ devices, limitsW }) => (devices === null || isIndexes(devices)) && isLimitsW(limitsW),
  );

/** Asks for the claims of a piece of time. */
export const claimRequest = (endUs: SimTime): FleetMessage => clockMessage({ endUs });

/** @throws FleetError `refused` */
export const readClaimRequest = ({ body }: Pick<FleetMessage, 'body'>): { readonly endUs: SimTime } =>
  checkedMembers<{ readonly endUs: SimTime }>(jsonOf(body, 'the end of a piece'), { endUs: isInstant }, 'the piece');

export const claimsMessage = ({ columns, ...claims }: FleetClaims): FleetMessage =>
  clockMessage({
    ...claims,
    columns: Object.fromEntries(claimColumns.map((name) => [name, textOf(columns[name])])),
  });

const claims = 'the claims of a shard';

/** @throws FleetError `refused` */
export function readClaims({ body }: Pick<FleetMessage, 'body'>): FleetClaims {
  const { indexes, scopes, revision, columns } = checkedMembers<Record<keyof FleetClaims, unknown>>(
    jsonOf(body, claims),
    { indexes: isIndexes, scopes: isScopes, revision: isCount, columns: (value) => typeof value === 'object' },
    claims,
  );
  if (!isIndexes(indexes) || !isScopes(scopes)) throw refused(claims);
  const texts = (columns ?? {}) as Readonly<Record<string, unknown>>;
  const read = Object.fromEntries(
    claimColumns.map((name) => [name, floatsOf(texts[name], indexes.length, claims)]),
  ) as FleetClaims['columns'];
  for (const name of claimColumns) if (!read[name].every(Number.isFinite)) throw refused(claims);
  return { indexes, scopes, revision: Number(revision), columns: read };
}

/** A piece of time as it stands in a message to a shard. */
export interface WrittenPiece {
  readonly limits: FleetLimits;
  readonly endUs: SimTime;
  readonly shares: object | null;
}

const writtenSide = ({ shareW, cutBy, endedBy, binds, netTighter }: SideShares) => ({
  shareW: textOf(shareW),
  cutBy: textOf(cutBy),
  endedBy: textOf(endedBy),
  binds,
  netTighter,
});

export const writtenPiece = ({ limits, endUs, shares }: LedPiece): WrittenPiece => ({
  limits,
  endUs,
  shares: shares && { injecting: writtenSide(shares.injecting), absorbing: writtenSide(shares.absorbing) },
});

const isFlags = (value: unknown): value is readonly boolean[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'boolean');
const shares = 'the shares of a piece';

function readSide(value: unknown, count: number): SideShares {
  const { shareW, cutBy, endedBy, binds, netTighter } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!isFlags(binds) || !isFlags(netTighter) || binds.length !== netTighter.length) throw refused(shares);
  const side: SideShares = {
    shareW: floatsOf(shareW, count, shares),
    cutBy: numbersOf(cutBy, count, shares),
    endedBy: numbersOf(endedBy, count, shares),
    binds,
    netTighter,
  };
  const isScope = (scope: number) => scope >= -1 && scope < binds.length;
  if (!side.shareW.every((shareW) => shareW >= 0) || !side.cutBy.every(isScope) || !side.endedBy.every(isScope))
    throw refused(shares);
  return side;
}

/** @param count devices of the shard @throws FleetError `refused` */
export function readPiece(value: object, count: number): LedPiece {
  const piece = checkedMembers<WrittenPiece>(
    value,
    { limits: isFleetLimits, endUs: isInstant, shares: (each) => typeof each === 'object' },
    shares,
  );
  const { injecting, absorbing } = (piece.shares ?? {}) as Readonly<Record<string, unknown>>;
  const read: FleetShares | null = piece.shares && {
    injecting: readSide(injecting, count),
    absorbing: readSide(absorbing, count),
  };
  return { limits: piece.limits, endUs: piece.endUs, shares: read };
}

/** Budgets of one shard, which act one after the other the longer the leader is silent. */
export interface ShardBudget {
  readonly shared: SiteLimitsW;
  /** without what it may count on from other shards */
  readonly alone: SiteLimitsW;
  /** its part by rating */
  readonly safe: SiteLimitsW;
}

/** The budgets of all shards. */
export interface BudgetMessage {
  /** of the limits */
  readonly revision: number;
  /** null: the fleet has no limits */
  readonly limits: FleetLimits | null;
  readonly binding: readonly SiteLimitName[];
  readonly budgets: Readonly<Record<string, ShardBudget>>;
}

const isBudget = (value: unknown) => {
  const { shared, alone, safe } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [shared, alone, safe].every(isLimitsW);
};

/** @throws FleetError `refused` */
export const readBudgets = (bytes: Uint8Array): BudgetMessage =>
  checkedMembers<BudgetMessage>(
    jsonOf(bytes, 'the budgets of the fleet'),
    {
      revision: isCount,
      limits: (value) => value === null || isFleetLimits(value),
      binding: (value) =>
        Array.isArray(value) && value.every((name) => (siteLimitNames as readonly unknown[]).includes(name)),
      budgets: (value) => typeof value === 'object' && value !== null && Object.values(value).every(isBudget),
    },
    'the budgets of the fleet',
  );

/** Nothing for a shard that the leader has not counted yet. */
export function noPowerOf(limits: FleetLimits): SiteLimitsW {
  const none = (name: SiteLimitName) => limits[name] && 0;
  return { export: none('export'), import: none('import'), generation: none('generation'), load: none('load') };
}
