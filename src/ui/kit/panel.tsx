import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  /** beside the title: filters, buttons, links */
  readonly tools?: ComponentChildren;
  /** no padding, as for tables */
  readonly flush?: boolean;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A titled part of a view. */
export function Panel({ title, tools, flush = false, wide = false, children }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel${wide ? ' wide' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {tools}
      </header>
      <div class={`body${flush ? ' flush' : ''}`}>{children}</div>
    </section>
  );
}

/** Says why there is nothing, and how to get something. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Labels with their values. Entries that are null are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren] | null)[] }) {
  return (
    <dl>
      {rows.map((row) =>
        row === null ? null : (
          <>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </>
        ),
      )}
    </dl>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'off' | 'muted';

/** A state: always a word beside the colour. */
export function Chip({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      <span>{children}</span>
    </span>
  );
}
