/** Says which simulator a command changes: scripts have written to the one of somebody else on the default port. */
import type { Fetch } from '../library/options.ts';
import { OtherInstance } from './refusal.ts';

interface ServerInfo {
  readonly name?: string;
  readonly version: string;
  readonly instance_id?: string;
  readonly device_count: number;
  readonly uptime_s: number;
}

export function ageText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

const lineOf = (url: string, { version, device_count: count, uptime_s: age }: ServerInfo) =>
  `derbench ${version} at ${new URL(url).host} (${count} device${count === 1 ? '' : 's'}, started ${ageText(age)} ago)`;

/**
 * `fetch` that asks for `server-info` before its first request that changes something.
 * @param expected instance_id of `--expect-instance`; null: any
 * @param say prints the line about the simulator
 * @throws OtherInstance
 */
export function announcing(fetch: Fetch, url: string, expected: string | null, say: (line: string) => void): Fetch {
  let isAnnounced = false;
  return async (address, init) => {
    if (init.method !== 'GET' && !isAnnounced) {
      isAnnounced = true;
      const answer = await fetch(`${url}/api/sim/server-info`, { method: 'GET', headers: {} });
      // another server answers the request itself in its own way, which names it
      if (answer.status === 200) {
        const info = JSON.parse(await answer.text()) as ServerInfo;
        if (expected !== null && info.instance_id !== expected)
          throw new OtherInstance(
            `the simulator at ${url} is instance ${String(info.instance_id)}, not ${expected}. Nothing was changed.`,
          );
        say(lineOf(url, info));
      } else if (expected !== null)
        throw new OtherInstance(
          `${url} does not say which instance it is; expected: ${expected}. Nothing was changed.`,
        );
    }
    return fetch(address, init);
  };
}
