/** The functions of a device in numbers, a recording of its sub-steps, and the effect of a grid disturbance. */
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Empty, Facts, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import { Table } from '../../../kit/table';
import { dash, fixed, show, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { useOverview } from '../../../store/site';
import { useWhy } from '../waterfall/chain';

export type Trace = ReplyOf<'grid-support/trace'>;
export type Controls = ReplyOf<'controls'>;
export type ModeName = keyof Controls['modes'];

/** `volt_watt` becomes "volt-watt". */
function functionWords(name: string): string {
  return /^(volt|watt)_/.test(name) || name === 'anti_islanding' ? name.replaceAll('_', '-') : words(name);
}

/** The connector whose power is that of the station: the first one with a vehicle. undefined: no charging station. */
function useFirstConnector(device: number): number | undefined {
  const entry = useOverview()?.devices.find(({ device_index: index }) => index === device);
  const id = entry?.charge_point_id ?? null;
  const station = useLive(id === null ? null : get('evse/{id}', { params: { id } })).data;
  return (station?.connectors.find(({ ev }) => ev !== null) ?? station?.connectors[0])?.connector_id;
}

/** The daemon's sentence about the power of a device. @param device index of the device */
export function WhyLine({ device }: { readonly device: number }) {
  const why = useWhy(device, useFirstConnector(device));
  return why ? <p class="why">{why.sentence}</p> : <p class="muted">No reason yet.</p>;
}

const inputUnits: Readonly<Record<string, string>> = {
  volt_var: '%',
  volt_watt: '%',
  freq_droop: 'Hz',
  enter_service: 'kW',
};
const reactive = new Set(['volt_var', 'watt_var', 'constant_var', 'pf_inject', 'pf_absorb']);

/** The function or limit that sets a power, in words: `volt-watt`. */
function deciderWords(name: string): string {
  if (name === 'source' || name === 'idle') return 'nothing limits';
  return name === 'none' ? 'off' : functionWords(name);
}

/** Functions in numbers, and the service. */
export function Why({ device }: { readonly device: number }) {
  const trace = useLive(get('grid-support/trace', { query: { device, limit: 1000 } })).data;
  if (!trace) return <Empty>No data yet.</Empty>;
  const { now } = trace;
  const trips = Object.entries(now.time_to_trip_s).filter((entry): entry is [string, number] => entry[1] !== null);
  return (
    <div class="stack">
      <Panel title="Service">
        <Facts
          rows={[
            ['P', deciderWords(now.active_decided_by)],
            ['Q', deciderWords(now.reactive_decided_by)],
            ['Service', words(now.service)],
            ['Ride-through', words(now.ride_through)],
            [
              'Time to trip',
              trips.length === 0
                ? dash
                : trips.map(([name, s]) => `${functionWords(name)} ${show(s, 'seconds')}`).join(', '),
            ],
            ['Time to enter service', show(now.time_to_enter_service_s, 'seconds')],
          ]}
        />
      </Panel>
      <Panel title="Functions in numbers" flush>
        <Table
          name="Functions in numbers"
          rows={Object.entries(now.functions)}
          keyOf={([name]) => name}
          columns={[
            { title: 'Function', cell: ([name]) => functionWords(name), value: ([name]) => name },
            {
              title: 'Input',
              numeric: true,
              cell: ([name, s]) => (s.input === null ? dash : `${fixed(s.input, 2)} ${inputUnits[name] ?? 'kW'}`),
              value: ([, s]) => s.input,
            },
            {
              title: 'Target',
              numeric: true,
              cell: ([name, s]) => show(s.target, reactive.has(name) ? 'reactivePower' : 'activePower'),
              value: ([, s]) => s.target,
            },
            {
              title: 'Output',
              numeric: true,
              cell: ([name, s]) => show(s.output, reactive.has(name) ? 'reactivePower' : 'activePower'),
              value: ([, s]) => s.output,
            },
          ]}
        />
      </Panel>
      <Recording device={device} trace={trace} />
      <Panel title="Changes of the service" flush>
        <Table
          name="Changes of the service"
          rows={[...trace.transitions].reverse()}
          keyOf={(row) => `${row.t_s} ${row.to}`}
          empty="The service has not changed since the start."
          columns={[
            { title: 'Time', cell: (row) => timeOfDay(row.at), value: (row) => row.t_s },
            { title: 'From', cell: (row) => words(row.from), value: (row) => row.from },
            { title: 'To', cell: (row) => words(row.to), value: (row) => row.to },
            { title: 'Cause', cell: (row) => words(row.cause), value: (row) => row.cause },
          ]}
        />
      </Panel>
    </div>
  );
}

function Recording({ device, trace }: { readonly device: number; readonly trace: Trace }) {
  const { rows, recording } = trace;
  const call = (count: number) => post('grid-support/trace', { query: { device }, body: { rows: count } });
  const [first, last] = [rows[0], rows.at(-1)];
  const powers = rows.flatMap((row) => [row.active_power_kw ?? 0, row.available_kw ?? 0, row.reactive_power_kvar ?? 0]);
  return (
    <Panel
      title="Recording of sub-steps"
      tools={
        <>
          <span class="muted">
            {recording.capacity > 0 ? `${recording.rows} of ${recording.capacity} rows` : 'off'}
          </span>
          {recording.capacity > 0 ? (
            <Action call={call(0)}>Stop recording</Action>
          ) : (
            <Action call={call(1000)}>Record 1000 sub-steps</Action>
          )}
        </>
      }
    >
      {first && last && last.t_s > first.t_s ? (
        <Plot
          label="Recorded powers"
          x={{ label: 'Time', unit: 's', min: 0, max: last.t_s - first.t_s }}
          y={{ label: 'Power', unit: 'kW, kvar', min: Math.min(0, ...powers), max: Math.max(1, ...powers) * 1.05 }}
          marks={[
            {
              kind: 'line',
              colour: 'var(--off)',
              dashed: true,
              title: 'Available',
              points: rows.map((row) => [row.t_s - first.t_s, row.available_kw ?? 0]),
            },
            {
              kind: 'line',
              colour: 'var(--p)',
              title: 'Active power',
              points: rows.map((row) => [row.t_s - first.t_s, row.active_power_kw ?? 0]),
            },
            {
              kind: 'line',
              colour: 'var(--q)',
              title: 'Reactive power',
              points: rows.map((row) => [row.t_s - first.t_s, row.reactive_power_kvar ?? 0]),
            },
          ]}
        >
          Dashed: available. Solid: active power (blue) and reactive power (orange).
        </Plot>
      ) : (
        <Empty>No rows yet: start the recording and let the clock run.</Empty>
      )}
    </Panel>
  );
}

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
const seconds = (value: number) => `${fixed(value, value < 10 ? 2 : 0)}\u00a0s`;

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
const maxDeviationPu = 0.01;

/** True if no event is in progress and the voltages are normal: only then a verdict is final. */
function isOver({ event, voltage_a_pu, voltage_b_pu, voltage_c_pu }: Controls['grid']): boolean {
  return (
    event === null &&
    [voltage_a_pu, voltage_b_pu, voltage_c_pu].every((voltage) => Math.abs(voltage - 1) <= maxDeviationPu)
  );
}

/** Outcome after return to service, or without interruption. Null: no change of the grid, trip or cessation so far. */
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
