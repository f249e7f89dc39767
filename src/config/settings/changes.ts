/** How the settings change while the simulator runs: words of the table, and their text. */
import type { Changes, RestartableAdapter } from '../../contract/settings.ts';

/** A change takes effect at once. */
export const live = { by: 'live' } as const;

/** A change takes effect by a restart of an adapter. */
export function restartOf(adapter: RestartableAdapter): {
  readonly by: 'adapter';
  readonly adapter: RestartableAdapter;
} {
  return { by: 'adapter', adapter };
}

/** A change takes effect at the next start. @param why a sentence with its full stop */
export function atStart(why: string): { readonly by: 'start'; readonly why: string } {
  return { by: 'start', why };
}

/** A change takes effect when the process starts, and not for a lab that a request loads. @param why a sentence with its full stop */
export function heldAtStart(why: string): { readonly by: 'start'; readonly why: string; readonly isHeld: true } {
  return { by: 'start', why, isHeld: true };
}

/** A setting that opens the simulator to the network. */
export const hostAtStart = heldAtStart('It decides who may reach the simulator, so that no request may widen it.');

/** A setting that names files or devices of this machine. */
export const fileAtStart = heldAtStart('It names a file of this machine, which no request may.');

/** Completes `A change takes effect`: `at once.`, `by a restart of csip.`, `at the next start. Reason.` */
export function changesText(changes: Changes): string {
  if (changes.by === 'live') return 'at once.';
  return changes.by === 'adapter' ? `by a restart of ${changes.adapter}.` : `at the next start. ${changes.why}`;
}
