import type { Action, Requests } from '../parts.ts';

/** A message that waits in an outbox. */
export interface Report<Name extends Action> {
  readonly action: Name;
  readonly request: Requests[Name];
}
