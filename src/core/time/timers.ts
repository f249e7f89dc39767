/**
 * Timers of the machine that do not keep the process alive. They are passed as options, so that tests can replace them.
 */

/** Calls `run` once after `ms`. The returned function cancels the call. */
export type Later = (ms: number, run: () => void) => () => void;

/** Calls `run` every `ms` until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

/** Node fires a timer with a longer wait at once. */
const maxMs = 2 ** 31 - 1;

export const callLater: Later = (ms, run) => {
  const wait = (leftMs: number): NodeJS.Timeout =>
    leftMs <= maxMs
      ? setTimeout(run, leftMs).unref()
      : setTimeout(() => {
          timer = wait(leftMs - maxMs);
        }, maxMs).unref();
  let timer = wait(ms);
  return () => {
    clearTimeout(timer);
  };
};

export const callEvery: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref();
  return () => {
    clearInterval(timer);
  };
};
