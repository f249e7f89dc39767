/** Checks that commands of peers that were answered positively have been carried out. */
import type { AnsweredSubject } from '../model.ts';
import type { Observation } from './observed.ts';
import { chosen, isGone, lacking } from './looker.ts';
import type { Looker } from './looker.ts';

/** Part of the answer of `GET answers`. */
interface Answers {
  /** total, including those not listed */
  readonly count: number;
  readonly answers: readonly {
    readonly command: string;
    readonly told: { readonly name: string };
    readonly explanation: string | null;
  }[];
}

/** Maximum of broken promises in a failure. */
const maxNamed = 5;

/** @param sinceMs wall time of the first command that counts */
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
        if (status >= 400 && isGone(host, index, device)) continue;
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
  const more = broken.length > maxNamed ? ` There are ${broken.length - maxNamed} more.` : '';
  return broken.slice(0, maxNamed).join(' ') + more;
}
