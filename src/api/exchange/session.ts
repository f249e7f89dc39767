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
  if (attached.session === named) return attached;
  throw new SimError('COMMAND_CONFLICT', `the session is another one: ${attachedSince(plant, attached)}`);
}

function attachedSince(plant: Plant, { owner, since }: ExchangeNow): string {
  return `${JSON.stringify(owner)} is attached since ${new Date(plant.dateMs(since)).toISOString()}`;
}

/** @throws SimError COMMAND_CONFLICT while devices are attached */
export function checkNoneAttached(plant: Plant): void {
  const { now: attached } = plant.exchange;
  if (attached === null) return;
  const end = 'POST exchange/end with the session of GET exchange ends it';
  throw new SimError('COMMAND_CONFLICT', `${attachedSince(plant, attached)}: ${end}`);
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
