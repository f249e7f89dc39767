import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'no permission to read it',
  EISDIR: 'it is a directory',
  ENOTDIR: 'there is no such file',
};

/** Why a file cannot be read, in words for the user, without its path. */
export function fileReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  // a message of the system reads "ELOOP: too many symbolic links encountered, stat '...'"
  return reasons[code] ?? ('syscall' in error ? error.message.replace(/^\w+: |, .*$/gs, '') : error.message);
}

/** Text of a regular file in UTF-8. @throws Error that `fileReason` puts into words */
export function readTextFile(path: string, maxBytes: number): string {
  // opening a named pipe would block, and so would reading a device
  if (!statSync(path).isFile()) throw new Error('it is not a regular file');
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw error instanceof TypeError ? new Error('it is not UTF-8 text') : error;
  } finally {
    closeSync(file);
  }
}
