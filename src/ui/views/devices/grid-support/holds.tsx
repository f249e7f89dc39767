import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import { Action, Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { FieldInput } from '../../../kit/form';
import { Chip, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { remaining, sourceName, timeOfDay, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { say } from '../../../kit/notice';

/** Values by point, from lines such as `704.WMaxLimPct = 30`. */
function parseValues(text: string): Record<string, string | number> {
  const lines = text.split('\n').filter((line) => line.includes('='));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split('=').map((part) => part.trim());
      return [name, value !== '' && Number.isFinite(Number(value)) ? Number(value) : value];
    }),
  );
}

function Begin({ device }: { readonly device: number }) {
  const [id, setId] = useState('peak-1');
  const [text, setText] = useState('704.WMaxLimPct = 30\n704.WMaxLimPctEna = ENABLED');
  const [duration, setDuration] = useState('60');
  const { busy, problem, run } = useDo();
  const body = { id, values: parseValues(text), duration_s: Number(duration) };
  const begin = post('controls/holds', { query: { device }, body });
  const check = post('controls/holds/check', { query: { device }, body });
  return (
    <Panel title="Begin a hold">
      <form class="form" noValidate onSubmit={(event) => (event.preventDefault(), void run(begin))}>
        <FieldInput
          field={{ kind: 'text', name: 'id', label: 'Id' }}
          typed={id}
          issue={problem?.about('/id') ?? null}
          onTyped={(v) => setId(String(v))}
        />
        <FieldInput
          field={{ kind: 'text', name: 'values', label: 'Points, one per line', lines: 4, hint: 'model.point = value' }}
          typed={text}
          issue={problem?.about('/values') ?? null}
          onTyped={(v) => setText(String(v))}
        />
        <FieldInput
          field={{ kind: 'number', name: 'duration_s', label: 'Duration', unit: 's' }}
          typed={duration}
          issue={problem?.about('/duration_s') ?? null}
          onTyped={(v) => setDuration(String(v))}
        />
        <div class="row">
          <button class="primary" disabled={busy}>
            Begin hold
          </button>
          <CallLine call={begin} />
          <button
            type="button"
            onClick={() => void run(check).then((answer) => answer !== undefined && say('The hold could begin now.'))}
          >
            Check
          </button>
        </div>
        <Refused problem={problem} />
      </form>
    </Panel>
  );
}

/** Timed controls: active and ended ones, and a form for a new one. */
export function Holds({ device }: { readonly device: number }) {
  const holds = useLive(get('controls/holds', { query: { device } })).data?.holds ?? [];
  return (
    <div class="stack">
      <Panel title="Holds" flush>
        <Table
          name="Holds"
          rows={holds}
          keyOf={(hold) => `${hold.id} ${hold.begun_at}`}
          empty="No hold yet: begin one below, or by POST controls/holds."
          columns={[
            { title: 'Id', value: (hold) => hold.id },
            {
              title: 'State',
              cell: (hold) => (
                <Chip tone={hold.state === 'active' ? 'good' : hold.state === 'waiting' ? 'warn' : 'off'}>
                  {words(hold.reason ?? hold.state)}
                </Chip>
              ),
              value: (hold) => hold.reason ?? hold.state,
            },
            {
              title: 'Points',
              cell: (hold) =>
                hold.points.map(({ name, value, base, overwritten }) => (
                  <div
                    key={name}
                  >{`${name} = ${value ?? '–'} (before: ${base ?? '–'})${overwritten ? ', overwritten' : ''}`}</div>
                )),
            },
            {
              title: 'Writer',
              cell: (hold) => `${sourceName(hold.writer.source)} ${timeOfDay(hold.begun_at)}`,
              value: (hold) => hold.begun_at,
            },
            {
              title: 'Remaining',
              numeric: true,
              cell: (hold) => remaining(hold.remaining_s),
              value: (hold) => hold.remaining_s,
            },
            {
              title: 'End',
              cell: (hold) =>
                hold.state === 'ended' ? (
                  timeOfDay(hold.ended_at)
                ) : (
                  <Action call={post('controls/holds/{id}/end', { params: { id: hold.id }, query: { device } })}>
                    End hold
                  </Action>
                ),
            },
          ]}
        />
      </Panel>
      <Begin device={device} />
    </div>
  );
}
