/**
 * Forms from the JSON Schemas of the API description. Input stays text until it is sent, and the daemon validates it.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { words, termOf, withUnit } from '../look/format';
import { FieldInput, FormFrame, submitting } from './form';
import type { Field } from './form';
import type { Call } from '../api/call';
import { useDo } from './action';

/** The part of JSON Schema that the API description uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  /** of a text; PEM has lines, which an input of one line would drop */
  readonly contentMediaType?: string;
  /** of a secret: masked while typed */
  readonly writeOnly?: boolean;
  /** label, in place of one derived from the name */
  readonly title?: string;
  /** extension of JSON Schema: shown after the label */
  readonly unit?: string;
  /** extension of JSON Schema: texts of the options of an `enum` */
  readonly optionTexts?: Readonly<Record<string, string>>;
}

const pemType = 'application/x-pem-file';

/** Texts by JSON pointer, such as `/when/point`; an empty text counts as absent, null is sent as null. */
export type Typed = Readonly<Record<string, string | null>>;

type Shape =
  | { readonly kind: 'number' | 'text' | 'boolean' | 'group' | 'json' }
  | { readonly kind: 'choice' | 'choices'; readonly options: readonly string[] }
  /** @prop single: a single value is sent without an array */
  | { readonly kind: 'list'; readonly item: Schema; readonly single: boolean };

function typesOf({ type, anyOf, enum: options }: Schema): readonly string[] {
  if (anyOf) return anyOf.flatMap(typesOf);
  if (typeof type === 'string') return [type];
  return type ?? (options?.every((option) => typeof option === 'string') ? ['string'] : []);
}

const isNumeric = (type: string) => type === 'number' || type === 'integer';

/** The values of an enumeration, also of one split into alternatives. */
function optionsOf({ enum: options, anyOf = [] }: Schema): readonly unknown[] | undefined {
  if (options || anyOf.length === 0) return options;
  return anyOf.every((part) => part.enum) ? anyOf.flatMap((part) => part.enum ?? []) : undefined;
}

function shapeOf(schema: Schema): Shape {
  const types = typesOf(schema).filter((type) => type !== 'null');
  const isSimple = types.every((type) => ['string', 'number', 'integer', 'boolean'].includes(type));
  const options = optionsOf(schema);
  if (options) return { kind: 'choice', options: options.filter((option) => option !== null).map(String) };
  const list = schema.items ? schema : schema.anyOf?.find(({ items }) => items !== undefined);
  if (list?.items) {
    const others = types.filter((type) => type !== 'array');
    const item = shapeOf(list.items);
    if (item.kind === 'choice' && others.length === 0) return { kind: 'choices', options: item.options };
    if (item.kind === 'group' || item.kind === 'json' || others.includes('object')) return { kind: 'json' };
    return { kind: 'list', item: list.items, single: others.length > 0 };
  }
  if (schema.properties && !schema.anyOf) return { kind: 'group' };
  if (types.length === 0 || !isSimple) return { kind: 'json' };
  if (types.length === 1 && types[0] === 'boolean') return { kind: 'boolean' };
  return { kind: types.every(isNumeric) ? 'number' : 'text' };
}

function scalarOf(schema: Schema, text: string): unknown {
  const types = typesOf(schema);
  if ((types.includes('number') || types.includes('integer')) && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function valueOf(schema: Schema, text: string): unknown {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'choices':
      return partsOf(text);
    case 'list': {
      const values = partsOf(text).map((part) => scalarOf(shape.item, part));
      return shape.single && values.length === 1 ? values[0] : values;
    }
    case 'json':
    // a group inside another group is entered as JSON
    case 'group':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        // sent as text, so that the daemon explains the expected form
        return text;
      }
    default:
      return scalarOf(schema, text);
  }
}

/** Builds the object from the texts; empty members are absent. */
export function objectOf(schema: Schema, typed: Typed, under = ''): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const pointer = `${under}/${name}`;
    if (shapeOf(member).kind === 'group' && under === '') {
      const group = objectOf(member, typed, pointer);
      if (Object.keys(group).length > 0) members[name] = group;
      continue;
    }
    const text = typed[pointer];
    if (text === null) members[name] = null;
    else if (text !== undefined && text !== '') members[name] = valueOf(member, text);
  }
  return members;
}

