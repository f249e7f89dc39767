/** A second reading of the rules for charging profiles: it looks at one second alone and shares no code with `src`. */
import type {
  ChargingProfile,
  ChargingState,
  Limit,
  ProfilePurpose,
  RunningTransaction,
} from '../../../src/ocpp/charging/model.ts';

type Row = ChargingProfile['schedule']['periods'][number];

function runsAt(p: ChargingProfile, t: number, tx: RunningTransaction | undefined): number | undefined {
  if (p.validFromMs !== null && t < p.validFromMs) return undefined;
  if (p.validToMs !== null && t >= p.validToMs) return undefined;
  const withTransaction = p.purpose === 'tx' || p.purpose === 'tx_default' || p.purpose === 'priority';
  let start: number;
  if (p.kind === 'relative' && withTransaction) {
    if (tx === undefined) return 0;
    start = tx.startedMs;
  } else start = p.kind === 'relative' || p.schedule.startMs === null ? p.receivedMs : p.schedule.startMs;
  let days = 0;
  if (p.kind === 'recurring_daily') days = 1;
  if (p.kind === 'recurring_weekly') days = 7;
  if (t < start) return undefined;
  if (days > 0) while (start + days * 86_400_000 <= t) start += days * 86_400_000;
  const seconds = (t - start) / 1000;
  if (p.schedule.durationS !== null && seconds >= p.schedule.durationS) return undefined;
  return seconds;
}

function rowAt(p: ChargingProfile, t: number, tx: RunningTransaction | undefined): Row | undefined {
  const seconds = runsAt(p, t, tx);
  if (seconds === undefined) return undefined;
  let row: Row | undefined;
  for (const each of p.schedule.periods) if (each.startS <= seconds) row = each;
  return row;
}

interface Told {
  readonly profile: ChargingProfile;
  readonly row: Row;
}

/** Everything in force of a purpose, best first. */
function stack(
  { profiles, transactions, precedence }: ChargingState,
  connectorId: number,
  purpose: ProfilePurpose,
  t: number,
): readonly Told[] {
  const tx = transactions.find((each) => each.connectorId === connectorId);
  const places = purpose === 'tx_default' || purpose === 'priority' ? [0, connectorId] : [connectorId];
  return profiles
    .filter((p) => p.purpose === purpose && places.includes(p.connectorId))
    .filter((p) => purpose !== 'tx' || (tx !== undefined && (p.transactionId ?? tx.transactionId) === tx.transactionId))
    .filter(() => purpose !== 'priority' || tx?.priority === true)
    .flatMap((profile) => {
      const row = rowAt(profile, t, tx);
      return row === undefined ? [] : [{ profile, row }];
    })
    .sort((a, b) => {
      const own = (b.profile.connectorId === 0 ? 0 : 1) - (a.profile.connectorId === 0 ? 0 : 1);
      const level = b.profile.stackLevel - a.profile.stackLevel;
      const later = b.profile.receivedMs - a.profile.receivedMs;
      return precedence === 'connector_first' ? own || level || later : level || own || later;
    });
}

const least = (values: readonly (number | null)[]): number | null => {
  const given = values.filter((each) => each !== null);
  return given.length === 0 ? null : Math.min(...given);
};

/** Of limits below 0 the one that permits least. */
const nearest = (values: readonly (number | undefined)[]): number | null => {
  const given = values.filter((each) => each !== undefined);
  return given.length === 0 ? null : Math.max(...given);
};

/** A limit with local generation on top, in its own unit; three phases of 230 V. */
function raised(limit: number | null, unit: 'W' | 'A', generation: Told | undefined): number | null {
  const extra = generation?.row.limit ?? 0;
  if (limit === null || generation === undefined) return limit;
  if (generation.profile.schedule.unit === unit) return limit + extra;
  return unit === 'W' ? limit + extra * 690 : limit + extra / 690;
}

/** Set-points and discharge limits beside `naiveLimit`; null: none. */
export function naivePowers(state: ChargingState, connectorId: number, t: number) {
  const held = inForce(state, connectorId, t);
  const first = held.find(({ row }) => row.setpoint !== undefined);
  const of = (unit: 'W' | 'A') => ({
    setpoint: first?.profile.schedule.unit === unit ? (first.row.setpoint ?? null) : null,
    dischargeLimit: nearest(
      held.map(({ profile, row }) => (profile.schedule.unit === unit ? row.dischargeLimit : undefined)),
    ),
  });
  return { watts: of('W'), amperes: of('A') };
}

/** Everything that decides at a connector; that of the transaction comes first. */
function inForce(state: ChargingState, connectorId: number, t: number): readonly Told[] {
  const firstOf = (...purposes: readonly ProfilePurpose[]): Told | undefined =>
    purposes.flatMap((purpose) => stack(state, connectorId, purpose, t).slice(0, 1))[0];
  return [
    connectorId === 0 ? firstOf('station_max') : firstOf('priority', 'tx', 'tx_default'),
    firstOf('external'),
  ].filter((each) => each !== undefined);
}

/** Limit at a connector by its own profiles, 0: of the station. */
export function naiveLimit(state: ChargingState, connectorId: number, t: number): Limit {
  const held = inForce(state, connectorId, t);
  const [generation] = connectorId === 0 ? stack(state, 0, 'local_generation', t) : [];
  const of = (unit: 'W' | 'A') =>
    least(held.map(({ profile, row }) => (profile.schedule.unit === unit ? row.limit : null)));
  return {
    limitW: raised(of('W'), 'W', generation),
    limitA: raised(of('A'), 'A', generation),
    // the device switches one phase or three: of two it uses one
    numberPhases: least(
      held.map(({ row }) => (row.numberPhases === 2 ? 1 : row.numberPhases)),
    ) as Limit['numberPhases'],
  };
}

/** Watts of a limit on three phases of 230 V; null: none. */
export function naiveWatts({ limitW, limitA, numberPhases }: Limit): number | null {
  return least([limitW, limitA === null ? null : limitA * 230 * (numberPhases ?? 3)]);
}
