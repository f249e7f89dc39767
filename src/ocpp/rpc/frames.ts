/** Frames of OCPP-J (section 4.2 in every version): reading with the kind of error, and writing. */
import { frameTypes } from './model.ts';
import type { OcppSubprotocol, Payload } from './model.ts';
import { LoopQueue } from '../../core/turns.ts';

// Error codes of CALLERROR by situation and version.

/** Code by version. OCPP-J 1.6 4.2.3 with its errata; OCPP-J 2.0.1 and 2.1 4.3. */
interface Codes {
  readonly v16: string;
  readonly v2: string;
}

/** 1.6 spells `Occurence` with one r, which its errata keep on purpose. */
const situations = {
  /** the version has no such action */
  unknownAction: { v16: 'NotImplemented', v2: 'NotImplemented' },
  /** the version has the action, the station does not */
  unsupportedAction: { v16: 'NotSupported', v2: 'NotSupported' },
  /** not a frame of OCPP-J */
  frame: { v16: 'FormationViolation', v2: 'RpcFrameworkError' },
  /** the message id is that of a call which is still being answered */
  duplicateId: { v16: 'GenericError', v2: 'RpcFrameworkError' },
  /** a number of a message type that the version does not have */
  messageType: { v16: 'GenericError', v2: 'MessageTypeNotSupported' },
  /** payload absent or not an object */
  structure: { v16: 'FormationViolation', v2: 'FormatViolation' },
  /** a member that the schema does not have */
  extraMember: { v16: 'FormationViolation', v2: 'FormatViolation' },
  /** a required member is missing, or a list has too few or too many entries */
  occurrence: { v16: 'OccurenceConstraintViolation', v2: 'OccurrenceConstraintViolation' },
  /** wrong JSON type */
  type: { v16: 'TypeConstraintViolation', v2: 'TypeConstraintViolation' },
  /** right type, wrong value: enumeration, range, length, format */
  value: { v16: 'PropertyConstraintViolation', v2: 'PropertyConstraintViolation' },
  /** before the registration is accepted */
  security: { v16: 'SecurityError', v2: 'SecurityError' },
  internal: { v16: 'InternalError', v2: 'InternalError' },
  generic: { v16: 'GenericError', v2: 'GenericError' },
} as const satisfies Readonly<Record<string, Codes>>;

export type ErrorSituation = keyof typeof situations;

export function errorCode(version: OcppSubprotocol, situation: ErrorSituation): string {
  const { v16, v2 } = situations[situation];
  return version === 'ocpp1.6' ? v16 : v2;
}

/** Permitted for an incomplete payload, although no situation above has this code. */
const incomplete = 'ProtocolError';

const codesByVersion = {
  v16: new Set<string>([incomplete, ...Object.values(situations).map(({ v16 }) => v16)]),
  v2: new Set<string>([incomplete, ...Object.values(situations).map(({ v2 }) => v2)]),
};

/** True if a version has a code: the central system may send no other. */
export function isErrorCode(version: OcppSubprotocol, code: string): boolean {
  return codesByVersion[version === 'ocpp1.6' ? 'v16' : 'v2'].has(code);
}

/**
 * Error of a frame. `unreadable`: not a JSON array, or no id; `number`: a message type that the standard does not have;
 * `broken`: action or error code is not text, or the payload not an object; `deep`: more than `maxLevels`.
 */
type FrameProblem = 'unreadable' | 'number' | 'broken' | 'deep';

interface Refusal<Kind> {
  readonly kind: Kind;
  readonly id: string;
  readonly code: string;
  readonly description: string;
  readonly details: unknown;
}

export type Frame =
  | {
      readonly kind: 'call' | 'send';
      readonly id: string;
      readonly action: string;
      readonly payload: Payload;
      /** true: it came before the previous call was answered */
      readonly isEarly?: boolean;
      /** text of a number that the payload has with another value */
      readonly changedNumber?: string;
    }
  | {
      readonly kind: 'result';
      readonly id: string;
      readonly payload: Payload;
      /** text of a number that the payload has with another value */
      readonly changedNumber?: string;
    }
  | Refusal<'error'>
  | Refusal<'result_error'>
  | {
      readonly kind: 'invalid';
      readonly problem: FrameProblem;
      /** null: unreadable */
      readonly id: string | null;
      /** message type; null: not a number */
      readonly number: number | null;
    };

/** Maximum nesting of lists and objects in a frame; messages of OCPP need fewer than 10. */
export const maxLevels = 64;

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const zero = 0x30;
const nine = 0x39;

/**
 * True if a JSON text has more than `maxLevels`: recursive code, such as JSON.stringify, may then overflow the stack.
 * Scanned by hand, so that this check does not recurse.
 */
