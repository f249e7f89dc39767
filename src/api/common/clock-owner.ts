/** Requests that pass time, beside a scenario that does. */
import { SimError } from '../../core/errors.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';

/** @throws SimError COMMAND_CONFLICT while a scenario has the clock */
export function checkClockHasNoOwner({ clockOwner: { name } }: Pick<RouteContext, 'clockOwner'>): void {
  if (name === null) return;
  throw new SimError(
    'COMMAND_CONFLICT',
    `the scenario ${JSON.stringify(name)} has the clock until it ends; POST scenarios/{id}/stop ends it`,
  );
}

/** The clock of a shard is that of its fleet. @throws HttpProblem `fleet-member` */
export function checkIsNoMember({ fleet }: Pick<RouteContext, 'fleet'>): void {
  if (fleet === undefined) return;
  const gateway = fleet.gateway();
  throw new HttpProblem(
    'fleet-member',
    `This process is a shard, whose clock is that of its fleet: ask the gateway${gateway === null ? '' : ` at ${gateway}`}.`,
  );
}
