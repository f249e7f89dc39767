/** GetBaseReport (B07) and GetReport (B08): the device model in parts, sent after the answer. */
import { stamp } from '../parts.ts';
import type { Handler, Part, Replies, Requests, StationParts } from '../parts.ts';
import { checkSize } from './handlers.ts';
import type { PlacedVariable, VariableStore } from './model.ts';
import { deviceDataLimits } from './rows/controllers.ts';

// Selection of variables for reports, and their members (B07, B08).

type ReportData = NonNullable<Requests['NotifyReport']['reportData']>[number];
type Criterion = NonNullable<Requests['GetReport']['componentCriteria']>[number];
type RequestedVariable = NonNullable<Requests['GetReport']['componentVariable']>[number];

/** Maximum length of `valuesList` in the schema. */
const maxValuesList = 1000;

function evseOf({ evseId, connectorId }: PlacedVariable['place']) {
  return evseId === undefined ? {} : { evse: { id: evseId, ...(connectorId !== undefined && { connectorId }) } };
}

function characteristicsOf(
  store: VariableStore,
  target: PlacedVariable,
): NonNullable<ReportData['variableCharacteristics']> {
  const { type, unit, monitored } = target.entry.row;
  const { min, max } = store.limitsOf(target);
  const isNumber = type === 'integer' || type === 'decimal';
  const values = store.valuesOf(target)?.join(',');
  return {
    dataType: type,
    supportsMonitoring: monitored === true,
    ...(unit !== undefined && { unit }),
    ...(isNumber && min !== undefined && { minLimit: min }),
    // of a text the maximum length
    ...(max !== undefined && { maxLimit: max }),
    ...(values !== undefined && values !== '' && { valuesList: values.slice(0, maxValuesList) }),
  };
}

/** @param characteristics false: the attributes alone, for a summary */
function reportOf(store: VariableStore, target: PlacedVariable, characteristics = true): ReportData {
  const { component, variable, row } = target.entry;
  const mutability = store.mutabilityOf(target);
  const isShown = mutability !== 'WriteOnly' && row.secret !== true;
  return {
    component: { ...component, ...evseOf(target.place) },
    variable: { ...variable },
    variableAttribute: [
      {
        type: 'Actual',
        ...(isShown && { value: store.shown(target).slice(0, deviceDataLimits.reportedSize) }),
        mutability,
        persistent: mutability !== 'ReadOnly' || !store.isProvided(target),
        constant: false,
      },
    ],
    ...(characteristics && { variableCharacteristics: characteristicsOf(store, target) }),
  };
}

/** True for the variables of ConfigurationInventory: those that the central system can set (B07.FR.07). */
function isConfiguration(store: VariableStore, target: PlacedVariable): boolean {
  return store.mutabilityOf(target) !== 'ReadOnly';
}

const summaryComponents: ReadonlySet<string> = new Set(['ChargingStation', 'EVSE', 'Connector']);
const summaryVariables: ReadonlySet<string> = new Set(['Available', 'AvailabilityState', 'Enabled', 'Problem']);

/** True for the variables of SummaryInventory: availability and problems of components (B07.FR.09). */
function isSummary(_: VariableStore, { entry: { component, variable } }: PlacedVariable): boolean {
  const { name } = variable;
  return name === 'Problem' || (summaryComponents.has(component.name) && summaryVariables.has(name));
}

function same(a: string | undefined, b: string | undefined): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}

/**
 * True if an entry of GetReport selects a variable. An entry without a variable, an instance or an EVSE matches any
 * (B08.FR.20 to FR.23).
 */
function matches({ component, variable }: RequestedVariable, { entry, place }: PlacedVariable): boolean {
  const { evse } = component;
  if (!same(component.name, entry.component.name)) return false;
  if (component.instance !== undefined && !same(component.instance, entry.component.instance)) return false;
  if (evse !== undefined && evse.id !== (place.evseId ?? 0)) return false;
  if (evse?.connectorId !== undefined && evse.connectorId !== place.connectorId) return false;
  if (variable === undefined) return true;
  if (!same(variable.name, entry.variable.name)) return false;
  return variable.instance === undefined || same(variable.instance, entry.variable.instance);
}

