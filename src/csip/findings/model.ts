/** Parts that all judges of one connection to a server share. */
import type { Findings, RuleHandles } from '../../core/findings/rule.ts';
import type { Peer } from '../../core/findings/peer.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { csipRules } from '../../finding-rules/csip.ts';
import type { ListedProgram } from '../events/model.ts';
import type { TrackedEvent } from '../events/state.ts';

export type CsipRules = RuleHandles<typeof csipRules>;

export interface JudgeParts {
  readonly findings: Findings;
  readonly rules: CsipRules;
  readonly peer: Peer;
  readonly clock: WallClock;
}

/** The programs of one EndDevice, as a reading shows them. */
export interface SeenPrograms {
  readonly programs: readonly ListedProgram[];
  /** events of earlier readings by mRID */
  readonly events: ReadonlyMap<string, TrackedEvent>;
  readonly deviceIndex: number | null;
  /** time of the server; null: it is not known */
  readonly nowS: number | null;
}

/** Time of the server at the reading of a list. @param readMs on `WallClock.monotonicMs`; null or absent: just now */
export const readingS = (nowS: number, nowMs: number, readMs: number | null | undefined): number =>
  nowS - (nowMs - (readMs ?? nowMs)) / 1000;

/** Shortens a text of the server for a sentence. */
export const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}...` : text);

/** The path of an address, without its query. */
export const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : (url.split('?')[0] ?? url));

/** Entries that a judge remembers by a key of the server; the oldest gives way. */
export class Remembered<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    const oldest = this.#entries.size >= this.#max ? this.#entries.keys().next() : null;
    if (oldest?.done === false) this.#entries.delete(oldest.value);
    this.#entries.set(key, value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  entries(): readonly (readonly [string, Value])[] {
    return [...this.#entries];
  }
}
