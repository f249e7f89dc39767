import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';

/** Listeners to one kind of event; one that fails is logged and does not keep the others from it. */
export interface Signal<T> {
  /** The returned function ends it. */
  on(listener: (event: T) => void): () => void;
  emit(event: T): void;
}

export function createSignal<T>(log: Pick<Logger, 'error'>): Signal<T> {
  const listeners = new Set<(event: T) => void>();
  return {
    on(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error(`a listener has failed: ${errorText(error)}`);
        }
      }
    },
  };
}
