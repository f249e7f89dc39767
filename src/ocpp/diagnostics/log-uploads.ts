/** Files of log lines, and their upload to a location (OCPP 1.6 5.9; white paper and 2.x, N01). */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { shownLocation, TransferError, withRetries } from '../files/transfer.ts';
import type { FileTransfer, UploadFile } from '../files/transfer.ts';
import type { LogLine } from '../station/stack.ts';

export type { LogLine } from '../station/stack.ts';

/** States of an upload in LogStatusNotification, beside Idle. */
export type UploadStatus =
  | 'Uploading'
  | 'Uploaded'
  | 'UploadFailure'
  | 'BadMessage'
  | 'PermissionDenied'
  | 'NotSupportedOperation';

export interface Upload {
  readonly location: string;
  readonly retries: number | undefined;
  readonly retryIntervalS: number | undefined;
  readonly file: UploadFile;
  /** @param why reason of a failure; null: none */
  readonly report: (status: UploadStatus, why: string | null) => void;
  /** called when another upload replaces this one */
  readonly replaced: () => void;
}

export interface Uploads {
  readonly busy: boolean;
  /** Begins an upload and ends the one under way. */
  begin(upload: Upload): void;
  stop(): void;
}

export interface LogSources {
  readonly securityLog: {
    readonly entries: readonly { readonly atMs: number; readonly type: string; readonly techInfo: string | null }[];
  };
  /** lines about this device and OCPP, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
}

function statusOf(error: unknown): UploadStatus {
  const failure = error instanceof TransferError ? error.failure : 'broken';
  if (failure === 'permission') return 'PermissionDenied';
  if (failure === 'bad_message') return 'BadMessage';
  return failure === 'unsupported' ? 'NotSupportedOperation' : 'UploadFailure';
}

/** One upload at a time. */
export function createUploads(
  {
    later,
    log,
    device,
  }: { readonly later: Later; readonly log: Logger; readonly device: { readonly deviceIndex: number } },
  transfer: FileTransfer,
): Uploads {
  let running: { readonly ending: AbortController; readonly upload: Upload } | null = null;
  const run = async (upload: Upload, ending: AbortController) => {
    const { location, file, retries, retryIntervalS, report } = upload;
    const { signal } = ending;
    log.info(`${file.name} is uploaded to ${shownLocation(location)}`, device.deviceIndex);
    report('Uploading', null);
    let status: UploadStatus = 'Uploaded';
    let why: string | null = null;
    try {
      const attempt = () => transfer.upload(location, file, signal);
      await withRetries({ later, signal, retries, retryIntervalS }, attempt);
    } catch (error) {
      status = statusOf(error);
      why = errorText(error);
      if (!signal.aborted) log.warning(`${file.name} could not be delivered: ${why}`, device.deviceIndex);
    }
    if (signal.aborted) return;
    running = null;
    report(status, why);
  };
  return {
    get busy() {
      return running !== null;
    },
    begin(upload) {
      running?.ending.abort();
      running?.upload.replaced();
      running = { ending: new AbortController(), upload };
      void run(upload, running.ending);
    },
    stop() {
      running?.ending.abort();
      running = null;
    },
  };
}

export interface LogFiles {
  /** lines with times by the clock of the central system, as in its requests */
  diagnosticLines(): readonly LogLine[];
  securityLines(): readonly LogLine[];
  /** null: there are no lines */
  file(kind: 'diagnostics' | 'security', lines: readonly LogLine[]): UploadFile | null;
}

const stamp = (ms: number) => new Date(ms).toISOString();

export function createLogFiles(
  { clock, wall, id }: { readonly clock: RemoteClock; readonly wall: WallClock; readonly id: string },
  { securityLog, readLog }: LogSources,
): LogFiles {
  return {
    diagnosticLines: () => {
      const aheadMs = clock.nowMs() - wall.nowMs();
      return readLog().map(({ atMs, text }) => ({ atMs: atMs + aheadMs, text }));
    },
    securityLines: () =>
      securityLog.entries.map(({ atMs, type, techInfo }) => ({
        atMs,
        text: techInfo === null ? type : `${type} ${JSON.stringify(techInfo)}`,
      })),
    file: (kind, lines) => {
      if (lines.length === 0) return null;
      const name = `${kind}-${id.replace(/[^A-Za-z0-9._-]/g, '_')}-${stamp(clock.nowMs()).replace(/[:.]/g, '')}.log`;
      return { name, octets: Buffer.from(lines.map(({ atMs, text }) => `${stamp(atMs)} ${text}\n`).join('')) };
    },
  };
}

/** Lines of a span. @param fromMs @param toMs NaN: no bound */
export function within(lines: readonly LogLine[], fromMs: number, toMs: number): readonly LogLine[] {
  return lines.filter(({ atMs }) => !(atMs < fromMs) && !(atMs > toMs));
}
