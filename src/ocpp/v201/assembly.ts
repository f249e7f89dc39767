/** Creates the parts of a 2.x station with their dependencies; `createBase` creates the ones that all parts need. */
import { createFileTransfer } from '../files/transfer.ts';
import type { StackOptions, Version2 } from '../station/stack.ts';
import { createAuthorization } from './authorization/authorization.ts';
import { createTokens } from './authorization/tokens.ts';
import { createAvailability, createStatusReports } from './availability.ts';
import type { AvailabilityPart } from './availability.ts';
import { setpointWAt } from './charging/convert.ts';
import { createSmartCharging } from './charging/smart-charging.ts';
import { createDerControl } from './der-controls/der-control.ts';
import { createDisplay } from './display-message.ts';
import { createMeterValues } from './meter-values.ts';
import { createNetworkProfiles } from './provisioning/network-profiles.ts';
import { createReports } from './variables/reports.ts';
import { createCertificates } from './security/certificates.ts';
import { createSecurityEvents } from './security/events.ts';
import { createFirmware } from './firmware-management.ts';
import type { Firmware } from './firmware-management.ts';
import {
  createLogs,
  createCustomerInformation,
  reservationRecords,
  tokenRecords,
  transactionRecords,
} from './diagnostics.ts';
import { createMonitoring } from './monitoring/monitoring.ts';
import type { Costs, Part, StationParts } from './parts.ts';
import { createRemote, createTrigger } from './remote-control.ts';
import { createReservations } from './reservation.ts';
import { createReset, createRegistration2 } from './provisioning/registration.ts';
import { dataTransfer } from '../data-transfer.ts';
import { createLiveVariables, createVariableEffects } from './variables/effects.ts';
import { createStreams } from './monitoring/streams.ts';
import { createTariffs } from './tariff-and-cost/tariffs.ts';
import type { Tariffs } from './tariff-and-cost/tariffs.ts';
import { createTransactions } from './transactions/transactions.ts';
import { createV2x } from './v2x/v2x.ts';
import { createVariableHandlers } from './variables/handlers.ts';
import { createTransactionQueue } from '../rpc/queue.ts';
import type { LoadableQueue } from '../rpc/queue.ts';
import type { Line, TransactionQueueEvents } from '../rpc/model.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { withRestartNotice } from '../provisioning/restarts.ts';
import type { EventLog } from '../security/events.ts';
import type { VariableFacts, VariableStore } from './variables/model.ts';
import { variableRows } from './variables/table.ts';
import { createVariables } from './variables/variables.ts';

interface BaseDeps {
  /** callbacks of the queue */
  readonly events: () => Required<Pick<TransactionQueueEvents, 'answered'>>;
  readonly firmware: () => Pick<Firmware, 'version' | 'restarted'>;
  /** the clock of the central system has been set */
  readonly clockMoved: () => void;
  /** the station restarts; values that waited for it are in force */
  readonly restarted: () => void;
}

interface Base {
  readonly parts: StationParts;
  readonly variables: VariableStore;
  readonly registration: RegistrationPart;
  readonly queue: LoadableQueue;
  readonly security: EventLog;
}

function variablesOf(version: Version2, { device, connection, store, log }: StackOptions): VariableStore {
  const facts: VariableFacts = {
    version,
    nameplate: device.nameplate,
    evseIds: device.connectorIds,
    ratings: device.ratings,
    stationRating: device.stationRating,
    securityProfile: connection.securityProfile,
  };
  return createVariables({
    facts,
    rows: variableRows,
    slot: store('variables'),
    shared: store('network-variables'),
    log,
  });
}

