/** Requests and internal indications as the application layer passes them on. IEEE 1815 clause 4 */
import type { Buffer } from 'node:buffer';

/** The application control octet. */
export interface AppControl {
  readonly fir: boolean;
  readonly fin: boolean;
  readonly con: boolean;
  readonly uns: boolean;
  /** 0 to 15 */
  readonly seq: number;
}

export const functionCodes = {
  confirm: 0,
  read: 1,
  write: 2,
  select: 3,
  operate: 4,
  directOperate: 5,
  directOperateNr: 6,
  immediateFreeze: 7,
  immediateFreezeNr: 8,
  freezeClear: 9,
  freezeClearNr: 10,
  freezeAtTime: 11,
  freezeAtTimeNr: 12,
  coldRestart: 13,
  warmRestart: 14,
  enableUnsolicited: 20,
  disableUnsolicited: 21,
  assignClass: 22,
  delayMeasure: 23,
  recordCurrentTime: 24,
  authRequestNoAck: 33,
  response: 129,
  unsolicitedResponse: 130,
} as const;

/** Requests that never get an answer, also when they are wrong. */
export const silentFunctions: ReadonlySet<number> = new Set([0, 6, 8, 10, 12, 33]);

/** Internal indications: IIN1 is the low octet, IIN2 the high one. */
export const iin = {
  broadcast: 0x0001,
  class1: 0x0002,
  class2: 0x0004,
  class3: 0x0008,
  needTime: 0x0010,
  localControl: 0x0020,
  deviceTrouble: 0x0040,
  deviceRestart: 0x0080,
  functionNotSupported: 0x0100,
  objectUnknown: 0x0200,
  parameterError: 0x0400,
  eventBufferOverflow: 0x0800,
  alreadyExecuting: 0x1000,
  configurationCorrupt: 0x2000,
} as const;

/** The points or objects that an object header names. */
export type ObjectRange =
  | { readonly kind: 'all' }
  | { readonly kind: 'span'; readonly start: number; readonly stop: number }
  /** the first `count` objects (reads of events), or `count` objects without index (times, delays) */
  | { readonly kind: 'count'; readonly count: number }
  /** one entry for each object, in the order of the request */
  | { readonly kind: 'indexes'; readonly indexes: readonly number[] };

/** One object of a request, octets of the object alone without index prefix. A view of the fragment. */
export interface RequestObject {
  /** absent where neither a prefix nor a span gives one */
  readonly index: number | null;
  readonly octets: Buffer;
}

/** An object header of a request with its objects. */
export interface ObjectHeader {
  readonly group: number;
  readonly variation: number;
  readonly qualifier: number;
  readonly range: ObjectRange;
  /** empty in requests that carry none (READ, freezes, class assignments) */
  readonly objects: readonly RequestObject[];
  /** all octets, from the group on to the last object. A view of the fragment */
  readonly octets: Buffer;
}

export interface Request {
  readonly control: AppControl;
  readonly functionCode: number;
  readonly headers: readonly ObjectHeader[];
  /**
   * Bits of IIN2 with which the request as a whole is refused, nothing of it executed: its octets cannot be understood.
   * 0: it can be carried out, header by header
   */
  readonly refusal: number;
  /** the whole fragment */
  readonly octets: Buffer;
}

/** Answer of a function: octets of objects behind the IIN, and bits of IIN2. */
export interface Answer {
  readonly objects: Buffer;
  readonly iin2: number;
}
