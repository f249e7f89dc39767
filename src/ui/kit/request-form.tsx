/** A form for one call, with the fields of its body in the API description. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { useDo } from './action';
import { FormFrame, submitting } from './form';
import { objectOf, SchemaFields } from './schema-form';
import type { Schema, Typed } from './schema-form';

interface RequestFormProps {
  readonly schema: Schema;
  /** builds the call from the members; empty ones are absent */
  readonly call: (members: Record<string, unknown>) => Call;
  readonly submit: string;
  readonly onDone?: (answer: unknown) => void;
  /** reason why it cannot be sent now: disables the button, and is shown beside it */
  readonly unable?: string | null;
  /** pointer of the members in the body; absent: they are the body */
  readonly under?: string;
  /** beside the button */
  readonly children?: ComponentChildren;
}

/** Its `key` must identify the subject, so that typed values do not move to another device. */
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
