/**
 * Reset (B11, B12). A reset of one EVSE alone is refused: nothing of a device restarts without the rest of it, so that
 * EVSE.AllowReset is not there. ImmediateAndResume of 2.1 is refused too: no transaction outlives a restart.
 */
import { createRestarts } from '../../provisioning/restarts.ts';
import type { RestartPlan } from '../../provisioning/restarts.ts';
import type { Handler, Part, Replies, StationParts, Transactions } from '../parts.ts';

interface ResetDeps {
  readonly transactions: Pick<Transactions, 'running' | 'stopAll' | 'onEnded'>;
}

const rejected = (reasonCode: string): Replies['Reset'] => ({ status: 'Rejected', statusInfo: { reasonCode } });

export function createReset(
  parts: Pick<StationParts, 'device' | 'later' | 'log' | 'variables' | 'connection' | 'queue'>,
  { transactions }: ResetDeps,
): Part & { readonly handlers: { readonly Reset: Handler<'Reset'> } } {
  const { device, variables } = parts;
  const restarts = createRestarts({ ...parts, retries: () => variables.integer('OCPPCommCtrlr', 'ResetRetries') });
  /** OnIdle was answered with Scheduled, and a transaction runs */
  let isScheduled = false;
  const plan = (text: string, bootReason: string): RestartPlan => ({
    stopAll: () => {
      transactions.stopAll({ reason: 'ImmediateReset', trigger: 'ResetCommand' });
    },
    // B12.FR.04: the events of the transactions go out first
    waits: true,
    text,
    bootReason,
  });
  const whenIdle = (): void => {
    if (!isScheduled || transactions.running.length > 0) return;
    isScheduled = false;
    restarts.begin(plan('Reset OnIdle of the central system', 'ScheduledReset'));
  };
  const end = transactions.onEnded(whenIdle);
  const reset: Handler<'Reset'> = ({ type, evseId }, after) => {
    if (evseId !== undefined)
      return rejected(device.connectorIds.includes(evseId) ? 'UnsupportedParam' : 'UnknownEvse');
    if (type === 'ImmediateAndResume') return rejected('UnsupportedParam');
    // a device that is off cannot be reset
    if (device.dark) return rejected('NotEnabled');
    if (type === 'OnIdle' && transactions.running.length > 0) {
      isScheduled = true;
      return { status: 'Scheduled' };
    }
    after(() => {
      isScheduled = false;
      restarts.begin(plan(`Reset ${type} of the central system`, type === 'OnIdle' ? 'ScheduledReset' : 'RemoteReset'));
    });
    return { status: 'Accepted' };
  };
  return {
    handlers: { Reset: reset },
    stop: () => {
      end();
      restarts.stop();
    },
  };
}