/** `Duration, s`: title and unit of the schema, otherwise derived from the name. */
export function labelOf(name: string, schema: Schema): string {
  const isNumber = [schema, ...(schema.anyOf ?? [])].some((each) => typesOf(each.items ?? each).some(isNumeric));
  const term = termOf(name, isNumber);
  return withUnit({ term: schema.title ?? term.term, unit: schema.unit ?? term.unit });
}

function hintOf(schema: Schema, shape: Shape): string {
  const { minimum, maximum } = schema;
  // the label shows the unit
  const description = schema.description?.replace(/^Unit: [^.]*\.\s*/, '').replaceAll('`', '');
  const parts = [description ?? ''];
  if (shape.kind === 'number' && minimum !== undefined && maximum !== undefined && !/ to /.test(description ?? ''))
    parts.push(`From ${minimum} to ${maximum}.`);
  if (shape.kind === 'list') parts.push('Separate several values by commas.');
  if (shape.kind === 'json' || shape.kind === 'group') parts.push('As JSON.');
  return parts.filter((part) => part !== '').join(' ');
}

/** @param present current value, with which a choice needs no empty option */
function fieldOf(pointer: string, name: string, schema: Schema, required: boolean, present?: string | null): Field {
  const shape = shapeOf(schema);
  const hint = hintOf(schema, shape);
  const base = {
    name: pointer,
    label: `${labelOf(name, schema)}${required ? ' (required)' : ''}`,
    ...(hint !== '' && { hint }),
    ...(schema.writeOnly && { secret: true }),
  };
  const { default: preset } = schema;
  const chosen = present ? { value: present } : {};
  const placeholder =
    typeof preset === 'string' || typeof preset === 'number' || typeof preset === 'boolean' ? String(preset) : '';
  switch (shape.kind) {
    case 'number':
      return { ...base, kind: 'number', placeholder, ...rangeOf(schema) };
    case 'boolean':
      return { ...base, ...chosen, kind: 'choice', options: [['true', 'yes'] as const, ['false', 'no'] as const] };
    case 'choice':
      return {
        ...base,
        ...chosen,
        kind: 'choice',
        options: shape.options.map((option) => [option, schema.optionTexts?.[option] ?? words(option)] as const),
      };
    case 'json':
    case 'group':
      return { ...base, kind: 'text', lines: 3 };
    default:
      return { ...base, kind: 'text', placeholder, ...(schema.contentMediaType === pemType && { lines: 6 }) };
  }
}

function rangeOf({ minimum, maximum }: Schema): { readonly min?: number; readonly max?: number } {
  return { ...(minimum !== undefined && { min: minimum }), ...(maximum !== undefined && { max: maximum }) };
}

interface SchemaFieldsProps {
  readonly schema: Schema;
  readonly typed: Typed;
  readonly onTyped: (pointer: string, text: string) => void;
  /** present values, shown until edited */
  readonly start?: Typed;
  /** sets a nullable member to null; absent: the form has no control for null */
  readonly onNone?: (pointer: string) => void;
  /** the daemon's objection to the member at a pointer */
  readonly issueOf: (pointer: string) => string | null;
  /** pointer of this object in the form */
  readonly under?: string;
}

/** The fields of an object. Nested objects are groups, one level deep; deeper ones are JSON text. */
export function SchemaFields(props: SchemaFieldsProps) {
  const { schema, under = '' } = props;
  return (
    <div class="fields">
      {Object.entries(schema.properties ?? {}).map(([name, member]) => {
        const pointer = `${under}/${name}`;
        if (shapeOf(member).kind === 'group' && under === '')
          return (
            <fieldset key={pointer}>
              <legend>{labelOf(name, member)}</legend>
              {member.description !== undefined && <small>{member.description}</small>}
              <SchemaFields {...props} schema={member} under={pointer} />
            </fieldset>
          );
        return <MemberField {...props} key={pointer} name={name} member={member} pointer={pointer} />;
      })}
    </div>
  );
}

