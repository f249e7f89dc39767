/** Sight of the page: a hidden page reads and draws nothing, and catches up when it is shown again. */
import { signal } from '@preact/signals';

/** Number of times that the page was shown again after it was hidden. */
export const shown = signal(0);

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) shown.value += 1;
});
