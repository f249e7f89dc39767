import { anyCall, get } from '../../api/call';
import type { Call } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, digits, timeOfDay } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { useSchema } from '../../store/schemas';
import { pathOf } from './functions';
import { labelled } from './labels';
import { PutAllBack } from './put-all-back';
import { byModel, canPutBack, functionOf, isSetOne, setOneBody, split, startOf } from './start-values';
import type { Change, ModelReply } from './start-values';
import { ValuesForm } from './values-form';

/** Writes the start value of a point; the daemon explains a refusal. */
function PutBack({ device, row }: { readonly device: number; readonly row: Change }) {
  if (!canPutBack(row)) return null;
  const { model, path } = split(row.point);
  return (
    <Action call={anyCall('POST', `registers/${model}`, { device }, { points: { [path]: startOf(row) } })}>
      Put back
    </Action>
  );
}

/** Restores set 1 of a curve as a whole, since its registers are read only. */
function PutSetBack({ device, rows }: { readonly device: number; readonly rows: readonly Change[] }) {
  const { model } = split(rows[0]?.point ?? '');
  const entry = functionOf(model);
  const data = useLive(anyCall('GET', `registers/${model}`, { device }) as Call<ModelReply>, 5000).data;
  if (!entry || !data) return null;
  return (
    <Action
      call={anyCall('POST', `grid-support/${pathOf(entry.name)}`, { device }, setOneBody(entry, rows, data.points))}
      title="Writes all start values of the set in force"
    >
      Put set 1 back
    </Action>
  );
}

/** Points that differ from the start. */
export function Changes({ device }: { readonly device: number }) {
  const rows = useLive(get('registers/changes', { query: { device } })).data?.changes ?? [];
  const setsOne = byModel(rows.filter((row) => isSetOne(row) && canPutBack(row)));
  return (
    <Panel
      title="Different from the start"
      flush
      tools={
        <>
          <span class="muted">{rows.length} points</span>
          <PutAllBack device={device} rows={rows} />
        </>
      }
    >
      <Table
        name="Different from the start"
        rows={rows}
        keyOf={({ point }) => point}
        empty="No point differs from its start value."
        columns={[
          {
            title: 'Point',
            value: ({ point }) => point,
            cell: ({ point }) => {
              const { model, path } = split(point);
              return <a href={href('registers', { model, point: path })}>{point}</a>;
            },
          },
          { title: 'Meaning', cell: ({ label }) => label, value: ({ label }) => label },
          {
            title: 'Start',
            cell: (row) => String(startOf(row) ?? dash),
            value: (row) => String(startOf(row) ?? ''),
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
          {
            title: 'Back',
            cell: (row) => {
              const ofSet = setsOne.get(split(row.point).model);
              if (!isSetOne(row)) return <PutBack device={device} row={row} />;
              // one button per set, at its first point
              return ofSet?.[0] === row ? <PutSetBack device={device} rows={ofSet} /> : null;
            },
          },
        ]}
      />
    </Panel>
  );
}

/** Slopes set by commands, which override 704.WRmp and VarRmp. */
export function Gradient({ device }: { readonly device: number }) {
  const data = useLive(get('controls/gradient', { query: { device } })).data;
  const { schema, problem } = useSchema('GradientRequest');
  return (
    <Panel title="Gradient of commands">
      <Facts
        rows={[
          ['Active power', `${digits(data?.w_pct_per_s, 4)} % of WMax per s, from the ${data?.w_source ?? dash}`],
          ['Reactive power', `${digits(data?.var_pct_per_s, 4)} % per s, from the ${data?.var_source ?? dash}`],
        ]}
      />
      {data && schema && (
        <ValuesForm
          key={device}
          schema={labelled(schema, () => true)}
          values={{
            w_pct_per_s: data.w_source === 'gradient' ? data.w_pct_per_s : null,
            var_pct_per_s: data.var_source === 'gradient' ? data.var_pct_per_s : null,
          }}
          submit="Set gradient"
          call={(changed) => anyCall('POST', 'controls/gradient', { device }, changed)}
        />
      )}
      <Refused problem={problem} />
    </Panel>
  );
}
