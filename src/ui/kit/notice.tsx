import { signal } from '@preact/signals';

export const notice = signal<string | null>(null);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message at the foot of the page, which disappears by itself. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = null;
  }, 4000);
}

/** The short message at the foot of the page, if any. */
export function Notice() {
  if (notice.value === null) return null;
  return (
    <div class="notice" role="status">
      {notice.value}
    </div>
  );
}
