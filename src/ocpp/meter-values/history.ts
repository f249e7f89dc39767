/** What a transaction has measured for its last message. */

/** More samples than this are thinned out: every other one between the first and the last goes. */
export const maxSamples = 500;

export interface History<Value> {
  add(key: string, value: Value): void;
  /** Forgets them. */
  take(key: string): readonly Value[];
}

export function createHistory<Value>(): History<Value> {
  const values = new Map<string, Value[]>();
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

function thinned<Value>(list: readonly Value[]): Value[] {
  return list.filter((_, i) => i % 2 === 0 || i === list.length - 1);
}
