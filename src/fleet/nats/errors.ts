/** FleetError of the errors of the NATS packages. */
import { errors } from '@nats-io/transport-node';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errorText } from '../../core/errors.ts';
import { FleetError } from '../link.ts';

/** codes of JetStream for a key that has another revision */
const conflicts: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
];

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** The permission that the server refused, also where it is the cause of a failed request. */
export function violationOf(error: unknown): InstanceType<typeof errors.PermissionViolationError> | null {
  if (error instanceof errors.PermissionViolationError) return error;
  const cause = causeOf(error);
  return cause === undefined ? null : violationOf(cause);
}

/** `permission to publish on "derbench.tick.a" is missing` */
export function deniedText({ operation, subject }: { readonly operation: string; readonly subject: string }): string {
  return `permission to ${operation === 'publish' ? 'publish on' : 'subscribe to'} "${subject}" is missing`;
}

/** @param what the operation, for the message */
export function fleetErrorOf(what: string, error: unknown): FleetError {
  if (error instanceof FleetError) return error;
  const violation = violationOf(error);
  const options = { cause: error };
  if (violation) return new FleetError('denied', `${what}: ${deniedText(violation)}`, options);
  if (error instanceof JetStreamApiError && conflicts.includes(error.code))
    return new FleetError('conflict', `${what}: ${error.message}`, options);
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError)
    return new FleetError('offline', `${what}: the connection is closed`, options);
  return new FleetError('timeout', `${what}: ${errorText(error)}`, options);
}
