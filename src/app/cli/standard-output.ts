/** Standard output for results that have to arrive whole, such as an exported state. */
import { fstatSync, writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { fileReason } from '../../core/text-file.ts';

/**
 * Writes a text to standard output; resolves when all of it is written.
 * @param stream its stream @param fd its descriptor
 * @throws Error in words, as for a full disk
 */
export async function writeWhole(text: string, stream: Pick<NodeJS.WriteStream, 'write'>, fd: number): Promise<void> {
  const facts = fstatSync(fd);
  try {
    // the stream of a file takes a write that a full disk has cut for a whole one
    if (!facts.isFIFO() && !facts.isSocket() && !isatty(fd)) writeFileSync(fd, Buffer.from(text));
    else
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => {
          if (error) reject(error);
          else resolve();
        });
      });
  } catch (error) {
    throw new Error(`standard output cannot be written: ${fileReason(error)}`, { cause: error });
  }
}
