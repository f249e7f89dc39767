/** Calls of the central system on their way to the parts of a station. */
import { SimError } from '../../core/errors.ts';
import type { CallHandler } from '../rpc/model.ts';

/** The handlers of all parts. @throws SimError INTERNAL for an action with two handlers */
export function mergeHandlers<Handlers extends object>(parts: readonly { readonly handlers?: Handlers }[]): Handlers {
  const merged = new Map<string, unknown>();
  for (const [action, handler] of parts.flatMap(({ handlers }) => Object.entries(handlers ?? {}))) {
    if (merged.has(action)) throw new SimError('INTERNAL', `two parts answer ${action}`);
    merged.set(action, handler);
  }
  // each of them was under its action in a table of this form
  return Object.fromEntries(merged) as Handlers;
}

/** The answer to a BootNotification may come with the next call in one piece; its promise runs within these turns. */
const turns = 10;

/** Carries calls out once the answer to a BootNotification that has come counts. */
export function afterBootAnswer(registration: { readonly booting: boolean }, act: CallHandler): CallHandler {
  const later: CallHandler = async (...call) => {
    for (let turn = 0; turn < turns && registration.booting; turn += 1) await Promise.resolve();
    return act(...call);
  };
  return (...call) => (registration.booting ? later(...call) : act(...call));
}