type MemberProps = SchemaFieldsProps & { readonly name: string; readonly member: Schema; readonly pointer: string };

function MemberField({ schema, typed, start = {}, onTyped, onNone, issueOf, name, member, pointer }: MemberProps) {
  const required = schema.required?.includes(name) ?? false;
  const shape = shapeOf(member);
  const text = pointer in typed ? typed[pointer] : start[pointer];
  if (shape.kind === 'choices')
    return (
      <Choices
        pointer={pointer}
        label={`${labelOf(name, member)}${required ? ' (required)' : ''}`}
        hint={member.description ?? ''}
        options={shape.options}
        typed={text ?? ''}
        issue={issueOf(pointer)}
        onTyped={(next) => onTyped(pointer, next)}
      />
    );
  const field = (
    <FieldInput
      field={fieldOf(pointer, name, member, required, start[pointer])}
      typed={text ?? ''}
      issue={issueOf(pointer)}
      onTyped={(next) => onTyped(pointer, String(next))}
    />
  );
  if (onNone === undefined || !typesOf(member).includes('null')) return field;
  return (
    <div>
      {field}
      <label class="field check">
        <input
          type="checkbox"
          name={`${pointer}/none`}
          aria-label={`No ${labelOf(name, member).toLowerCase()}`}
          checked={text === null}
          onChange={(event) => (event.currentTarget.checked ? onNone(pointer) : onTyped(pointer, ''))}
        />
        none
      </label>
    </div>
  );
}

interface ChoicesProps {
  readonly pointer: string;
  readonly label: string;
  readonly hint: string;
  readonly options: readonly string[];
  readonly typed: string;
  readonly issue: string | null;
  readonly onTyped: (text: string) => void;
}

/** A choice of several values. */
function Choices({ pointer, label, hint, options, typed, issue, onTyped }: ChoicesProps) {
  const selection = partsOf(typed);
  const toggle = (option: string, on: boolean) =>
    onTyped(options.filter((other) => (other === option ? on : selection.includes(other))).join(','));
  return (
    <fieldset>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option} class="field check">
          <input
            type="checkbox"
            name={`${pointer}/${option}`}
            checked={selection.includes(option)}
            onChange={(event) => toggle(option, event.currentTarget.checked)}
          />
          {words(option)}
        </label>
      ))}
      {hint !== '' && <small>{hint}</small>}
      {issue !== null && <small class="issue">{issue}</small>}
    </fieldset>
  );
}

interface RequestFormProps {
  readonly schema: Schema;
  /** builds the call from the members; empty ones are absent */
  readonly call: (members: Record<string, unknown>) => Call;
  readonly submit: string;
  readonly onDone?: (answer: unknown) => void;
  /** reason why the form cannot be sent now: disables the button, and is shown beside the button */
  readonly unable?: string | null;
  /** pointer of the members in the body; absent: the members are the body */
  readonly under?: string;
  /** shown beside the button */
  readonly children?: ComponentChildren;
}

/** A form of the members of a schema. Its `key` must identify the subject, as the `key` of `Form`. */
export function RequestForm({ schema, call, submit, onDone, unable, under = '', children }: RequestFormProps) {
  const [typed, setTyped] = useState<Typed>({});
  const [done, setDone] = useState(false);
  const { busy, problem, run } = useDo();
  const request = call(objectOf(schema, typed));
  const send = async () => {
    const answer = await run(request);
    setDone(answer !== undefined);
    if (answer !== undefined) onDone?.(answer);
  };
  return (
    <FormFrame
      onSubmit={submitting(send)}
      submit={submit}
      call={request}
      busy={busy}
      problem={problem}
      done={done}
      unable={unable}
      beside={children}
    >
      <SchemaFields
        schema={schema}
        typed={typed}
        onTyped={(pointer, text) => {
          setDone(false);
          setTyped((before) => ({ ...before, [pointer]: text }));
        }}
        issueOf={(pointer) => problem?.about(`${under}${pointer}`) ?? null}
      />
    </FormFrame>
  );
}
