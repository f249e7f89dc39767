/** The smallest input with the same failure, by taking parts away. */

const maxTries = 400;

/** @param fails true: an input has the failure */
export async function shrunk(input: Buffer, fails: (input: Buffer) => Promise<boolean>): Promise<Buffer> {
  let smallest = input;
  let tries = 0;
  for (
    let size = Math.ceil(input.length / 2);
    size >= 1 && tries < maxTries;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  )
    for (let at = 0; at < smallest.length && tries < maxTries; ) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      tries += 1;
      if (await fails(shorter)) smallest = shorter;
      else at += size;
    }
  return smallest;
}
