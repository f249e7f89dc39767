/** Files over the protocols that `fileProtocols` names, with limits and a time-out. */
import { errorText } from '../../core/errors.ts';
import type { Later } from '../../core/time/timers.ts';
import { httpDownload, httpUpload } from './http.ts';
import { fileProtocols, TransferError } from './model.ts';
import type { FileTransfer } from './model.ts';

export interface FileTransferOptions {
  readonly later: Later;
  /** PEM of authorities trusted beside those of Node: roots of the central system */
  readonly roots?: () => readonly string[];
  /** of a download; default 64 MiB */
  readonly maxOctets?: number;
  /** ms without an octet received (download) or for all of it (upload) */
  readonly idleMs?: number;
  /** ms for one attempt in all */
  readonly totalMs?: number;
}

/** Words for what node:http reports; its texts hold no credentials. */
function failureOf(error: unknown, why: TransferError | null): TransferError {
  if (error instanceof TransferError) return error;
  if (why !== null) return why;
  const refused = error instanceof Error && 'code' in error && error.code === 'ERR_REFUSED_TARGET';
  return new TransferError(refused ? 'bad_location' : 'broken', errorText(error));
}

/** Runs one attempt with time-outs on top of the signal of the caller. */
async function attempt<T>(
  { later, idleMs = 60_000, totalMs = 600_000 }: FileTransferOptions,
  signal: AbortSignal,
  act: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let why: TransferError | null = null;
  const end = (error: TransferError) => {
    why ??= error;
    ending.abort();
  };
  const cancel = () => {
    end(new TransferError('cancelled', 'the transfer was cancelled'));
  };
  const late = () => {
    end(new TransferError('broken', 'the server takes too long'));
  };
  const endTotal = later(totalMs, late);
  let endIdle = later(idleMs, late);
  const alive = () => {
    endIdle();
    endIdle = later(idleMs, late);
  };
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) cancel();
    return await act(ending.signal, alive);
  } catch (error) {
    throw failureOf(error, why);
  } finally {
    endTotal();
    endIdle();
    signal.removeEventListener('abort', cancel);
  }
}

export function createFileTransfer(options: FileTransferOptions): FileTransfer {
  const limits = { maxOctets: options.maxOctets ?? 64 * 1024 * 1024, roots: options.roots ?? (() => []) };
  return {
    protocols: fileProtocols,
    download: (location, { signal, chunk }) =>
      attempt(options, signal, (ending, alive) => {
        const counted = (octets: Buffer) => {
          alive();
          chunk(octets);
        };
        return httpDownload(location, { signal: ending, chunk: counted }, limits);
      }),
    upload: (location, file, signal) =>
      attempt(options, signal, (ending) => httpUpload(location, file, ending, limits)),
  };
}
