/** Frames of content: panels, dialogs, facts, and states as coloured words. */
import type { ComponentChildren } from 'preact';
import { useId, useEffect, useRef } from 'preact/hooks';
import { unreachableSinceMs } from '../api/call';
import { useOutdated } from '../store/live';
import type { Outdated } from '../store/live';
import { apiMode } from '../store/api-mode';
import { link } from '../store/stream';
import { wallTime } from '../look/format';

interface PanelProps {
  readonly title: string;
  /** beside the title: filters, buttons, links */
  readonly tools?: ComponentChildren;
  /** no padding, for tables */
  readonly flush?: boolean;
  readonly wide?: boolean;
  /** the title is for readers only */
  readonly bare?: boolean;
  readonly children: ComponentChildren;
}

/** A titled part of a view. While its content cannot be read, the panel is grey and says since when. */
export function Panel({ title, tools, flush = false, wide = false, bare = false, children }: PanelProps) {
  const id = useId();
  const { outdated, refused, isRefused, addresses, inside, Context } = useOutdated();
  const look = `panel${wide ? ' wide' : ''}${outdated.length > 0 ? ' outdated' : ''}`;
  return (
    <section class={look} aria-labelledby={id}>
      <Context.Provider value={inside}>
        <header class={bare ? 'visually-hidden' : undefined}>
          <h2 id={id}>{title}</h2>
          {tools}
        </header>
        <NotRead outdated={outdated} />
        {refused.map((sentence) => (
          <Empty key={sentence}>{sentence}</Empty>
        ))}
        <div hidden={isRefused} class={`body${flush ? ' flush' : ''}`} title={sourcesOf(addresses)}>
          {children}
        </div>
      </Context.Provider>
    </section>
  );
}

/** The calls that the figures of a panel come from, while the API switch is on. */
function sourcesOf(addresses: readonly string[]): string | undefined {
  return apiMode.value && addresses.length > 0 ? addresses.map((address) => `GET ${address}`).join('\n') : undefined;
}

/** Age of outdated answers, and the daemon's reason. The banner of the page reports a lost connection instead. */
export function NotRead({
  outdated,
  named = false,
}: {
  readonly outdated: readonly Outdated[];
  readonly named?: boolean;
}) {
  const isUnreachable =
    link.value.state === 'lost' || (link.value.state === 'connecting' && unreachableSinceMs.value !== null);
  if (isUnreachable) return null;
  const sentences = outdated.map(({ path, sinceMs, problem }) => {
    const since = wallTime(new Date(sinceMs).toISOString());
    return `${named ? `${path}: ` : ''}not read since ${since}: ${problem.message}`;
  });
  return (
    <>
      {[...new Set(sentences)].map((sentence) => (
        <p key={sentence} class="not-read" role="alert">
          {sentence}
        </p>
      ))}
    </>
  );
}

/** Explains why there is no content, and how to get some. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Labels with values; null entries are left out. */
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

/** A state as a coloured word. */
export function Chip({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      <span>{children}</span>
    </span>
  );
}

/** A modal dialog; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog
      ref={box}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === box.current && box.current?.close()}
    >
      <div class="stack">
        <div class="row">
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={() => box.current?.close()}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
