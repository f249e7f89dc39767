import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import type { BodyOf, ReplyOf } from '../../../api/call';
import { Action, Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { Form } from '../../../kit/form';
import type { Values } from '../../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { dash, duration, remaining, show, wallTime, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { Page } from '../page';

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
function ClientModel({ id, index }: { readonly id: number; readonly index: number }) {
  const { data: model, problem } = useLive(
    get('sunspec-client/models/{model_id}', { params: { model_id: id }, query: { index } }),
    2000,
  );
  const points = model ? [...model.points, ...model.groups.flatMap((group) => group.points)] : [];
  return (
    <Panel
      title={`${id} ${model?.name ?? 'model without a definition'}`}
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
          { title: 'Point', value: ({ name }) => name },
          { title: 'Label', value: ({ label }) => label },
          { title: 'Value', cell: valueText, value: ({ value }) => value },
          { title: 'Raw', cell: (point) => <span class="mono">{rawOf(point)}</span>, value: rawOf },
          { title: 'Address', numeric: true, value: ({ address }) => address },
          { title: 'Access', value: ({ access }) => access },
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
  if (point.access === 'R') return <Empty>{name} is read-only in the definition of the model.</Empty>;
  const value = text === 'null' ? null : Number.isFinite(Number(text)) ? Number(text) : text;
  const call = post('sunspec-client/write', { body: { model, index, points: { [name]: value } } });
  const write = async () => {
    setOutcome(null);
    const answer = await run(call);
    if (answer)
      setOutcome(
        answer.match
          ? 'Written: the device returns the same value.'
          : 'Accepted, but the device returns another value.',
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
      {text.trim() !== '' && <CallLine call={call} />}
      {outcome !== null && <span role="status">{outcome}</span>}
      <Refused problem={problem} />
    </form>
  );
}

type Status = ReplyOf<'sunspec-client'>;

const tones: Readonly<Record<Status['state'], Tone>> = {
  connected: 'good',
  connecting: 'warn',
  error: 'bad',
  disabled: 'off',
};

/** The simulator as master of another SunSpec device. */
export const sunspecClientPage: Page = {
  path: 'sunspec-client',
  title: 'SunSpec client',
  whenOff: 'state',
  parts: [
    { path: 'state', title: 'State', component: ClientState },
    { path: 'samples', title: 'Samples', component: Samples },
  ],
};

export function ClientState() {
  const { data: status, problem } = useLive(get('sunspec-client'), 1000);
  if (!status) return <Refused problem={problem} />;
  const [id, index] = (param('model') ?? '').split('.').map(Number);
  const chosen = status.models.find((model) => model.id === id && model.index === (index ?? 0));
  return (
    <>
      <div class="grid">
        <Connection status={status} />
        <Polling status={status} />
        <State status={status} />
      </div>
      {status.models.length > 0 && (
        <Panel title="Models of the device" flush>
          <Table
            name="Models of the device"
            columns={[
              { title: 'Model', numeric: true, value: (model) => model.id },
              { title: 'Name', value: ({ name }) => name },
              { title: 'Label', cell: ({ label }) => label ?? 'no definition', value: ({ label }) => label },
              { title: 'Address', numeric: true, value: ({ address }) => address },
              { title: 'Length', numeric: true, value: ({ length }) => length },
            ]}
            rows={status.models}
            keyOf={(model) => `${model.id}.${model.index}`}
            selected={chosen ? `${chosen.id}.${chosen.index}` : null}
            onSelect={(model) => setParam('model', `${model.id}.${model.index}`)}
            height={240}
          />
        </Panel>
      )}
      {status.state === 'connected' && chosen && (
        <ClientModel key={`${chosen.id}.${chosen.index}`} id={chosen.id} index={chosen.index} />
      )}
    </>
  );
}

/** Body of the call from the values of the form: serial port and baud are members of `serial`. */
function connectBody({ path, baud, ...values }: Values): BodyOf<'sunspec-client/connect'> {
  const serial = path === undefined ? {} : { serial: { path, ...(baud !== undefined && { baud }) } };
  return { ...values, ...serial } as BodyOf<'sunspec-client/connect'>;
}

function Connection({ status }: { readonly status: Status }) {
  const { target } = status;
  return (
    <Panel
      title="Connection"
      tools={
        <Chip tone={tones[status.state]}>{status.state === 'disabled' ? 'not connected' : words(status.state)}</Chip>
      }
    >
      <div class="stack">
        <Form
          empties
          fields={[
            {
              kind: 'choice',
              name: 'transport',
              label: 'Transport',
              options: ['tcp', 'rtu'],
              value: target?.transport === 'rtu' ? 'rtu' : 'tcp',
            },
            { kind: 'text', name: 'host', label: 'Host', value: target?.host ?? '', placeholder: '127.0.0.1' },
            { kind: 'number', name: 'port', label: 'Port', value: target?.port ?? null, placeholder: '502' },
            { kind: 'number', name: 'unit_id', label: 'Unit id', value: target?.unit_id ?? null, placeholder: '1' },
            {
              kind: 'number',
              name: 'timeout_s',
              label: 'Timeout',
              unit: 's',
              value: target?.timeout_s ?? null,
              placeholder: '2',
            },
            {
              kind: 'number',
              name: 'base_address',
              label: 'Base address',
              value: target?.base_address ?? null,
              placeholder: 'tries all',
            },
            { kind: 'text', name: 'path', label: 'Serial port', value: target?.serial?.path ?? '', hint: 'rtu only' },
            { kind: 'number', name: 'baud', label: 'Baud', value: target?.serial?.baud ?? null, hint: 'rtu only' },
          ]}
          call={(values) => post('sunspec-client/connect', { body: connectBody(values) })}
          submit="Connect"
        />
        <div class="row">
          <Action call={post('sunspec-client/disconnect')} disabled={status.state === 'disabled'}>
            Disconnect
          </Action>
          <Action call={post('sunspec-client/scan')} disabled={status.state !== 'connected'}>
            Scan
          </Action>
        </div>
      </div>
    </Panel>
  );
}

function Polling({ status: { poll } }: { readonly status: Status }) {
  return (
    <Panel
      title="Polling"
      tools={<Chip tone={poll.enabled ? 'good' : 'off'}>{poll.enabled ? 'polls' : 'does not poll'}</Chip>}
    >
      <div class="stack">
        <Action call={post('sunspec-client/poll', { body: { enabled: !poll.enabled } })}>
          {poll.enabled ? 'Stop polling' : 'Start polling'}
        </Action>
        <Form
          empties
          fields={[
            { kind: 'number', name: 'interval_s', label: 'Interval', unit: 's', value: poll.interval_s },
            {
              kind: 'text',
              name: 'models',
              label: 'Models',
              value: poll.models?.join(' ') ?? '',
              placeholder: 'the models of the summary',
              hint: 'Ids, separated by spaces',
            },
          ]}
          call={({ interval_s, models }) =>
            post('sunspec-client/poll', {
              body: {
                ...(interval_s !== undefined && { interval_s: Number(interval_s) }),
                models:
                  models === undefined
                    ? null
                    : String(models)
                        .trim()
                        .split(/[\s,]+/)
                        .map(Number),
              },
            })
          }
          submit="Set"
        />
        <Facts
          rows={[
            ['Rounds', `${poll.rounds}, failed ${poll.failed_rounds}, late ${poll.late_rounds}`],
            ['Last round', `${wallTime(poll.last_poll)}, took ${duration(poll.last_duration_s)}`],
            poll.retry_in_s === null ? null : ['Next attempt', `in ${remaining(poll.retry_in_s)}`],
            ...poll.polled
              .filter(({ error }) => error !== null)
              .map(({ id, error }) => [`Model ${id}`, <span class="issue">{error}</span>] as const),
          ]}
        />
      </div>
    </Panel>
  );
}

function State({ status }: { readonly status: Status }) {
  const { summary, identity, counters } = status;
  return (
    <Panel title="Device">
      <Facts
        rows={[
          ['Endpoint', status.endpoint ?? dash],
          ['Manufacturer', identity?.manufacturer ?? dash],
          ['Model', identity?.model ?? dash],
          ['Serial number', identity?.serial_number ?? dash],
          ['Base address', status.base_address ?? dash],
          ['Active power', show(summary?.power_kw, 'activePower')],
          ['Voltage', show(summary?.voltage_ll_v ?? summary?.voltage_ln_v, 'voltage')],
          ['Frequency', show(summary?.frequency_hz, 'frequency')],
          ['State of charge', show(summary?.state_of_charge_pct, 'soc')],
          ['Inverter', words(summary?.inverter_state)],
          ['Requests', `${counters.requests}, errors ${counters.errors}, timeouts ${counters.timeouts}`],
          status.last_error === null
            ? null
            : [
                'Last error',
                <span key="error" class="issue">
                  {status.last_error}
                </span>,
              ],
          ...status.notes.map((note) => ['Note', note] as const),
        ]}
      />
    </Panel>
  );
}

function Samples() {
  const { data } = useLive(get('sunspec-client/history', { query: { limit: 200 } }), 2000);
  const samples = data && 'samples' in data ? data.samples : [];
  return (
    <Panel title="Samples" flush>
      {samples.length === 0 ? (
        <Empty>No sample yet: connect to a device and start polling.</Empty>
      ) : (
        <Table
          name="Samples"
          columns={[
            { title: 'Round', numeric: true, value: ({ tick }) => tick },
            { title: 'Wall time', cell: (row) => wallTime(row.wall_time), value: (row) => row.wall_time },
            {
              title: 'P',
              numeric: true,
              cell: (row) => show(row.power_kw, 'activePower'),
              value: (row) => row.power_kw,
            },
            {
              title: 'Q',
              numeric: true,
              cell: (row) => show(row.reactive_power_kvar, 'reactivePower'),
              value: (row) => row.reactive_power_kvar,
            },
            {
              title: 'V',
              numeric: true,
              cell: (row) => show(row.voltage_ll_v ?? row.voltage_ln_v, 'voltage'),
              value: (row) => row.voltage_ll_v ?? row.voltage_ln_v,
            },
            {
              title: 'f',
              numeric: true,
              cell: (row) => show(row.frequency_hz, 'frequency'),
              value: (row) => row.frequency_hz,
            },
            { title: 'Inverter', cell: (row) => words(row.inverter_state), value: (row) => row.inverter_state },
          ]}
          rows={samples}
          keyOf={({ tick }) => tick}
          height={240}
          follow
        />
      )}
    </Panel>
  );
}
