/** Requests, the application control octet and internal indications. IEEE 1815 clause 4 */
import { Buffer } from 'node:buffer';

/** The application control octet. IEEE 1815 4.2.2 */
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

/** Functions that never get an answer, also when they are wrong. */
export const silentFunctions: ReadonlySet<number> = new Set([
  functionCodes.confirm,
  functionCodes.directOperateNr,
  functionCodes.immediateFreezeNr,
  functionCodes.freezeClearNr,
  functionCodes.freezeAtTimeNr,
  functionCodes.authRequestNoAck,
]);

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
  /** null: neither a prefix nor a span gives an index */
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
   * Bits of IIN2 that refuse the whole request, because its octets cannot be parsed; 0: its headers are carried out one
   * by one
   */
  readonly refusal: number;
  /** the whole fragment */
  readonly octets: Buffer;
}

/** Answer of a function: octets of objects after the IIN, and bits of IIN2. */
export interface Answer {
  readonly objects: Buffer;
  readonly iin2: number;
}

const bit = { fir: 0x80, fin: 0x40, con: 0x20, uns: 0x10 } as const;

export function readControl(octet: number): AppControl {
  return {
    fir: (octet & bit.fir) !== 0,
    fin: (octet & bit.fin) !== 0,
    con: (octet & bit.con) !== 0,
    uns: (octet & bit.uns) !== 0,
    seq: octet & 0x0f,
  };
}

function controlOctet({ fir, fin, con, uns, seq }: AppControl): number {
  return (fir ? bit.fir : 0) | (fin ? bit.fin : 0) | (con ? bit.con : 0) | (uns ? bit.uns : 0) | (seq & 0x0f);
}

/** Octets of a response before its objects: control, function, two of indications. */
export const responseHeaderOctets = 4;

/** A response, or with `control.uns` an unsolicited one. */
export function responseFragment(control: AppControl, iin: number, objects: Buffer): Buffer {
  const fragment = Buffer.allocUnsafe(responseHeaderOctets + objects.length);
  fragment[0] = controlOctet(control);
  fragment[1] = control.uns ? functionCodes.unsolicitedResponse : functionCodes.response;
  fragment.writeUInt16LE(iin, 2);
  objects.copy(fragment, responseHeaderOctets);
  return fragment;
}
