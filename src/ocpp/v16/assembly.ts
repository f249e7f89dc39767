/** Creates the parts of a 1.6 station and passes each the others that it needs. */
import type { CallOutcome, FrameDisturber, Line, Payload, RetryPolicy, TransactionQueue } from '../rpc/model.ts';
import { createAuthorization } from './authorization/authorization.ts';
import { createTokens } from './authorization/tokens.ts';
import { createAvailability, createStatusReports, stationState } from './availability.ts';
import { createSmartCharging } from './charging.ts';
import { createMeterValues } from './meter-values.ts';
import { createTransactionQueue } from '../rpc/queue.ts';
import { createFileTransfer, fileProtocols } from '../files/transfer.ts';
import { createCertificates, createSecurityEvents } from './security.ts';
import type { EventLog } from '../security/events.ts';
import type { CertificateFiles, Certificates } from './security.ts';
import { createFirmware } from './firmware-management.ts';
import type { Firmware, FirmwareDeps } from './firmware-management.ts';
import type { ResortNetwork } from './last-resort.ts';
import { createLogs } from './diagnostics.ts';
import type { Logs, LogsDeps } from './diagnostics.ts';
import { createConfiguration, createKeyEffects, credentialKeys, profileCheck, createKeys } from './keys/keys.ts';
import { dataTransfer } from '../data-transfer.ts';
import type { KeySet } from './keys/keys.ts';
import { errorText } from '../../core/errors.ts';
import { withRestartNotice } from '../provisioning/restarts.ts';
import type { Part, StationParts } from './parts.ts';
import { createRegistration16, createReset } from './provisioning.ts';
import { createRemote, createTrigger } from './remote-control.ts';
import { createReservations } from './reservation.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import type { ConnectorStatus, StatusPart } from './availability.ts';
import type { MeterValuesPart } from './meter-values.ts';
import type { Triggers } from './remote-control.ts';
import type { QueueEvents } from './transactions/state.ts';
import { createTransactions } from './transactions/transactions.ts';

/** Options of `rpc/queue.ts` that depend on the version. */
interface QueueWiring extends QueueEvents {
  readonly policy: () => RetryPolicy;
  readonly send: (action: string, payload: Payload, messageId?: string) => Promise<CallOutcome>;
  readonly isOpen: () => boolean;
}

interface StackQueue extends TransactionQueue {
  load(): Promise<void>;
  stop(): void;
}

export interface Stack16Options
  extends Pick<
    StationParts,
    | 'id'
    | 'device'
    | 'clock'
    | 'wall'
    | 'later'
    | 'random'
    | 'log'
    | 'store'
    | 'connection'
    | 'finding'
    | 'limits'
    | 'releases'
  > {
  readonly line: Line;
  /** Call it after each `sync` of the clock. */
  readonly clockSet: () => void;
  /** absent: no network profile is in use ever */
  readonly network?: ResortNetwork;
  /** certificates of the settings, PEM; absent: none */
  readonly certificates?: CertificateFiles;
  /** lines about the station for GetDiagnostics and GetLog, oldest first; absent: none */
  readonly readLog?: LogsDeps['readLog'];
  /** default: the persistent queue, in a slot of the station */
  readonly queue?: (wiring: QueueWiring) => StackQueue;
  readonly disturber: Pick<FrameDisturber, 'active' | 'readings' | 'peekReadings'>;
  /** true: plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /**
   * True if the station has the password or certificates that a security profile needs, for the key SecurityProfile.
   */
  readonly ready: (profile: 1 | 2 | 3) => boolean;
}

function keysOf({ device, connection, store, log, ready }: Stack16Options): KeySet {
  return createKeys({
    facts: {
      connectorIds: device.connectorIds,
      securityProfile: connection.securityProfile,
      threePhase: device.ratings.some(({ type, phases }) => type === 'ac' && phases === 3),
      fileTransferProtocols: fileProtocols,
    },
    ofStation: credentialKeys(connection),
    slot: store('keys'),
    log,
    failed: (error) => {
      log.error(`the store has refused a configuration key: ${errorText(error)}`, device.deviceIndex);
    },
    checks: { SecurityProfile: profileCheck(connection, ready) },
  });
}

/** Creates the parts for log files, certificates and firmware. */
function createUpkeep(
  parts: StationParts,
  options: Stack16Options,
  {
    transactions,
    availability,
    securityLog,
  }: Pick<FirmwareDeps, 'transactions' | 'availability'> & Pick<LogsDeps, 'securityLog'>,
) {
  const { certificates: files = { rootCert: null, ownCert: null }, readLog = () => [] } = options;
  const certificates = createCertificates(parts, files);
  const roots = () => certificates.roots('CentralSystemRootCertificate').map(String);
  const transfer = createFileTransfer({ later: parts.later, roots });
  const logs = createLogs(parts, { transfer, securityLog, readLog });
  const firmware = createFirmware(parts, { transfer, transactions, availability, certificates });
  return { certificates, logs, firmware };
}

function queueOf(
  { queue, store, later, log }: Stack16Options,
  keys: KeySet,
  line: Line,
  events: () => QueueEvents,
): StackQueue {
  const make =
    queue ?? ((wiring: QueueWiring) => createTransactionQueue({ ...wiring, slot: store('queue'), later, log }));
  return make({
    policy: () => ({
      attempts: keys.integer('TransactionMessageAttempts'),
      intervalS: keys.integer('TransactionMessageRetryInterval'),
    }),
    send: (action, payload, messageId) => line.call(action, payload, messageId === undefined ? {} : { messageId }),
    isOpen: () => line.open,
    fill: (message) => events().fill(message),
    answered: (message, reply) => {
      events().answered(message, reply);
    },
  });
}

