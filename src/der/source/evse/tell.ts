/** Reports changes to the listeners of a station. Without listeners no transition is built. */
import type { EvseStateEvent, EvseStationEvent } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseReservation } from '../../../contract/kinds/evse.ts';
import { statusOf } from './connector.ts';
import type { Connector } from './connector.ts';
import { connectorDetail } from './detail.ts';
import { phaseTraits } from './phases.ts';
import type { PhaseEvent } from './phases.ts';
import { sessionDetail } from './sessions.ts';
import type { SourceTransition } from './outside.ts';
import type { Station } from './station.ts';

/** Details of a transition beside phase and status. */
interface Subject {
  /** absent: the token in force */
  readonly idToken?: string;
  /** the reservation that began or ended */
  readonly reservation?: EvseReservation | null;
}

function send({ listeners }: Station, transition: SourceTransition): void {
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
  const was = phaseTraits[fromPhase].session;
  const is = phaseTraits[c.phase].session;
  const record = c.session ?? sessionBefore;
  send(station, {
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
    sessionChange: was === is ? null : is ? 'started' : 'ended',
    idToken: idToken ?? c.idToken ?? tokenBefore,
    reservation,
    powerW: c.flowW === 0 ? 0 : c.flowW,
    connector: connectorDetail(station, c),
  });
}

/** Reports an event that changes neither phase nor status. */
export function tell(station: Station, c: Connector, event: EvseStateEvent, subject?: Subject): void {
  change(station, c, event, () => undefined, subject);
}

/** Reports an event of the whole station. */
export function tellStation(station: Station, event: EvseStationEvent): void {
  if (station.listeners.size === 0) return;
  send(station, { ...station.trigger, connectorId: 0, event, externalLimit: station.outside.limit });
}
