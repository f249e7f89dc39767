import { anyCall, get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, digits, timeOfDay } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';

type Change = ReplyOf<'registers/changes'>['changes'][number];

/** Writes the start value of a point again; the daemon says why where that is not possible. */
function PutBack({ device, row }: { readonly device: number; readonly row: Change }) {
  const [model = '', ...path] = row.point.split('.');
  const value = row.start_symbol ?? row.start_value;
  if (row.changed_by === null || value === null) return null;
  return (
    <Action call={anyCall('POST', `registers/${model}`, { device }, { points: { [path.join('.')]: value } })}>
      Put back
    </Action>
  );
}

/** What is different from the start. */
export function Changes({ device }: { readonly device: number }) {
  const data = useLive(get('registers/changes', { query: { device } })).data;
  return (
    <Panel title="Different from the start" flush tools={<span class="muted">{data?.count ?? 0} points</span>}>
      <Table
        name="Different from the start"
        rows={data?.changes ?? []}
        keyOf={({ point }) => point}
        empty="No point differs from its start value."
        columns={[
          {
            title: 'Point',
            value: ({ point }) => point,
            cell: ({ point }) => {
              const [model = '', ...path] = point.split('.');
              return <a href={href('registers', { model, point: path.join('.') })}>{point}</a>;
            },
          },
          { title: 'Meaning', cell: ({ label }) => label, value: ({ label }) => label },
          {
            title: 'Start',
            cell: (row) => String(row.start_symbol ?? row.start_value ?? dash),
            value: (row) => String(row.start_symbol ?? row.start_value ?? ''),
          },
          {
            title: 'Now',
            cell: (row) => String(row.symbol ?? row.value ?? dash),
            value: (row) => String(row.symbol ?? row.value ?? ''),
          },
          {
            title: 'Writer',
            cell: (row) =>
              row.changed_by === null
                ? 'the device itself'
                : `${row.changed_by.source} ${row.changed_by.source_detail ?? ''}`,
            value: (row) => row.changed_by?.source,
          },
          {
            title: 'Time',
            cell: (row) => timeOfDay(row.changed_by?.changed_at),
            value: (row) => row.changed_by?.changed_at,
          },
          { title: 'Back', cell: (row) => <PutBack device={device} row={row} /> },
        ]}
      />
    </Panel>
  );
}

/** Slopes of commands in the place of 704.WRmp and VarRmp. */
export function Gradient({ device }: { readonly device: number }) {
  const data = useLive(get('controls/gradient', { query: { device } })).data;
  return (
    <Panel title="Gradient of commands">
      <Facts
        rows={[
          ['Active power', `${digits(data?.w_pct_per_s, 4)} % of WMax per s, from the ${data?.w_source ?? dash}`],
          ['Reactive power', `${digits(data?.var_pct_per_s, 4)} % per s, from the ${data?.var_source ?? dash}`],
        ]}
      />
      <Form
        key={device}
        submit="Set gradient"
        fields={[
          { kind: 'number', name: 'w_pct_per_s', label: 'Active power', unit: '%/s' },
          { kind: 'number', name: 'var_pct_per_s', label: 'Reactive power', unit: '%/s' },
        ]}
        call={(values) => post('controls/gradient', { query: { device }, body: values })}
      />
    </Panel>
  );
}
