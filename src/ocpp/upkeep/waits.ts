/** Waits that end with a signal. */
import { TransferError } from '../files/model.ts';

/**
 * @param start calls back once; the returned function cancels it
 * @throws TransferError cancelled
 */
export function waitFor(signal: AbortSignal, start: (done: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      end();
      reject(new TransferError('cancelled', 'a newer request has replaced it'));
    };
    const end = start(() => {
      signal.removeEventListener('abort', cancelled);
      resolve();
    });
    signal.addEventListener('abort', cancelled, { once: true });
    if (signal.aborted) cancelled();
  });
}
