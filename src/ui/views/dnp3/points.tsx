import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash } from '../../look/format';
import { useLive } from '../../store/live';
import { href, param, setParam } from '../../store/route';

type Point = ReplyOf<'dnp3/points'>['points'][number];

const types = ['BI', 'BO', 'AI', 'AO', 'CTR'] as const;

function Bound({ to }: { readonly to: string | null }) {
  if (to === null) return <>{dash}</>;
  const [, model, point] = /^(\d+)\.(.+)$/.exec(to) ?? [];
  return model === undefined || point === undefined ? (
    <>{to}</>
  ) : (
    <a href={href('registers', { model, point })}>{to}</a>
  );
}

const columns: readonly Column<Point>[] = [
  { title: 'Type', cell: ({ type }) => type, value: ({ type }) => type },
  { title: 'Index', numeric: true, cell: ({ index }) => index, value: ({ index }) => index },
  { title: 'Name', cell: ({ name }) => <span title={name}>{name}</span>, value: ({ name }) => name },
  {
    title: 'Value',
    numeric: true,
    cell: ({ engineering_value: value, unit }) => (value === null ? dash : `${value} ${unit ?? ''}`.trim()),
    value: ({ engineering_value }) => engineering_value,
  },
  { title: 'On the wire', numeric: true, cell: ({ value }) => value ?? dash, value: ({ value }) => value },
  {
    title: 'Flags',
    cell: ({ flags, online }) =>
      flags === null ? dash : `0x${flags.toString(16).padStart(2, '0')} ${online ? 'online' : 'offline'}`,
    value: ({ flags }) => flags,
  },
  { title: 'Class', numeric: true, cell: (point) => point.class, value: (point) => point.class },
  { title: 'Bound to', cell: ({ bound_to }) => <Bound to={bound_to} />, value: ({ bound_to }) => bound_to },
  { title: 'Read back', cell: ({ read_back }) => read_back ?? dash, value: ({ read_back }) => read_back },
];

/** The points of the profile with values, optionally with absent ones. */
export function Points({ device }: { readonly device: number }) {
  const type = types.find((name) => name === (param('type') ?? 'AI'));
  const showsAbsent = param('absent') === 'show';
  const text = (param('point') ?? '').toLowerCase();
  const wanted = {
    device,
    ...(type && { type }),
    ...(!showsAbsent && { coverage: 'served' as const }),
  };
  const points = useLive(get('dnp3/points', { query: wanted }), 2000).data?.points ?? [];
  const shown = points.filter(({ index, name, bound_to, iec61850, ...point }) =>
    `${point.type}${index} ${name} ${bound_to ?? ''} ${iec61850 ?? ''}`.toLowerCase().includes(text),
  );
  return (
    <Panel
      title="Points"
      flush
      tools={
        <>
          <select
            aria-label="Type of the points"
            value={type ?? 'all'}
            onChange={(event) => setParam('type', event.currentTarget.value)}
          >
            <option value="all">all types</option>
            {types.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <button
            type="button"
            aria-pressed={showsAbsent}
            onClick={() => setParam('absent', showsAbsent ? null : 'show')}
          >
            Absent points too
          </button>
          <input
            type="search"
            aria-label="Find points"
            placeholder="Name, AI12, or 704.WMaxLimPct"
            value={param('point') ?? ''}
            onInput={(event) => setParam('point', event.currentTarget.value)}
          />
        </>
      }
    >
      <Table
        name="Points"
        columns={columns}
        rows={shown}
        keyOf={(point) => `${point.type}${point.index}`}
        height={360}
        empty="No point of this device matches."
      />
    </Panel>
  );
}
