/** Looks whether commands of peers that were answered positively are done. */
import type { AnsweredSubject } from '../model.ts';
import type { Observation } from './observed.ts';
import { chosen, hasGone, lacking } from './looker.ts';
import type { Looker } from './looker.ts';

/** The part of the answer of `GET answers` that an assertion reads. */
interface Answers {
  /** of all, whatever is listed */
  readonly count: number;
  readonly answers: readonly {
    readonly command: string;
    readonly told: { readonly name: string };
    readonly explanation: string | null;
  }[];
}

/** Broken promises that a failure names. */
const named = 5;

/** @param sinceMs wall time from which on commands count */
export function answeredLooker(
  { device, protocol, except }: AnsweredSubject,
  { host }: Observation,
  sinceMs: number,
): Looker {
  const since = new Date(sinceMs).toISOString();
  return {
    async look() {
      const devices = chosen(host, device);
      if (devices === null) return lacking(device);
      const broken: string[] = [];
      let count = 0;
      for (const { index } of devices) {
        const query = { device: index, since, done: false, ...(protocol !== null && { protocol }) };
        const { status, body } = await host.perform({ method: 'GET', path: '/answers', query });
        if (status >= 400 && hasGone(host, index, device)) continue;
        if (status >= 400) {
          broken.push((body as { readonly detail: string }).detail);
          continue;
        }
        const { answers, count: all } = body as Answers;
        count += all;
        for (const { told, command, explanation } of answers)
          if (!except.includes(told.name) && !except.includes(command)) broken.push(explanation ?? 'It is not done.');
      }
      return { holds: broken.length === 0, found: () => foundWords(broken, count) };
    },
    history: () => '',
    end: () => undefined,
  };
}

function foundWords(broken: readonly string[], count: number): string {
  if (broken.length === 0) return count === 0 ? 'no command was answered positively' : 'all of it is done';
  const more = broken.length > named ? ` There are ${broken.length - named} more.` : '';
  return broken.slice(0, named).join(' ') + more;
}
