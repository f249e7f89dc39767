/** Requests of an exchange: their session, their turn, and limits that they share. */
import type { ExchangeNow } from '../../contract/exchange.ts';
import { noneAttached } from '../../contract/exchange.ts';
import type { Plant } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { deskOf } from './desk.ts';

export const maxStepS = 86_400;
export const minStepS = 0.001;
/** lists of 10,000 devices in full precision need a third of it */
export const maxBodyBytes = 2 * 1024 * 1024;

export const session = z.string().max(64).openapi({ description: 'From the answer of `POST exchange`.' });

/** @throws SimError COMMAND_CONFLICT without an exchange */
export function anyExchange({ exchange }: Plant): ExchangeNow {
  const { now: attached } = exchange;
  if (attached === null) throw new SimError('COMMAND_CONFLICT', noneAttached);
  return attached;
}

/** @throws SimError COMMAND_CONFLICT without an exchange, or for another session */
export function presentExchange(plant: Plant, named: string): ExchangeNow {
  const attached = anyExchange(plant);
  const { session: present, owner, since } = attached;
  if (present === named) return attached;
  const begin = new Date(plant.dateMs(since)).toISOString();
  throw new SimError(
    'COMMAND_CONFLICT',
    `the session is another one: ${JSON.stringify(owner)} is attached since ${begin}`,
  );
}

/** Runs a request of the client, whose exchange may end while the request waits. @throws HttpProblem, SimError */
export function inTurn<T>(
  ctx: RouteContext,
  { session: named }: { session: string },
  work: () => Promise<T> | T,
): Promise<T> {
  return deskOf(ctx).ofClient(() => {
    presentExchange(ctx.plant, named);
    return work();
  });
}
