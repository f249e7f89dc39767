import { signal } from '@preact/signals';

/** A short message at the foot of the page, which disappears by itself. */
export const notice = signal<string | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 4000);
}
