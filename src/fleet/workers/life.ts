/** The life of a worker: its channel to the gateway says that it is ready, and its end is that of the worker. */
import type { Later } from '../../core/time/timers.ts';

/** Variable by which a gateway marks its workers. */
export const workerVariable = 'DERBENCH_WORKER';
export const readyMessage = 'ready';

/** Time for a stop in order, ms. */
const stopLimitMs = 1500;

interface Channel {
  readonly connected?: boolean | undefined;
  once(event: 'disconnect', listener: () => void): unknown;
  send?(message: unknown): unknown;
}

export interface WorkerLife {
  readonly channel: Channel;
  /** Begins a stop in order. */
  readonly end: () => void;
  /** Ends the process at once. */
  readonly exit: () => void;
  readonly later: Later;
}

/** Ends a worker when its gateway has ended. @returns tells the gateway that the worker is ready */
export function followGateway({ channel, end, exit, later }: WorkerLife): () => void {
  const onEnd = () => {
    end();
    later(stopLimitMs, exit);
  };
  // a gateway that is gone already has no event any more
  if (channel.connected === true) channel.once('disconnect', onEnd);
  else onEnd();
  return () => {
    if (channel.connected === true) channel.send?.(readyMessage);
  };
}
