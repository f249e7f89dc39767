/**
 * Forms: fields with units; empty fields are left out of the call, and the daemon's objections appear beside their
 * field.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Call, Problem } from '../api/call';
import { say } from './notice';
import { Refused, useDo } from './action';
import { CallLine } from './api-switch';

export type Value = string | number | boolean | null;
/** Values by name; an empty field is absent. */
export type Values = Readonly<Record<string, Value>>;

interface FieldBase {
  /** member of the body */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** masked while typed (unless it has several lines), and not in the call that is shown */
  readonly secret?: boolean;
}

export type Field =
  | (FieldBase & {
      readonly kind: 'number';
      readonly unit?: string;
      readonly min?: number;
      readonly max?: number;
      readonly step?: number;
      readonly value?: number | null;
      readonly placeholder?: string;
    })
  | (FieldBase & {
      readonly kind: 'text';
      readonly value?: string;
      readonly placeholder?: string;
      readonly lines?: number;
    })
  /** starts with an empty option, unless there is a value */
  | (FieldBase & {
      readonly kind: 'choice';
      readonly options: readonly (string | readonly [value: string, label: string])[];
      readonly value?: string;
    })
  | (FieldBase & { readonly kind: 'check'; readonly value?: boolean });

interface FormProps {
  readonly fields: readonly Field[];
  /** builds the call from the values, for sending and for the API switch */
  readonly call: (values: Values) => Call;
  readonly submit: string;
  readonly onDone?: (answer: unknown) => void;
  /** true: nothing can be sent until a value differs from its start value */
  readonly needsChange?: boolean;
  /** true: success also empties the fields that started empty, such as one of a secret */
  readonly empties?: boolean;
  /** reason why the form cannot be sent now: disables the button, and is shown beside the button */
  readonly unable?: string | null;
  /** shown beside the button */
  readonly children?: ComponentChildren;
}

function startOf(fields: readonly Field[]): Record<string, string | boolean> {
  return Object.fromEntries(
    fields.map((field) => [field.name, field.kind === 'check' ? (field.value ?? false) : String(field.value ?? '')]),
  );
}

function valuesOf(fields: readonly Field[], inputs: Readonly<Record<string, string | boolean>>): Values {
  const values: Record<string, Value> = {};
  for (const field of fields) {
    const text = inputs[field.name];
    if (text === '' || text === undefined) continue;
    values[field.name] = field.kind === 'number' ? Number(text) : text;
  }
  return values;
}

/** Texts that differ from the sent ones: they were typed while the call ran. */
export function typedSince<T>(typed: Readonly<Record<string, T>>, sent: Readonly<Record<string, T>>) {
  return Object.fromEntries(Object.entries(typed).filter(([name, text]) => text !== sent[name]));
}

/** The values without secrets, for the call that is shown and copied. */
function withoutSecrets(fields: readonly Field[], values: Values): Values {
  const secrets = fields.filter(({ name, secret }) => secret === true && name in values);
  return { ...values, ...Object.fromEntries(secrets.map(({ name }) => [name, '...'])) };
}

/** Number fields with invalid text: the browser reports them as empty, which would omit them from the call. */
function badInputs(form: HTMLFormElement): readonly HTMLInputElement[] {
  return [...form.querySelectorAll('input')].filter(({ validity }) => validity.badInput);
}

type FormEvent = SubmitEvent & { readonly currentTarget: HTMLFormElement };

/** Sends a form unless number fields have invalid text: then a message names these fields. */
export function submitting(send: () => unknown): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    const wrong = badInputs(event.currentTarget);
    const labels = wrong.map((input) => input.labels?.[0]?.querySelector('span')?.textContent ?? input.name);
    if (wrong.length > 0) say(`${labels.join('; ')}: must be a number`);
    else void send();
  };
}

