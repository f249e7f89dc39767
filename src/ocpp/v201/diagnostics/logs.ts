/** GetLog and LogStatusNotification (N01). The station has no data collector, so that DataCollectorLog of 2.1 is rejected. */
import { createLogFiles, createUploads, within } from '../../diagnostics/log-uploads.ts';
import type { LogFiles, LogSources } from '../../diagnostics/log-uploads.ts';
import { createOutbox } from '../../files/outbox.ts';
import type { FileTransfer } from '../../files/transfer.ts';
import { instantOf } from '../../station/stack.ts';
import type { Handlers, Part, Replies, Requests, StationParts } from '../parts.ts';

export type { LogLine } from '../../diagnostics/log-uploads.ts';

interface LogsDeps extends LogSources {
  readonly transfer: FileTransfer;
}

interface Logs extends Part {
  readonly handlers: Handlers;
}

type Status = Requests['LogStatusNotification'];

const infoLength = 500;

const rejected = (reasonCode: string, additionalInfo: string): Replies['GetLog'] => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

/** null: there is nothing to deliver. */
function fileOf(files: LogFiles, { logType, log }: Requests['GetLog']) {
  const { oldestTimestamp = '', latestTimestamp = '' } = log;
  const isSecurity = logType === 'SecurityLog';
  const lines = isSecurity ? files.securityLines() : files.diagnosticLines();
  const selected = within(lines, instantOf(oldestTimestamp), instantOf(latestTimestamp));
  return files.file(isSecurity ? 'security' : 'diagnostics', selected);
}

export function createLogs(parts: StationParts, { transfer, ...sources }: LogsDeps): Logs {
  const { calls, version } = parts;
  const files = createLogFiles(parts, sources);
  const uploads = createUploads(parts, transfer);
  const send = (status: Status) => calls.send('LogStatusNotification', status);
  const outbox = createOutbox<Status>({ parts, send, capacity: 50, repeatMs: null });
  /** of the upload under way, or the last one */
  let requestId: number | null = null;

  const getLog = (request: Requests['GetLog'], after: (act: () => void) => void): Replies['GetLog'] => {
    const { retries, retryInterval: retryIntervalS, requestId: asked, logType } = request;
    const { remoteLocation: location } = request.log;
    if (logType === 'DataCollectorLog') return rejected('UnsupportedParam', 'the station has no data collector');
    if (!URL.canParse(location)) return rejected('InvalidURL', 'the location is no URL');
    const file = fileOf(files, request);
    if (file === null) return rejected('NotFound', 'the log has no entry of this time');
    const tell = (status: Status['status'], why: string | null) => {
      const additionalInfo = version === 'ocpp2.1' ? why?.slice(0, infoLength) : undefined;
      const statusInfo =
        additionalInfo === undefined ? {} : { statusInfo: { reasonCode: 'Unspecified', additionalInfo } };
      outbox.push({ status, requestId: asked, ...statusInfo });
    };
    const replaced = () => {
      tell('AcceptedCanceled', null);
    };
    const status = uploads.busy ? 'AcceptedCanceled' : 'Accepted';
    after(() => {
      requestId = asked;
      uploads.begin({ location, retries, retryIntervalS, file, tell, replaced });
    });
    return { status, filename: file.name };
  };
  const now = (): Status =>
    uploads.busy && requestId !== null ? { status: 'Uploading', requestId } : { status: 'Idle' };
  return {
    handlers: { GetLog: getLog },
    triggers: {
      LogStatusNotification: () => void calls.send('LogStatusNotification', now(), { triggered: true }),
    },
    stop: () => {
      uploads.stop();
      outbox.stop();
    },
  };
}
