/** The switch that shows the calls of the page; the address keeps it. */
import { computed } from '@preact/signals';
import { param, setParam } from './route';

export const apiMode = computed(() => param('api') === '1');

export function toggleApiMode(): void {
  setParam('api', apiMode.peek() ? null : 1);
}
