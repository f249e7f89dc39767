/** Forms for the values of a function besides its curves, from its request schema; only changed values are sent. */
import { useState } from 'preact/hooks';
import { anyCall } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Refused, useDo } from '../../../kit/action';
import { FormFrame, submitting, typedSince } from '../../../kit/form';
import { Panel } from '../../../kit/panel';
import { objectOf, SchemaFields } from '../../../kit/schema-form';
import type { Schema, Typed } from '../../../kit/schema-form';
import { useSchema } from '../../../store/schemas';
import { pathOf, labelled } from './functions';
import type { FunctionEntry, Settings } from './functions';
import { registerOfMember, registerValue, adoptionIssue, registerOf, stageCall } from './sets';
import type { SetEntry } from './sets';

/** Members set elsewhere: by the switch in the list of functions, in curve editors, or in separate panels. */
const elsewhere: ReadonlySet<string> = new Set(
  'enabled points must_trip may_trip momentary_cessation inject absorb db_uf_hz db_of_hz k_uf k_of'.split(' '),
);

/** `volt_var` becomes `VoltVarRequest`. */
function schemaName(name: string): string {
  return `${name.replace(/(^|_)(\w)/g, (_all, _line, letter: string) => letter.toUpperCase())}Request`;
}

/** Values as texts of the form, by pointer. */
function textsOf(schema: Schema, values: Settings, under = ''): Typed {
  const texts: Record<string, string | null> = {};
  for (const [member, inner] of Object.entries(schema.properties ?? {})) {
    const value = values[member];
    const pointer = `${under}/${member}`;
    if (inner.properties) Object.assign(texts, textsOf(inner, (value ?? {}) as Settings, pointer));
    else if (value === null) texts[pointer] = null;
    else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      texts[pointer] = String(value);
  }
  return texts;
}

interface ValuesFormProps {
  /** labelled schema of the members */
  readonly schema: Schema;
  /** values in force */
  readonly values: Settings;
  readonly submit: string;
  readonly call: (changed: Settings) => Call;
  /** pointer to a member in the request; absent: as in the form */
  readonly pointerOf?: (pointer: string) => string;
  /** objection to a value in force, shown while the value is not edited */
  readonly standingIssue?: (pointer: string) => string | null;
}

/** Fields that follow the values in force until edited. */
export function ValuesForm({ schema, values, submit, call, pointerOf, standingIssue }: ValuesFormProps) {
  const [typed, setTyped] = useState<Typed>({});
  const [cleared, setCleared] = useState<readonly string[]>([]);
  const [done, setDone] = useState(false);
  const { busy, problem, run } = useDo();
  const start = textsOf(schema, values);
  const changed = Object.fromEntries(
    Object.entries(typed).filter(([pointer, text]) => text !== start[pointer] && !(text === '' && !start[pointer])),
  );
  const request = call(objectOf(schema, changed));
  const send = async () => {
    const empty = Object.keys(changed).filter((pointer) => changed[pointer] === '');
    setCleared(empty);
    if (empty.length > 0 || (await run(request)) === undefined) return;
    setTyped((present) => typedSince(present, typed));
    setDone(true);
  };
  const issueOf = (pointer: string) =>
    cleared.includes(pointer) && typed[pointer] === ''
      ? 'must have a value'
      : (problem?.about(pointerOf?.(pointer) ?? pointer) ??
        (pointer in changed ? null : (standingIssue?.(pointer) ?? null)));
  const type = (pointer: string, text: string | null) => {
    setDone(false);
    setTyped((before) => ({ ...before, [pointer]: text }));
  };
  return (
    <FormFrame
      onSubmit={submitting(send)}
      submit={submit}
      call={request}
      busy={busy}
      problem={problem}
      done={done}
      disabled={Object.keys(changed).length === 0}
    >
      <SchemaFields
        schema={schema}
        start={start}
        typed={typed}
        onTyped={type}
        onNone={(pointer) => type(pointer, null)}
        issueOf={issueOf}
      />
    </FormFrame>
  );
}

interface FunctionValuesProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly settings: Settings;
}

/** The values of the set in force, and those for the other direction of power where a function has separate ones. */
export function FunctionValues({ device, entry, settings }: FunctionValuesProps) {
  const { schema, problem } = useSchema(schemaName(entry.name));
  if (!schema) return <Refused problem={problem} />;
  const path = `grid-support/${pathOf(entry.name)}`;
  const valuesSchema = labelled(schema, (member) => !elsewhere.has(member) && member in settings);
  const absorb = settings['absorb'] as Settings | undefined;
  const absorbSchema = schema.properties?.['absorb'];
  const title = entry.kind === 'values' ? entry.title : 'Values';
  return (
    <>
      <Panel title={title}>
        {Object.keys(valuesSchema.properties ?? {}).length > 0 ? (
          <ValuesForm
            key={`${device} ${entry.name}`}
            schema={valuesSchema}
            values={settings}
            submit="Apply values"
            call={(changed) => anyCall('POST', path, { device }, changed)}
          />
        ) : (
          <p class="muted">This function has no values besides its switch.</p>
        )}
      </Panel>
      {absorb?.['supported'] === true && absorbSchema && (
        <Panel title={`${title}, while absorbing power`}>
          <ValuesForm
            key={`${device} ${entry.name} absorb`}
            schema={labelled(absorbSchema, () => true)}
            values={absorb}
            submit="Apply values"
            call={(changed) => anyCall('POST', path, { device }, { absorb: changed })}
            pointerOf={(pointer) => `/absorb${pointer}`}
          />
        </Panel>
      )}
    </>
  );
}

type SetValuesProps = FunctionValuesProps & { readonly set: SetEntry | null };

/** Values of the set being edited: set 1 changes at once, a stored one by its registers. */
export function SetValues({ device, entry, settings, set }: SetValuesProps) {
  const { schema } = useSchema(schemaName(entry.name));
  if (set === null) return <FunctionValues device={device} entry={entry} settings={settings} />;
  if (!schema) return null;
  const registerAt = (pointer: string) => registerOf(entry, set, registerOfMember(pointer.slice(1)) ?? '');
  return (
    <Panel title={`Values of set ${set.number}`}>
      <ValuesForm
        schema={labelled(schema, (member) => !elsewhere.has(member) && member in set)}
        values={set}
        submit="Stage values"
        call={(changed) =>
          stageCall(
            device,
            entry,
            set,
            Object.fromEntries(
              Object.entries(changed).map(([member, value]) => [
                registerOfMember(member) ?? member,
                registerValue(value),
              ]),
            ),
          )
        }
        pointerOf={(pointer) => `/points/${registerAt(pointer)}`}
        standingIssue={(pointer) => adoptionIssue(entry, set, registerAt(pointer))}
      />
    </Panel>
  );
}
