import { useState } from 'preact/hooks';
import { anyCall, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action, Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { FieldInput, Form } from '../../../kit/form';
import { Chip, Facts, Panel } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';
import { dash, duration, fixed, remaining, wallDate, wallTime } from '../../../look/format';

export type ChargePoint = NonNullable<ReplyOf<'ocpp'>['charge_points'][number]>;

export interface PartProps {
  readonly status: ChargePoint;
}

/** Colour of a state of the connection. */
export function connectionTone(state: ChargePoint['connection_state']): Tone {
  if (state === 'connected') return 'good';
  if (state === 'connecting') return 'warn';
  return state === 'disabled' ? 'off' : 'bad';
}

/** `for 12 min` */
function forSpan(since: string | null): string {
  return since === null ? dash : `for ${duration(Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000)))}`;
}

type Answer = ReplyOf<'ocpp/{id}/call', 'post'>;

/** State of the connection, its actions, and arbitrary calls. */
export function Connection({ status }: PartProps) {
  const params = { id: status.id };
  const [answer, setAnswer] = useState<Answer | null>(null);
  const showAnswer = (received: unknown) => setAnswer(received as Answer);
  return (
    <div class="grid">
      <Panel title="State">
        <div class="stack">
          <Facts
            rows={[
              ['Connection', <Chip tone={connectionTone(status.connection_state)}>{status.connection_state}</Chip>],
              ['Boot', status.boot_status],
              ['Central system', status.url ?? dash],
              ['Version', `${status.version}, subprotocol ${status.subprotocol ?? dash}`],
              ['Security profile', status.security_profile],
              ['TLS', status.tls === null ? dash : `${status.tls.version} ${status.tls.cipher}`],
              ['Connected', <span title={wallDate(status.connected_since)}>{forSpan(status.connected_since)}</span>],
              ['Next attempt', status.reconnect_in_s === null ? dash : `in ${remaining(status.reconnect_in_s)}`],
              [
                'Heartbeat',
                status.heartbeat_interval_s === null ? dash : `every ${duration(status.heartbeat_interval_s)}`,
              ],
              ['Last heartbeat', wallTime(status.last_heartbeat_at)],
              ['Queued', `${status.queue.calls} calls, ${status.queue.transaction_messages} transaction messages`],
              ['Clock offset', status.clock_offset_s === null ? dash : `${fixed(status.clock_offset_s, 1)} s`],
              ['Last error', status.last_error ?? dash],
            ]}
          />
          <div class="row">
            <Action call={post('ocpp/{id}/heartbeat', { params })} onDone={showAnswer}>
              Heartbeat
            </Action>
            <Action call={post('ocpp/{id}/disconnect', { params, body: {} })}>Disconnect</Action>
          </div>
          <Form
            fields={[{ kind: 'text', name: 'reason', label: 'Reason', hint: 'OCPP 2.x only' }]}
            submit="Boot"
            call={(values) => post('ocpp/{id}/boot', { params, body: values })}
            onDone={showAnswer}
          />
        </div>
      </Panel>
      <Connect status={status} />
      <AnyCall status={status} onAnswer={setAnswer} />
      {answer && (
        <Panel title="Answer" wide>
          <p>
            <Chip tone={answer.error ? 'bad' : 'good'}>{answer.error ? answer.error.code : 'result'}</Chip>{' '}
            {answer.action} <code>{answer.message_id}</code>, {fixed(answer.duration_ms, 0)} ms
          </p>
          <pre data-test="answer">{JSON.stringify(answer.error ?? answer.result, null, 2)}</pre>
        </Panel>
      )}
    </div>
  );
}

function Connect({ status }: PartProps) {
  const path = `ocpp/${encodeURIComponent(status.id)}/connect`;
  const [round, setRound] = useState(0);
  return (
    <Panel title="Connect">
      <Form
        // a new form after success, so that the password does not stay in the page
        key={round}
        fields={[
          {
            kind: 'text',
            name: 'url',
            label: 'Central system',
            value: status.url ?? '',
            placeholder: 'ws://host:port/path',
          },
          {
            kind: 'choice',
            name: 'security_profile',
            label: 'Security profile',
            options: ['0', '1', '2', '3'],
            value: String(status.security_profile),
          },
          { kind: 'text', name: 'password', label: 'Password', secret: true, hint: 'Never shown again' },
        ]}
        submit="Connect"
        onDone={() => setRound(round + 1)}
        call={({ security_profile: profile, ...rest }) =>
          anyCall('POST', path, {}, { ...rest, ...(profile !== undefined && { security_profile: Number(profile) }) })
        }
      />
    </Panel>
  );
}

/** Timeout of an OCPP call, s, below the timeout of requests of the page. */
const callTimeoutS = 10;

/** The text as a JSON object. null: it is none. */
function payloadOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function AnyCall({ status, onAnswer }: PartProps & { readonly onAnswer: (answer: Answer) => void }) {
  const [action, setAction] = useState('DataTransfer');
  const [text, setText] = useState('{\n  "vendorId": "derbench"\n}');
  const [validate, setValidate] = useState(true);
  const { busy, problem, run } = useDo<Answer>();
  const payload = payloadOf(text);
  const call = post('ocpp/{id}/call', {
    params: { id: status.id },
    body: { action, payload: payload ?? {}, validate, timeout_s: callTimeoutS },
  });
  const send = async () => {
    const answer = await run(call);
    if (answer) onAnswer(answer);
  };
  return (
    <Panel title="Send a message" wide>
      <div class="stack">
        <FieldInput
          field={{ kind: 'text', name: 'action', label: 'Action' }}
          typed={action}
          issue={problem?.about('/action') ?? null}
          onTyped={(value) => setAction(String(value))}
        />
        <FieldInput
          field={{ kind: 'text', name: 'payload', label: 'Payload (JSON)', lines: 6 }}
          typed={text}
          issue={payload === null ? 'The payload must be a JSON object.' : (problem?.about('/payload') ?? null)}
          onTyped={(value) => setText(String(value))}
        />
        <FieldInput
          field={{ kind: 'check', name: 'validate', label: 'Check the payload against the schema' }}
          typed={validate}
          issue={null}
          onTyped={(value) => setValidate(value === true)}
        />
        <div class="row">
          <button type="button" class="primary" disabled={busy || payload === null} onClick={() => void send()}>
            Send
          </button>
          <CallLine call={call} />
        </div>
        <Refused problem={problem} />
      </div>
    </Panel>
  );
}
