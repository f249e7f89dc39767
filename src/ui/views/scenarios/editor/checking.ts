/** Checks of the text by the daemon, a moment after the last key. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { perform, post, Problem } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { problemsOf } from './problems';
import type { LineProblem } from './problems';

type Checked = ReplyOf<'scenarios/check', 'post'>;

export interface Verdict {
  /** false: of an earlier text */
  readonly isCurrent: boolean;
  /** null: it has problems, or is not checked yet */
  readonly checked: Checked | null;
  readonly problems: readonly LineProblem[];
}

/** Time after the last key, ms. */
const pauseMs = 500;

export function useCheck(text: string): Verdict {
  const [verdict, setVerdict] = useState<Omit<Verdict, 'isCurrent'> & { readonly of: string | null }>({
    of: null,
    checked: null,
    problems: [],
  });
  const newest = useRef(text);
  newest.current = text;
  useEffect(() => {
    const check = async () => {
      const outcome = await checkOf(text);
      // answers of earlier texts may come late
      if (newest.current === text) setVerdict({ of: text, ...outcome });
    };
    const timer = setTimeout(() => void check(), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return { ...verdict, isCurrent: verdict.of === text };
}

async function checkOf(text: string): Promise<Omit<Verdict, 'isCurrent'>> {
  try {
    return { checked: await perform(post('scenarios/check', { body: { yaml: text } })), problems: [] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { checked: null, problems: problemsOf(error) };
  }
}
