/** GetDiagnostics (OCPP 1.6 5.9) and GetLog (white paper N01). */
import { createLogFiles, createUploads, within } from '../diagnostics/log-uploads.ts';
import type { LogFiles, LogSources, Upload, Uploads, UploadStatus } from '../diagnostics/log-uploads.ts';
import { createOutbox } from '../files/outbox.ts';
import type { Outbox } from '../files/outbox.ts';
import type { FileTransfer } from '../files/transfer.ts';
import type { Report } from './firmware-management.ts';
import type { Handler, Handlers, Part, Requests, StationParts } from './parts.ts';

export type { LogLine } from '../diagnostics/log-uploads.ts';

export interface LogsDeps extends LogSources {
  readonly transfer: FileTransfer;
}

export interface Logs extends Part {
  readonly handlers: Handlers;
  reportDiagnostics(): void;
  reportLog(): void;
}

type DiagnosticsStatus = Requests['DiagnosticsStatusNotification']['status'];

const diagnosticsStatusOf = (status: UploadStatus): DiagnosticsStatus =>
  status === 'Uploading' || status === 'Uploaded' ? status : 'UploadFailed';

/** ms since the epoch; NaN: absent or not a date */
const instant = (text = '') => Date.parse(text);

type LogsOutbox = Outbox<Report<'DiagnosticsStatusNotification' | 'LogStatusNotification'>>;

/** Reports the states of an upload; an upload that another one replaces has failed. */
const reportingBy = (report: (status: UploadStatus) => void): Pick<Upload, 'report' | 'replaced'> => ({
  report,
  replaced: () => {
    report('UploadFailure');
  },
});

function diagnosticsHandler(files: LogFiles, uploads: Uploads, outbox: LogsOutbox): Handler<'GetDiagnostics'> {
  return (request, after) => {
    const { location, retries, retryInterval: retryIntervalS, startTime, stopTime } = request;
    const lines = within(files.diagnosticLines(), instant(startTime), instant(stopTime));
    const file = files.file('diagnostics', lines);
    if (file === null) return {};
    const report = (status: UploadStatus) => {
      outbox.push({ action: 'DiagnosticsStatusNotification', request: { status: diagnosticsStatusOf(status) } });
    };
    after(() => {
      uploads.begin({ location, retries, retryIntervalS, file, ...reportingBy(report) });
    });
    return { fileName: file.name };
  };
}

/** @param noteRequest called when the upload of a request begins */
function logHandler(
  files: LogFiles,
  uploads: Uploads,
  outbox: LogsOutbox,
  noteRequest: (requestId: number) => void,
): Handler<'GetLog'> {
  return (request, after) => {
    const { retries, retryInterval: retryIntervalS, requestId, logType } = request;
    const { remoteLocation: location, oldestTimestamp, latestTimestamp } = request.log;
    const isSecurity = logType === 'SecurityLog';
    const lines = isSecurity ? files.securityLines() : files.diagnosticLines();
    const selected = within(lines, instant(oldestTimestamp), instant(latestTimestamp));
    const file = files.file(isSecurity ? 'security' : 'diagnostics', selected);
    if (file === null) return { status: 'Rejected' };
    const report = (status: UploadStatus) => {
      outbox.push({ action: 'LogStatusNotification', request: { status, requestId } });
    };
    const status = uploads.busy ? 'AcceptedCanceled' : 'Accepted';
    after(() => {
      noteRequest(requestId);
      uploads.begin({ location, retries, retryIntervalS, file, ...reportingBy(report) });
    });
    return { status, filename: file.name };
  };
}

export function createLogs(parts: StationParts, { transfer, ...sources }: LogsDeps): Logs {
  const { calls } = parts;
  const files = createLogFiles(parts, sources);
  const diagnostics = createUploads(parts, transfer);
  const logs = createUploads(parts, transfer);
  const outbox: LogsOutbox = createOutbox({
    parts,
    send: ({ action, request }) => calls.send(action, request),
    capacity: 50,
    repeatMs: null,
  });
  let requestId: number | null = null;
  const noteRequest = (newRequestId: number) => {
    requestId = newRequestId;
  };
  return {
    handlers: {
      GetDiagnostics: diagnosticsHandler(files, diagnostics, outbox),
      GetLog: logHandler(files, logs, outbox, noteRequest),
    },
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