function queueOf(
  { store, later, log }: StackOptions,
  variables: VariableStore,
  line: Line,
  events: BaseDeps['events'],
): LoadableQueue {
  return createTransactionQueue({
    slot: store('queue'),
    later,
    log,
    policy: () => ({
      attempts: variables.integer('OCPPCommCtrlr', 'MessageAttempts[TransactionEvent]'),
      intervalS: variables.integer('OCPPCommCtrlr', 'MessageAttemptInterval[TransactionEvent]'),
    }),
    send: (action, payload, messageId) => line.call(action, payload, messageId === undefined ? {} : { messageId }),
    isOpen: () => line.open,
    answered: (message, reply) => {
      events().answered(message, reply);
    },
  });
}

function createBase(version: Version2, options: StackOptions, deps: BaseDeps): Base {
  const { line, device } = options;
  const variables = variablesOf(version, options);
  const { registration, calls } = createRegistration2({
    ...options,
    version,
    variables,
    nameplate: () => ({ ...device.nameplate, firmwareVersion: deps.firmware().version }),
    isUpdated: () => deps.firmware().restarted,
    clockMoved: (byS) => {
      // a smaller correction of the clock is no change of the system time
      const thresholdS = variables.integer('ClockCtrlr', 'TimeAdjustmentReportingThreshold');
      if (Math.abs(byS) > thresholdS) security.raise('SettingSystemTime', `by ${Math.round(byS)} s`);
      deps.clockMoved();
    },
  });
  const connection = withRestartNotice(options.connection, (reason, bootReason) => {
    registration.restarted(bootReason);
    variables.restarted();
    deps.restarted();
    // sent over the next connection: this one ends now
    security.raise('ResetOrReboot', reason);
  });
  const queue = queueOf(options, variables, line, deps.events);
  const { id, clock, wall, later, random, log, store, disturber, finding, limits, releases } = options;
  const common = { id, device, clock, wall, later, random, log, store, disturber, finding, limits, releases };
  const allButSecurity = { ...common, version, variables, calls, queue, registration, connection };
  const security: EventLog = createSecurityEvents(allButSecurity);
  return { parts: { ...allButSecurity, security }, variables, registration, queue, security };
}

/** Transactions, authorisation, reservations, charging, metering and remote control. */
function createSessions(
  parts: StationParts,
  { autoAuthorize }: Pick<StackOptions, 'autoAuthorize'>,
  tariffs: () => Pick<Tariffs, 'extras' | 'authorized'>,
) {
  const costs: Costs = { extras: (...about) => tariffs().extras(...about) };
  const transactions = createTransactions(parts, { sample: (...about) => meterValues.sample(...about), costs });
  const tokens = createTokens(parts, { transactions });
  const reservations = createReservations(parts, { transactions });
  const authorization = createAuthorization(parts, {
    tokens,
    transactions,
    reservations,
    autoAuthorize,
    mayCharge: ({ evseId, idToken, reply }) => tariffs().authorized(evseId, idToken, reply),
  });
  const smartCharging = createSmartCharging(parts, { transactions });
  const meterValues = createMeterValues(parts, {
    transactions,
    setpointW: (evseId) => setpointWAt(parts.device, smartCharging.vehicles.control, evseId),
  });
  const remote = createRemote(parts, { tokens, authorization, transactions, reservations, smartCharging });
  const v2x = createV2x(parts, { transactions, vehicles: smartCharging.vehicles });
  authorization.onAnswered(({ evseId, reply }) => {
    v2x.authorized(evseId, reply);
  });
  return { transactions, tokens, reservations, authorization, smartCharging, meterValues, remote, v2x };
}

type Sessions = ReturnType<typeof createSessions>;

/** Display and costs. */
function createFront(parts: StationParts, { transactions, tokens, reservations }: Sessions) {
  const tariffs = createTariffs(parts, {
    transactions,
    isCached: (idToken) => tokens.find(idToken) !== null,
    reservedS: (reservationId) => reservations.reservedS(reservationId),
  });
  const display = createDisplay(parts, {
    transactions,
    ownTexts: (evseId) => tariffs.texts(evseId),
    languagesAt: (evseId) => tariffs.languages(evseId),
  });
  return { tariffs, display };
}

