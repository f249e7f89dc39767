import { signal } from '@preact/signals';

type Theme = 'light' | 'dark';

function startTheme(): Theme {
  const stored = localStorage.getItem('theme');
  if (stored === 'light' || stored === 'dark') return stored;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Theme of the page; charts are drawn anew when it changes. */
export const theme = signal<Theme>(startTheme());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.peek();
}

export function setTheme(next: Theme): void {
  theme.value = next;
  localStorage.setItem('theme', next);
  applyTheme();
}

/** The present value of a colour in `base.css`, for canvases. @param name such as `--p` */
export function colour(name: string): string {
  // the value of a variable with light-dark() is its text; only a property has the computed colour
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  // forced colours do not reach a canvas, whose lines and grid would be of one colour
  probe.style.setProperty('forced-color-adjust', 'none');
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
