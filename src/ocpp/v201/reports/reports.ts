/** GetBaseReport (B07) and GetReport (B08): the device model in parts, sent after the answer. */
import type { Handler, Part, Replies, Requests, StationParts } from '../parts.ts';
import { stamp } from '../parts.ts';
import { checkSize } from '../variables/handlers.ts';
import type { Found, VariableStore } from '../variables/model.ts';
import { isConfiguration, isSummary, isWanted, meets, reportOf } from './rows.ts';
import type { ReportData } from './rows.ts';

export interface ReportsDeps {
  readonly store: VariableStore;
}

export interface ReportsPart extends Part {
  readonly handlers: {
    readonly GetBaseReport: Handler<'GetBaseReport'>;
    readonly GetReport: Handler<'GetReport'>;
  };
}

type Base = Requests['GetBaseReport']['reportBase'];

interface Report {
  readonly requestId: number;
  readonly found: readonly Found[];
  readonly characteristics: boolean;
}

const filters: Readonly<Record<Base, (store: VariableStore, found: Found) => boolean>> = {
  ConfigurationInventory: isConfiguration,
  FullInventory: () => true,
  SummaryInventory: isSummary,
};

/** Reports under way and waiting; one more is refused. */
const maxReports = 4;
const busy: Replies['GetReport'] = {
  status: 'Rejected',
  statusInfo: { reasonCode: 'TooManyElements', additionalInfo: 'other reports are still being sent' },
};

/** Octets of a part that are left for its frame and its other members. */
const frameBytes = 1024;

/** Makes the next part of a report from an index on, by items and octets. */
function parter(variables: StationParts['variables'], store: VariableStore) {
  return ({ found, characteristics }: Report, from: number): readonly ReportData[] => {
    const maxItems = variables.integer('DeviceDataCtrlr', 'ItemsPerMessage[GetReport]');
    const maxBytes = variables.integer('DeviceDataCtrlr', 'BytesPerMessage[GetReport]') - frameBytes;
    const data: ReportData[] = [];
    let bytes = 0;
    for (const each of found.slice(from, from + maxItems)) {
      const row = reportOf(store, each, characteristics);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (data.length > 0 && bytes > maxBytes) break;
      data.push(row);
    }
    return data;
  };
}

/** Sends reports one after the other; the next part goes out when the one before it is answered. */
function createSender({ calls, clock, variables, log }: StationParts, store: VariableStore) {
  const waiting: Report[] = [];
  let isSending = false;
  let isStopped = false;
  const partOf = parter(variables, store);
  const send = async (report: Report): Promise<void> => {
    let from = 0;
    for (let seqNo = 0; from < report.found.length && !isStopped; seqNo++) {
      const reportData = partOf(report, from);
      from += reportData.length;
      const isLast = from >= report.found.length;
      const outcome = await calls.send(
        'NotifyReport',
        {
          requestId: report.requestId,
          generatedAt: stamp(clock.nowMs()),
          seqNo,
          tbc: !isLast,
          reportData,
        },
        { triggered: true },
      );
      if (outcome.kind === 'result') continue;
      log.warning(`report ${report.requestId} ends with its part ${seqNo}: ${outcome.kind}`);
      return;
    }
  };
  const run = async (): Promise<void> => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      await send(next);
      waiting.shift();
    }
    isSending = false;
  };
  return {
    get isFull() {
      return waiting.length >= maxReports;
    },
    add: (report: Report): void => {
      if (isStopped || waiting.length >= maxReports) return;
      waiting.push(report);
      if (isSending) return;
      isSending = true;
      void run();
    },
    stop: (): void => {
      isStopped = true;
      waiting.length = 0;
    },
  };
}

export function createReports(parts: StationParts, { store }: ReportsDeps): ReportsPart {
  const sender = createSender(parts, store);
  const answer = (report: Report, after: (act: () => void) => void): Replies['GetReport'] => {
    if (report.found.length === 0) return { status: 'EmptyResultSet' };
    if (sender.isFull) return busy;
    after(() => {
      sender.add(report);
    });
    return { status: 'Accepted' };
  };
  return {
    handlers: {
      GetBaseReport: ({ requestId, reportBase }, after) => {
        const isTaken = filters[reportBase];
        const found = [...store.each()].filter((each) => isTaken(store, each));
        return answer({ requestId, found, characteristics: reportBase !== 'SummaryInventory' }, after);
      },
      GetReport: (request, after) => {
        const { requestId, componentCriteria: criteria, componentVariable: wanted } = request;
        checkSize(parts, 'GetReport', wanted?.length ?? 0, request);
        const found = [...store.each()].filter(
          (each) =>
            (wanted === undefined || wanted.some((one) => isWanted(one, each))) &&
            (criteria === undefined || meets(store, each, criteria)),
        );
        return answer({ requestId, found, characteristics: true }, after);
      },
    },
    stop: sender.stop,
  };
}
