/** What became of a call that a user sent. */
import type { OcppCallResult } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { CallOutcome } from '../rpc/model.ts';

/** @throws SimError NOT_CONNECTED, PEER_TIMEOUT, PEER_ERROR */
export function callResult(action: string, outcome: CallOutcome, messageId: string): OcppCallResult {
  switch (outcome.kind) {
    case 'result': {
      const { kind, payload, durationMs } = outcome;
      return { messageId, action, durationMs, answer: { kind, payload } };
    }
    case 'error': {
      const { kind, code, description, details, durationMs } = outcome;
      return { messageId, action, durationMs, answer: { kind, code, description, details } };
    }
    case 'timeout':
      throw new SimError('PEER_TIMEOUT', `the central system has not answered ${action}`);
    case 'lost':
      throw new SimError('PEER_ERROR', `the connection has ended before ${action} was answered`);
    case 'unsent':
      throw new SimError('NOT_CONNECTED', `${action} was not sent: ${outcome.why}`);
  }
}
