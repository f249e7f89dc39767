/**
 * The error family. Whose fault it is decides the prefix: MAP_ and COMMAND_ the caller's,
 * CONFIG_ the user's at start, LISTEN_ the machine's, INTERNAL ours.
 * Each adapter has one table from these codes to its own exception or status.
 */
export const errorCodes = [
  /** no such register */
  'MAP_ILLEGAL_ADDRESS',
  /** no such model or point (access by name) */
  'MAP_UNKNOWN_POINT',
  /** the point is read only */
  'MAP_READ_ONLY',
  /** the point exists in the model but not in this device */
  'MAP_NOT_IMPLEMENTED',
  /** a write that covers only some registers of a point */
  'MAP_PARTIAL_POINT',
  /** outside the enumeration or the range */
  'MAP_BAD_VALUE',
  /** the function is not one that this device has */
  'MAP_NOT_SUPPORTED',
  /** the device is under local control and takes no remote write (715.LocRemCtl) */
  'MAP_LOCAL_CONTROL',
  /** the role of the one who asks does not permit it */
  'ACCESS_DENIED',
  /** no device of that index */
  'UNKNOWN_DEVICE',
  /** no command record, control or other resource of that id */
  'UNKNOWN_RESOURCE',
  /** right path, wrong kind of device */
  'COMMAND_NOT_APPLICABLE',
  /** right device, wrong state */
  'COMMAND_CONFLICT',
  /** well-formed, but not a value that makes sense */
  'COMMAND_BAD_VALUE',
  /** the operator queue of the device is full */
  'COMMAND_QUEUE_FULL',
  /** configuration faults, all of them in `faults` */
  'CONFIG_INVALID',
  /** an address cannot be bound */
  'LISTEN_FAILED',
  /** a remote peer refused, closed or answered nonsense */
  'PEER_ERROR',
  /** a remote peer did not answer in time */
  'PEER_TIMEOUT',
  /** there is no connection to the remote peer */
  'NOT_CONNECTED',
  /** the simulator is shutting down */
  'STOPPING',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** One fault of a request or a configuration: where, what was given, what is allowed. */
export interface Issue {
  /** JSON pointer, point name, flag or key */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
}

/** Every error that leaves a layer on purpose. `message` is written for the user who caused it. */
export class SimError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
  /** the exception code that a Modbus peer answered with, or that fault injection puts in place of the one in the protocol's table */
  readonly exceptionCode: number | undefined;

  constructor(code: ErrorCode, message: string, issues: readonly Issue[] = [], exceptionCode?: number) {
    super(message);
    this.name = 'SimError';
    this.code = code;
    this.issues = issues;
    this.exceptionCode = exceptionCode;
  }
}

/** What is said of a device index that nobody has. @param indexes those that there are, rising */
export function noSuchDevice(index: number, indexes: readonly number[]): string {
  const [first, last] = [indexes[0], indexes.at(-1)];
  return `there is no device ${index}; ${first === undefined ? 'there are none' : `indexes run from ${first} to ${last ?? first}`}`;
}

/** The message of anything that was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
