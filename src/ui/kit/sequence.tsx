/** Messages between two sides as arrows between lifelines, in order of time. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { duration } from '../look/format';

export interface Arrow {
  readonly id: number;
  /** wall time, ISO 8601 */
  readonly at: string;
  /** indexes of lifelines */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** time from a call to its answer, ms */
  readonly tookMs?: number | null;
  /** an exception, a refusal or a missing answer */
  readonly failed?: boolean;
  /** the rule that the message broke, in words */
  readonly broken?: string | undefined;
}

interface SequenceProps {
  readonly label: string;
  /** names of the lifelines, from the left */
  readonly lifelines: readonly string[];
  readonly arrows: readonly Arrow[];
  readonly chosen?: number | null;
  readonly onChoice?: (id: number) => void;
  readonly follow?: boolean;
  readonly empty: ComponentChildren;
}

/** Silence from which on a break is drawn, s. */
const breakS = 5;

/** `0.04 s`, `31.2 s` */
const tookText = (ms: number): string => (ms < 10 ? '< 0.01\u00a0s' : duration(Number((ms / 1000).toFixed(2))));

export function Sequence({ label, lifelines, arrows, chosen = null, onChoice, follow, empty }: SequenceProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const list = box.current;
    if (list === null) return;
    const row = list.querySelector<HTMLElement>('[aria-current]');
    if (row !== null) list.scrollTop = row.offsetTop - list.clientHeight / 2;
    else if (follow) list.scrollTop = list.scrollHeight;
  }, [follow, chosen, arrows.length]);
  if (arrows.length === 0) return <div class="empty">{empty}</div>;
  const style = { '--lanes': lifelines.length };
  return (
    <div class="sequence" ref={box} style={style} role="region" aria-label={label} tabIndex={0}>
      <div class="lifelines">
        <span />
        <div class="lanes">
          {lifelines.map((name) => (
            <strong key={name} class="of-peer" title={name}>
              {name}
            </strong>
          ))}
        </div>
      </div>
      <ol>
        {arrows.map((arrow, index) => {
          const before = arrows[index - 1];
          const silenceS = before === undefined ? 0 : (Date.parse(arrow.at) - Date.parse(before.at)) / 1000;
          return (
            <li key={arrow.id}>
              {silenceS > breakS && <Break>{duration(Math.round(silenceS))} without a message</Break>}
              {arrow.broken !== undefined && <Break broken>{arrow.broken}</Break>}
              <Row
                arrow={arrow}
                lifelines={lifelines}
                isChosen={arrow.id === chosen}
                onChoice={onChoice && (() => onChoice(arrow.id))}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Break({ broken = false, children }: { readonly broken?: boolean; readonly children: ComponentChildren }) {
  return (
    <div class={`break${broken ? ' broken' : ''}`}>
      <span />
      <span>{children}</span>
    </div>
  );
}

interface RowProps {
  readonly arrow: Arrow;
  readonly lifelines: readonly string[];
  readonly isChosen: boolean;
  readonly onChoice: (() => void) | undefined;
}

function Row({ arrow, lifelines, isChosen, onChoice }: RowProps) {
  const { at, from, to, text, tookMs, failed = false, broken } = arrow;
  const look = broken !== undefined ? ' bad' : failed ? ' warn' : '';
  const place = { '--from': Math.min(from, to), '--span': Math.abs(to - from) };
  return (
    <button
      type="button"
      class={`arrow${look}`}
      aria-current={isChosen ? 'true' : undefined}
      disabled={onChoice === undefined}
      onClick={onChoice}
    >
      <time>{at.slice(11, 19)}</time>
      <span class="lanes">
        <span class={`line${to < from ? ' back' : ''}`} style={place}>
          <span class="visually-hidden">
            {lifelines[from]} to {lifelines[to]}:{' '}
          </span>
          <span class="words">
            {text}
            {tookMs !== null && tookMs !== undefined && `, ${tookText(tookMs)}`}
          </span>
        </span>
      </span>
    </button>
  );
}