/** True if the component of a variable meets one of the criteria (B08.FR.08 to FR.11). */
function meets(store: VariableStore, { entry, place }: PlacedVariable, criteria: readonly Criterion[]): boolean {
  return criteria.some((criterion) => {
    const state = store.find(entry.row.component, criterion, place);
    // a component without the variable counts as available and enabled
    if (state === undefined) return criterion === 'Available' || criterion === 'Enabled';
    return store.valueOf(state) === 'true';
  });
}

interface ReportsPart extends Part {
  readonly handlers: {
    readonly GetBaseReport: Handler<'GetBaseReport'>;
    readonly GetReport: Handler<'GetReport'>;
  };
}

type Base = Requests['GetBaseReport']['reportBase'];

interface Report {
  readonly requestId: number;
  readonly variables: readonly PlacedVariable[];
  readonly characteristics: boolean;
}

const filters: Readonly<Record<Base, (store: VariableStore, placedVariable: PlacedVariable) => boolean>> = {
  ConfigurationInventory: isConfiguration,
  FullInventory: () => true,
  SummaryInventory: isSummary,
};

/** Maximum number of reports under way and waiting. */
const maxReports = 4;
const busy: Replies['GetReport'] = {
  status: 'Rejected',
  statusInfo: { reasonCode: 'TooManyElements', additionalInfo: 'other reports are still being sent' },
};

/** Octets of a part that are reserved for its frame and its other members. */
const frameBytes = 1024;

/** Returns a function that builds the part of a report from an index on, within the limits of items and octets. */
function partReader(variables: StationParts['variables'], store: VariableStore) {
  return ({ variables: targets, characteristics }: Report, from: number): readonly ReportData[] => {
    const maxItems = variables.integer('DeviceDataCtrlr', 'ItemsPerMessage[GetReport]');
    const maxBytes = variables.integer('DeviceDataCtrlr', 'BytesPerMessage[GetReport]') - frameBytes;
    const data: ReportData[] = [];
    let bytes = 0;
    for (const each of targets.slice(from, from + maxItems)) {
      const row = reportOf(store, each, characteristics);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
      if (data.length > 0 && bytes > maxBytes) break;
      data.push(row);
    }
    return data;
  };
}

/** Sends reports one after the other; each part is sent when the previous one is answered. */
function createSender({ calls, clock, variables, log }: StationParts, store: VariableStore) {
  const waiting: Report[] = [];
  let isSending = false;
  let isStopped = false;
  const partOf = partReader(variables, store);
  const send = async (report: Report): Promise<void> => {
    let from = 0;
    for (let seqNo = 0; from < report.variables.length && !isStopped; seqNo++) {
      const reportData = partOf(report, from);
      from += reportData.length;
      const isLast = from >= report.variables.length;
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
      log.warning(`report ${report.requestId} ends at part ${seqNo}: ${outcome.kind}`);
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

export function createReports(parts: StationParts, { store }: { readonly store: VariableStore }): ReportsPart {
  const sender = createSender(parts, store);
  const answer = (report: Report, after: (act: () => void) => void): Replies['GetReport'] => {
    if (report.variables.length === 0) return { status: 'EmptyResultSet' };
    if (sender.isFull) return busy;
    after(() => {
      sender.add(report);
    });
    return { status: 'Accepted' };
  };
  return {
    handlers: {
      GetBaseReport: ({ requestId, reportBase }, after) => {
        const isReported = filters[reportBase];
        const reported = [...store.each()].filter((each) => isReported(store, each));
        return answer({ requestId, variables: reported, characteristics: reportBase !== 'SummaryInventory' }, after);
      },
      GetReport: (request, after) => {
        const { requestId, componentCriteria: criteria, componentVariable: requested } = request;
        checkSize(parts, 'GetReport', requested?.length ?? 0, request);
        const matching = [...store.each()].filter(
          (each) =>
            (requested === undefined || requested.some((entry) => matches(entry, each))) &&
            (criteria === undefined || meets(store, each, criteria)),
        );
        return answer({ requestId, variables: matching, characteristics: true }, after);
      },
    },
    stop: sender.stop,
  };
}
