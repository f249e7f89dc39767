/** A text area with line numbers, colours below its text, marked lines, and completion by Ctrl-Space. */
import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { textLines, tokensOf } from './colours';
import type { Proposal } from './completion';

/** Height of a line, px, as in `scenarios.css`. */
export const linePx = 20;
const spareLines = 3;

interface View {
  readonly top: number;
  readonly left: number;
  readonly height: number;
}

interface AreaProps {
  readonly text: string;
  readonly label: string;
  readonly area: RefObject<HTMLTextAreaElement | null>;
  /** lines with a problem, from 1 */
  readonly marked: ReadonlySet<number>;
  readonly describedBy: string;
  readonly onText: (text: string) => void;
  /** proposals at the caret, and the characters before it that they replace */
  readonly propose: (
    text: string,
    caret: number,
  ) => Promise<{ readonly all: readonly Proposal[]; readonly typed: string; readonly isKey: boolean }>;
}

interface Open {
  readonly all: readonly Proposal[];
  readonly chosen: number;
  readonly typed: string;
  readonly isKey: boolean;
  /** place of the caret */
  readonly line: number;
  readonly column: number;
}

/** Types a text at the caret so that the browser can undo it. */
function insert(area: HTMLTextAreaElement, text: string, replaced = 0): void {
  area.setSelectionRange(area.selectionStart - replaced, area.selectionEnd);
  // only this command keeps the history of undo; all browsers have it, and no standard replaces it
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const isTyped = 'execCommand' in document && document.execCommand('insertText', false, text);
  if (isTyped) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
  area.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

function placeOf({ value, selectionStart }: HTMLTextAreaElement): { readonly line: number; readonly column: number } {
  const before = value.slice(0, selectionStart);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length - 1, column: before.length - start };
}

export function CodeArea({ text, label, area, marked, describedBy, onText, propose }: AreaProps) {
  const [view, setView] = useState<View>({ top: 0, left: 0, height: 480 });
  const [open, setOpen] = useState<Open | null>(null);
  const listId = useId();
  const measure = () => {
    const { scrollTop: top = 0, scrollLeft: left = 0, clientHeight = 0 } = area.current ?? {};
    setView({ top, left, height: clientHeight || 480 });
  };
  useLayoutEffect(measure, []);
  const complete = async () => {
    const element = area.current;
    if (element === null) return;
    const { all, typed, isKey } = await propose(element.value, element.selectionStart);
    setOpen(all.length === 0 ? null : { all, typed, isKey, chosen: 0, ...placeOf(element) });
  };
  const accept = ({ all, chosen, typed, isKey }: Open) => {
    setOpen(null);
    const element = area.current;
    if (element === null) return;
    const hasColon = /^\s*:/.test(element.value.slice(element.selectionEnd));
    insert(element, `${all[chosen]?.text ?? ''}${isKey && !hasColon ? ': ' : ''}`, typed.length);
    element.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      void complete();
    } else if (open !== null) onOpenKey(event, open, setOpen, accept);
    else if (event.key === 'Enter' && area.current !== null) {
      event.preventDefault();
      insert(area.current, `\n${indentAfter(area.current)}`);
    }
  };
  return (
    <div class="code">
      <Layer text={text} view={view} marked={marked} />
      <textarea
        ref={area}
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={marked.size > 0}
        aria-autocomplete="list"
        aria-controls={open === null ? undefined : listId}
        aria-activedescendant={open === null ? undefined : `${listId}-${open.chosen}`}
        wrap="off"
        spellcheck={false}
        autocapitalize="off"
        value={text}
        onInput={(event) => {
          onText(event.currentTarget.value);
          if (open !== null) void complete();
        }}
        onScroll={() => {
          measure();
          setOpen(null);
        }}
        onPointerDown={() => setOpen(null)}
        onBlur={() => setOpen(null)}
        onKeyDown={onKeyDown}
      />
      {open !== null && (
        <Proposals id={listId} open={open} view={view} onChoice={(chosen) => accept({ ...open, chosen })} />
      )}
    </div>
  );
}

/** The indentation of the present line; one more below a key without a value. */
function indentAfter({ value, selectionStart }: HTMLTextAreaElement): string {
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  return /:\s*$/.test(line) ? `${indent}  ` : indent;
}

function onOpenKey(
  event: KeyboardEvent,
  open: Open,
  setOpen: (open: Open | null) => void,
  accept: (open: Open) => void,
): void {
  const count = open.all.length;
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: count - 1 };
  const step = steps[event.key];
  if (step !== undefined) setOpen({ ...open, chosen: (open.chosen + step) % count });
  else if (event.key === 'Enter' || event.key === 'Tab') accept(open);
  else if (event.key === 'Escape') setOpen(null);
  else {
    if (event.key.startsWith('Arrow')) setOpen(null);
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

interface LayerProps {
  readonly text: string;
  readonly view: View;
  readonly marked: ReadonlySet<number>;
}

/** The lines in view with their numbers and colours. */
function Layer({ text, view: { top, left, height }, marked }: LayerProps) {
  const lines = useMemo(() => text.split('\n'), [text]);
  const inText = useMemo(() => textLines(lines), [lines]);
  const first = Math.max(0, Math.floor(top / linePx) - spareLines);
  const last = Math.min(lines.length, Math.ceil((top + height) / linePx) + spareLines);
  return (
    <div class="code-layer" aria-hidden="true">
      {lines.slice(first, last).map((line, offset) => {
        const index = first + offset;
        const isMarked = marked.has(index + 1);
        return (
          <div
            key={index}
            class={isMarked ? 'code-line marked' : 'code-line'}
            style={{ top: `${index * linePx - top}px` }}
          >
            <span class="code-number">{index + 1}</span>
            <span class="code-text">
              <span style={{ marginLeft: `${-left}px` }}>
                {tokensOf(line, inText.has(index)).map((token, at) => (
                  <span key={at} class={`yaml-${token.part}`}>
                    {token.text}
                  </span>
                ))}
              </span>
            </span>
          </div>
        );
      })}
    </div>
  );
}

interface ProposalsProps {
  readonly id: string;
  readonly open: Open;
  readonly view: View;
  readonly onChoice: (chosen: number) => void;
}

function Proposals({ id, open: { all, chosen, line, column, typed }, view, onChoice }: ProposalsProps) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const option = list.current?.children[chosen] as HTMLElement | undefined;
    if (list.current !== null && option !== undefined)
      list.current.scrollTop = option.offsetTop - list.current.clientHeight / 2;
  }, [chosen]);
  const style = {
    top: `${(line + 1) * linePx - view.top + 8}px`,
    left: `min(calc(52px + ${column - typed.length}ch - ${view.left}px), calc(100% - var(--width)))`,
  };
  return (
    <ul ref={list} id={id} class="proposals mono" role="listbox" aria-label="Completions" style={style}>
      {all.map(({ text, note }, index) => (
        <li
          key={text}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          // the text keeps the focus
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoice(index)}
        >
          {text} <small class="muted">{note}</small>
        </li>
      ))}
    </ul>
  );
}
