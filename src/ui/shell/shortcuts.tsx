/** The keyboard shortcuts of the page, and their list. */
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { post, perform, Problem } from '../api/call';
import { refresh } from '../store/live';
import { say } from '../kit/notice';
import { toggleApiMode } from '../store/api-mode';
import { go } from '../store/route';
import { captureNow } from '../views/events/captures/announce';
import { entries, fleetEntry } from './views';
import { Dialog, Facts } from '../kit/panel';

export const helpOpen = signal(false);
export const searchOpen = signal(false);
/** True if the simulated clock is paused, according to the top bar. */
export const paused = signal(false);

/** Makes a call of the top bar; a refusal is a notice, since the bar has no room for it. Resolves to false if refused. */
export async function act(call: Parameters<typeof perform>[0]): Promise<boolean> {
  try {
    await perform(call);
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
    return false;
  } finally {
    refresh();
  }
}

/** Mode of the clock before it was paused, which resuming restores. */
export const runningMode = signal<'accelerated' | 'wall_clock'>('accelerated');

/** Pauses the clock, or resumes its previous mode. @param isPaused present state of the clock */
export const togglePauseCall = (isPaused: boolean) =>
  post('controls/time', { body: { mode: isPaused ? runningMode.peek() : 'paused' } });
export const stepCall = (ticks = 1) => post('controls/time/step', { body: { ticks } });

/** Follows a link of the page, if it has one. */
const follow = (selector: string) => () => document.querySelector<HTMLAnchorElement>(selector)?.click();
const focusFilter = () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus();

const keys: Readonly<Record<string, () => void>> = {
  a: toggleApiMode,
  c: () => void captureNow(),
  f: focusFilter,
  x: follow('.top .pill'),
  '[': follow('main a[rel="prev"]'),
  ']': follow('main a[rel="next"]'),
  '/': () => (searchOpen.value = true),
  '?': () => (helpOpen.value = true),
  ' ': () => void act(togglePauseCall(paused.peek())),
  '.': () => void act(stepCall()),
};

/** Keyboard shortcuts, which are off while typing. */
export function useShortcuts(): void {
  useEffect(() => {
    let isAfterG = false;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest('input, select, textarea, dialog, [contenteditable]')) return;
      // space presses the focused button or scrolls the focused region
      if (event.key === ' ' && target.closest('button, a, summary, [tabindex="0"]')) return;
      if (isAfterG) {
        isAfterG = false;
        const view = [...entries, fleetEntry].find(({ key }) => key === event.key);
        if (view) go(view.path);
        return;
      }
      if (event.key === 'g') {
        isAfterG = true;
        return;
      }
      const action = keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** The keyboard shortcuts of the page. */
export function Help() {
  return (
    <Dialog title="Keys" onClose={() => (helpOpen.value = false)}>
      <Facts
        rows={[
          ['/', 'search a device, a view, a point, a capture or an action'],
          ['space', 'pause or run the simulated clock'],
          ['.', 'one tick while the clock is paused'],
          ['[ ]', 'device before and after'],
          ['f', 'filter of the view'],
          ['x', 'what needs attention first'],
          ['a', 'show the calls of the page'],
          ['c', 'capture now: record the sub-steps of all devices'],
          ['?', 'this list'],
          ...entries.map(({ key, title }) => [`g ${key}`, title] as const),
        ]}
      />
    </Dialog>
  );
}
