/** Commands that begin within a time window, and states that go back by themselves: simulated time. */
import type { CommandState } from '../../../core/command-hold.ts';
import type { Origin } from '../../../core/origin.ts';
import { addSeconds } from '../../../core/time/clock.ts';
import type { RandomStream } from '../../../core/random.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { timerOrigin } from '../bind.ts';
import { attempted, statusOf } from '../status.ts';
import type { PartContext, PointName } from '../types.ts';

const { success } = controlStatus;

export interface Delayed {
  /** true if a command waits */
  readonly isWaiting: boolean;
  /**
   * Does something after a random part of the window, once for each command; a newer command that is taken replaces it.
   * @returns the status of what is done at once, or success for what waits
   */
  run(windowS: number, act: () => ControlStatus): ControlStatus;
  cancel(): void;
}

/** The delays of one output. They end with the outstation, and at a reset of the device. */
export function delayed({ port, random, log, settings, onClose }: PartContext, name: PointName): Delayed {
  let stream: RandomStream | undefined;
  let end: (() => void) | null = null;
  const cancel = () => {
    end?.();
    end = null;
  };
  settings.onReset(cancel);
  onClose(cancel);
  return {
    get isWaiting() {
      return end !== null;
    },
    run(windowS, act) {
      stream ??= random(`window ${name}`);
      const delayS = windowS > 0 ? stream.next() * windowS : 0;
      if (delayS === 0) {
        const status = act();
        if (status === success) cancel();
        return status;
      }
      cancel();
      end = port.at(addSeconds(port.now, delayS), () => {
        end = null;
        const status = attempted(act);
        if (status !== success) log.warning(`${name}: refused with status ${status} at the end of its time window`);
      });
      return success;
    },
    cancel,
  };
}

export interface TimedChange<Value> {
  /**
   * Changes the state.
   * @param afterS seconds until the former state is restored; 0: never
   * @throws SimError as the state; then nothing has changed
   */
  change(value: Value, by: Origin, afterS: number): void;
  /** Restores the former state now. */
  goBack(): void;
  /** The change stays. */
  forget(): void;
}

export interface TimedChangeOptions {
  /** asked when the time is over */
  readonly mayGoBack?: () => boolean;
  /** true if what was there before comes back with the end of the outstation; default: the change stays */
  readonly endsAtClose?: boolean;
}

/** A state that an output changes for a time. What another writer has made of it since is left alone. */
export function timedChange<Value>(
  context: PartContext,
  name: string,
  state: CommandState<Value>,
  { mayGoBack = () => true, endsAtClose = false }: TimedChangeOptions = {},
): TimedChange<Value> {
  const { port, settings, onClose } = context;
  let taken: { readonly former: Value; readonly mark: unknown; readonly end: () => void } | null = null;
  const forget = () => {
    taken?.end();
    taken = null;
  };
  const goBack = () => {
    const ownChange = taken !== null && taken.mark === state.mark() ? taken : null;
    forget();
    if (ownChange && mayGoBack()) orLog(context, name, () => state.write(ownChange.former, timerOrigin));
  };
  settings.onReset(forget);
  onClose(endsAtClose ? goBack : forget);
  return {
    change(value, by, afterS) {
      // a repeated change keeps the original former state
      const former = taken !== null && taken.mark === state.mark() ? taken.former : state.read();
      state.write(value, by);
      forget();
      if (afterS <= 0 || former === value) return;
      taken = { former, mark: state.mark(), end: port.at(addSeconds(port.now, afterS), goBack) };
    },
    goBack,
    forget,
  };
}

/** Runs an act and logs its refusal. */
export function orLog({ log }: Pick<PartContext, 'log'>, name: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`${name}: what its timer does was refused with status ${statusOf(error)}`);
  }
}
