/** Begin, updates and end of transactions, driven by the device (E01 to E12, E17). */
import { randomUUID } from 'node:crypto';
import type { EvseConnectorTransition, EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { endInterrupted, isOpen, lastReading, raiseMeters } from '../../transactions/restart.ts';
import { deviceText, maxTokenLength, noAuthorization, typeOfText } from '../authorization/tokens.ts';
import type { IdToken } from '../messages.ts';
import type { Version2 } from '../../station/stack.ts';
import { lastValues, pushEvent } from './events.ts';
import { chargingStateOf, pointChange, pointsOf, starts, stops, causesOf } from './reasons.ts';
import type { PointChange, TxPoint, Cause } from './reasons.ts';
import { chargedMsAt, nothingReported, startPoints, stopPoints } from './state.ts';
import type { TransactionRecord, TransactionsState } from './state.ts';

const energyLimit: Cause = { trigger: 'EnergyLimitReached', reason: 'EnergyLimitReached' };
const noPoints: ReadonlySet<TxPoint> = new Set();

interface Instant {
  readonly atMs: number;
  readonly connector: EvseConnectorDetail;
  /** transition of the device that caused the event; absent: none */
  readonly transition?: EvseConnectorTransition;
}

const transitionArguments = ({ transition }: Instant) => (transition === undefined ? [] : ([transition] as const));
const transitionOf = ({ transition }: Instant) => (transition === undefined ? {} : { transition });

function begin(
  state: TransactionsState,
  evseId: number,
  instant: Instant,
  trigger: Cause['trigger'],
): TransactionRecord {
  const { ledger, parts, deps } = state;
  const { atMs, connector } = instant;
  const transactionId = randomUUID();
  const fresh: TransactionRecord = {
    key: transactionId,
    transactionId,
    evseId,
    connectorId: evseId,
    idToken: null,
    groupIdToken: null,
    remoteStartId: null,
    reservationId: null,
    sessionId: null,
    lastSessionId: null,
    startedMs: atMs,
    meterStartWh: Math.round(connector.energyWh),
    startWh: connector.energyWh,
    endedMs: null,
    meterStopWh: null,
    stopReason: null,
    lastMs: atMs,
    lastWh: Math.round(connector.energyWh),
    nextSeqNo: 0,
    told: nothingReported,
    chargingState: 'Idle',
    chargedMs: 0,
    chargingSinceMs: null,
    why: null,
    limit: null,
    refusedUntilWh: null,
  };
  parts.log.info(`EVSE ${evseId}: a transaction begins (${trigger})`, parts.device.deviceIndex);
  const announce = (record: TransactionRecord) => {
    const meterValue = deps.sample(evseId, 'Started', ...transitionArguments(instant));
    const event = { type: 'Started', trigger, atMs, extras: { meterValue }, ...transitionOf(instant) } as const;
    pushEvent(state, record, connector, event);
  };
  const started = ledger.add(() => ({ ...fresh, ...courseOf(state, fresh, instant) }), announce);
  state.started.emit(started);
  return started;
}

/** Ends the session of an ended transaction, because no energy may flow without a transaction. */
function endSession(state: TransactionsState, { evseId, key }: TransactionRecord, reason: string): void {
  const { device } = state.parts;
  state.insistence.insist(`session ${key}`, `EVSE ${evseId}: the session of an ended transaction continues`, () => {
    if (state.ledger.at(evseId) !== null || !device.connector(evseId).authorised) return;
    device.command({ kind: 'evse.stop', connectorId: evseId, reason });
  });
}

function close(
  state: TransactionsState,
  record: TransactionRecord,
  atMs: number,
  meterStopWh: number,
  reason: string,
): void {
  const { parts, ledger, limits } = state;
  const { key, evseId } = record;
  const changed = ledger.change(key, {
    endedMs: atMs,
    meterStopWh,
    stopReason: reason,
    sessionId: null,
    lastMs: atMs,
    lastWh: meterStopWh,
  });
  limits.ended(key);
  parts.log.info(`EVSE ${evseId}: the transaction ends (${reason})`, parts.device.deviceIndex);
  if (changed !== null) state.ended.emit(changed);
}

function end(state: TransactionsState, record: TransactionRecord, instant: Instant, cause: Cause): void {
  const { atMs, connector } = instant;
  const reason = record.why ?? cause.reason ?? 'Local';
  const meterValue = state.deps.sample(record.evseId, 'Ended', ...transitionArguments(instant));
  const { idToken } = cause;
  const extras = { meterValue, ...(idToken === undefined ? {} : { idToken }) };
  pushEvent(state, record, connector, {
    type: 'Ended',
    trigger: cause.trigger,
    atMs,
    reason,
    extras,
    ...transitionOf(instant),
  });
  close(state, record, atMs, Math.round(connector.energyWh), reason);
  if (connector.authorised) endSession(state, record, reason);
}

/** Ends a transaction with the present state of its connector. */
export function endNow(state: TransactionsState, record: TransactionRecord, cause: Cause): void {
  const { device, clock } = state.parts;
  const connector = device.connector(record.evseId);
  end(state, record, { atMs: clock.ofSim(device.now), connector }, cause);
}

/** Ends a transaction at its last recorded instant and meter value. @param last default: those of the record */
function endAsKnown(
  state: TransactionsState,
  record: TransactionRecord,
  reason: 'PowerLoss' | 'Reboot',
  last = { atMs: record.lastMs, meterWh: record.lastWh },
): void {
  const { atMs, meterWh } = last;
  const extras = { meterValue: lastValues(state.parts.variables, atMs, meterWh) };
  const event = { type: 'Ended', trigger: 'AbnormalCondition', atMs, reason, extras } as const;
  pushEvent(state, record, state.parts.device.connector(record.evseId), event);
  close(state, record, atMs, meterWh, reason);
}

function update(
  state: TransactionsState,
  record: TransactionRecord,
  instant: Instant,
  cause: Cause,
): TransactionRecord {
  const { connector, atMs } = instant;
  const { trigger, idToken } = cause;
  const extras = idToken === undefined ? {} : { idToken };
  return pushEvent(state, record, connector, { type: 'Updated', trigger, atMs, extras, ...transitionOf(instant) });
}

/** Index of the ending cause: EVDeparted, if any, unless a stop point other than ParkingBayOccupancy is lost. */
function endingCause(state: TransactionsState, causes: readonly Cause[], { lost }: PointChange): number {
  const points = stopPoints(state);
  const byBay = lost.filter((point) => points.includes(point)).every((point) => point === 'ParkingBayOccupancy');
  const departed = causes.findIndex(({ trigger }) => trigger === 'EVDeparted');
  return byBay && departed > 0 ? departed : 0;
}

interface DeviceChange extends Instant {
  readonly transition: EvseConnectorTransition;
  readonly points: ReadonlySet<TxPoint>;
  readonly change: PointChange;
  readonly causes: readonly Cause[];
}

/** Reason of the end of an authorisation. */
function endOf([cause]: readonly Cause[]): TransactionRecord['why'] {
  return cause?.reason ?? 'Local';
}

function follow(state: TransactionsState, before: TransactionRecord, deviceChange: DeviceChange): void {
  const { ledger, limits } = state;
  const { transition, points, change } = deviceChange;
  const isLimit = transition.event === 'evse_hold' && limits.isUsedUp(before, transition.connector.energyWh);
  const causes = isLimit ? [energyLimit] : deviceChange.causes;
  const why = before.why ?? (change.lost.includes('Authorized') ? endOf(causes) : null);
  const course = courseOf(state, before, deviceChange);
  let record = ledger.change(before.key, { why, ...course }) ?? before;
  if (stops(stopPoints(state), points, change)) {
    const at = endingCause(state, causes, change);
    for (const cause of causes.slice(0, at)) record = update(state, record, deviceChange, cause);
    end(state, record, deviceChange, causes[at] ?? { trigger: 'ChargingStateChanged', reason: null });
    return;
  }
  // a limit is reported by the stop that follows, an outage by the return of the power
  const isOutage = transition.event === 'evse_hold' && transition.cause === 'fault';
  if (!isLimit && !isOutage) for (const cause of causes) record = update(state, record, deviceChange, cause);
  limits.follow(record, transition);
}

function causesAt(state: TransactionsState, transition: EvseConnectorTransition, change: PointChange) {
  const { connectorId, event } = transition;
  const record = state.ledger.at(connectorId);
  const watched = [...startPoints(state), ...stopPoints(state)];
  const request = state.stopRequests.get(connectorId) ?? null;
  if (event === 'stop' || event === 'withdraw') state.stopRequests.delete(connectorId);
  return causesOf(transition, {
    change,
    stopRequest: request,
    watchesBay: watched.includes('ParkingBayOccupancy'),
    stateChanged: chargingStateOf(transition.connector) !== (record?.chargingState ?? 'Idle'),
    remote: typeof state.bearers.get(connectorId)?.remoteStartId === 'number',
  });
}

function followConnector(state: TransactionsState, transition: EvseConnectorTransition): void {
  const { connectorId, connector } = transition;
  const atMs = state.parts.clock.ofSim(transition.at);
  const points = pointsOf(connector);
  const change = pointChange(state.seen.get(connectorId) ?? noPoints, points);
  state.seen.set(connectorId, points);
  if (change.lost.includes('Authorized')) state.bearers.delete(connectorId);
  if (transition.event === 'authorize') storeBearer(state, connector, transition);
  const causes = causesAt(state, transition, change);
  const record = state.ledger.at(connectorId);
  if (record !== null) follow(state, record, { transition, atMs, connector, points, change, causes });
  else if (starts(startPoints(state), points, change)) {
    const started = begin(
      state,
      connectorId,
      { transition, atMs, connector },
      causes[0]?.trigger ?? 'ChargingStateChanged',
    );
    state.limits.follow(started, transition);
  }
}

/** E17: true if an outage was short enough for transactions to continue. */
function resumes({ parts, downSinceMs }: TransactionsState, upMs: number): boolean {
  const { variables } = parts;
  if (downSinceMs === null || !variables.has('TxCtrlr', 'ResumptionTimeout')) return false;
  const timeoutS = variables.integer('TxCtrlr', 'ResumptionTimeout');
  return timeoutS > 0 && upMs - downSinceMs <= timeoutS * 1000;
}

function powerUp(state: TransactionsState, atMs: number): void {
  const isResumed = resumes(state, atMs);
  state.downSinceMs = null;
  for (const record of state.ledger.running) {
    const connector = state.parts.device.connector(record.evseId);
    if (isResumed) update(state, record, { connector, atMs }, { trigger: 'TxResumed', reason: null });
    else end(state, record, { connector, atMs }, { trigger: 'AbnormalCondition', reason: 'PowerLoss' });
  }
}

/** E17: true if the device still has what the transaction is about, and the process was away for a short time. */
function resumesAfterRestart({ parts, ledger }: TransactionsState, { evseId, sessionId }: TransactionRecord): boolean {
  const { variables, device, wall } = parts;
  const reading = ledger.readingAt(evseId);
  if (reading === null || !variables.has('TxCtrlr', 'ResumptionTimeout')) return false;
  const timeoutS = variables.integer('TxCtrlr', 'ResumptionTimeout');
  if (timeoutS === 0 || wall.nowMs() - reading.wallMs > timeoutS * 1000) return false;
  const connector = device.connector(evseId);
  const openId = isOpen(connector.session) ? connector.session.transactionId : null;
  return openId === sessionId && pointsOf(connector).size > 0;
}

function resume(state: TransactionsState, record: TransactionRecord): void {
  const { parts, ledger, bearers, limits } = state;
  const { device, clock } = parts;
  const { key, evseId, idToken, groupIdToken, remoteStartId, reservationId, lastMs } = record;
  const connector = device.connector(evseId);
  const instant = { connector, atMs: Math.max(lastMs, clock.ofSim(device.now)) };
  if (idToken !== null && connector.authorised)
    bearers.set(evseId, { idToken, groupIdToken, remoteStartId, reservationId });
  // the time after the last instant of the device is no charging time
  const { atMs: untilMs } = lastReading(parts, ledger, record, record.sessionId);
  const chargedMs = chargedMsAt(record, untilMs);
  const course = courseOf(state, { ...record, chargedMs, chargingSinceMs: null }, instant);
  const resumed = ledger.change(key, course) ?? record;
  state.started.emit(resumed);
  limits.resume(update(state, resumed, instant, { trigger: 'TxResumed', reason: null }));
}

/**
 * Resumes or ends what an earlier process has left running.
 * @returns connectors at which no transaction begins by itself
 */
export function continueAfterRestart(state: TransactionsState): ReadonlySet<number> {
  const { ledger, parts, insistence } = state;
  if (!ledger.isContinued) return new Set();
  raiseMeters(parts, ledger, insistence);
  const interrupted = ledger.running;
  for (const record of interrupted) {
    if (resumesAfterRestart(state, record)) resume(state, record);
    else endAsKnown(state, record, 'PowerLoss', lastReading(parts, ledger, record, record.sessionId));
  }
  const isEnded = (evseId: number, sessionId: string) =>
    ledger.records.some(
      (record) => record.evseId === evseId && record.lastSessionId === sessionId && record.endedMs !== null,
    );
  const isRunning = (evseId: number) => ledger.at(evseId) !== null;
  const ended = endInterrupted(parts, insistence, { isEnded, isRunning });
  return new Set([...ended, ...interrupted.map(({ evseId }) => evseId)]);
}

/** Ends all transactions after a restart of the device, which resets its meters. */
function restarted(state: TransactionsState): void {
  for (const record of state.ledger.running) endAsKnown(state, record, 'Reboot');
  state.ledger.forgetReadings();
  for (const memory of [state.seen, state.bearers, state.stopRequests]) memory.clear();
}

/** Applies a transition of the device to the transactions. */
export function followDevice(state: TransactionsState, transition: EvseTransition): void {
  if ('connector' in transition) {
    followConnector(state, transition);
    return;
  }
  const atMs = state.parts.clock.ofSim(transition.at);
  if (transition.event === 'power_down') state.downSinceMs ??= atMs;
  else if (transition.event === 'power_up') powerUp(state, atMs);
  else if (transition.event === 'restart') restarted(state);
}

/**
 * Adopts sessions that began before the station subscribed to the device. A vehicle whose session is over begins no
 * transaction.
 * @param except connectors at which no transaction begins
 */
export function adopt(state: TransactionsState, except: ReadonlySet<number>): void {
  const { device, clock } = state.parts;
  for (const connector of device.detail.connectors) {
    const { connectorId, phase, authorised } = connector;
    const points = pointsOf(connector);
    state.seen.set(connectorId, points);
    if (except.has(connectorId)) continue;
    if (authorised) storeBearer(state, connector);
    if (phase === 'finishing' || !starts(startPoints(state), points, { risen: [...points], lost: [] })) continue;
    const instant = { atMs: clock.ofSim(device.now), connector };
    begin(
      state,
      connectorId,
      instant,
      authorised ? 'Authorized' : points.has('EVConnected') ? 'CablePluggedIn' : 'EVDetected',
    );
  }
}

// Changes of the record of a transaction with each event of the device: session, token, charging time, meter.

/** The token of an authorisation at the device, without a grant of the station. */
function localToken(text: string | null, version: Version2): IdToken {
  if (text === null || text === '') return noAuthorization;
  return { idToken: text.slice(0, maxTokenLength[version]), type: typeOfText(text) };
}

/** Stores the token of an authorisation at the device, new or present at the start. */
function storeBearer(
  { parts, grants, bearers }: TransactionsState,
  connector: EvseConnectorDetail,
  transition?: EvseConnectorTransition,
) {
  const { connectorId, session } = connector;
  const text = transition?.idToken ?? session?.idToken ?? null;
  const tokenGrant = grants.get(connectorId);
  const grant = tokenGrant !== undefined && text === deviceText(tokenGrant.idToken) ? tokenGrant : null;
  bearers.set(connectorId, {
    idToken: grant?.idToken ?? localToken(text, parts.version),
    groupIdToken: grant?.info.groupIdToken ?? null,
    remoteStartId: grant?.remoteStartId ?? session?.remoteStartId ?? null,
    reservationId: grant?.reservationId ?? null,
  });
}

/** Token, group and ids of an authorisation that the record does not have yet. */
function newBearerOf(
  { bearers }: TransactionsState,
  record: TransactionRecord,
  { transition }: Instant,
): Partial<TransactionRecord> {
  const bearer = bearers.get(record.evseId);
  if (bearer === undefined || (record.idToken !== null && transition?.event !== 'authorize')) return {};
  return {
    ...bearer,
    reservationId: bearer.reservationId ?? record.reservationId,
    // each authorisation is reported again
    told: { ...record.told, idToken: false, remoteStartId: false },
    why: null,
  };
}

/** Members of a record that follow the present state of its EVSE. */
function courseOf(state: TransactionsState, record: TransactionRecord, instant: Instant): Partial<TransactionRecord> {
  const { atMs, connector } = instant;
  const { session } = connector;
  const running = session !== null && session.endedAtS === null ? session : null;
  const chargingState = chargingStateOf(connector);
  const reservationId = record.reservationId ?? running?.reservationId ?? null;
  return {
    sessionId: running?.transactionId ?? null,
    lastSessionId: running?.transactionId ?? record.lastSessionId,
    chargingState,
    chargedMs: chargedMsAt(record, atMs),
    chargingSinceMs: chargingState === 'Charging' ? atMs : null,
    lastMs: atMs,
    lastWh: Math.round(connector.energyWh),
    reservationId,
    ...newBearerOf(state, { ...record, reservationId }, instant),
  };
}
