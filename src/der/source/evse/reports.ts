/** Reports changes and limits to the listeners of a station. Without listeners no transition is built. */
import type { EvseStateEvent, EvseStationEvent } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseReservation, EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import { statusOf, heldByStation } from './connector.ts';
import type { Connector } from './connector.ts';
import { connectorDetail, limitNow, limitWriter } from './detail.ts';
import { phaseTraits } from './phases.ts';
import type { PhaseEvent } from './phases.ts';
import { sessionDetail } from './sessions.ts';
import type { SourceTransition } from '../source.ts';
import { withTrigger, byItself } from './station.ts';
import type { Station } from './station.ts';

/** Details of a transition beside phase and status. */
interface Subject {
  /** absent: the token in force */
  readonly idToken?: string;
  /** the reservation that began or ended */
  readonly reservation?: EvseReservation | null;
}

function notifyListeners({ listeners }: Station, transition: SourceTransition): void {
  for (const listener of listeners) listener(transition);
}

/** Applies a change to one connector and reports it. */
export function change(
  station: Station,
  c: Connector,
  event: PhaseEvent | EvseStateEvent,
  act: () => void,
  { idToken, reservation = null }: Subject = {},
): void {
  if (station.listeners.size === 0) {
    act();
    return;
  }
  const [fromPhase, fromStatus, sessionBefore, tokenBefore] = [c.phase, statusOf(c), c.session, c.idToken];
  act();
  const hadSession = phaseTraits[fromPhase].session;
  const hasSession = phaseTraits[c.phase].session;
  const record = c.session ?? sessionBefore;
  notifyListeners(station, {
    ...station.trigger,
    atS: station.nowS,
    connectorId: c.p.connectorId,
    event,
    fromPhase,
    phase: c.phase,
    fromStatus,
    status: statusOf(c),
    transactionId: record?.transactionId ?? null,
    session: record && sessionDetail(record, c),
    sessionChange: hadSession === hasSession ? null : hasSession ? 'started' : 'ended',
    idToken: idToken ?? c.idToken ?? tokenBefore,
    reservation,
    powerW: c.flowW === 0 ? 0 : c.flowW,
    connector: connectorDetail(station, c),
  });
}

/** Reports an event that changes neither phase nor status. */
export function reportEvent(station: Station, c: Connector, event: EvseStateEvent, subject?: Subject): void {
  change(station, c, event, () => undefined, subject);
}

/** Reports an event of the whole station. */
export function reportStationEvent(station: Station, event: EvseStationEvent): void {
  if (station.listeners.size === 0) return;
  notifyListeners(station, { ...station.trigger, connectorId: 0, event, externalLimit: station.outside.limit });
}

/** Smaller changes are not reported; share of the maximum power. */
const significant = 0.01;

/** Records the present limits as reported. */
export function recordLimits(station: Station): void {
  for (const c of station.connectors) recordLimit(station, c);
  station.reportedLimit = station.outside.limit;
}

/**
 * Records the limit of a connector as reported if it has changed. Limits count while energy may flow; limits of
 * hardware and vehicle count as none.
 * @returns true: the limit has changed
 */
function recordLimit(station: Station, c: Connector): boolean {
  if (!phaseTraits[c.phase].powered || c.errorCode !== null) {
    c.reportedSource = 'none';
    return false;
  }
  // a suspension by command is reported as a suspension
  if (heldByStation(c) || c.evHeldByCommand) return false;
  const { limitW, limitSource } = limitNow(station, c);
  const source = limitSource === 'hardware' || limitSource === 'ev' ? 'none' : limitSource;
  const moved = source !== 'none' && Math.abs(limitW - c.reportedLimitW) > significant * c.p.maxPowerW;
  if (source === c.reportedSource && !moved) return false;
  [c.reportedSource, c.reportedLimitW] = [source, limitW];
  return true;
}

function differs(present: EvseExternalLimit | null, reported: EvseExternalLimit | null, maxPowerW: number): boolean {
  if (present === null || reported === null) return present !== reported;
  return (
    present.decidedBy !== reported.decidedBy || Math.abs(present.limitW - reported.limitW) > significant * maxPowerW
  );
}

/** Reports limits that differ from the last report. Only called while there are listeners. */
export function reportLimits(station: Station): void {
  for (const c of station.connectors) {
    const before = c.reportedSource;
    if (!recordLimit(station, c)) continue;
    const by = limitWriter(station, c, c.reportedSource === 'none' ? before : c.reportedSource);
    withTrigger(station, { by, cause: 'limit' }, () => {
      reportEvent(station, c, 'limit');
    });
  }
  const { limit } = station.outside;
  if (!differs(limit, station.reportedLimit, station.p.maxPowerW)) return;
  const by = limit?.writer ?? byItself;
  station.reportedLimit = limit;
  withTrigger(station, { by, cause: 'limit' }, () => {
    reportStationEvent(station, 'external_limit');
  });
}
