import { anyCall, get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Values } from '../../kit/form';
import { Chip, Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, show } from '../../look/format';
import { useLive } from '../../store/live';
import { Pair, Writer } from './scope';

type Scope = ReplyOf<'site/scopes'>['scopes'][number];
type Owner = Scope['owners'][number];

const limits = ['export', 'import', 'generation', 'load'] as const;
type Limit = (typeof limits)[number];

/** Prefix of owners of REST limits, the only ones that this page can end. */
const restPrefix = 'rest';

function endCall({ devices }: Scope, row: Owner) {
  const endedLimits = limits.filter((limit) => row[`${limit}_limit_kw`] !== null);
  const name = row.owner.startsWith(`${restPrefix}:`) ? row.owner.slice(restPrefix.length + 1) : null;
  return anyCall(
    'POST',
    'site',
    {},
    {
      ...Object.fromEntries(endedLimits.map((limit) => [`${limit}_limit_kw`, null])),
      ...(name !== null && { owner: name }),
      ...(devices !== null && { devices }),
    },
  );
}

/** The devices of a scope in words. */
function nameOf({ devices }: Scope): string {
  return devices === null ? 'Whole site' : `Devices ${devices.join(', ')}`;
}

function ScopeNow({ scope }: { readonly scope: Scope }) {
  const stateOf = (limit: Limit) => {
    if (scope.exceeded.includes(limit)) return <Chip tone="bad">exceeded</Chip>;
    if (scope.binding.includes(limit)) return <Chip tone="warn">limits</Chip>;
    return scope[`${limit}_limit_kw`] === null ? dash : <Chip tone="good">kept</Chip>;
  };
  return (
    <section class="stack scope" aria-label={nameOf(scope)}>
      <h3>{nameOf(scope)}</h3>
      <Facts
        rows={[
          [scope.net_power_kw < 0 ? 'From the grid' : 'To the grid', show(Math.abs(scope.net_power_kw), 'activePower')],
          ['Generation', show(scope.generation_kw, 'activePower')],
          ['Consumption of devices', show(scope.consumption_kw, 'activePower')],
          ['Local load', show(scope.load_kw, 'activePower')],
        ]}
      />
      <Table
        name={`Limits in force: ${nameOf(scope)}`}
        rows={limits}
        keyOf={(limit) => limit}
        columns={[
          { title: 'Limit', value: (limit) => limit },
          {
            title: 'In force',
            cell: (limit) => show(scope[`${limit}_limit_kw`], 'activePower'),
            value: (limit) => scope[`${limit}_limit_kw`],
            numeric: true,
          },
          { title: 'State', cell: stateOf },
          { title: 'Owner', value: (limit) => scope[`${limit}_limit_owner`] },
        ]}
      />
      {scope.owners.length > 0 && <Owners scope={scope} />}
    </section>
  );
}

function Owners({ scope }: { readonly scope: Scope }) {
  return (
    <Table<Owner>
      name={`Owners: ${nameOf(scope)}`}
      rows={scope.owners}
      keyOf={({ owner }) => owner}
      columns={[
        { title: 'Owner', value: ({ owner }) => owner },
        ...limits.map((limit) => ({
          title: limit,
          cell: (row: Owner) => show(row[`${limit}_limit_kw`], 'activePower'),
          value: (row: Owner) => row[`${limit}_limit_kw`],
          numeric: true,
        })),
        { title: 'Set by', cell: ({ changed_by }) => <Writer by={changed_by} /> },
        {
          title: 'End',
          cell: (row) =>
            row.owner === restPrefix || row.owner.startsWith(`${restPrefix}:`) ? (
              <Action call={endCall(scope, row)}>End {row.owner}</Action>
            ) : (
              <span class="muted">only its source can end it</span>
            ),
        },
      ]}
    />
  );
}

/** Device indexes with commas become a list; invalid ones are sent unchanged. */
function bodyOf({ devices, ...rest }: Values): object {
  if (devices === undefined) return rest;
  const parts = String(devices)
    .split(/[\s,]+/)
    .filter((part) => part !== '');
  return { ...rest, devices: parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part)) };
}

/** Power at the connection points, and the limits there with owners. */
export function SitePanel() {
  const { data, problem } = useLive(get('site/scopes'));
  return (
    <Panel title="Site limits" wide>
      <Pair
        present={
          <Form
            fields={[
              ...limits.map((limit) => ({
                kind: 'number' as const,
                name: `${limit}_limit_kw`,
                label: `${limit.slice(0, 1).toUpperCase()}${limit.slice(1)} limit`,
                unit: 'kW',
                min: 0,
              })),
              { kind: 'text', name: 'owner', label: 'Owner', placeholder: restPrefix, hint: 'such as feeder' },
              {
                kind: 'text',
                name: 'devices',
                label: 'Group of devices',
                placeholder: 'whole site',
                hint: 'such as 0, 1',
              },
            ]}
            submit="Set the limits"
            call={(values) => anyCall('POST', 'site', {}, bodyOf(values))}
          />
        }
      >
        {data?.scopes.map((scope) => (
          <ScopeNow key={nameOf(scope)} scope={scope} />
        ))}
        <Refused problem={problem} />
      </Pair>
    </Panel>
  );
}
