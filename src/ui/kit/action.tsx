/** Controls that make a call: each shows the daemon's reason for a refusal, and its call while the API switch is on. */
import type { ComponentChildren } from 'preact';
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { perform, Problem } from '../api/call';
import type { Call } from '../api/call';
import { refresh } from '../store/live';
import { CallLine } from './api-switch';

/** Progress and outcome of the latest call. */
interface Doing<R> {
  readonly busy: boolean;
  readonly problem: Problem | null;
  /** Makes the call, refreshes the page and resolves to the answer; undefined: the call failed. */
  readonly run: (call: Call<R>) => Promise<R | undefined>;
  readonly forget: () => void;
}

/** Number of successful actions of this page. */
const acts = signal(0);

/** Makes calls that change the simulator. */
export function useDo<R = unknown>(): Doing<R> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  // another successful action clears the refusal
  const actCount = acts.value;
  useEffect(() => setProblem(null), [actCount]);
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

interface ActionProps {
  readonly call: Call;
  readonly children: ComponentChildren;
  readonly disabled?: boolean;
  /** reason why the action is impossible now: disables the button, and is its title */
  readonly unable?: string | null;
  readonly primary?: boolean;
  readonly pressed?: boolean;
  /** question to confirm before the call */
  readonly confirm?: string;
  readonly title?: string;
  /** false: the page shows the call elsewhere */
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
    <div class="row">
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
      {done > 0 && (
        <span key={done} class="good done" role="status">
          done
        </span>
      )}
      <Refused problem={problem} />
      {curl && <CallLine call={call} />}
    </div>
  );
}

/** The daemon's reason for a refusal. */
export function Refused({ problem }: { readonly problem: Problem | null }) {
  if (problem === null) return null;
  return (
    <p class="problem" role="alert">
      {problem.message}
    </p>
  );
}
