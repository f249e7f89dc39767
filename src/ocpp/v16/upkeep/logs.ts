/** GetDiagnostics (OCPP 1.6 5.9) and GetLog (white paper N01): files of real log lines, delivered to a location. */
import { errorText } from '../../../core/errors.ts';
import { withRetries } from '../../files/attempts.ts';
import { shownLocation } from '../../files/locations.ts';
import { TransferError } from '../../files/model.ts';
import type { FileTransfer, UploadFile } from '../../files/model.ts';
import type { After } from '../../rpc/model.ts';
import type { LogLine } from '../../station/stack.ts';
import { stamp } from '../parts.ts';
import type { Handlers, Part, Replies, Requests, StationParts } from '../parts.ts';
import type { SecurityLog } from '../security/events.ts';
import { createOutbox } from './outbox.ts';

export type { LogLine } from '../../station/stack.ts';

export interface LogsDeps {
  readonly transfer: FileTransfer;
  readonly securityLog: Pick<SecurityLog, 'entries'>;
  /** lines about this device and OCPP, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
}

export interface Logs extends Part {
  readonly handlers: Handlers;
  reportDiagnostics(): void;
  reportLog(): void;
}

type LogStatus = Requests['LogStatusNotification']['status'];
type DiagnosticsStatus = Requests['DiagnosticsStatusNotification']['status'];

interface Upload {
  readonly location: string;
  readonly retries: number | undefined;
  readonly retryIntervalS: number | undefined;
  readonly file: UploadFile;
  readonly tell: (status: LogStatus) => void;
}

function statusOf(error: unknown): LogStatus {
  const failure = error instanceof TransferError ? error.failure : 'broken';
  if (failure === 'permission') return 'PermissionDenied';
  if (failure === 'bad_message') return 'BadMessage';
  return failure === 'unsupported' ? 'NotSupportedOperation' : 'UploadFailure';
}

const diagnosticsStatusOf = (status: LogStatus): DiagnosticsStatus =>
  status === 'Idle' || status === 'Uploading' || status === 'Uploaded' ? status : 'UploadFailed';

/** Instants of a filter; absent or no date: no bound. */
function within(lines: readonly LogLine[], from: string | undefined, to: string | undefined): readonly LogLine[] {
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  return lines.filter(({ atMs }) => !(atMs < fromMs) && !(atMs > toMs));
}

/** null: there is nothing to deliver. */
function fileOf(name: string, lines: readonly LogLine[]): UploadFile | null {
  if (lines.length === 0) return null;
  return { name, octets: Buffer.from(lines.map(({ atMs, text }) => `${stamp(atMs)} ${text}\n`).join('')) };
}

/** One upload at a time; a new one takes the place of the one before. */
function createUploads({ later, log, device }: StationParts, transfer: FileTransfer) {
  let running: { readonly ending: AbortController; readonly upload: Upload } | null = null;
  const run = async (upload: Upload, ending: AbortController) => {
    const { location, file, retries, retryIntervalS, tell } = upload;
    const { signal } = ending;
    log.info(`${file.name} goes to ${shownLocation(location)}`, device.deviceIndex);
    tell('Uploading');
    let status: LogStatus = 'Uploaded';
    try {
      const attempt = () => transfer.upload(location, file, signal);
      await withRetries({ later, signal, retries, retryIntervalS }, attempt);
    } catch (error) {
      status = statusOf(error);
      if (!signal.aborted) log.warning(`${file.name} could not be delivered: ${errorText(error)}`, device.deviceIndex);
    }
    if (signal.aborted) return;
    running = null;
    tell(status);
  };
  return {
    get busy() {
      return running !== null;
    },
    begin(upload: Upload): void {
      running?.ending.abort();
      running?.upload.tell('UploadFailure');
      running = { ending: new AbortController(), upload };
      void run(upload, running.ending);
    },
    stop() {
      running?.ending.abort();
      running = null;
    },
  };
}

/** Names and lines of the files. */
function createFiles({ clock, wall, id }: StationParts, { securityLog, readLog }: Omit<LogsDeps, 'transfer'>) {
  return {
    nameOf: (kind: string) =>
      `${kind}-${id.replace(/[^A-Za-z0-9._-]/g, '_')}-${stamp(clock.nowMs()).replace(/[:.]/g, '')}.log`,
    /** by the clock of the central system, which asks for a span of its own time */
    diagnosticLines: (): readonly LogLine[] => {
      const aheadMs = clock.nowMs() - wall.nowMs();
      return readLog().map(({ atMs, text }) => ({ atMs: atMs + aheadMs, text }));
    },
    securityLines: (): readonly LogLine[] =>
      securityLog.entries.map(({ atMs, type, techInfo }) => ({
        atMs,
        text: techInfo === null ? type : `${type} ${JSON.stringify(techInfo)}`,
      })),
  };
}

export function createLogs(parts: StationParts, { transfer, ...sources }: LogsDeps): Logs {
  const { calls } = parts;
  const { nameOf, diagnosticLines, securityLines } = createFiles(parts, sources);
  const diagnostics = createUploads(parts, transfer);
  const logs = createUploads(parts, transfer);
  const outbox = createOutbox<'DiagnosticsStatusNotification' | 'LogStatusNotification'>({
    parts,
    capacity: 50,
    repeatMs: null,
  });
  let requestId: number | null = null;

  const getDiagnostics = (request: Requests['GetDiagnostics'], after: After): Replies['GetDiagnostics'] => {
    const { location, retries, retryInterval: retryIntervalS, startTime, stopTime } = request;
    const file = fileOf(nameOf('diagnostics'), within(diagnosticLines(), startTime, stopTime));
    if (file === null) return {};
    const tell = (status: LogStatus) => {
      outbox.push({ action: 'DiagnosticsStatusNotification', request: { status: diagnosticsStatusOf(status) } });
    };
    after(() => {
      diagnostics.begin({ location, retries, retryIntervalS, file, tell });
    });
    return { fileName: file.name };
  };

  const getLog = (request: Requests['GetLog'], after: After): Replies['GetLog'] => {
    const { retries, retryInterval: retryIntervalS, requestId: asked, logType } = request;
    const { remoteLocation: location, oldestTimestamp, latestTimestamp } = request.log;
    const isSecurity = logType === 'SecurityLog';
    const lines = within(isSecurity ? securityLines() : diagnosticLines(), oldestTimestamp, latestTimestamp);
    const file = fileOf(nameOf(isSecurity ? 'security' : 'diagnostics'), lines);
    if (file === null) return { status: 'Rejected' };
    const tell = (status: LogStatus) => {
      outbox.push({ action: 'LogStatusNotification', request: { status, requestId: asked } });
    };
    const status = logs.busy ? 'AcceptedCanceled' : 'Accepted';
    after(() => {
      requestId = asked;
      logs.begin({ location, retries, retryIntervalS, file, tell });
    });
    return { status, filename: file.name };
  };

  return {
    handlers: { GetDiagnostics: getDiagnostics, GetLog: getLog },
    reportDiagnostics() {
      const status = diagnostics.busy ? 'Uploading' : 'Idle';
      void calls.send('DiagnosticsStatusNotification', { status }, { triggered: true });
    },
    reportLog() {
      const running = logs.busy && requestId !== null ? ({ status: 'Uploading', requestId } as const) : null;
      void calls.send('LogStatusNotification', running ?? { status: 'Idle' }, { triggered: true });
    },
    stop() {
      diagnostics.stop();
      logs.stop();
      outbox.stop();
    },
  };
}
