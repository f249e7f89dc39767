import { SimError } from '../../../core/errors.ts';
import { statusOf } from './connector.ts';
import type { Connector } from './connector.ts';

/** The refusal of an operation in the present state of a connector. */
export function conflict(c: Connector, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${c.p.connectorId} is ${statusOf(c)}: ${why}`);
}
