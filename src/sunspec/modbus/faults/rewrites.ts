/** Rewrites of answers by transport faults, applied in a fixed order. */
import { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../../core/faults/active-fault.ts';
import { crc16 } from '../../../core/wire/modbus.ts';
import {
  badCrcFault,
  duplicateFault,
  echoFault,
  garbageFault,
  splitFault,
  strayOctetsFault,
  truncateFault,
  wrongByteCountFault,
  wrongFunctionFault,
  wrongTransactionFault,
  wrongUnitFault,
} from '../../../fault-kinds/modbus-transport.ts';
import type { Disturbance, RequestFacts } from '../server/context.ts';
import type { FramingName } from '../framing/framing.ts';

/** Offsets of the parts of an ADU. */
const aduOffsets = {
  mbap: { unitAt: 6, pduAt: 7, tail: 0 },
  rtu: { unitAt: 0, pduAt: 1, tail: 2 },
} as const;

type Edit = (adu: Buffer, framing: FramingName) => void;
type Reshape = (chunks: readonly Buffer[], request: Buffer) => readonly Buffer[];

const isRead = ({ functionCode }: RequestFacts) => functionCode >= 1 && functionCode <= 4;

/** True if the answer to a request has the content that the fault changes. */
export function canRewrite(fault: ActiveFault, request: RequestFacts, framing: FramingName): boolean {
  if (fault.isOf(wrongTransactionFault)) return framing === 'mbap';
  if (fault.isOf(badCrcFault)) return framing === 'rtu';
  return !fault.isOf(wrongByteCountFault) || isRead(request);
}

/** The change of a fault inside the answer, with the MBAP length kept correct; null: none. */
function editOf(fault: ActiveFault): Edit | null {
  if (fault.isOf(wrongUnitFault)) {
    const { unit_id: unitId } = fault.parameters;
    return (adu, framing) => {
      const { unitAt } = aduOffsets[framing];
      adu[unitAt] = unitId ?? ((adu[unitAt] ?? 0) + 1) & 0xff;
    };
  }
  if (fault.isOf(wrongTransactionFault)) {
    const { mode } = fault.parameters;
    return (adu) => {
      adu.writeUInt16BE(mode === 'zero' ? 0 : (adu.readUInt16BE(0) + 1) & 0xffff, 0);
    };
  }
  if (fault.isOf(wrongFunctionFault)) {
    return (adu, framing) => {
      const { pduAt } = aduOffsets[framing];
      adu[pduAt] = otherFunction(adu[pduAt] ?? 0);
    };
  }
  if (!fault.isOf(wrongByteCountFault)) return null;
  return (adu, framing) => {
    const { pduAt } = aduOffsets[framing];
    // an exception has no byte count
    if (((adu[pduAt] ?? 0) & 0x80) === 0) adu[pduAt + 1] = ((adu[pduAt + 1] ?? 0) + 2) & 0xff;
  };
}

/** The function with the same form of answer, else the next code; an exception stays an exception. */
function otherFunction(code: number): number {
  const pairs: Readonly<Record<number, number>> = { 3: 4, 4: 3, 6: 16, 16: 6 };
  return (pairs[code & 0x7f] ?? (code + 1) & 0x7f) | (code & 0x80);
}

function fixCrc(adu: Buffer): void {
  const end = adu.length - aduOffsets.rtu.tail;
  adu.writeUInt16LE(crc16(adu, 0, end), end);
}

/** The change of a fault to the octets of the finished answer; null: none. */
function reshapeOf(fault: ActiveFault): Reshape | null {
  if (fault.isOf(badCrcFault)) return (chunks) => chunks.map(withBadCrc);
  if (fault.isOf(garbageFault)) {
    const { octets } = fault.parameters;
    return () => [Buffer.from(Array.from({ length: octets }, () => Math.floor(fault.random.next() * 256)))];
  }
  if (fault.isOf(truncateFault)) {
    const { octets } = fault.parameters;
    return (chunks) => chunks.map((chunk) => chunk.subarray(0, octets)).filter(({ length }) => length > 0);
  }
  if (fault.isOf(strayOctetsFault)) {
    const { place, octets = [0] } = fault.parameters;
    const stray = Buffer.from(octets);
    if (place === 'instead') return () => [stray];
    return (chunks) => (place === 'before' ? [stray, ...chunks] : [...chunks, stray]);
  }
  // the request is copied, since its buffer is reused for the next one
  if (fault.isOf(echoFault)) return (chunks, request) => [Buffer.from(request), ...chunks];
  if (fault.isOf(duplicateFault)) return (chunks) => [...chunks, ...chunks];
  if (!fault.isOf(splitFault)) return null;
  const { octets } = fault.parameters;
  return (chunks) =>
    chunks.flatMap((chunk) =>
      Array.from({ length: Math.ceil(chunk.length / octets) }, (_, at) =>
        chunk.subarray(at * octets, (at + 1) * octets),
      ),
    );
}

function withBadCrc(chunk: Buffer): Buffer {
  const bad = Buffer.from(chunk);
  const last = bad.length - 1;
  if (last >= 0) bad[last] = (bad[last] ?? 0) ^ 0xff;
  return bad;
}

/** Order: content of the answer, then its length, repetition and pieces. */
const reshapeOrder: readonly string[] = [
  badCrcFault,
  garbageFault,
  truncateFault,
  duplicateFault,
  strayOctetsFault,
  echoFault,
  splitFault,
].map(({ kind }) => kind);

/**
 * The rewriting by faults that have struck; undefined: none. Changes inside the answer come first, in order of
 * injection, and an RTU answer gets the CRC of its changed content; bad_crc, garbage, truncate, duplicate,
 * stray_octets, echo and split follow in this order.
 */
export function rewriteOf(faults: readonly ActiveFault[], framing: FramingName): Disturbance['rewrite'] {
  const edits = faults.map(editOf).filter((edit) => edit !== null);
  const place = (fault: ActiveFault) => reshapeOrder.indexOf(fault.facts.kind.kind);
  const reshapes = faults
    .toSorted((a, b) => place(a) - place(b))
    .map(reshapeOf)
    .filter((reshape) => reshape !== null);
  if (edits.length === 0 && reshapes.length === 0) return undefined;
  return (adu, request) => {
    const edited = Buffer.from(adu);
    for (const edit of edits) edit(edited, framing);
    if (framing === 'rtu' && edits.length > 0) fixCrc(edited);
    return reshapes.reduce<readonly Buffer[]>((chunks, reshape) => reshape(chunks, request), [edited]);
  };
}

/** Pause between pieces: the maximum over all faults. */
export function chunkPauseMs(faults: readonly ActiveFault[]): number {
  return faults.reduce((gap, fault) => (fault.isOf(splitFault) ? Math.max(gap, fault.parameters.gap_ms) : gap), 0);
}
