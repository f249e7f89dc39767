/** Changes made in place: the notice with Undo, and the flash of the figure that moved. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { perform, Problem } from '../../../api/call';
import type { Call } from '../../../api/call';
import { useDo } from '../../../kit/action';
import { say } from '../../../kit/notice';
import { refresh } from '../../../store/live';
import { onTimelineEntry } from '../../../store/timeline';
import type { TimelineEntry } from '../../../store/timeline';

/** Number of changes that the daemon has accepted, from this page and from others. */
export const acceptedChanges = signal(0);

/** Kinds of entries that may move a figure of a device. */
const movingKinds: readonly TimelineEntry['kind'][] = ['command', 'peer', 'grid', 'weather', 'scenario'];

/** Counts changes that others make to a device, or to the whole site, as well. */
export function useChangesOfOthers(device: number): void {
  useEffect(
    () =>
      onTimelineEntry(({ kind, devices }) => {
        const concerns = devices.length === 0 || devices.includes(device);
        if (concerns && movingKinds.includes(kind)) acceptedChanges.value += 1;
      }),
    [device],
  );
}

async function takeBack(call: Call): Promise<void> {
  try {
    await perform(call);
    acceptedChanges.value += 1;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
  refresh();
}

export interface Change {
  readonly call: Call;
  /** for the notice: `Irradiance: 250 W/m²` */
  readonly text: string;
  /** sets what is in force before; null: cannot be taken back */
  readonly undo: Call | null;
}

/** Makes changes; the problem is the refusal of the latest one. */
export function useChange(): {
  readonly problem: Problem | null;
  readonly busy: boolean;
  /** @returns false: refused */
  readonly make: (change: Change) => Promise<boolean>;
} {
  const { problem, busy, run } = useDo();
  const make = async ({ call, text, undo }: Change) => {
    if ((await run(call)) === undefined) return false;
    acceptedChanges.value += 1;
    say(text, undo && (() => void takeBack(undo)));
    return true;
  };
  return { problem, busy, make };
}
