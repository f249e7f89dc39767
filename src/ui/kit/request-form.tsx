/** A form that makes one call, with the fields that the description of the API gives for its body. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { useDo } from './action';
import { FormFrame, submitting } from './form';
import { objectOf, SchemaFields } from './schema-form';
import type { Schema, Typed } from './schema-form';

interface RequestFormProps {
  readonly schema: Schema;
  /** the call for what was typed; members that were left empty are absent */
  readonly call: (members: Record<string, unknown>) => Call;
  readonly submit: string;
  readonly onDone?: (answer: unknown) => void;
  /** why it cannot be sent now: disables the button, and stands beside it */
  readonly unable?: string | null;
  /** pointer of the members in the body; absent: they are the body */
  readonly under?: string;
  /** beside the button */
  readonly children?: ComponentChildren;
}

/** Give it a `key` of what it is about, so that typed values do not go to another device. */
export function RequestForm({ schema, call, submit, onDone, unable, under = '', children }: RequestFormProps) {
  const [typed, setTyped] = useState<Typed>({});
  const [done, setDone] = useState(false);
  const { busy, problem, run } = useDo();
  const made = call(objectOf(schema, typed));
  const send = async () => {
    const answer = await run(made);
    setDone(answer !== undefined);
    if (answer !== undefined) onDone?.(answer);
  };
  return (
    <FormFrame
      onSubmit={submitting(send)}
      submit={submit}
      call={made}
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
