/** The effect of a grid disturbance on a device in one sentence, from `grid-support/trace` and `controls`. */
import { get } from '../../api/call';
import { digits, timeOfDay, words } from '../../look/format';
import { useLive } from '../../store/live';
import type { Controls, Trace } from './sentence';

type Transition = Trace['transitions'][number];

const trips: Readonly<Record<string, string>> = {
  lv_trip: 'low voltage (707)',
  hv_trip: 'high voltage (708)',
  lf_trip: 'low frequency (709)',
  hf_trip: 'high frequency (710)',
  anti_islanding: 'anti-islanding',
  rocof: 'rate of change of frequency',
  vector_shift: 'vector shift',
};

const tripName = (name: string | null) => trips[name ?? ''] ?? words(name);
const seconds = (value: number) => `${digits(value, value < 10 ? 2 : 0)}\u00a0s`;

/** The transitions since the device was last in undisturbed service. */
function episodeOf(transitions: readonly Transition[]): readonly Transition[] {
  const from = transitions.findLastIndex((change) => change.from === 'in_service');
  return from < 0 ? transitions : transitions.slice(from);
}

function tripsOf(episode: readonly Transition[]): string | null {
  const trip = episode.findLast(({ to }) => to === 'tripped');
  return trip === undefined ? null : `tripped by ${tripName(trip.cause)} at ${timeOfDay(trip.at)}`;
}

/** During a disturbance: the present state and the time to the next trip. */
function ridingOf({ service, ride_through, time_to_trip_s }: Trace['now']): string | null {
  const next = Object.entries(time_to_trip_s)
    .filter((entry): entry is [string, number] => entry[1] !== null)
    .sort((a, b) => a[1] - b[1])[0];
  if (ride_through === 'continuous_operation' && next === undefined && service === 'in_service') return null;
  const end = next === undefined ? 'no trip timer runs' : `trip by ${tripName(next[0])} in ${seconds(next[1])}`;
  return `riding through (${words(ride_through)}): ${end}`;
}

function outOf(present: Trace['now'], episode: readonly Transition[]): string {
  const head = tripsOf(episode) ?? words(present.service);
  if (present.service === 'tripped') return `${head}, returns after voltage and frequency are back`;
  const left = present.time_to_enter_service_s;
  return `${head}, ${left === null ? 'waits to enter service' : `returns in ${seconds(left)}`}`;
}

/** Maximum deviation of an undisturbed voltage, per unit. */
const usual = 0.01;

/** True if no event is in progress and the voltages are normal: only then a verdict is final. */
function isOver({ event, voltage_a_pu, voltage_b_pu, voltage_c_pu }: Controls['grid']): boolean {
  return (
    event === null && [voltage_a_pu, voltage_b_pu, voltage_c_pu].every((voltage) => Math.abs(voltage - 1) <= usual)
  );
}

/** Outcome after return to service, or without interruption. Null: no change of the grid so far. */
function pastOf(episode: readonly Transition[], grid: Controls['grid'] | undefined): string | null {
  const back = episode.find(({ to }) => to === 'ramping' || to === 'in_service');
  const set = grid?.changed_by;
  if (set?.changed_at && (back === undefined || set.changed_at > back.at)) {
    const since = `no trip and no cessation since ${set.source} set the grid at ${timeOfDay(set.changed_at)}`;
    return grid !== undefined && isOver(grid) ? `rode through: ${since}` : `so far ${since}`;
  }
  if (back === undefined) return null;
  const trip = tripsOf(episode);
  if (trip !== null) return `${trip}, back since ${timeOfDay(back.at)}`;
  const cessation = episode.find(({ to }) => to === 'momentary_cessation');
  if (cessation === undefined) return null;
  return `rode through without a trip: momentary cessation from ${timeOfDay(cessation.at)} to ${timeOfDay(back.at)}`;
}

/** @returns null: nothing to report */
function outcomeOf({ now, transitions }: Trace, grid: Controls['grid'] | undefined): string | null {
  const episode = episodeOf(transitions);
  if (now.service === 'tripped' || now.service === 'waiting') return outOf(now, episode);
  const text = ridingOf(now);
  if (text !== null && now.service !== 'ramping') return text;
  const past = pastOf(episode, grid);
  return past !== null && now.service === 'ramping' ? `${past}, ramping up` : past;
}

/**
 * The effect of the grid on a device: "tripped by low voltage (707) at 12:10:06, returns in 297 s". @param device index
 */
export function useOutcome(device: number | undefined): string | null {
  const query = device === undefined ? {} : { device };
  const trace = useLive(
    device === undefined ? null : get('grid-support/trace', { query: { ...query, limit: 0 } }),
  ).data;
  const controls = useLive(device === undefined ? null : get('controls', { query })).data;
  const text = trace === undefined ? null : outcomeOf(trace, controls?.grid);
  return text === null ? null : text.charAt(0).toUpperCase() + text.slice(1);
}
