/** What a transaction has measured for its StopTransaction (`transactionData`). */
import type { MeterValue } from './measurands.ts';

/** More samples than this are thinned out: every other one between the first and the last goes. */
export const maxSamples = 500;

export interface History {
  add(key: string, value: MeterValue): void;
  /** Forgets them. */
  take(key: string): readonly MeterValue[];
}

export function createHistory(): History {
  const values = new Map<string, MeterValue[]>();
  return {
    add(key, value) {
      const list = values.get(key) ?? [];
      values.set(key, list);
      list.push(value);
      if (list.length > maxSamples) values.set(key, thinned(list));
    },
    take(key) {
      const list = values.get(key) ?? [];
      values.delete(key);
      return list;
    },
  };
}

function thinned(list: readonly MeterValue[]): MeterValue[] {
  return list.filter((_, i) => i % 2 === 0 || i === list.length - 1);
}
