/**
 * CustomerInformation: data about a customer that the station keeps, reported and cleared (N09, N10). GetLog and
 * LogStatusNotification (N01): the station has no data collector, so that DataCollectorLog of 2.1 is rejected.
 */
import type { OcppReservationEntry, OcppTokenEntry, OcppTransactionEntry } from '../../contract/ocpp.ts';
import type { Tokens } from './authorization/tokens.ts';
import { stamp } from './parts.ts';
import type { Part, Replies, Requests, StationParts, Handlers } from './parts.ts';
import { clauseOf } from './provisioning/registration.ts';
import { createLogFiles, createUploads, within } from '../diagnostics/log-uploads.ts';
import type { LogFiles, LogSources } from '../diagnostics/log-uploads.ts';
import { createOutbox } from '../files/outbox.ts';
import type { FileTransfer } from '../files/transfer.ts';
import { instantOf } from '../station/stack.ts';

// Customers and what a station keeps about them (N09, N10).

/** A token as records have it; the type is absent where a record does not keep it. */
interface RecordedToken {
  readonly idToken: string;
  readonly type?: string;
}

/** True if a token is that of a customer; case does not count. */
type IsCustomer = (token: RecordedToken) => boolean;

/** One kind of records that a station keeps about customers. */
export interface CustomerRecords {
  /** Facts about a customer, one a line; empty: none. */
  about(isCustomer: IsCustomer): readonly string[];
  /**
   * Removes the facts about a customer; absent: the records are kept, since a transaction or a reservation needs them.
   * @returns the removed facts, one a line; empty: none
   */
  clear?(isCustomer: IsCustomer): readonly string[];
}

type Request = Pick<Requests['CustomerInformation'], 'idToken' | 'customerIdentifier' | 'customerCertificate'>;

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/**
 * The customer of a request; null: not exactly one is named. The station knows customers by their tokens: an
 * identifier is the text of a token of any type, and a certificate matches no customer.
 */
function customerOf({ idToken, customerIdentifier, customerCertificate }: Request): IsCustomer | null {
  const criteria = [idToken, customerIdentifier, customerCertificate].filter((each) => each !== undefined);
  if (criteria.length !== 1) return null;
  if (idToken !== undefined)
    return (token) =>
      same(token.idToken, idToken.idToken) && (token.type === undefined || same(token.type, idToken.type));
  if (customerIdentifier !== undefined) return (token) => same(token.idToken, customerIdentifier);
  return () => false;
}

/** Maximum length of `data` in NotifyCustomerInformation, characters. */
const maxDataLength = 512;

/** A text in parts that fit into a message; at least one part. */
export function partsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < characters.length; at += maxDataLength)
    parts.push(characters.slice(at, at + maxDataLength).join(''));
  return parts;
}

// Facts that the parts of a station keep about customers, as lines of text.

function tokenLine(kind: string, { status, expiresMs, parentIdToken }: OcppTokenEntry): string {
  const group = parentIdToken === null ? '' : `, group ${parentIdToken}`;
  const until = expiresMs === null ? '' : `, until ${stamp(expiresMs)}`;
  return `${kind}: ${status}${group}${until}`;
}

/** Records of the cache, which can be cleared, and of the local list, which only the central system changes. */
export function tokenRecords(tokens: Pick<Tokens, 'list' | 'forget'>): CustomerRecords {
  return {
    about(isCustomer) {
      const { entries, cache } = tokens.list();
      return [
        ...cache.filter(isCustomer).map((entry) => tokenLine('authorization cache', entry)),
        ...entries.filter(isCustomer).map((entry) => tokenLine('local list', entry)),
      ];
    },
    clear(isCustomer) {
      const count = tokens.forget(isCustomer);
      return count === 0 ? [] : [`authorization cache: ${count} removed`];
    },
  };
}

export function transactionRecords(entries: () => readonly OcppTransactionEntry[]): CustomerRecords {
  return {
    about: (isCustomer) =>
      entries()
        .filter(isCustomer)
        .map(({ transactionId, connectorId, startedMs, endedMs, meterStartWh, meterStopWh }) => {
          const end = endedMs === null ? 'running' : stamp(endedMs);
          const energy = meterStopWh === null ? '' : `, ${meterStopWh - meterStartWh} Wh`;
          return `transaction ${transactionId ?? 'without id'}: EVSE ${connectorId}, ${stamp(startedMs)} to ${end}${energy}`;
        }),
  };
}

