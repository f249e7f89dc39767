/** The last calls of this page. Bodies are left out, since they may hold secrets. */
import { signal } from '@preact/signals';

interface Address {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly address: string;
}

interface MadeCall extends Address {
  readonly id: number;
  /** HTTP status; null: no answer */
  readonly status: number | null;
  readonly tookMs: number;
  /** calls that were the same, of a GET that is repeated */
  readonly count: number;
}

const maxCalls = 50;
let lastId = 0;

/** The newest first. A repeated GET is one entry, so that polls leave the others in the list. */
export const madeCalls = signal<readonly MadeCall[]>([]);

export function noteMade({ method, address }: Address, status: number | null, tookMs: number): void {
  const before = madeCalls.peek();
  const same = method === 'GET' ? before.find((each) => each.method === method && each.address === address) : undefined;
  lastId += 1;
  const entry = { id: lastId, method, address, status, tookMs, count: (same?.count ?? 0) + 1 };
  madeCalls.value = [entry, ...before.filter((each) => each !== same)].slice(0, maxCalls);
}
