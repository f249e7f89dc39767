/** The points in which two images of one map differ, for the state of a device on disk. */
import { memoPerLayout } from './layout.ts';
import type { Layout, PointSlot } from './layout.ts';

/** Registers of whole points, in the order in which they are listed. */
export interface KeptRegisters {
  /** alternately registers since the end of the run before, and registers of the run */
  readonly runs: readonly number[];
  /** of all runs together, base64 */
  readonly octets: string;
}

/** A view of whole registers, for comparisons alone: their octets are in the order of the map. */
function registersOf(bytes: Buffer): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : Buffer.from(bytes);
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
}

/** For each register the first one of its point and the one behind its last one. */
const pointBounds = memoPerLayout((layout: Layout) => {
  const from = Uint16Array.from({ length: layout.imageSize }, (_, at) => at);
  const to = from.map((at) => at + 1);
  for (const { address, def } of layout.slots) {
    const at = address - layout.base;
    from.fill(at, at, at + def.size);
    to.fill(at + def.size, at, at + def.size);
  }
  return { from, to, copy: Buffer.alloc(2 * layout.imageSize) };
});

/**
 * The points that differ from the start values, and those that were written with them.
 * @param image start values
 * @param written points that have a writer
 */
export function changedRegisters(
  layout: Layout,
  bytes: Buffer,
  image: Buffer,
  written: Iterable<PointSlot>,
): KeptRegisters {
  const { from, to, copy } = pointBounds(layout);
  const [present, start] = [registersOf(bytes), registersOf(image)];
  const runs: number[] = [];
  let [last, used] = [0, 0];
  const add = (begin: number, end: number): void => {
    if (begin === last && runs.length > 0) runs.push((runs.pop() ?? 0) + end - begin);
    else runs.push(begin - last, end - begin);
    used += bytes.copy(copy, used, 2 * begin, 2 * end);
    last = end;
  };
  for (let at = 0; at < present.length; at += 1) {
    if (present[at] === start[at]) continue;
    const end = to[at] ?? at + 1;
    add(from[at] ?? at, end);
    at = end - 1;
  }
  for (const { address, def } of written) {
    const [begin, end] = [address - layout.base, address - layout.base + def.size];
    if (bytes.compare(image, 2 * begin, 2 * end, 2 * begin, 2 * end) !== 0) continue;
    add(begin, end);
  }
  return { runs, octets: copy.toString('base64', 0, used) };
}

/** Calls `put` with the first register and the octets of each run. @returns false for runs without octets */
function eachRun({ runs, octets }: KeptRegisters, put: (from: number, octets: Buffer) => void): boolean {
  const bytes = Buffer.from(octets, 'base64');
  let [last, used] = [0, 0];
  for (let i = 0; i + 1 < runs.length; i += 2) {
    const [from, count] = [last + (runs[i] ?? 0), runs[i + 1] ?? 0];
    const end = used + 2 * count;
    if (!Number.isInteger(from) || from < 0 || count < 0 || end > bytes.length) return false;
    put(from, bytes.subarray(used, end));
    [last, used] = [from + count, end];
  }
  return true;
}

/** Puts registers into an image of their map. @returns false for registers that it does not cover */
export function putRegisters(image: Buffer, kept: KeptRegisters): boolean {
  let fits = true;
  const isWhole = eachRun(kept, (from, octets) => {
    if (2 * from + octets.length > image.length) fits = false;
    else octets.copy(image, 2 * from);
  });
  return isWhole && fits;
}

/** Octets of the points that were kept whole, by the offset of their first register. */
export function keptOctets(
  kept: KeptRegisters,
  size: number,
): { readonly octets: Buffer; readonly isKept: Uint8Array } {
  const [octets, isKept] = [Buffer.alloc(2 * size), new Uint8Array(size)];
  eachRun(kept, (from, run) => {
    run.copy(octets, 2 * from);
    isKept.fill(1, from, from + run.length / 2);
  });
  return { octets, isKept };
}
