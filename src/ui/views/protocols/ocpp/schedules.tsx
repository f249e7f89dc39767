import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Refused } from '../../../kit/action';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { Plot } from '../../../kit/plot';
import type { Point } from '../../../kit/plot';
import { Table } from '../../../kit/table';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { PartProps } from './connection';
import { dateAndTime } from '../../../look/format';

type Schedule = ReplyOf<'ocpp/{id}/composite-schedule'>;

/** Charging profiles, their composite schedule, and DER controls. */
export function Schedules({ status }: PartProps) {
  const params = { id: status.id };
  const { data } = useLive(get('ocpp/{id}/charging-profiles', { params }), 2000);
  return (
    <>
      <Composite status={status} />
      <Panel title="Charging profiles" flush wide>
        <Table
          name="Charging profiles"
          rows={data?.charging_profiles ?? []}
          keyOf={(each) => `${each.connector_id} ${each.profile_id} ${each.purpose}`}
          empty="No charging profile: the central system installs them with SetChargingProfile."
          columns={[
            { title: 'Connector', numeric: true, value: (each) => each.connector_id },
            { title: 'Id', numeric: true, value: (each) => each.profile_id },
            { title: 'Purpose', value: ({ purpose }) => purpose },
            { title: 'Kind', value: ({ kind }) => kind },
            { title: 'Stack level', numeric: true, value: (each) => each.stack_level },
            { title: 'Transaction', value: (each) => each.transaction_id },
            {
              title: 'Effective',
              cell: ({ effective }) => (
                <Chip tone={effective ? 'good' : 'muted'}>{effective ? 'effective' : 'not effective'}</Chip>
              ),
              value: ({ effective }) => effective,
            },
            {
              title: 'Profile',
              cell: ({ profile }) => (
                <details>
                  <summary>JSON</summary>
                  <pre>{JSON.stringify(profile, null, 2)}</pre>
                </details>
              ),
            },
          ]}
        />
      </Panel>
      <DerControls status={status} />
    </>
  );
}

function numberOf(name: string, fallback: number): number {
  const value = Number(param(name) ?? fallback);
  return Number.isInteger(value) ? value : fallback;
}

function Composite({ status }: PartProps) {
  const connector = numberOf('connector', 1);
  const duration_s = numberOf('duration', 3600);
  const unit = param('unit') === 'A' ? 'A' : 'W';
  const { data, problem } = useLive(
    get('ocpp/{id}/composite-schedule', { params: { id: status.id }, query: { connector, duration_s, unit } }),
    2000,
  );
  return (
    <Panel
      title="Composite schedule"
      wide
      tools={
        <>
          <label class="row">
            Connector
            <input
              type="number"
              value={connector}
              onChange={(event) => setParam('connector', event.currentTarget.value)}
            />
          </label>
          <label class="row">
            Duration, s
            <input
              type="number"
              value={duration_s}
              onChange={(event) => setParam('duration', event.currentTarget.value)}
            />
          </label>
          <select aria-label="Unit" value={unit} onChange={(event) => setParam('unit', event.currentTarget.value)}>
            <option>W</option>
            <option>A</option>
          </select>
        </>
      }
    >
      <Refused problem={problem} />
      {data && problem === null && <Steps schedule={data} />}
    </Panel>
  );
}

/** Limits as steps, with a gap where there is no limit. */
function Steps({ schedule }: { readonly schedule: Schedule }) {
  const { periods, duration_s: duration, unit, start } = schedule;
  const limits = periods.map(({ limit }) => limit).filter((limit) => limit !== null);
  if (limits.length === 0) return <Empty>No limit from {dateAndTime(start)} on: no charging profile applies.</Empty>;
  const lines: Point[][] = [];
  periods.forEach(({ start_s, limit }, index) => {
    if (limit === null) return;
    const end = periods[index + 1]?.start_s ?? duration;
    const piece: Point[] = [
      [start_s, limit],
      [end, limit],
    ];
    const previousLimit = periods[index - 1]?.limit;
    if (previousLimit === null || previousLimit === undefined) lines.push(piece);
    else lines.at(-1)?.push(...piece);
  });
  return (
    <>
      <Plot
        label="Composite schedule"
        x={{ label: `Time after ${dateAndTime(start)}`, unit: 's', min: 0, max: duration }}
        y={{ label: 'Limit', unit, min: Math.min(0, ...limits), max: Math.max(1, ...limits) * 1.1 }}
        marks={lines.map((points) => ({ kind: 'line', points, colour: 'var(--p)', width: 2 }))}
      />
      <Table
        name="Periods"
        rows={periods}
        keyOf={({ start_s }) => start_s}
        columns={[
          { title: 'From, s', numeric: true, value: ({ start_s }) => start_s },
          { title: `Limit, ${unit}`, numeric: true, value: ({ limit }) => limit },
          { title: 'Phases', numeric: true, value: (each) => each.number_phases },
          { title: 'Mode', value: (each) => each.operation_mode },
        ]}
      />
    </>
  );
}

function DerControls({ status }: PartProps) {
  const { data } = useLive(
    (status.subprotocol ?? status.version) === 'ocpp2.1'
      ? get('ocpp/{id}/der-controls', { params: { id: status.id } })
      : null,
    2000,
  );
  return (
    <Panel title="DER controls" flush wide>
      <Table
        name="DER controls"
        rows={data?.controls ?? []}
        keyOf={(each) => each.control_id}
        empty="No DER control: the central system sets them with SetDERControl of OCPP 2.1."
        columns={[
          { title: 'Id', cell: (each) => <code>{each.control_id}</code>, value: (each) => each.control_id },
          { title: 'Type', value: (each) => each.control_type },
          { title: 'Default', cell: (each) => (each.is_default ? 'yes' : 'no'), value: (each) => each.is_default },
          { title: 'Priority', numeric: true, value: ({ priority }) => priority },
          {
            title: 'State',
            cell: ({ state, active, overwritten }) => (
              <Chip tone={active ? 'good' : state === 'refused' ? 'bad' : 'muted'}>
                {state}
                {overwritten ? ', overwritten' : ''}
              </Chip>
            ),
            value: ({ state }) => state,
          },
          { title: 'Start', cell: (each) => dateAndTime(each.start_time), value: (each) => each.start_time },
          { title: 'Values', cell: ({ values }) => <code>{JSON.stringify(values)}</code> },
        ]}
      />
    </Panel>
  );
}
