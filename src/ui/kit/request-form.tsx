/** A form that makes one call, with the fields that the description of the API gives for its body. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { Curl, Refused, useDo } from './action';
import { submitting } from './form';
import { objectOf, SchemaFields } from './schema-form';
import type { Schema } from './schema-form';

interface RequestFormProps {
  readonly schema: Schema;
  /** the call for a body; members that were left empty are absent */
  readonly call: (body: Record<string, unknown>) => Call;
  readonly submit: string;
  readonly onDone?: (answer: unknown) => void;
  /** why it cannot be sent now: disables the button, and stands beside it */
  readonly unable?: string | null;
  /** beside the button */
  readonly children?: ComponentChildren;
}

/** Give it a `key` of what it is about, so that typed values do not go to another device. */
export function RequestForm({ schema, call, submit, onDone, unable = null, children }: RequestFormProps) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [done, setDone] = useState(false);
  const { busy, problem, run } = useDo();
  const made = call(objectOf(schema, typed));
  const send = async () => {
    const answer = await run(made);
    setDone(answer !== undefined);
    if (answer !== undefined) onDone?.(answer);
  };
  return (
    <form class="form" noValidate onSubmit={submitting(send)}>
      <SchemaFields
        schema={schema}
        typed={typed}
        onTyped={(pointer, text) => {
          setDone(false);
          setTyped((before) => ({ ...before, [pointer]: text }));
        }}
        issueOf={(pointer) => problem?.about(pointer) ?? null}
      />
      <div class="row">
        <button class="primary" disabled={busy || unable !== null} title={unable ?? undefined}>
          {submit}
        </button>
        <Curl call={made} />
        {done && problem === null && (
          <span class="good flash" role="status">
            done
          </span>
        )}
        {children}
        {unable !== null && <small class="muted">{unable}</small>}
      </div>
      <Refused problem={problem} />
    </form>
  );
}
