/** A fault of any kind of the catalogue, with all its parameters. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { anyCall, get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { useDo } from '../../../kit/action';
import { FormFrame, submitting } from '../../../kit/form';
import { say } from '../../../kit/notice';
import { Empty, Panel } from '../../../kit/panel';
import { objectOf, SchemaFields } from '../../../kit/schema-form';
import type { Schema } from '../../../kit/schema-form';
import { words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { useFaultSchema } from '../../../store/schemas';
import { protocolTitles } from './ready-made';
import { useFaultTarget } from './target';

type Kind = ReplyOf<'faults/kinds'>['kinds'][number];

const idOf = ({ protocol, kind }: Kind) => `${protocol}.${kind}`;

/** Chooses a kind of the catalogue, and injects a fault of this kind. */
export function InjectPanel() {
  const kinds = useLive(get('faults/kinds'), 'once').data?.kinds;
  const kindOfPage = kinds?.find((kind) => idOf(kind) === param('fault')) ?? kinds?.[0];
  const box = useRef<HTMLDivElement>(null);
  const [isLinked] = useState(param('fault') !== null);
  const isRead = kinds !== undefined;
  // a link to a fault leads to its form, which is below the ready-made ones
  useEffect(() => {
    if (isLinked && isRead) box.current?.scrollIntoView();
  }, [isRead]);
  if (!kinds || !kindOfPage) return <Empty>Reading the catalogue of faults.</Empty>;
  const protocols = [...new Set(kinds.map(({ protocol }) => protocol))];
  return (
    <div ref={box}>
      <Panel title="Make one">
        <div class="stack faults-form">
          <div class="row">
            <label class="row">
              <span class="muted">Protocol</span>
              <select
                value={kindOfPage.protocol}
                onChange={(event) => {
                  const firstKind = kinds.find(({ protocol }) => protocol === event.currentTarget.value);
                  if (firstKind) setParam('fault', idOf(firstKind));
                }}
              >
                {protocols.map((protocol) => (
                  <option key={protocol} value={protocol}>
                    {protocolTitles[protocol]}
                  </option>
                ))}
              </select>
            </label>
            <label class="row">
              <span class="muted">Kind</span>
              <select
                value={kindOfPage.kind}
                onChange={(event) => setParam('fault', `${kindOfPage.protocol}.${event.currentTarget.value}`)}
              >
                {kinds
                  .filter(({ protocol }) => protocol === kindOfPage.protocol)
                  .map(({ kind }) => (
                    <option key={kind} value={kind}>
                      {words(kind)}
                    </option>
                  ))}
              </select>
            </label>
          </div>
          <p data-test="fault-description">
            {kindOfPage.description} <span class="muted">Acts on: {words(kindOfPage.layer)}.</span>
          </p>
          <KindForm key={idOf(kindOfPage)} kind={kindOfPage} />
        </div>
      </Panel>
    </div>
  );
}

/** Schema of the timing of a fault: all members except its parameters and target. */
function timingOf(whole: Schema | undefined, { parameters_schema, target_schema }: Kind): Schema {
  const { properties: parameters = {} } = parameters_schema as Schema;
  const { properties: targets = {} } = target_schema as Schema;
  const others = new Set([...Object.keys(parameters), ...Object.keys(targets), 'protocol', 'kind', 'device']);
  const properties = Object.entries(whole?.properties ?? {}).filter(([name]) => !others.has(name));
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function KindForm({ kind }: { readonly kind: Kind }) {
  const device = useFaultTarget();
  const { schema: whole, problem: readProblem } = useFaultSchema(kind.protocol, kind.kind);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const { busy, problem, run } = useDo();
  const parameters = kind.parameters_schema as Schema;
  const target = kind.target_schema as Schema;
  const timing = timingOf(whole, kind);
  const body = {
    protocol: kind.protocol,
    kind: kind.kind,
    device,
    ...objectOf(parameters, typed),
    ...objectOf(target, typed),
    ...objectOf(timing, typed),
  };
  const call = anyCall('POST', 'faults', {}, { inject: [body] });
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
    <FormFrame onSubmit={submitting(send)} submit="Inject" call={call} busy={busy} problem={problem ?? readProblem}>
      {issueOf('/device') !== null && <small class="issue">New faults act on: {issueOf('/device')}</small>}
      {Object.keys(parameters.properties ?? {}).length > 0 && <h3>Parameters</h3>}
      {fields(parameters)}
      {Object.keys(target.properties ?? {}).length > 0 && <h3>Restricted to</h3>}
      {fields(target)}
      <details>
        <summary>When and how often</summary>
        {fields(timing)}
      </details>
    </FormFrame>
  );
}
