import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Curl, Refused, useDo } from '../../kit/action';
import { Empty, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, wallTime } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';

type Model = ReplyOf<'sunspec-client/models/{model_id}'>;
type Point = Model['points'][number];

function valueText({ value, symbol, bits, unit, note }: Point): string {
  if (value === null) return note === undefined ? dash : `${dash} ${note}`;
  if (symbol !== undefined && symbol !== null) return `${symbol} (${value})`;
  if (bits !== undefined) return `${value} (${bits.join(', ') || 'no bit set'})`;
  return `${value} ${unit ?? ''}`.trim();
}

const rawOf = ({ raw }: Point) => raw?.map((register) => register.toString(16).padStart(4, '0')).join(' ') ?? dash;

/** One model of the other device: last values, reading and writing. */
export function ClientModel({ id, index }: { readonly id: number; readonly index: number }) {
  const { data: model, problem } = useLive(
    get('sunspec-client/models/{model_id}', { params: { model_id: id }, query: { index } }),
    2000,
  );
  const points = model ? [...model.points, ...model.groups.flatMap((group) => group.points)] : [];
  return (
    <Panel
      title={`${id} ${model?.name ?? 'model without a definition here'}`}
      flush
      tools={
        <>
          <span class="muted">read at {wallTime(model?.read_at)}</span>
          <Action call={post('sunspec-client/read', { body: { model: id, index } })}>Read now</Action>
        </>
      }
    >
      <Refused problem={problem} />
      {model?.notes.map((note) => (
        <Empty key={note}>{note}</Empty>
      ))}
      {model?.registers && (
        <pre>{model.registers.map((register) => register.toString(16).padStart(4, '0')).join(' ')}</pre>
      )}
      <Table
        name={`Points of model ${id}`}
        columns={[
          { title: 'Point', cell: ({ name }) => name, value: ({ name }) => name },
          { title: 'Label', cell: ({ label }) => label, value: ({ label }) => label },
          { title: 'Value', cell: valueText, value: ({ value }) => value },
          { title: 'Raw', cell: (point) => <span class="mono">{rawOf(point)}</span>, value: rawOf },
          { title: 'Address', numeric: true, cell: ({ address }) => address, value: ({ address }) => address },
          { title: 'Access', cell: ({ access }) => access, value: ({ access }) => access },
        ]}
        rows={points}
        keyOf={({ name }) => name}
        selected={param('point')}
        onSelect={({ name }) => setParam('point', name)}
        height={360}
        empty="No point was read."
      />
      <Write key={param('point')} model={id} index={index} points={points} />
    </Panel>
  );
}

interface WriteProps {
  readonly model: number;
  readonly index: number;
  readonly points: readonly Point[];
}

function Write({ model, index, points }: WriteProps) {
  const [text, setText] = useState('');
  const [outcome, setOutcome] = useState<string | null>(null);
  const { busy, problem, run } = useDo<ReplyOf<'sunspec-client/write', 'post'>>();
  const name = param('point') ?? '';
  const point = points.find((one) => one.name === name);
  if (point === undefined) return <Empty>Choose a point to write it.</Empty>;
  if (point.access === 'R') return <Empty>{name} is read only by its definition.</Empty>;
  const value = text === 'null' ? null : Number.isFinite(Number(text)) ? Number(text) : text;
  const call = post('sunspec-client/write', { body: { model, index, points: { [name]: value } } });
  const write = async () => {
    setOutcome(null);
    const answer = await run(call);
    if (answer)
      setOutcome(
        answer.match ? 'Written, and it reads back the same.' : 'Accepted, but the device shows another value.',
      );
  };
  const issue = problem?.about(`/points/${name}`) ?? null;
  return (
    <form
      class="body row"
      onSubmit={(event) => {
        event.preventDefault();
        void write();
      }}
    >
      <label class="row">
        New value of {name}
        <input
          type="text"
          aria-invalid={issue !== null}
          placeholder={String(point.symbol ?? point.value ?? '')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button class="primary" disabled={busy || text.trim() === ''}>
        Write
      </button>
      {text.trim() !== '' && <Curl call={call} />}
      {outcome !== null && <span role="status">{outcome}</span>}
      <Refused problem={problem} />
    </form>
  );
}
