/** Lists of cards: a mark or icon, what it is, a figure or time at the right, and a sentence below. */
import type { ComponentChildren } from 'preact';

export function Rows({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <ul class="rows" aria-label={label}>
      {children}
    </ul>
  );
}

interface RowProps {
  /** mark or icon */
  readonly start: ComponentChildren;
  readonly title: ComponentChildren;
  readonly end?: ComponentChildren;
  /** a time or a button is small, a figure is not */
  readonly isEndFigure?: boolean;
  readonly muted?: boolean;
  readonly children?: ComponentChildren;
}

export function Row({ start, title, end, isEndFigure = false, muted = false, children }: RowProps) {
  return (
    <li class={muted ? 'muted' : undefined}>
      <span class="start">{start}</span>
      <strong class="what">{title}</strong>
      <span class={isEndFigure ? 'end figure' : 'end'}>{end}</span>
      <span class="note">{children}</span>
    </li>
  );
}

/** The mark of a level. */
export function Mark({ level }: { readonly level: 'good' | 'warn' | 'bad' | 'info' | 'off' | 'muted' }) {
  const look = level === 'info' || level === 'muted' ? 'off' : level;
  return <i class={`mark ${look}`} />;
}

/** A figure with its unit in small. @param text as `show` writes it */
export function Figure({ text }: { readonly text: string }) {
  const [value, unit] = text.split('\u00a0');
  return (
    <>
      {value}
      {unit !== undefined && <span class="unit">{`\u00a0${unit}`}</span>}
    </>
  );
}
