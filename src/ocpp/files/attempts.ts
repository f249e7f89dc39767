/** Repeated attempts of a transfer, by `retries` and `retryInterval` of the message. */
import type { Later } from '../../core/time/timers.ts';
import { TransferError } from './model.ts';
import type { TransferFailure } from './model.ts';

export interface AttemptsOptions {
  readonly later: Later;
  readonly signal: AbortSignal;
  /** attempts after the first one; absent: the station chooses */
  readonly retries: number | undefined;
  /** s between attempts; absent: the station chooses */
  readonly retryIntervalS: number | undefined;
  /** before each wait, and after it */
  readonly paused?: () => void;
  readonly resumed?: () => void;
}

const defaultRetries = 2;
const defaultIntervalS = 30;
/** A message could ask for millions. */
const maxRetries = 100;
const maxIntervalS = 86_400;

/** Another attempt would fail the same way. */
const final: ReadonlySet<TransferFailure> = new Set(['bad_location', 'unsupported', 'too_large', 'cancelled']);

const clamped = (value: number, high: number) => Math.min(Math.max(value, 0), high);

function waited(later: Later, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      endWait();
      reject(new TransferError('cancelled', 'the transfer was cancelled'));
    };
    const endWait = later(ms, () => {
      signal.removeEventListener('abort', cancelled);
      resolve();
    });
    signal.addEventListener('abort', cancelled, { once: true });
    if (signal.aborted) cancelled();
  });
}

/** @throws TransferError of the last attempt */
export async function withRetries<T>(options: AttemptsOptions, act: () => Promise<T>): Promise<T> {
  const { later, signal, retries = defaultRetries, retryIntervalS = defaultIntervalS, paused, resumed } = options;
  const max = clamped(Math.floor(retries), maxRetries);
  for (let failed = 0; ; failed++) {
    try {
      return await act();
    } catch (error) {
      if (failed >= max || (error instanceof TransferError && final.has(error.failure))) throw error;
    }
    paused?.();
    await waited(later, clamped(retryIntervalS, maxIntervalS) * 1000, signal);
    resumed?.();
  }
}
