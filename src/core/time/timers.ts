/**
 * Timers of the machine that do not keep the process alive. They are passed as options, so that tests can replace them.
 */

/** Calls `run` once after `ms`. The returned function cancels the call. */
export type Later = (ms: number, run: () => void) => () => void;

/** Calls `run` every `ms` until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

export const callLater: Later = (ms, run) => {
  const timer = setTimeout(run, ms).unref();
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
