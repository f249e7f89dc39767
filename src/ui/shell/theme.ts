import { signal } from '@preact/signals';

type Theme = 'light' | 'dark';

function startTheme(): Theme {
  const stored = localStorage.getItem('theme');
  if (stored === 'light' || stored === 'dark') return stored;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Charts depend on it to redraw in other colours. */
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
  // a variable with light-dark() is text; only a property that uses it has the present colour
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
