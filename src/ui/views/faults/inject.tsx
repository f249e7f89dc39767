import { submitting } from '../../kit/form';
import { useState } from 'preact/hooks';
import { anyCall, get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Curl, Refused, useDo } from '../../kit/action';
import { deviceLabel } from '../../kit/device-picker';
import { Empty, Panel } from '../../kit/panel';
import { objectOf, SchemaFields } from '../../kit/schema-form';
import type { Schema } from '../../kit/schema-form';
import { words } from '../../look/format';
import { useLive } from '../../store/live';
import { say } from '../../store/notices';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';

type Kind = ReplyOf<'faults/kinds'>['kinds'][number];

const timing: Schema = {
  type: 'object',
  properties: {
    duration_s: { type: 'number', unit: 's', description: 'Ends after so long; default never.' },
    count: { type: 'integer', description: 'Ends after so many strikes; default never.' },
    probability: { type: 'number', default: 1, description: 'Of a strike at an occasion, above 0 and up to 1.' },
    every: { type: 'integer', default: 1, description: 'Strikes only at every n-th occasion.' },
    seed: { type: 'integer', description: 'Of its random numbers.' },
    when: {
      type: 'object',
      description: 'The fault acts only while this holds.',
      properties: {
        point: { type: 'string', description: 'Observed point, for example 701.W.' },
        below: { type: 'number', description: 'In the unit of the point.' },
        above: { type: 'number', description: 'In the unit of the point.' },
        equals: { anyOf: [{ type: 'number' }, { type: 'string' }], description: 'Enumerations by name or number.' },
      },
    },
  },
};

const idOf = ({ protocol, kind }: Kind) => `${protocol}.${kind}`;

/** Chooses a kind of the catalogue, and injects it. */
export function InjectPanel() {
  const kinds = useLive(get('faults/kinds'), 'once').data?.kinds;
  const chosen = kinds?.find((kind) => idOf(kind) === param('fault')) ?? kinds?.[0];
  if (!kinds || !chosen) return <Empty>Reading the catalogue of faults.</Empty>;
  const protocols = [...new Set(kinds.map(({ protocol }) => protocol))];
  return (
    <Panel title="Inject a fault">
      <div class="stack faults-form">
        <div class="row">
          <label class="row">
            <span class="muted">Protocol</span>
            <select
              value={chosen.protocol}
              onChange={(event) => {
                const first = kinds.find(({ protocol }) => protocol === event.currentTarget.value);
                if (first) setParam('fault', idOf(first));
              }}
            >
              {protocols.map((protocol) => (
                <option key={protocol} value={protocol}>
                  {protocol}
                </option>
              ))}
            </select>
          </label>
          <label class="row">
            <span class="muted">Kind</span>
            <select
              value={chosen.kind}
              onChange={(event) => setParam('fault', `${chosen.protocol}.${event.currentTarget.value}`)}
            >
              {kinds
                .filter(({ protocol }) => protocol === chosen.protocol)
                .map(({ kind }) => (
                  <option key={kind} value={kind}>
                    {words(kind)}
                  </option>
                ))}
            </select>
          </label>
        </div>
        <p data-test="fault-description">
          {chosen.description} <span class="muted">Acts on: {words(chosen.layer)}.</span>
        </p>
        <KindForm key={idOf(chosen)} kind={chosen} />
      </div>
    </Panel>
  );
}

function KindForm({ kind }: { readonly kind: Kind }) {
  const devices = useOverview()?.devices ?? [];
  const first = useDevice();
  const [where, setWhere] = useState<string | null>(null);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const { busy, problem, run } = useDo();
  const parameters = kind.parameters_schema as Schema;
  const target = kind.target_schema as Schema;
  const device = where ?? String(first?.device_index ?? 0);
  const call = anyCall(
    'POST',
    'faults',
    {},
    {
      inject: [
        {
          protocol: kind.protocol,
          kind: kind.kind,
          device: /^\d+$/.test(device) ? Number(device) : device,
          ...objectOf(parameters, typed),
          ...objectOf(target, typed),
          ...objectOf(timing, typed),
        },
      ],
    },
  );
  const issueOf = (pointer: string) => problem?.about(`/inject/0${pointer}`) ?? null;
  const fields = (schema: Schema) => (
    <SchemaFields
      schema={schema}
      typed={typed}
      onTyped={(pointer, text) => setTyped((before) => ({ ...before, [pointer]: text }))}
      issueOf={issueOf}
    />
  );
  const send = async () => {
    if ((await run(call)) !== undefined) say(`${words(kind.kind)} is in force`);
  };
  return (
    <form class="form" noValidate onSubmit={submitting(send)}>
      <label class="row">
        <span class="muted">Device</span>
        <select name="/device" value={device} onChange={(event) => setWhere(event.currentTarget.value)}>
          <option value="all">all devices</option>
          {kind.protocol === 'modbus' && <option value="meter">meter of the connection point</option>}
          {devices.map((entry) => (
            <option key={entry.device_index} value={String(entry.device_index)}>
              {deviceLabel(entry)}
            </option>
          ))}
        </select>
      </label>
      {issueOf('/device') !== null && <small class="issue">{issueOf('/device')}</small>}
      {Object.keys(parameters.properties ?? {}).length > 0 && <h3>Parameters</h3>}
      {fields(parameters)}
      {Object.keys(target.properties ?? {}).length > 0 && <h3>Only at</h3>}
      {fields(target)}
      <details>
        <summary>When and how often</summary>
        {fields(timing)}
      </details>
      <div class="row">
        <button class="primary" disabled={busy}>
          Inject
        </button>
        <Curl call={call} />
      </div>
      <Refused problem={problem} />
    </form>
  );
}