export function isTooDeep(json: string): boolean {
  // fast check: most messages have too few brackets of either kind
  if (!hasMoreThan(json, '[', maxLevels / 2) && !hasMoreThan(json, '{', maxLevels / 2)) return false;
  let levels = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (inText) {
      if (code === backslash) at += 1;
      else if (code === quote) inText = false;
    } else if (code === quote) inText = true;
    else if (code === openList || code === openObject) {
      levels += 1;
      if (levels > maxLevels) return true;
    } else if (code === closeList || code === closeObject) levels -= 1;
  }
  return false;
}

function hasMoreThan(text: string, part: string, times: number): boolean {
  let at = -1;
  for (let count = 0; count <= times; count += 1) {
    at = text.indexOf(part, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** A text without a match has no number from 2^53 on. */
const longNumber = /\d{16}|\d[eE]\+?\d/;
const numberAt = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const numberParts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Digits and power of ten of the text of a number: equal for equal values. */
function digitsOf(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = numberParts.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let end = digits.length;
  // /0+$/ would try every row of zeros from each of its zeros
  while (end > 0 && digits.charCodeAt(end - 1) === zero) end -= 1;
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/**
 * Text of the first number in a JSON text that would change if this program wrote it again: a number from 2^53 on whose
 * digits differ from the shortest decimal text of its double, such as an id of 64 bits or 1e400 (1732860000123456768
 * would become 1732860000123456800; 1e23 stays 1e23). null: no such number. Fractions below 2^53 may be rounded.
 */
export function changedNumber(json: string): string | null {
  if (!longNumber.test(json)) return null;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (inText) {
      if (code === backslash) at += 1;
      else if (code === quote) inText = false;
      continue;
    }
    if (code === quote) inText = true;
    numberAt.lastIndex = at;
    const [text] = code >= zero && code <= nine ? (numberAt.exec(json) ?? []) : [];
    if (text === undefined) continue;
    const value = Number(text);
    if (value > Number.MAX_SAFE_INTEGER && digitsOf(String(value)) !== digitsOf(text)) return text;
    at += text.length - 1;
  }
  return null;
}

/** J 4.1.4; longer ids of a peer are accepted up to `maxForeignId`, since an answer repeats them. */
export const maxIdLength = 36;
const maxForeignId = 255;
const maxDescription = 255;

export function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const kinds: Readonly<Record<number, Exclude<Frame['kind'], 'invalid'>>> = {
  [frameTypes.call]: 'call',
  [frameTypes.result]: 'result',
  [frameTypes.error]: 'error',
  [frameTypes.resultError]: 'result_error',
  [frameTypes.send]: 'send',
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const foreignId = (id: unknown): string | null => (typeof id === 'string' && id.length <= maxForeignId ? id : null);

function invalid(problem: FrameProblem, [number, id]: readonly unknown[]): Frame {
  return { kind: 'invalid', problem, id: foreignId(id), number: typeof number === 'number' ? number : null };
}

/** The payload at a place of a frame; null: none. 1.6 lets an empty one be null (J 4.2.1). */
function payloadAt(value: unknown, version: OcppSubprotocol): Payload | null {
  if (isObject(value)) return value;
  return value === null && version === 'ocpp1.6' ? {} : null;
}

/** @param json text of `value` */
function readFrame(value: unknown, json: string, version: OcppSubprotocol): Frame {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  // by index: this runs for every message, and taking a list apart costs several times as much
  const number = parts[0];
  const second = parts[2];
  const third = parts[3];
  if (typeof number !== 'number') return invalid('unreadable', parts);
  const kind = kinds[number];
  if (kind === undefined) return invalid('number', parts);
  const id = foreignId(parts[1]);
  if (id === null) return invalid('unreadable', parts);
  if (isTooDeep(json)) return invalid('deep', parts);
  switch (kind) {
    case 'error':
    case 'result_error':
      if (typeof second !== 'string') return invalid('broken', parts);
      return { kind, id, code: second, description: text(third), details: parts.length > 4 ? parts[4] : {} };
    case 'result': {
      const payload = payloadAt(second, version);
      return payload === null ? invalid('broken', parts) : { kind, id, payload, ...numberMember(json) };
    }
    case 'call':
    case 'send': {
      const payload = payloadAt(third, version);
      if (typeof second !== 'string' || payload === null) return invalid('broken', parts);
      return { kind, id, action: second, payload, ...numberMember(json) };
    }
  }
}

function numberMember(json: string): { readonly changedNumber?: string } {
  const text = changedNumber(json);
  return text === null ? {} : { changedNumber: text };
}

/** Reads the text of a frame. Never throws. */
export function parseFrame(json: string, version: OcppSubprotocol): Frame {
  let value: unknown = null;
  try {
    value = JSON.parse(json);
  } catch {
    // null is not a frame
  }
  return readFrame(value, json, version);
}

/** A frame to be sent. */
export type OutFrame =
  | { readonly kind: 'call' | 'send'; readonly id: string; readonly action: string; readonly payload: Payload }
  | { readonly kind: 'result'; readonly id: string; readonly payload: Payload }
  | {
      readonly kind: 'error' | 'result_error';
      readonly id: string;
      readonly code: string;
      readonly description: string;
      readonly details: Payload;
    };

export function frameText(frame: OutFrame): string {
  switch (frame.kind) {
    case 'call':
      return JSON.stringify([frameTypes.call, frame.id, frame.action, frame.payload]);
    case 'send':
      return JSON.stringify([frameTypes.send, frame.id, frame.action, frame.payload]);
    case 'result':
      return JSON.stringify([frameTypes.result, frame.id, frame.payload]);
    case 'error':
    case 'result_error': {
      const number = frame.kind === 'error' ? frameTypes.error : frameTypes.resultError;
      return JSON.stringify([number, frame.id, frame.code, frame.description.slice(0, maxDescription), frame.details]);
    }
  }
}

/**
 * The CALLERROR that answers an invalid frame; null: not permitted, as for every answer. The id of an unreadable frame
 * is `-1` in 2.x, and 1.6 has no value for it; unknown message types are refused in 2.0.1 only, since 2.1 ignores them
 * (J 4.1.3).
 */
export function answerToInvalid(
  version: OcppSubprotocol,
  frame: Extract<Frame, { readonly kind: 'invalid' }>,
): OutFrame | null {
  const error = (id: string, code: string, description: string): OutFrame => {
    return { kind: 'error', id, code, description, details: {} };
  };
  if (frame.problem === 'number') {
    if (version !== 'ocpp2.0.1' || frame.id === null) return null;
    return error(frame.id, errorCode(version, 'messageType'), 'this message type is not known');
  }
  if (frame.number !== null && frame.number !== frameTypes.call) return null;
  if (frame.problem === 'unreadable')
    return version === 'ocpp1.6'
      ? null
      : error('-1', errorCode(version, 'frame'), 'the frame or its id cannot be read');
  if (frame.id === null) return null;
  const why =
    frame.problem === 'deep'
      ? `more than ${maxLevels} levels of lists and objects`
      : 'the action must be text and the payload an object';
  return error(frame.id, errorCode(version, 'structure'), why);
}

interface InboxOptions {
  /** @param isEarly true: the frame came before the previous call was answered */
  readonly take: (data: Buffer, isEarly: boolean) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** default: turns shared by all connections of the process */
  readonly turns?: Pick<LoopQueue, 'wait'>;
}

const sharedTurns = new LoopQueue();
/** Number of waiting frames from which reading is paused; frames already read are still added. */
const maxWaiting = 64;

/**
 * Frames of one connection in the order of their arrival, one in each turn of the event loop, so that a central system
 * that sends many at once does not delay others. While too many wait, reading is paused.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #turns: Pick<LoopQueue, 'wait'>;
  #waiting: Buffer[] = [];
  #isDue = false;
  #isPaused = false;
  /** number of waiting frames that came before the last call was answered */
  #early = 0;
  #whenEmpty: (() => void) | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#turns = options.turns ?? sharedTurns;
  }

  put(data: Buffer): void {
    this.#waiting.push(data);
    if (this.#waiting.length >= maxWaiting && !this.#isPaused) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#plan();
  }

  /** Notes that the frame in `take` is a call, so that all frames that wait now are early. */
  called(): void {
    this.#early = this.#waiting.length;
  }

  /** Calls back once: immediately if nothing waits, otherwise after the last frame. */
  whenEmpty(act: () => void): void {
    this.#whenEmpty = act;
    this.#settle();
  }

  /** Drops all waiting frames. */
  clear(): void {
    this.#waiting = [];
    this.#settle();
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    this.#turns.wait(() => {
      this.#isDue = false;
      this.#next();
    });
  }

  #next(): void {
    const data = this.#waiting.shift();
    if (data === undefined) return;
    this.#plan();
    const isEarly = this.#early > 0;
    if (isEarly) this.#early -= 1;
    this.#options.take(data, isEarly);
    this.#settle();
  }

  #settle(): void {
    if (this.#isPaused && this.#waiting.length < maxWaiting / 2) {
      this.#isPaused = false;
      this.#options.resume();
    }
    if (this.#waiting.length > 0) return;
    const act = this.#whenEmpty;
    this.#whenEmpty = null;
    act?.();
  }
}