/** Files, certificates and firmware. */
function createUpkeep(
  parts: StationParts,
  { network, certificates: files, readLog }: StackOptions,
  {
    transactions,
    availability,
    securityLog,
  }: Pick<Sessions, 'transactions'> & {
    readonly availability: AvailabilityPart;
    readonly securityLog: Base['security'];
  },
) {
  const certificates = createCertificates(parts, files, network);
  const roots = () => certificates.roots('CSMSRootCertificate').map(String);
  const transfer = createFileTransfer({ later: parts.later, roots });
  const logs = createLogs(parts, { transfer, securityLog, readLog });
  const firmware = createFirmware(parts, { transfer, transactions, availability, certificates });
  return { certificates, logs, firmware };
}

/** The device model with its messages. */
function createModel(
  { parts, variables, registration }: Base,
  { network, autoAuthorize, ready }: StackOptions,
  { transactions, availability }: Pick<Sessions, 'transactions'> & { readonly availability: AvailabilityPart },
) {
  const networkProfiles = createNetworkProfiles(parts, {
    network,
    ready,
    retargeted: () => {
      registration.restarted();
    },
  });
  const effects = createVariableEffects({ ...parts, network, autoAuthorize });
  const streams = createStreams(parts);
  const monitoring = createMonitoring(parts, { variables, transactions, streams });
  const others = [
    createLiveVariables(parts, { availability, transactions }),
    createVariableHandlers(parts, { store: variables, checks: networkProfiles.checks }),
    createReports(parts, { store: variables }),
  ];
  return { networkProfiles, effects, streams, monitoring, others };
}

/** The messages that TriggerMessage can request. */
function triggersOf({ registration }: Base, parts: readonly Part[]): NonNullable<Part['triggers']> {
  const triggered = { triggered: true } as const;
  return {
    BootNotification: () => void registration.boot({ ...triggered, reason: 'Triggered' }),
    Heartbeat: () => void registration.heartbeat(triggered),
    ...Object.fromEntries(parts.flatMap(({ triggers }) => Object.entries(triggers ?? {}))),
  };
}

export type Assembled = ReturnType<typeof assembleParts>;

export function assembleParts(version: Version2, options: StackOptions) {
  const base = createBase(version, options, {
    events: () => sessions.transactions.queueEvents,
    firmware: () => upkeep.firmware,
    clockMoved: () => {
      sessions.smartCharging.refresh();
    },
    restarted: () => {
      model.networkProfiles.restarted();
    },
  });
  const { parts, security } = base;
  const availability = createAvailability(parts);
  const status = createStatusReports(parts);
  const sessions = createSessions(parts, options, () => front.tariffs);
  const { transactions } = sessions;
  const front = createFront(parts, sessions);
  const upkeep = createUpkeep(parts, options, { transactions, availability, securityLog: security });
  const model = createModel(base, options, { transactions, availability });
  const derControl = createDerControl(parts);
  const customers = createCustomerInformation(parts, {
    records: [
      tokenRecords(sessions.tokens),
      transactionRecords(() => transactions.entries()),
      reservationRecords(() => sessions.reservations.entries()),
      front.tariffs.records,
    ],
  });
  /** in the order of their loading */
  const all: readonly Part[] = [
    ...[model.networkProfiles, availability.part, security, sessions.tokens, sessions.reservations, front.tariffs],
    ...[transactions.part, sessions.authorization, sessions.remote, sessions.smartCharging, sessions.v2x],
    ...[sessions.meterValues.part, front.display, model.monitoring, model.streams, derControl, status.part],
    ...[upkeep.certificates, upkeep.logs, upkeep.firmware, model.effects, ...model.others, customers],
    ...[dataTransfer, createReset(parts, { transactions })],
  ];
  const trigger = createTrigger(parts, triggersOf(base, all), (message) => upkeep.certificates.refuses(message));
  return { ...base, ...sessions, ...front, ...upkeep, ...model, status, derControl, all: [...all, trigger] };
}
