import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, duration, fixed, sourceName, termOf, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { useOverview } from '../../../store/site';
import { InjectPanel } from './inject';
import { protocolTitles, ReadyMadePanel } from './ready-made';
import { FaultTargetPicker } from './target';

type Faults = ReplyOf<'faults'>;
type Fault = Faults['faults'][number];
type Ended = Faults['ended'][number];

/** `code 6, function 3, 4, limit 10 %`, without unset members */
function membersOf(members: object): string {
  return Object.entries(members as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      const { term, unit } = termOf(name, typeof value === 'number');
      return `${term.toLowerCase()} ${textOf(value)}${unit === '' ? '' : `\u00a0${unit}`}`;
    })
    .join(', ');
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
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
  if (remaining_s !== null) parts.push(duration(remaining_s));
  if (remaining !== null) parts.push(`${remaining} ${remaining === 1 ? 'strike' : 'strikes'}`);
  return parts.length > 0 ? `${parts.join(' or ')} left` : 'until cleared';
}

function writerOf({ source, source_detail, profile, device_profile }: Fault): string {
  const from = profile ?? device_profile;
  return `${sourceName(source)}${source_detail === null ? '' : ` ${source_detail}`}${from === null ? '' : `, profile ${from}`}`;
}

/** The device and the part of it that a fault acts on, in words. */
function useWhere(): (fault: Fault) => string {
  const devices = useOverview()?.devices ?? [];
  const placeOf = ({ device_index, meter, device_profile }: Fault) => {
    if (device_index !== null)
      return `${device_index} ${devices.find((device) => device.device_index === device_index)?.name ?? ''}`;
    if (meter) return 'meter';
    return device_profile === null ? 'all devices' : `devices of profile ${device_profile}`;
  };
  return (fault) => [placeOf(fault), membersOf(fault.target)].filter((part) => part !== '').join(': ');
}

function useColumns(): readonly Column<Fault>[] {
  const whereOf = useWhere();
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

/** `modbus exception` */
const nameOf = ({ protocol, kind }: Fault) => `${protocol} ${words(kind)}`;

/** Share of the time that is left; null: without an end. */
function leftShare({ remaining_s: leftS, duration_s: wholeS }: Fault): number | null {
  return leftS === null || wholeS === null || wholeS === 0 ? null : leftS / wholeS;
}

function InForceItem({ fault, where }: { readonly fault: Fault; readonly where: string }) {
  const share = leftShare(fault);
  const details = `${membersOf(fault.parameters)}${conditionOf(fault)}`;
  return (
    <li>
      <div class="row">
        <Chip tone="warn">{nameOf(fault)}</Chip>
        <strong>{where}</strong>
        <span class="muted">{details}</span>
      </div>
      <div class="row">
        {share !== null && <progress aria-label={`Time left of fault ${fault.id}`} max={1} value={share} />}
        <span class="nowrap">{leftOf(fault)}</span>
        <span class="muted">
          acted {fixed(fault.strikes, 0)} of {fixed(fault.occasions, 0)}, by {writerOf(fault)}, No. {fault.id}
        </span>
        <Action call={post('faults', { body: { clear: { id: fault.id } } })}>Clear {fault.id}</Action>
      </div>
    </li>
  );
}

/** Faults in force with what is left of them. */
function InForcePanel({ data }: { readonly data: Faults | undefined }) {
  const whereOf = useWhere();
  const active = data?.faults ?? [];
  const protocols = [...new Set(active.map(({ protocol }) => protocol))];
  return (
    <Panel
      title="Faults in force"
      tools={
        <>
          <Chip tone={active.length > 0 ? 'warn' : 'muted'}>{data ? `${data.total} in force` : dash}</Chip>
          {protocols.map((protocol) => (
            <Action key={protocol} call={post('faults', { body: { clear: { protocol } } })}>
              Clear {protocolTitles[protocol]}
            </Action>
          ))}
          <Action call={post('faults', { body: { clear: true } })} disabled={active.length === 0} primary>
            Clear all
          </Action>
        </>
      }
    >
      {active.length === 0 ? (
        <Empty>No fault is in force. Inject a ready-made one below, or make one.</Empty>
      ) : (
        <ul class="faults-in-force" aria-label="Faults in force">
          {active.map((fault) => (
            <InForceItem key={fault.id} fault={fault} where={whereOf(fault)} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function EndedPanel({ data }: { readonly data: Faults | undefined }) {
  const columns = useColumns();
  const endedColumns: readonly Column<Ended>[] = [
    ...columns,
    { title: 'Ended', cell: ({ end }) => words(end), value: ({ end }) => end },
    { title: 'At', cell: ({ ended_at }) => timeOfDay(ended_at), value: ({ ended_at }) => ended_at },
  ];
  return (
    <Panel title="Ended faults" wide flush>
      <Table
        name="Ended faults"
        columns={endedColumns}
        rows={data?.ended ?? []}
        keyOf={({ id }) => id}
        empty="Faults that were cleared or have expired are listed here."
      />
    </Panel>
  );
}

/** Faults of all protocols: those in force, ready-made ones, any other, ended ones. */
export function FaultsView() {
  const { data } = useLive(get('faults'), 'tick');
  return (
    <>
      <InForcePanel data={data} />
      <div class="row">
        <FaultTargetPicker />
      </div>
      <ReadyMadePanel />
      <InjectPanel />
      <EndedPanel data={data} />
    </>
  );
}
