/** Explains the power of a device, and the effect of a grid disturbance, in sentences and plots. */
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Empty, Facts, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import { Table } from '../../../kit/table';
import { dash, fixed, show, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { useOverview } from '../../../store/site';

export type Trace = ReplyOf<'grid-support/trace'>;
export type Controls = ReplyOf<'controls'>;
export type ModeName = keyof Controls['modes'];

/** Deciders that are not functions. */
const reasons: Readonly<Record<string, string>> = {
  source: 'the source gives no more (nothing limits)',
  w_max: 'maximum active power (702.WMax)',
  charge_limit: 'the charge limit or the source',
  discharge_limit: 'the discharge limit of the storage',
  idle: 'idle, there is no set-point',
  ramp: 'a ramp is in progress',
  site: 'a limit of the connection point',
  second_limiter: 'an injected limit without a register',
  apparent_power: 'the circle of apparent power or current',
  cessation: 'momentary cessation',
  out_of_service: 'out of service',
};

const limiting: ReadonlySet<string> = new Set(['max_power', 'volt_watt', 'freq_droop']);

/** `volt_watt` becomes "volt-watt". */
function functionWords(name: string): string {
  return /^(volt|watt)_/.test(name) || name === 'anti_islanding' ? name.replaceAll('_', '-') : words(name);
}

/** `, set by modbus (127.0.0.1:4000) at 12:04:07`; empty for start values. */
function setBy(mode: Controls['modes'][ModeName] | undefined): string {
  if (mode?.source === undefined || ['default', 'profile'].includes(mode.source)) return '';
  const detail = mode.source_detail ? ` (${mode.source_detail})` : '';
  return `, set by ${mode.source}${detail} at ${timeOfDay(mode.changed_at)}`;
}

type SiteLimit = NonNullable<Controls['decided_by']['site_limit']>;

const maxNamedDevices = 10;

/** Whose connection point has the limit: ` of device 1`, ` of devices 0, 2`; empty for the whole site. */
function scopeWords(devices: SiteLimit['devices']): string {
  if (devices === null) return '';
  const more = devices.length > maxNamedDevices ? ', ...' : '';
  return ` of ${devices.length === 1 ? 'device' : 'devices'} ${devices.slice(0, maxNamedDevices).join(', ')}${more}`;
}

function siteWords({ devices, limit, limit_kw: kw, owner }: SiteLimit): string {
  return `${limit}${scopeWords(devices)} at most ${show(kw, 'activePower')}, set by ${owner}`;
}

function reasonOf(
  { active_decided_by: by, active_power_kw: power, service }: Trace['now'],
  controls?: Controls,
): string {
  const siteLimit = controls?.decided_by.site_limit;
  if (by === 'site' && siteLimit) return `${reasons[by]}: ${siteWords(siteLimit)}`;
  if (by === 'source' && (power ?? 0) < 0) return 'the source takes no more (nothing limits)';
  if (by in reasons) return `${reasons[by]}${by === 'out_of_service' ? ` (${words(service)})` : ''}`;
  const mode = controls?.modes[by as ModeName];
  return `${functionWords(by)} ${limiting.has(by) ? 'limits' : 'sets the power'}${setBy(mode)}`;
}

/** @param controls of the same device; absent: the sentence omits the writer and the value of the limit */
export function sentenceOf(present: Trace['now'], controls?: Controls): string {
  const { active_power_kw: power, available_kw: available } = present;
  const head =
    power !== null && power < 0
      ? `${fixed(-power, 2)}\u00a0kW absorbed`
      : `${fixed(power, 2)}\u00a0kW of ${fixed(available, 2)}\u00a0kW available`;
  return `${head}: ${reasonOf(present, controls)}`;
}

/** The forced mode of a battery, which overrides all set-points. null: none, or another kind of device. */
function useForced(device: number): string | null {
  const kind = useOverview()?.devices.find(({ device_index }) => device_index === device)?.asset_type;
  const bank = useLive(kind === 'battery' ? get('controls/battery', { query: { device } }) : null).data;
  if (bank === undefined || bank.control !== 'forced') return null;
  const by = bank.forced_by;
  const writer = by === null ? '' : `, by ${by.source} at ${timeOfDay(by.changed_at)}`;
  return `the battery is forced to ${bank.requested_mode} with ${show(bank.clamped_power_kw, 'activePower')} at its DC terminals${writer}`;
}

/** One sentence that explains the power of a device. @param device index of the device */
export function WhyLine({ device }: { readonly device: number }) {
  const trace = useLive(get('grid-support/trace', { query: { device, limit: 0 } })).data;
  const controls = useLive(get('controls', { query: { device } })).data;
  const forced = useForced(device);
  if (!trace) return <p class="muted">No reason yet.</p>;
  const { active_power_kw: power, active_decided_by: by } = trace.now;
  const forces = forced !== null && by === 'source';
  return <p class="why">{forces ? `${show(power, 'activePower')}: ${forced}` : sentenceOf(trace.now, controls)}</p>;
}

const inputUnits: Readonly<Record<string, string>> = {
  volt_var: '%',
  volt_watt: '%',
  freq_droop: 'Hz',
  enter_service: 'kW',
};
const reactive = new Set(['volt_var', 'watt_var', 'constant_var', 'pf_inject', 'pf_absorb']);

/** The limit in force on the power, and the demand of each function. */
export function Why({ device, controls }: { readonly device: number; readonly controls: Controls | undefined }) {
  const trace = useLive(get('grid-support/trace', { query: { device, limit: 1000 } })).data;
  if (!trace) return <Empty>No data yet.</Empty>;
  const { now } = trace;
  const trips = Object.entries(now.time_to_trip_s).filter((entry): entry is [string, number] => entry[1] !== null);
  return (
    <div class="stack">
      <Panel title="Why is the power what it is?">
        <WhyLine device={device} />
        <Facts
          rows={[
            ['Active power decided by', words(now.active_decided_by)],
            ['Reactive power decided by', words(now.reactive_decided_by)],
            ['Site limit', controls?.decided_by.site_limit ? siteWords(controls.decided_by.site_limit) : dash],
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
      <Panel title="What each function asks for" flush>
        <Table
          name="What each function asks for"
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
