/** The functions of a device in numbers, and a recording of its sub-steps. */
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Empty, Facts, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import { Table } from '../../../kit/table';
import { dash, fixed, remaining, show, timeOfDay, words } from '../../../look/format';
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
              trips.length === 0 ? dash : trips.map(([name, s]) => `${functionWords(name)} ${remaining(s)}`).join(', '),
            ],
            ['Time to enter service', remaining(now.time_to_enter_service_s)],
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
