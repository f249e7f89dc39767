/** Controls and notices as the store keeps them. */
import type { JsonValue } from '../../../core/store.ts';
import type { Requests } from '../messages.ts';
import type { DerBook } from './controls.ts';
import type { DerAlarm } from './alarms.ts';

/** A message of block R to the central system. */
export type DerReport =
  | { readonly action: 'NotifyDERStartStop'; readonly request: Requests['NotifyDERStartStop'] }
  | { readonly action: 'NotifyDERAlarm'; readonly request: Requests['NotifyDERAlarm'] };

export interface DerState {
  readonly book: DerBook;
  /** the alarm that has begun and not ended */
  readonly alarm: DerAlarm | null;
  /** not delivered yet */
  readonly reports: readonly DerReport[];
}

const nothing: DerState = { book: [], alarm: null, reports: [] };

export const stored = (state: DerState): readonly JsonValue[] => [state as unknown as JsonValue];

/** What `stored` has written; an empty slot has nothing. */
export function restored([state]: readonly JsonValue[]): DerState {
  return state === undefined ? nothing : (state as unknown as DerState);
}