export function reservationRecords(entries: () => readonly OcppReservationEntry[]): CustomerRecords {
  return {
    about: (isCustomer) =>
      entries()
        .filter(isCustomer)
        .map(({ reservationId, connectorId, expiresMs }) => {
          const place = connectorId === 0 ? 'any EVSE' : `EVSE ${connectorId}`;
          return `reservation ${reservationId}: ${place}${expiresMs === null ? '' : `, until ${stamp(expiresMs)}`}`;
        }),
  };
}

interface CustomerInformationDeps {
  readonly records: readonly CustomerRecords[];
}

/** Maximum length of a report about one customer, characters in all parts together. */
const maxReportLength = 64 * 1024;

const nothing = 'no information about this customer';

/** Collects the facts about a customer, then clears them, as requested. @returns the text of both */
function carryOut(
  { report, clear }: Requests['CustomerInformation'],
  records: readonly CustomerRecords[],
  isCustomer: IsCustomer,
) {
  const reported = report ? records.flatMap((each) => each.about(isCustomer)) : [];
  const cleared = clear ? records.flatMap((each) => each.clear?.(isCustomer) ?? []) : [];
  const lines = [...reported, ...cleared.map((line) => `cleared: ${line}`)];
  return (lines.length === 0 ? nothing : lines.join('\n')).slice(0, maxReportLength);
}

/** Sends NotifyCustomerInformation in parts, one after the other; a part that is not answered ends the report. */
async function notify({ calls, clock }: StationParts, requestId: number, text: string): Promise<void> {
  const generatedAt = stamp(clock.nowMs());
  const parts = partsOf(text);
  for (const [seqNo, data] of parts.entries()) {
    const tbc = seqNo < parts.length - 1;
    const { kind } = await calls.send(
      'NotifyCustomerInformation',
      { requestId, data, tbc, seqNo, generatedAt },
      { triggered: true },
    );
    if (kind !== 'result' && kind !== 'error') return;
  }
}

export function createCustomerInformation(parts: StationParts, { records }: CustomerInformationDeps): Part {
  const { version, finding } = parts;
  return {
    handlers: {
      CustomerInformation(request, after): Replies['CustomerInformation'] {
        const isCustomer = customerOf(request);
        if (isCustomer === null) {
          const clause = clauseOf(version, 'N09.FR.09');
          finding(clause, 'not exactly one customer is named', 'CustomerInformation', 'request_rule');
          return { status: 'Invalid', statusInfo: { reasonCode: 'InvalidValue', additionalInfo: 'name one customer' } };
        }
        if (!request.report && !request.clear)
          return {
            status: 'Rejected',
            statusInfo: { reasonCode: 'InvalidValue', additionalInfo: 'neither report nor clear is true' },
          };
        after(() => void notify(parts, request.requestId, carryOut(request, records, isCustomer)));
        return { status: 'Accepted' };
      },
    },
  };
}

export type { LogLine } from '../diagnostics/log-uploads.ts';

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

/** The log file of a request; null: the log has no entry in its period. */
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
  /** `requestId` of the present or last upload */
  let requestId: number | null = null;

  const getLog = (request: Requests['GetLog'], after: (act: () => void) => void): Replies['GetLog'] => {
    const { retries, retryInterval: retryIntervalS, requestId: newRequestId, logType } = request;
    const { remoteLocation: location } = request.log;
    if (logType === 'DataCollectorLog') return rejected('UnsupportedParam', 'the station has no data collector');
    if (!URL.canParse(location)) return rejected('InvalidURL', 'the location is not a URL');
    const file = fileOf(files, request);
    if (file === null) return rejected('NotFound', 'the log has no entry of this time');
    const report = (status: Status['status'], why: string | null) => {
      const additionalInfo = version === 'ocpp2.1' ? why?.slice(0, infoLength) : undefined;
      const statusInfo =
        additionalInfo === undefined ? {} : { statusInfo: { reasonCode: 'Unspecified', additionalInfo } };
      outbox.push({ status, requestId: newRequestId, ...statusInfo });
    };
    const replaced = () => {
      report('AcceptedCanceled', null);
    };
    const status = uploads.busy ? 'AcceptedCanceled' : 'Accepted';
    after(() => {
      requestId = newRequestId;
      uploads.begin({ location, retries, retryIntervalS, file, report, replaced });
    });
    return { status, filename: file.name };
  };
  const presentStatus = (): Status =>
    uploads.busy && requestId !== null ? { status: 'Uploading', requestId } : { status: 'Idle' };
  return {
    handlers: { GetLog: getLog },
    triggers: {
      LogStatusNotification: () => void calls.send('LogStatusNotification', presentStatus(), { triggered: true }),
    },
    stop: () => {
      uploads.stop();
      outbox.stop();
    },
  };
}
