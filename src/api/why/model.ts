/** The answer of `controls/why`, before it becomes a reply. */
import type { FlowDirection, LimitKey, ReactiveChain, ReactiveLimit } from '../../contract/limit-chain.ts';
import type { Provenance } from '../../core/origin.ts';
import { capitalized } from './words.ts';

export const basisKeys = ['available', 'asked', 'forced', 'rest', 'dispatch'] as const;
export type BasisKey = (typeof basisKeys)[number];

export const limitStates = ['wins', 'not_reached', 'off'] as const;
export type LimitState = (typeof limitStates)[number];

export interface Basis {
  readonly key: BasisKey;
  readonly powerW: number;
  /** the power in words, as the end of a sentence */
  readonly text: string;
}

export interface Limit {
  readonly key: LimitKey;
  /** null: off */
  readonly limitW: number | null;
  /** percent of the setting or rating that bounds the power in this direction; null: off, or no such bound */
  readonly pct: number | null;
  readonly state: LimitState;
  /** null: the device itself, or a value of the start */
  readonly by: Provenance | null;
  /** owner of a limit of the connection point; null: another limit, or several */
  readonly owner: string | null;
  /** simulated date at which the limit ends by itself, ms since the epoch; null: it stays */
  readonly untilMs: number | null;
  /** path of the resource that shows the limit; null: none */
  readonly link: string | null;
  readonly text: string;
}

export interface ReactiveEntry {
  readonly key: ReactiveLimit;
  /** positive: injected; null: off */
  readonly limitVar: number | null;
  readonly state: LimitState;
  readonly by: Provenance | null;
  readonly untilMs: number | null;
  readonly link: string | null;
  readonly text: string;
}

export interface ReactiveWhy {
  readonly asked: ReactiveChain['asked'] & { readonly text: string };
  readonly chain: readonly ReactiveEntry[];
  readonly deliveredVar: number;
  readonly sentence: string;
}

export interface Why {
  readonly deviceIndex: number;
  readonly connectorId: number | null;
  readonly direction: FlowDirection;
  readonly basis: Basis;
  readonly chain: readonly Limit[];
  readonly deliveredW: number;
  readonly sentence: string;
  /** null: a connector, whose station has the reactive power */
  readonly reactive: ReactiveWhy | null;
}

/** A limit apart from its value. */
export type LimitFacts = Pick<Limit, 'by' | 'owner' | 'untilMs' | 'link'> & {
  /** name of the limit, as the beginning of a sentence about it */
  readonly label: string;
  /** value and writer, as the end of a sentence */
  readonly clause: string;
};

/** One entry of a chain. @param fullW power of 100 percent; 0: none */
export function limitOf(
  key: LimitKey,
  { label, clause, ...facts }: LimitFacts,
  limitW: number | null,
  wins: boolean,
  fullW: number,
): Limit {
  const state = limitW === null ? 'off' : wins ? 'wins' : 'not_reached';
  const text = {
    off: `${label} is off.`,
    not_reached: `${clause} does not hold the power.`,
    wins: `${clause} holds the power.`,
  }[state];
  return {
    key,
    limitW,
    pct: limitW === null || !(fullW > 0) ? null : (100 * limitW) / fullW,
    state,
    ...facts,
    text: capitalized(text),
  };
}
