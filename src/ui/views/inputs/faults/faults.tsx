import { InjectPanel, ProfilesPanel, FaultTargetPicker } from './inject';
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Chip, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, fixed, show, words, timeOfDay } from '../../../look/format';
import { useLive } from '../../../store/live';
import { useOverview } from '../../../store/site';

type Faults = ReplyOf<'faults'>;
type Fault = Faults['faults'][number];
type Ended = Faults['ended'][number];

/** `code 6, function 3`, without unset members */
function membersOf(members: object): string {
  return Object.entries(members as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${words(name)} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** The condition of a fault; empty: it always strikes. */
function conditionOf({ when, every, probability }: Fault): string {
  const parts = [
    when === null ? '' : `when ${membersOf(when)}`,
    every > 1 ? `once in every ${every} occasions` : '',
    probability < 1 ? `with probability ${probability}` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`;
}

function leftOf({ remaining_s, remaining }: Fault): string {
  const parts: string[] = [];
  if (remaining_s !== null) parts.push(show(remaining_s, 'seconds'));
  if (remaining !== null) parts.push(`${remaining} ${remaining === 1 ? 'strike' : 'strikes'}`);
  return parts.length > 0 ? parts.join(' or ') : 'until cleared';
}

function writerOf({ source, source_detail, profile, device_profile }: Fault): string {
  const from = profile ?? device_profile;
  return `${words(source)}${source_detail === null ? '' : ` ${source_detail}`}${from === null ? '' : `, profile ${from}`}`;
}

function useColumns(): readonly Column<Fault>[] {
  const devices = useOverview()?.devices ?? [];
  const placeOf = ({ device_index, meter, device_profile }: Fault) => {
    if (device_index !== null)
      return `${device_index} ${devices.find((device) => device.device_index === device_index)?.name ?? ''}`;
    if (meter) return 'meter';
    return device_profile === null ? 'all devices' : `devices of profile ${device_profile}`;
  };
  const whereOf = (fault: Fault) => [placeOf(fault), membersOf(fault.target)].filter((part) => part !== '').join(': ');
  return [
    { title: 'No.', value: ({ id }) => id, numeric: true },
    {
      title: 'Fault',
      cell: (fault) => (
        <>
          <strong>
            {fault.protocol} {words(fault.kind)}
          </strong>{' '}
          <span class="muted">
            {membersOf(fault.parameters)}
            {conditionOf(fault)}
          </span>
        </>
      ),
      value: (fault) => `${fault.protocol} ${words(fault.kind)} ${membersOf(fault.parameters)}`,
    },
    { title: 'Target', cell: whereOf, value: whereOf },
    {
      title: 'Acted',
      cell: ({ strikes, occasions }) => `${fixed(strikes, 0)} of ${fixed(occasions, 0)}`,
      value: ({ strikes }) => strikes,
      numeric: true,
    },
    { title: 'By', cell: writerOf, value: writerOf },
  ];
}

/** Faults in force, and ended ones. */
function FaultLists() {
  const { data } = useLive(get('faults'), 'tick');
  const columns = useColumns();
  const active = data?.faults ?? [];
  const ended = data?.ended ?? [];
  const protocols = [...new Set(active.map(({ protocol }) => protocol))];
  const activeColumns: readonly Column<Fault>[] = [
    ...columns,
    { title: 'Remaining', cell: leftOf, value: leftOf },
    {
      title: 'End',
      cell: ({ id }) => <Action call={post('faults', { body: { clear: { id } } })}>Clear {id}</Action>,
    },
  ];
  const endedColumns: readonly Column<Ended>[] = [
    ...columns,
    { title: 'Ended', cell: ({ end }) => words(end), value: ({ end }) => end },
    { title: 'At', cell: ({ ended_at }) => timeOfDay(ended_at), value: ({ ended_at }) => ended_at },
  ];
  return (
    <>
      <Panel
        title="Faults in force"
        wide
        flush
        tools={
          <>
            <Chip tone={active.length > 0 ? 'warn' : 'muted'}>{data ? `${data.total} in force` : dash}</Chip>
            {protocols.map((protocol) => (
              <Action key={protocol} call={post('faults', { body: { clear: { protocol } } })}>
                Clear {protocol}
              </Action>
            ))}
            <Action call={post('faults', { body: { clear: true } })} disabled={active.length === 0} primary>
              Clear all
            </Action>
          </>
        }
      >
        <Table
          name="Faults in force"
          columns={activeColumns}
          rows={active}
          keyOf={({ id }) => id}
          empty="No fault is in force: inject one above, or start with --faults and a file of faults."
        />
      </Panel>
      <Panel title="Ended faults" wide flush>
        <Table
          name="Ended faults"
          columns={endedColumns}
          rows={ended}
          keyOf={({ id }) => id}
          empty="Faults that were cleared or have expired are listed here."
        />
      </Panel>
    </>
  );
}

/** Faults of all protocols: those in force, injection and removal. */
export function FaultsView() {
  return (
    <>
      <div class="row">
        <FaultTargetPicker />
      </div>
      <div class="split">
        <InjectPanel />
        <ProfilesPanel />
      </div>
      <FaultLists />
    </>
  );
}
