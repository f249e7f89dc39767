/** Controls that make a call: each shows it as curl, and says in the daemon's words why it was refused. */
import type { ComponentChildren } from 'preact';
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { curlOf } from '../api/call';
import type { Call } from '../api/call';
import { perform, Problem } from '../api/perform';
import { refresh } from '../store/live';
import { say } from '../store/notices';

/** A call that is under way, and the outcome of the newest one. */
interface Doing<R> {
  readonly busy: boolean;
  readonly problem: Problem | null;
  /** Makes the call, reads the page again and resolves to the answer; undefined when it was refused. */
  readonly run: (call: Call<R>) => Promise<R | undefined>;
  readonly forget: () => void;
}

/** Counts the actions of this page that succeeded. */
const acts = signal(0);

/** Makes calls that change something. */
export function useDo<R = unknown>(): Doing<R> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  // a refusal is old as soon as something else has succeeded
  const seen = acts.value;
  useEffect(() => setProblem(null), [seen]);
  const run = async (call: Call<R>) => {
    setBusy(true);
    try {
      const answer = await perform(call);
      setProblem(null);
      acts.value += 1;
      return answer;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      return undefined;
    } finally {
      setBusy(false);
      refresh();
    }
  };
  return { busy, problem, run, forget: () => setProblem(null) };
}

/** Copies the call as a command of a shell. */
export function Curl({ call }: { readonly call: Call }) {
  const text = curlOf(call);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied as curl');
    } catch {
      // browsers give the clipboard to secure origins only: at another address the text can be selected
      say(text);
    }
  };
  return (
    <button
      type="button"
      class="quiet curl"
      title={text}
      aria-label={`Copy as curl: ${call.method} ${call.address}`}
      onClick={() => void copy()}
    >
      curl
    </button>
  );
}

interface ActionProps {
  readonly call: Call;
  readonly children: ComponentChildren;
  readonly disabled?: boolean;
  /** why it cannot act now: disables it, and says so as its description */
  readonly unable?: string | null;
  readonly primary?: boolean;
  readonly pressed?: boolean;
  /** asks before it acts */
  readonly confirm?: string;
  readonly title?: string;
  /** false where the call stands elsewhere already */
  readonly curl?: boolean;
  readonly onDone?: (answer: unknown) => void;
}

/** A button that makes one call. */
export function Action({
  call,
  children,
  disabled = false,
  unable = null,
  primary = false,
  pressed,
  confirm: question,
  title,
  curl = true,
  onDone,
}: ActionProps) {
  const { busy, problem, run } = useDo();
  const [done, setDone] = useState(0);
  const act = async () => {
    if (question !== undefined && !confirm(question)) return;
    const answer = await run(call);
    if (answer === undefined) return;
    setDone(done + 1);
    onDone?.(answer);
  };
  return (
    <span class="row">
      <button
        type="button"
        class={primary ? 'primary' : undefined}
        disabled={disabled || busy || unable !== null}
        aria-pressed={pressed}
        title={unable ?? title}
        onClick={() => void act()}
      >
        {children}
      </button>
      {curl && <Curl call={call} />}
      {done > 0 && (
        <span key={done} class="good done" role="status">
          done
        </span>
      )}
      <Refused problem={problem} />
    </span>
  );
}

/** Why a call was refused, in the daemon's words. */
export function Refused({ problem }: { readonly problem: Problem | null }) {
  if (problem === null) return null;
  return (
    <p class="problem" role="alert">
      {problem.message}
    </p>
  );
}
