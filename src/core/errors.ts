/**
 * `SimError` with its codes, the words for refused values, and the shortage of file descriptors as a `SimError`.
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/**
 * Codes of `SimError`. The prefix names the responsible party: MAP_ and COMMAND_ the caller, CONFIG_ the user at start,
 * LISTEN_, SHORTAGE and STORE_ the machine, INTERNAL the simulator.
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
  /** the device lacks the function */
  'MAP_NOT_SUPPORTED',
  /** the device is under local control and refuses remote writes (715.LocRemCtl) */
  'MAP_LOCAL_CONTROL',
  /** the role of the client does not permit the access */
  'ACCESS_DENIED',
  /** no device with that index */
  'UNKNOWN_DEVICE',
  /** no command record, control or other resource with that id */
  'UNKNOWN_RESOURCE',
  /** right path, wrong kind of device */
  'COMMAND_NOT_APPLICABLE',
  /** right device, wrong state */
  'COMMAND_CONFLICT',
  /** a well-formed value that is not permitted */
  'COMMAND_BAD_VALUE',
  /** too many calls wait for their turn already */
  'COMMAND_QUEUE_FULL',
  /** the configuration is not valid; `issues` has every reason */
  'CONFIG_INVALID',
  /** an address cannot be bound */
  'LISTEN_FAILED',
  /** the process or the machine has no file descriptor left */
  'SHORTAGE',
  /** the store has no room for another entry or slot */
  'STORE_FULL',
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

/** A validation error of a request or configuration: place, given value, allowed values. */
export interface Issue {
  /** JSON pointer, point name, flag or key */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
  /** a number outside its range, for interfaces that show it in another unit */
  readonly outside?: OutsideRange;
}

/** A number and the range that it is outside of, in the unit of its point. */
export interface OutsideRange {
  readonly given: number;
  readonly min?: number;
  readonly max?: number;
  /** 0 is accepted besides the range */
  readonly orZero?: true;
}

/** A bound with 9 digits, which hide errors of rounding: -33.333333333333336 is shown as -33.3333333. */
const plainNumber = (value: number) => String(Number(value.toPrecision(9)));
/** A given number with 15 digits, which hide errors of a change of unit; fewer could round it to the crossed bound. */
const givenNumber = (value: number) => String(Number(value.toPrecision(15)));

/** `-5 kvar is outside -4.4..4.4 kvar`; with one bound `0 is below 1`. */
export function outsideWords({ given, min, max, orZero }: OutsideRange, unit = ''): string {
  const value = givenNumber(given);
  const [minText, maxText] = [min, max].map((bound) => (bound === undefined ? null : plainNumber(bound)));
  const unitText = unit === '' ? '' : ` ${unit}`;
  if (minText !== null && maxText !== null) {
    const range = `${minText}..${maxText}${unitText}`;
    return orZero ? `${value}${unitText} is neither in ${range} nor 0` : `${value}${unitText} is outside ${range}`;
  }
  return minText === null
    ? `${value}${unitText} is above ${maxText}${unitText}`
    : `${value}${unitText} is below ${minText}${unitText}`;
}

/** The given value and the allowed ones, for the message of a refusal. */
export function givenAllowed(given: unknown, allowed: string): string {
  const text = given === undefined ? 'nothing' : typeof given === 'number' ? String(given) : JSON.stringify(given);
  return `given ${text}; allowed: ${allowed}`;
}

/** A refused value of a command. */
export function badValue(name: string, given: unknown, allowed: string): SimError {
  return new SimError('COMMAND_BAD_VALUE', `${name}: ${givenAllowed(given, allowed)}`);
}

/** One step of a JSON pointer (RFC 6901), with its slash. */
export function pointerStep(step: PropertyKey): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Every error that leaves a layer on purpose. `message` is written for the user. */
export class SimError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
  /** code of the protocol: from the answer of a peer, or set by fault injection in place of the adapter's own code */
  readonly protocolCode: number | undefined;

  constructor(code: ErrorCode, message: string, issues: readonly Issue[] = [], protocolCode?: number) {
    super(message);
    this.name = 'SimError';
    this.code = code;
    this.issues = issues;
    this.protocolCode = protocolCode;
  }
}

/** Maximum number of ranges of indexes that a message lists. */
const maxRanges = 8;

/** The devices as ranges of their indexes: `0-2, 4-9`. @param indexes ascending */
function rangesText(indexes: readonly number[]): string {
  const starts = indexes.flatMap((index, at) => (at === 0 || indexes[at - 1] !== index - 1 ? [at] : []));
  const listed = starts.slice(0, maxRanges).map((start, n) => {
    const [first, last] = [indexes[start], indexes[(starts[n + 1] ?? indexes.length) - 1]];
    return first === last ? `${first}` : `${first}-${last}`;
  });
  const others = indexes.length - (starts[maxRanges] ?? indexes.length);
  return listed.join(', ') + (others > 0 ? ` and ${others} more` : '');
}

/** Message for an unknown device index. @param indexes of the existing devices, ascending */
export function noSuchDevice(index: number, indexes: readonly number[]): string {
  const present = indexes.length === 0 ? 'there are none' : `devices: ${rangesText(indexes)}`;
  return `there is no device ${index}; ${present}`;
}

/** The message of anything that was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The reason why a kept value cannot be used: the text of an error of the engine is of use to developers alone. */
export function misfitText(thrown: unknown): string {
  return thrown instanceof SimError ? thrown.message : 'it has a value of another kind';
}

/** Texts by error code of the system: EMFILE for the limit of the process, ENFILE for that of the machine. */
export const shortageTexts: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files (raise the limit of open files, or serve fewer ports and connections)',
  ENFILE: 'the machine has too many open files',
};

/** The `SimError` for a shortage of file descriptors as error or as its cause; null for any other error. */
export function shortageOf(error: unknown): SimError | null {
  if (error instanceof SimError && error.code === 'SHORTAGE') return error;
  if (!(error instanceof Error)) return null;
  const text = 'code' in error ? shortageTexts[String(error.code)] : undefined;
  if (text !== undefined) return new SimError('SHORTAGE', text);
  return error.cause === undefined ? null : shortageOf(error.cause);
}

/** Descriptors that loading a part of the program may use at once, with room for connections accepted meanwhile. */
const reserve = 32;

/** `require` opens one file at a time and is synchronous: no connection uses a descriptor meanwhile. */
const requireReserve = 4;

/** @throws SimError SHORTAGE unless this many descriptors are free now */
export function checkFreeDescriptors(count: number = reserve): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
  } catch (error) {
    throw shortageOf(error) ?? error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The check before a library is loaded by `require` alone. @throws SimError SHORTAGE */
export const checkDescriptorsToRequire = (): void => {
  checkFreeDescriptors(requireReserve);
};
