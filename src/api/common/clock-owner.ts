/** Requests that pass time, beside a scenario that does. */
import { SimError } from '../../core/errors.ts';
import type { RouteContext } from '../http/context.ts';

/** @throws SimError COMMAND_CONFLICT while a scenario has the clock */
export function checkClockHasNoOwner({ clockOwner: { name } }: Pick<RouteContext, 'clockOwner'>): void {
  if (name === null) return;
  throw new SimError(
    'COMMAND_CONFLICT',
    `the scenario ${JSON.stringify(name)} has the clock until it ends; POST scenarios/{id}/stop ends it`,
  );
}
