/** The registers in which two images of one map differ, for the state of a device on disk. */

/** Runs of registers, each by the offset of its first one and its octets in base64. */
export type RegisterRuns = readonly (readonly [offset: number, octets: string])[];

/** Equal registers between two runs, up to which one run costs less than two. */
const maxGap = 6;

/** A view of whole registers, for comparisons alone: their octets are in the order of the map. */
function registersOf(bytes: Buffer): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : Buffer.from(bytes);
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length / 2);
}

/** @param image of the same length */
export function changedRegisters(bytes: Buffer, image: Buffer): RegisterRuns {
  const [present, start] = [registersOf(bytes), registersOf(image)];
  const runs: (readonly [number, string])[] = [];
  let from = -1;
  let last = -1;
  const close = (): void => {
    if (from >= 0) runs.push([from, bytes.toString('base64', 2 * from, 2 * last + 2)]);
  };
  for (let at = 0; at < present.length; at += 1) {
    if (present[at] === start[at]) continue;
    if (from < 0 || at - last > maxGap) {
      close();
      from = at;
    }
    last = at;
  }
  close();
  return runs;
}

/** Puts runs into an image. @returns false for runs that it does not cover */
export function putRegisters(image: Buffer, runs: RegisterRuns): boolean {
  for (const [offset, octets] of runs) {
    const bytes = Buffer.from(octets, 'base64');
    if (!Number.isInteger(offset) || offset < 0 || 2 * offset + bytes.length > image.length) return false;
    bytes.copy(image, 2 * offset);
  }
  return true;
}
