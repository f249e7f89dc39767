/** Ends of the process: the exit code and the output of an error, and the order to stop. */
import { formatIssues } from '../../config/issues/issues.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { Later } from '../../core/time/timers.ts';

export interface Ending {
  readonly code: number;
  /** for stderr */
  readonly text: string;
}

/** The end by an error that nothing has handled; one line, so that log collectors keep it whole. */
export function fatalEnding(error: unknown): Ending {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: exitCodes.internal, text: `FATAL ${text.replaceAll(/\s*\n\s*/g, ' | ')}` };
}

/** Help where another simulator may have the ports: each of them would be refused in its turn. */
function secondStart({ cause }: SimError): string {
  const isUsed = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  return isUsed
    ? '. Another derbench may run there: "derbench devices" shows it, and "derbench -wp 0 -p 0" starts a second one'
    : '';
}

/** The end by an error of the start: a wrong setting, a port in use and a shortage have no stack. */
export function startEnding(error: unknown): Ending {
  if (!(error instanceof SimError)) return fatalEnding(error);
  switch (error.code) {
    case 'CONFIG_INVALID':
      return { code: exitCodes.usage, text: formatIssues(error) };
    case 'LISTEN_FAILED':
      return { code: exitCodes.addressInUse, text: `derbench: ${error.message}${secondStart(error)}` };
    case 'SHORTAGE':
      return { code: exitCodes.internal, text: `derbench: ${error.message}` };
    default:
      return fatalEnding(error);
  }
}

/** Time after which a stop that does not end is given up, ms. */
const stopLimitMs = 4000;

export interface StopHandlerOptions {
  /** Stops everything in order. @returns the exit code */
  readonly stop: () => Promise<number>;
  /** Ends the process with an exit code. */
  readonly exit: (code: number) => void;
  /** Ends the process after a failed stop. */
  readonly fail: (error: unknown) => void;
  readonly later: Later;
}

/** Handles signals and `POST stop`: the first one stops in order, a second one ends the process at once. */
export function createStopHandler({ stop, exit, fail, later }: StopHandlerOptions): () => void {
  let ending = false;
  return () => {
    if (ending) {
      exit(exitCodes.internal);
      return;
    }
    ending = true;
    later(stopLimitMs, () => exit(exitCodes.internal));
    stop().then(exit, fail);
  };
}