interface FormFrameProps {
  readonly onSubmit: ReturnType<typeof submitting>;
  readonly submit: string;
  /** call that is shown */
  readonly call: Call;
  readonly busy: boolean;
  readonly problem: Problem | null;
  readonly done?: boolean;
  readonly disabled?: boolean;
  /** reason why the form cannot be sent now: disables the button, and is shown beside the button */
  readonly unable?: string | null | undefined;
  /** shown beside the button */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The common frame of all forms: button, outcome, refusal and call. */
export function FormFrame({
  onSubmit,
  submit,
  call,
  busy,
  problem,
  done = false,
  disabled = false,
  unable = null,
  beside,
  children,
}: FormFrameProps) {
  return (
    <form class="form" noValidate onSubmit={onSubmit}>
      {children}
      <div class="row">
        <button class="primary" disabled={busy || disabled || unable !== null} title={unable ?? undefined}>
          {submit}
        </button>
        {done && problem === null && (
          <span class="good flash" role="status">
            done
          </span>
        )}
        {beside}
        {unable !== null && <small class="muted">{unable}</small>}
      </div>
      <Refused problem={problem} />
      <CallLine call={call} />
    </form>
  );
}

/**
 * A form for one call. Untouched fields follow their start values. The `key` of the form must identify its subject, so
 * that typed values do not move to another device, and no more: a key with values would drop typed text when they change.
 */
export function Form({
  fields,
  call,
  submit,
  onDone,
  needsChange = false,
  empties = false,
  unable = null,
  children,
}: FormProps) {
  const [typed, setTyped] = useState<Readonly<Record<string, string | boolean>>>({});
  const [done, setDone] = useState(false);
  const { busy, problem, run } = useDo();
  const start = startOf(fields);
  const inputs = { ...start, ...typed };
  const values = valuesOf(fields, inputs);
  const isChanged = Object.entries(typed).some(([name, value]) => value !== start[name]);
  const [notNumbers, setNotNumbers] = useState<readonly string[]>([]);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const cleared = fields.filter(({ name }) => needsChange && inputs[name] === '' && start[name] !== '');
    const wrong = [...badInputs(event.currentTarget), ...cleared].map(({ name }) => name);
    setNotNumbers(wrong);
    if (wrong.length > 0) return;
    const answer = await run(call(values));
    setDone(answer !== undefined);
    if (answer === undefined) return;
    // fields with a start value show it again, unless they were changed meanwhile; typed text stays in those that started empty
    setTyped((present) => ({
      ...Object.fromEntries(Object.entries(present).filter(([name]) => !empties && start[name] === '')),
      ...typedSince(present, typed),
    }));
    onDone?.(answer);
  };
  return (
    <FormFrame
      onSubmit={(event) => void send(event)}
      submit={submit}
      call={call(withoutSecrets(fields, values))}
      busy={busy}
      problem={problem}
      done={done}
      disabled={needsChange && !isChanged}
      unable={unable}
      beside={children}
    >
      <div class="fields">
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            typed={inputs[field.name] ?? ''}
            issue={notNumbers.includes(field.name) ? 'must be a number' : (problem?.about(`/${field.name}`) ?? null)}
            onTyped={(value) => {
              setDone(false);
              setTyped((before) => ({ ...before, [field.name]: value }));
            }}
          />
        ))}
      </div>
    </FormFrame>
  );
}

interface FieldInputProps {
  readonly field: Field;
  readonly typed: string | boolean;
  readonly issue: string | null;
  readonly onTyped: (value: string | boolean) => void;
}

/** One labelled input with unit, hint and objection. */
export function FieldInput({ field, typed, issue, onTyped }: FieldInputProps) {
  const unit = field.kind === 'number' && field.unit !== undefined ? `, ${field.unit}` : '';
  const notes = (
    <>
      {field.hint !== undefined && <small>{field.hint}</small>}
      {issue !== null && <small class="issue">{issue}</small>}
    </>
  );
  if (field.kind === 'check') {
    return (
      <label class="field check">
        <input
          type="checkbox"
          name={field.name}
          checked={typed === true}
          onChange={(event) => onTyped(event.currentTarget.checked)}
        />
        {field.label}
        {notes}
      </label>
    );
  }
  return (
    <label class="field">
      <span>
        {field.label}
        {unit}
      </span>
      <Control field={field} typed={String(typed)} invalid={issue !== null} onTyped={onTyped} />
      {notes}
    </label>
  );
}

interface ControlProps {
  readonly field: Exclude<Field, { kind: 'check' }>;
  readonly typed: string;
  readonly invalid: boolean;
  readonly onTyped: (value: string) => void;
}

function Control({ field, typed, invalid, onTyped }: ControlProps) {
  const common = { name: field.name, 'aria-invalid': invalid, ...(field.secret && { autocomplete: 'off' }) };
  if (field.secret === true && !(field.kind === 'text' && field.lines !== undefined)) {
    return <input {...common} type="password" value={typed} onInput={(event) => onTyped(event.currentTarget.value)} />;
  }
  switch (field.kind) {
    case 'number':
      return (
        <input
          {...common}
          type="number"
          step={field.step ?? 'any'}
          min={field.min}
          max={field.max}
          placeholder={field.placeholder}
          value={typed}
          onInput={(event) => onTyped(event.currentTarget.value)}
        />
      );
    case 'text':
      return field.lines !== undefined ? (
        <textarea
          {...common}
          rows={field.lines}
          placeholder={field.placeholder}
          value={typed}
          onInput={(event) => onTyped(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          type="text"
          placeholder={field.placeholder}
          value={typed}
          onInput={(event) => onTyped(event.currentTarget.value)}
        />
      );
    case 'choice':
      return (
        <select {...common} value={typed} onChange={(event) => onTyped(event.currentTarget.value)}>
          {field.value === undefined && <option value="" label="–" />}
          {field.options.map((option) => {
            const [value, label] = typeof option === 'string' ? [option, option.replaceAll('_', ' ')] : option;
            return (
              <option key={value} value={value}>
                {label}
              </option>
            );
          })}
        </select>
      );
  }
}