/** Corrections of the clock above this are a SettingSystemTime event, s. */
const systemTimeSetS = 60;

/** Creates what all parts share. @param events callbacks of the queue, from transactions that are created later */
function createBase(
  options: Stack16Options,
  events: () => QueueEvents,
  firmwareVersion: () => string,
  clockMoved: () => void,
) {
  const keys = keysOf(options);
  const { line } = options;
  const { registration, calls } = createRegistration16({
    ...options,
    line,
    keys,
    nameplate: () => ({ ...options.device.nameplate, firmwareVersion: firmwareVersion() }),
    clockMoved: (byS) => {
      if (Math.abs(byS) > systemTimeSetS) security.raise('SettingSystemTime', `by ${Math.round(byS)} s`);
      clockMoved();
    },
  });
  const connection = withRestartNotice(options.connection, (reason) => {
    registration.restarted();
    keys.restarted();
    // sent over the next connection: this one ends now
    security.raise('ResetOrReboot', reason);
  });
  const queue = queueOf(options, keys, line, events);
  const { id, device, clock, wall, later, random, log, store, finding, limits, releases } = options;
  const ofStation = { id, device, clock, wall, later, random, log, store, finding, limits, releases };
  const common = { ...ofStation, keys, calls, queue, registration };
  const security: EventLog = createSecurityEvents({ ...common, connection });
  const parts: StationParts = { ...common, connection, security };
  return { parts, keys, registration, queue, security };
}

/** Creates the parts for authorisation, transactions and charging. */
function createSessions(
  parts: StationParts,
  { disturber, autoAuthorize }: Pick<Stack16Options, 'disturber' | 'autoAuthorize'>,
  stationStatus: () => ConnectorStatus,
) {
  const tokens = createTokens(parts, { stationStatus });
  const reservations = createReservations(parts);
  const transactions = createTransactions(parts, {
    tokens,
    reservations,
    transactionData: (...ended) => meterValues.transactionData(...ended),
    distortion: (connectorId, action) =>
      disturber.active ? disturber.readings(parts.device.deviceIndex, connectorId, action) : null,
  });
  const authorization = createAuthorization(parts, { tokens, transactions, reservations, autoAuthorize });
  const smartCharging = createSmartCharging(parts, { transactions });
  const meterValues = createMeterValues(parts, { transactions, disturber });
  const remote = createRemote(parts, { tokens, authorization, transactions, reservations, smartCharging });
  return { tokens, reservations, transactions, authorization, smartCharging, meterValues, remote };
}

interface Triggered {
  readonly registration: RegistrationPart;
  readonly status: StatusPart;
  readonly meterValues: MeterValuesPart;
  readonly firmware: Firmware;
  readonly logs: Logs;
  readonly certificates: Certificates;
}

/** Functions for the messages that TriggerMessage and ExtendedTriggerMessage can request. */
function triggersOf({ registration, status, meterValues, firmware, logs, certificates }: Triggered): Triggers {
  const triggered = { triggered: true } as const;
  return {
    BootNotification: () => void registration.boot(triggered),
    Heartbeat: () => void registration.heartbeat(triggered),
    StatusNotification: (connectorId) => {
      status.announce(connectorId, triggered);
    },
    MeterValues: (connectorId) => {
      meterValues.trigger(connectorId, triggered);
    },
    FirmwareStatusNotification: (_, extended) => {
      firmware.report(extended);
    },
    DiagnosticsStatusNotification: () => {
      logs.reportDiagnostics();
    },
    LogStatusNotification: () => {
      logs.reportLog();
    },
    SignChargePointCertificate: () => void certificates.sign(triggered),
  };
}

export type Assembled = ReturnType<typeof assembleParts>;

export function assembleParts(options: Stack16Options) {
  const base = createBase(
    options,
    () => sessions.transactions.queueEvents,
    () => upkeep.firmware.version,
    () => {
      sessions.smartCharging.refresh();
    },
  );
  const { parts, keys, registration, queue, security } = base;
  const { device, log } = parts;
  const availability = createAvailability({ device, log, slot: parts.store('availability') });
  const status = createStatusReports({ ...parts, registration, availability });
  availability.onChange(() => {
    status.refresh();
  });
  const sessions = createSessions(parts, options, () => stationState({ device, availability }).status);
  const { transactions } = sessions;
  const upkeep = createUpkeep(parts, options, { transactions, availability, securityLog: security });
  const { certificates, logs, firmware } = upkeep;
  const effects = createKeyEffects({ ...parts, autoAuthorize: options.autoAuthorize });
  const configuration = createConfiguration(keys, effects, parts);
  const trigger = createTrigger(
    device,
    triggersOf({ registration, status, ...sessions, ...upkeep }),
    (message) =>
      (message === 'SignChargePointCertificate' && !certificates.canSign) ||
      // nothing else may be sent before the first answer
      (registration.status === 'none' && message !== 'BootNotification'),
  );
  const reset = createReset({ ...parts, transactions });
  const { tokens, reservations, authorization, remote } = sessions;
  /** parts in the order of loading */
  const all: readonly Part[] = [
    configuration,
    availability,
    security,
    tokens,
    reservations,
    transactions.part,
    authorization,
    remote,
    sessions.smartCharging,
    sessions.meterValues,
    certificates,
    logs,
    firmware,
    status,
    trigger,
    reset,
    dataTransfer,
  ];
  return { ...base, ...sessions, ...upkeep, availability, status, effects, configuration, all, queue };
}
