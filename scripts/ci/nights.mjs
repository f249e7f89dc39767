/** Results of nightly runs, which outlive the checkout of one. */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const nightlyFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'derbench', 'nightly');
const maxAgeMs = 48 * 3600 * 1000;

/** A notice where the last nightly run on this machine is too long ago; null where it is not. */
export function nightlyNotice(nowMs) {
  const days = existsSync(nightlyFolder) ? readdirSync(nightlyFolder).sort() : [];
  const last = days.at(-1)?.slice(0, 10);
  if (last === undefined) return 'no nightly run on this machine yet (npm run nightly)';
  return nowMs - Date.parse(last) > maxAgeMs ? `the last nightly run was on ${last} (npm run nightly)` : null;
}
