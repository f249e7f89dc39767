/** Messages of the common clock: JSON bodies of requests from the leader to the shards, and of their answers. */
import { isInstant } from '../../core/kept-dates.ts';
import { sources } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { FleetError } from '../link.ts';
import type { FleetMessage } from '../link.ts';

/** Endpoints of a shard, as `PREFIX.clock.VERB.SHARD`. */
export const clockVerbs = ['prepare', 'claim', 'go', 'set'] as const;
export type ClockVerb = (typeof clockVerbs)[number];

export const clockSubject = (prefix: string, verb: ClockVerb, shard: string) => `${prefix}.clock.${verb}.${shard}`;

/** Order of the messages: terms of leaders grow, and so do the steps of one leader. */
export interface StepNumber {
  readonly term: number;
  readonly step: number;
}

/** Begins a tick, whose acts run at its begin. */
export interface Prepare extends StepNumber {
  /** client that runs ticks; null: the tick continues a request that an earlier one began */
  readonly by: Origin | null;
}

/** Advances all devices to an instant. */
export interface Go extends StepNumber {
  readonly toUs: SimTime;
  /** number of the tick, which ends there; null: further pieces follow */
  readonly tick: number | null;
  /** limits of the fleet in the piece; null: there are none; absent: the leader knows of none */
  readonly site?: object | null;
}

/** State of a shard after a message. */
export interface Standing {
  readonly step: number;
  /** instant that all devices have reached */
  readonly atUs: SimTime;
  /** number of the last tick */
  readonly tick: number;
  /** true: a tick is open */
  readonly isOpen: boolean;
  /** true: the message found a tick open, so an earlier one was not ended */
  readonly isResumed: boolean;
  /** next instant at which the shard cuts its ticks; null: none */
  readonly dueUs: number | null;
  /** the same, should any shard have limits of a site */
  readonly sharingUs: number;
  /** true: limits are in force here */
  readonly isLimited: boolean;
}

type Check = (value: unknown) => boolean;
type Checks<T> = Readonly<Record<keyof T, Check>>;

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber: Check = (value) => Number.isFinite(value);
const isFlag: Check = (value) => typeof value === 'boolean';
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** True for a client of a request. */
export const isOrigin: Check = (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { source, peer } = value as Readonly<Record<string, unknown>>;
  return (sources as readonly unknown[]).includes(source) && (peer === undefined || typeof peer === 'string');
};

const stepChecks: Checks<StepNumber> = { term: isCount, step: isCount };
const prepareChecks: Checks<Prepare> = { ...stepChecks, by: orNull(isOrigin) };
const goChecks: Checks<Go> = {
  ...stepChecks,
  toUs: isInstant,
  tick: orNull(isCount),
  site: (value) => value === undefined || typeof value === 'object',
};
const standingChecks: Checks<Standing> = {
  step: isCount,
  atUs: isInstant,
  tick: isCount,
  isOpen: isFlag,
  isResumed: isFlag,
  dueUs: orNull(isNumber),
  sharingUs: isNumber,
  isLimited: isFlag,
};

/** The members of a value that a check knows. @throws FleetError `refused` */
export function checkedMembers<T>(value: unknown, checks: Checks<T>, what: string): T {
  if (typeof value !== 'object' || value === null) throw new FleetError('refused', `${what} is no object`);
  const members = value as Readonly<Record<string, unknown>>;
  const entries = Object.entries<Check>(checks);
  const wrong = entries.find(([name, fits]) => !fits(members[name]))?.[0];
  if (wrong !== undefined) throw new FleetError('refused', `${what} has no valid "${wrong}"`);
  return Object.fromEntries(entries.map(([name]) => [name, members[name]])) as T;
}

/** @throws FleetError `refused` */
export function jsonOf(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as unknown;
  } catch {
    throw new FleetError('refused', `${what} is no JSON`);
  }
}

const reader =
  <T>(checks: Checks<T>, what: string) =>
  /** @throws FleetError `refused` */
  ({ body }: Pick<FleetMessage, 'body'>): T =>
    checkedMembers<T>(jsonOf(body, what), checks, what);

export const readPrepare = reader<Prepare>(prepareChecks, 'the begin of a tick');
export const readGo = reader<Go>(goChecks, 'the piece of a tick');
export const readStanding = reader<Standing>(standingChecks, 'the answer of a shard');

export const clockMessage = (value: object): FleetMessage => ({
  headers: {},
  body: Buffer.from(JSON.stringify(value)),
});

/** Asks whether a shard can take a change over. */
export interface SetPrepare {
  readonly term: number;
  readonly seq: number;
  /** tick at whose end the change comes into force; null: the clock is paused */
  readonly atTick: number | null;
}

/** Where a shard stands when it is asked. */
export interface SetReady {
  readonly simUs: SimTime;
  readonly tick: number;
}

const setChecks: Checks<SetPrepare> = { term: isCount, seq: isCount, atTick: orNull(isCount) };
const readyChecks: Checks<SetReady> = { simUs: isInstant, tick: isCount };
const timeChecks: Checks<{ readonly ms: number }> = { ms: isNumber };

export const readSetPrepare = (value: unknown) =>
  checkedMembers<SetPrepare>(value, setChecks, 'the change of the clock');
export const readReady = reader<SetReady>(readyChecks, 'the answer of a shard');
export const readTime = reader<{ readonly ms: number }>(timeChecks, 'the time of the leader');

/** Subject at which the leader tells its time. */
export const nowSubject = (prefix: string) => `${prefix}.clock.now`;
