/** Identity of the simulator run, to which data stored in the tab belongs. */
import { effect, signal } from '@preact/signals';
import { get } from '../api/call';
import { perform, Problem } from '../api/perform';
import { link } from './stream';

/** Start and build of the daemon; null: unknown yet. */
export const daemon = signal<string | null>(null);

async function ask(): Promise<void> {
  try {
    const { started_at, build_id } = await perform(get('server-info'));
    daemon.value = `${started_at} ${build_id}`;
  } catch (error) {
    // the next opening of the stream retries
    if (!(error instanceof Problem)) throw error;
  }
}

/** Asks at each opening of the stream. */
export function startDaemon(): void {
  effect(() => {
    if (link.value.state === 'open') void ask();
  });
}
