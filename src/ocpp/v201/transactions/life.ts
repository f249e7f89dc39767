/** Begin, course and end of transactions, driven by the device. E01 to E12, E17. */
import { randomUUID } from 'node:crypto';
import type { EvseConnectorTransition, EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { deviceText, maxTokenLength, noAuthorization, typeOfText } from '../authorization/token.ts';
import type { IdToken } from '../messages.ts';
import type { Version2 } from '../version.ts';
import { lastValues, pushEvent } from './events.ts';
import { chargingStateOf, pointChange, pointsOf, starts, stops } from './points.ts';
import type { PointChange, TxPoint } from './points.ts';
import { causesOf } from './reasons.ts';
import type { Cause } from './reasons.ts';
import { chargedMsAt, toldNothing } from './record.ts';
import type { TransactionRecord } from './record.ts';
import { startPoints, stopPoints } from './state.ts';
import type { Work } from './state.ts';

const energyLimit: Cause = { trigger: 'EnergyLimitReached', reason: 'EnergyLimitReached' };
const noPoints: ReadonlySet<TxPoint> = new Set();

interface Instant {
  readonly atMs: number;
  readonly connector: EvseConnectorDetail;
  /** that has brought the event; absent: the state now */
  readonly t?: EvseConnectorTransition;
}

const eventAt = ({ t }: Instant) => (t === undefined ? [] : ([t] as const));
const broughtBy = ({ t }: Instant) => (t === undefined ? {} : { t });

function begin(work: Work, evseId: number, instant: Instant, trigger: Cause['trigger']): TransactionRecord {
  const { ledger, parts, deps } = work;
  const { atMs, connector } = instant;
  const transactionId = randomUUID();
  const made: TransactionRecord = {
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
    told: toldNothing,
    chargingState: 'Idle',
    chargedMs: 0,
    chargingSinceMs: null,
    why: null,
    limit: null,
    refusedUntilWh: null,
  };
  const record = ledger.add(() => ({ ...made, ...courseOf(work, made, instant) }));
  parts.log.info(`EVSE ${evseId}: a transaction begins (${trigger})`, parts.device.deviceIndex);
  const meterValue = deps.sample(evseId, 'Started', ...eventAt(instant));
  const begun = pushEvent(work, record, connector, {
    type: 'Started',
    trigger,
    atMs,
    extras: { meterValue },
    ...broughtBy(instant),
  });
  work.started.emit(begun);
  return begun;
}

/** Its session, if it goes on, ends with it: no energy flows without a transaction. */
function endSession(work: Work, { evseId, key }: TransactionRecord, reason: string): void {
  const { device } = work.parts;
  work.insistence.insist(`session ${key}`, `EVSE ${evseId}: the session of an ended transaction goes on`, () => {
    if (work.ledger.at(evseId) !== null || !device.connector(evseId).authorised) return;
    device.command({ kind: 'evse.stop', connectorId: evseId, reason });
  });
}

function close(work: Work, record: TransactionRecord, atMs: number, meterStopWh: number, reason: string): void {
  const { parts, ledger, limits } = work;
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
  if (changed !== null) work.ended.emit(changed);
}

function end(work: Work, record: TransactionRecord, instant: Instant, cause: Cause): void {
  const { atMs, connector } = instant;
  const reason = record.why ?? cause.reason ?? 'Local';
  const meterValue = work.deps.sample(record.evseId, 'Ended', ...eventAt(instant));
  const { idToken } = cause;
  const extras = { meterValue, ...(idToken === undefined ? {} : { idToken }) };
  pushEvent(work, record, connector, {
    type: 'Ended',
    trigger: cause.trigger,
    atMs,
    reason,
    extras,
    ...broughtBy(instant),
  });
  close(work, record, atMs, Math.round(connector.energyWh), reason);
  if (connector.authorised) endSession(work, record, reason);
}

/** Ends a transaction as it stands now. */
export function endNow(work: Work, record: TransactionRecord, cause: Cause): void {
  const { device, clock } = work.parts;
  const connector = device.connector(record.evseId);
  end(work, record, { atMs: clock.ofSim(device.now), connector }, cause);
}

/** Ends a transaction that the station has lost, with the last values known of it. */
export function endAsKnown(work: Work, record: TransactionRecord, reason: 'PowerLoss' | 'Reboot'): void {
  const { lastMs: atMs, lastWh, evseId } = record;
  const extras = { meterValue: lastValues(work.parts.variables, atMs, lastWh) };
  const event = { type: 'Ended', trigger: 'AbnormalCondition', atMs, reason, extras } as const;
  pushEvent(work, record, work.parts.device.connector(evseId), event);
  close(work, record, atMs, lastWh, reason);
}

function update(work: Work, record: TransactionRecord, instant: Instant, cause: Cause): TransactionRecord {
  const { connector, atMs } = instant;
  const { trigger, idToken } = cause;
  const extras = idToken === undefined ? {} : { idToken };
  return pushEvent(work, record, connector, { type: 'Updated', trigger, atMs, extras, ...broughtBy(instant) });
}

/** The place of the cause that ends it: a vehicle that leaves its bay does so only where nothing has ended it before. */
function endingCause(work: Work, causes: readonly Cause[], { lost }: PointChange): number {
  const points = stopPoints(work);
  const byBay = lost.filter((point) => points.includes(point)).every((point) => point === 'ParkingBayOccupancy');
  const departed = causes.findIndex(({ trigger }) => trigger === 'EVDeparted');
  return byBay && departed > 0 ? departed : 0;
}

interface Heard extends Instant {
  readonly t: EvseConnectorTransition;
  readonly now: ReadonlySet<TxPoint>;
  readonly change: PointChange;
  readonly causes: readonly Cause[];
}

/** Why an authorisation has ended. */
function endOf([cause]: readonly Cause[]): TransactionRecord['why'] {
  return cause?.reason ?? 'Local';
}

function follow(work: Work, before: TransactionRecord, heard: Heard): void {
  const { ledger, limits } = work;
  const { t, now, change } = heard;
  const isLimit = t.event === 'evse_hold' && limits.isUsedUp(before, t.connector.energyWh);
  const causes = isLimit ? [energyLimit] : heard.causes;
  const why = before.why ?? (change.lost.includes('Authorized') ? endOf(causes) : null);
  const course = courseOf(work, before, heard);
  let record = ledger.change(before.key, { why, ...course }) ?? before;
  if (stops(stopPoints(work), now, change)) {
    const at = endingCause(work, causes, change);
    for (const cause of causes.slice(0, at)) record = update(work, record, heard, cause);
    end(work, record, heard, causes[at] ?? { trigger: 'ChargingStateChanged', reason: null });
    return;
  }
  // the stop that follows tells a limit, and the return of the power an outage
  const isOutage = t.event === 'evse_hold' && t.cause === 'fault';
  if (!isLimit && !isOutage) for (const cause of causes) record = update(work, record, heard, cause);
  limits.follow(record, t);
}

function causesAt(work: Work, t: EvseConnectorTransition, change: PointChange) {
  const { connectorId, event } = t;
  const record = work.ledger.at(connectorId);
  const watched = [...startPoints(work), ...stopPoints(work)];
  const asked = work.asked.get(connectorId) ?? null;
  if (event === 'stop' || event === 'withdraw') work.asked.delete(connectorId);
  return causesOf(t, {
    change,
    asked,
    watchesBay: watched.includes('ParkingBayOccupancy'),
    stateChanged: chargingStateOf(t.connector) !== (record?.chargingState ?? 'Idle'),
    remote: typeof work.bearers.get(connectorId)?.remoteStartId === 'number',
  });
}

function hearConnector(work: Work, t: EvseConnectorTransition): void {
  const { connectorId, connector } = t;
  const atMs = work.parts.clock.ofSim(t.at);
  const now = pointsOf(connector);
  const change = pointChange(work.seen.get(connectorId) ?? noPoints, now);
  work.seen.set(connectorId, now);
  if (change.lost.includes('Authorized')) work.bearers.delete(connectorId);
  if (t.event === 'authorize') noteBearer(work, connector, t);
  const causes = causesAt(work, t, change);
  const record = work.ledger.at(connectorId);
  if (record !== null) follow(work, record, { t, atMs, connector, now, change, causes });
  else if (starts(startPoints(work), now, change)) {
    const begun = begin(work, connectorId, { t, atMs, connector }, causes[0]?.trigger ?? 'ChargingStateChanged');
    work.limits.follow(begun, t);
  }
}

/** E17: an outage that was short enough ends nothing. */
function resumes({ parts, downSinceMs }: Work, upMs: number): boolean {
  const { variables } = parts;
  if (downSinceMs === null || !variables.has('TxCtrlr', 'ResumptionTimeout')) return false;
  const timeoutS = variables.integer('TxCtrlr', 'ResumptionTimeout');
  return timeoutS > 0 && upMs - downSinceMs <= timeoutS * 1000;
}

function powerUp(work: Work, atMs: number): void {
  const goesOn = resumes(work, atMs);
  work.downSinceMs = null;
  for (const record of work.ledger.running) {
    const connector = work.parts.device.connector(record.evseId);
    if (goesOn) update(work, record, { connector, atMs }, { trigger: 'TxResumed', reason: null });
    else end(work, record, { connector, atMs }, { trigger: 'AbnormalCondition', reason: 'PowerLoss' });
  }
}

/** The device begins anew: its meters too. */
function restarted(work: Work): void {
  for (const record of work.ledger.running) endAsKnown(work, record, 'Reboot');
  for (const known of [work.seen, work.bearers, work.asked]) known.clear();
}

/** Follows the device. */
export function hear(work: Work, transition: EvseTransition): void {
  if ('connector' in transition) {
    hearConnector(work, transition);
    return;
  }
  const atMs = work.parts.clock.ofSim(transition.at);
  if (transition.event === 'power_down') work.downSinceMs ??= atMs;
  else if (transition.event === 'power_up') powerUp(work, atMs);
  else if (transition.event === 'restart') restarted(work);
}

/** What was going on before the station was heard. A vehicle whose session is over begins nothing. */
export function adopt(work: Work, connectors: readonly EvseConnectorDetail[]): void {
  const { device, clock } = work.parts;
  for (const connector of connectors) {
    const { connectorId, phase, authorised } = connector;
    const now = pointsOf(connector);
    work.seen.set(connectorId, now);
    if (authorised) noteBearer(work, connector);
    if (phase === 'finishing' || !starts(startPoints(work), now, { risen: [...now], lost: [] })) continue;
    const instant = { atMs: clock.ofSim(device.now), connector };
    begin(
      work,
      connectorId,
      instant,
      authorised ? 'Authorized' : now.has('EVConnected') ? 'CablePluggedIn' : 'EVDetected',
    );
  }
}

// What a transaction knows after each event of the device: session, token, charging time, meter.

/** A token that was taken at the device itself: no part of the station has brought it. */
function localToken(text: string | null, version: Version2): IdToken {
  if (text === null || text === '') return noAuthorization;
  return { idToken: text.slice(0, maxTokenLength[version]), type: typeOfText(text) };
}

/** Notes the token of an authorisation that the device tells, or that it has at the start. */
function noteBearer({ parts, grants, bearers }: Work, connector: EvseConnectorDetail, t?: EvseConnectorTransition) {
  const { connectorId, session } = connector;
  const text = t?.idToken ?? session?.idToken ?? null;
  const known = grants.get(connectorId);
  const grant = known !== undefined && text === deviceText(known.idToken) ? known : null;
  bearers.set(connectorId, {
    idToken: grant?.idToken ?? localToken(text, parts.version),
    groupIdToken: grant?.info.groupIdToken ?? null,
    remoteStartId: grant?.remoteStartId ?? session?.remoteStartId ?? null,
    reservationId: grant?.reservationId ?? null,
  });
}

/** Token, and what came with it, of an authorisation that the record does not know yet. */
function authorisation({ bearers }: Work, record: TransactionRecord, { t }: Instant): Partial<TransactionRecord> {
  const bearer = bearers.get(record.evseId);
  if (bearer === undefined || (record.idToken !== null && t?.event !== 'authorize')) return {};
  return {
    ...bearer,
    reservationId: bearer.reservationId ?? record.reservationId,
    // told again with each authorisation
    told: { ...record.told, idToken: false, remoteStartId: false },
    why: null,
  };
}

/** The changes of a record by what has happened at its EVSE. */
function courseOf(work: Work, record: TransactionRecord, instant: Instant): Partial<TransactionRecord> {
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
    ...authorisation(work, { ...record, reservationId }, instant),
  };
}
