/** Which run of the simulator answers: what is kept in the tab belongs to one run. */
import { effect, signal } from '@preact/signals';
import { get } from '../api/call';
import { perform, Problem } from '../api/perform';
import { link } from './stream';

/** Start and build of the daemon; null until it has said so. */
export const daemon = signal<string | null>(null);

async function ask(): Promise<void> {
  try {
    const { started_at, build_id } = await perform(get('server-info'));
    daemon.value = `${started_at} ${build_id}`;
  } catch (error) {
    // asked again when the stream opens again
    if (!(error instanceof Problem)) throw error;
  }
}

/** Asks each time that the stream opens. */
export function startDaemon(): void {
  effect(() => {
    if (link.value.state === 'open') void ask();
  });
}
