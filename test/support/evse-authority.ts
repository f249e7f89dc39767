/**
 * Test double of an OCPP station: decides on tokens as a central system, keeps transactions by TxStartPoint and
 * TxStopPoint of OCPP 2.x, and reports them as TransactionEvent, StatusNotification and NotifyChargingLimit would.
 */
import type { Device } from '../../src/contract/device.ts';
import type { EvseBehaviour, EvseCommand } from '../../src/contract/kinds/evse-commands.ts';
import type {
  EvseConnectorTransition,
  EvseStationTransition,
  EvseTransition,
} from '../../src/contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../src/contract/kinds/evse.ts';
import type { Origin } from '../../src/core/origin.ts';

export type TxPoint = 'EVConnected' | 'Authorized' | 'PowerPathClosed';

/** What the central system says about a token at once; `later`: its answer comes by `answer`. */
export type Verdict = 'accepted' | 'refused' | 'later';

export interface AuthorityOptions {
  readonly verdict?: (idToken: string) => Verdict;
  readonly startAt?: readonly TxPoint[];
  readonly stopAt?: readonly TxPoint[];
  readonly behaviour?: Partial<EvseBehaviour>;
}

interface Transaction {
  readonly id: string;
  seqNo: number;
  /** stop points met so far: the first one lost ends it */
  readonly held: Set<TxPoint>;
}

const central: Origin = { source: 'ocpp', peer: 'CSMS' };

const pointsOf: Readonly<Record<TxPoint, (c: EvseConnectorDetail) => boolean>> = {
  EVConnected: ({ cable }) => cable.evPlugged && cable.evsePlugged,
  Authorized: ({ authorised }) => authorised,
  PowerPathClosed: ({ contactorClosed }) => contactorClosed,
};

/** Trigger reasons that follow from the event alone. */
const triggers: Partial<Readonly<Record<EvseConnectorTransition['event'], string>>> = {
  plugged: 'CablePluggedIn',
  unplugged: 'EVDeparted',
  ev_unplugged: 'EVCommunicationLost',
  authorize: 'Authorized',
  delay_over: 'ChargingStateChanged',
  ev_hold: 'ChargingStateChanged',
  ev_release: 'ChargingStateChanged',
  evse_hold: 'ChargingStateChanged',
  evse_release: 'ChargingStateChanged',
  stop: 'StopAuthorized',
  withdraw: 'EVConnectTimeout',
  fault: 'AbnormalCondition',
  clear_fault: 'AbnormalCondition',
  limit: 'ChargingRateChanged',
};

/** NotifyChargingLimit: limits of the grid side and of the site. */
function limitSource({ externalLimit }: EvseStationTransition): string {
  const source = externalLimit?.writer?.source;
  return source === 'modbus' || source === 'csip' || source === 'dnp3' ? 'SO' : 'EMS';
}

export class CentralAuthority {
  /** every transition, as told */
  readonly told: EvseTransition[] = [];
  /** messages to the central system, one line each */
  readonly sent: string[] = [];
  readonly #device: Device;
  readonly #options: AuthorityOptions;
  readonly #running = new Map<number, Transaction>();
  readonly #statuses = new Map<number, string>();
  /** tokens that wait for an answer, by connector */
  readonly #asked = new Map<number, string>();
  /** trigger of the last command: it counts for what the central system has caused */
  #trigger: string | null = null;
  #count = 0;
  readonly end: () => void;

  constructor(device: Device, options: AuthorityOptions = {}) {
    this.#device = device;
    this.#options = options;
    this.end = device.onEvse((transition) => {
      this.#hear(transition);
    });
    this.#command({ kind: 'evse.authority', central: true });
    this.#command({ kind: 'evse.behaviour', ...options.behaviour });
  }

  /** Messages since the last call. */
  take(): string[] {
    return this.sent.splice(0);
  }

  answer(connectorId: number, accepted: boolean): void {
    const idToken = this.#asked.get(connectorId);
    if (idToken === undefined) throw new Error('no token waits for an answer');
    this.#asked.delete(connectorId);
    this.#decided(connectorId, idToken, accepted);
  }

  requestStart(connectorId: number, idToken: string, remoteStartId: number): void {
    this.#command({ kind: 'evse.authorize', connectorId, idToken, remoteStartId }, 'RemoteStart');
  }

  requestStop(connectorId: number): void {
    this.#command({ kind: 'evse.stop', connectorId, reason: 'Remote' }, 'RemoteStop');
  }

  unlockConnector(connectorId: number): void {
    this.#command({ kind: 'evse.unlock', connectorId }, 'UnlockCommand');
  }

  /** Reset Immediate: sessions end, the device stays. */
  reset(): void {
    for (const connectorId of [...this.#running.keys()])
      this.#command({ kind: 'evse.stop', connectorId, reason: 'ImmediateReset' }, 'ResetCommand');
  }

  command(command: EvseCommand): void {
    this.#command(command);
  }

  #command(command: EvseCommand, trigger: string | null = null): void {
    // the transitions of a command within a delivery come after it
    this.#trigger = trigger;
    this.#device.command(command, central);
  }

  #hear(transition: EvseTransition): void {
    this.told.push(transition);
    if (transition.connectorId === 0) this.#hearStation(transition as EvseStationTransition);
    else this.#hearConnector(transition as EvseConnectorTransition);
  }

  #hearStation(transition: EvseStationTransition): void {
    const { event, externalLimit } = transition;
    if (event === 'external_limit') {
      if (externalLimit === null) this.sent.push('ClearedChargingLimit');
      else this.sent.push(`NotifyChargingLimit ${limitSource(transition)} ${Math.round(externalLimit.limitW)}`);
      return;
    }
    this.sent.push(`station ${event}`);
    // no resumption: what ran before a loss of power ends after it
    if (event === 'power_up')
      for (const connectorId of [...this.#running.keys()])
        this.#command({ kind: 'evse.stop', connectorId, reason: 'PowerLoss' }, 'AbnormalCondition');
  }

  #hearConnector(transition: EvseConnectorTransition): void {
    const { connectorId, event, idToken, connector } = transition;
    this.#notifyStatus(connectorId, connector);
    if (event === 'token') this.#present(connectorId, idToken ?? '');
    else if (event === 'reserve_end' && transition.cause !== 'central')
      this.sent.push(`ReservationStatusUpdate ${transition.cause === 'timeout' ? 'Expired' : 'Removed'}`);
    else this.#follow(transition);
  }

  #notifyStatus(connectorId: number, { status, occupancy }: EvseConnectorDetail): void {
    const words = `${status}/${occupancy}`;
    if (this.#statuses.get(connectorId) === words) return;
    this.#statuses.set(connectorId, words);
    this.sent.push(`Status ${connectorId} ${words}`);
  }

  #present(connectorId: number, idToken: string): void {
    const { verdict = () => 'accepted' } = this.#options;
    const said = verdict(idToken);
    this.sent.push(`Authorize ${idToken} ${said}`);
    if (said === 'later') this.#asked.set(connectorId, idToken);
    else this.#decided(connectorId, idToken, said === 'accepted');
  }

  #decided(connectorId: number, idToken: string, accepted: boolean): void {
    const running = this.#running.has(connectorId);
    if (accepted && running) this.#command({ kind: 'evse.stop', connectorId }, 'StopAuthorized');
    else if (accepted) this.#command({ kind: 'evse.authorize', connectorId, idToken }, 'Authorized');
  }

  #follow(transition: EvseConnectorTransition): void {
    const { connectorId, event, connector } = transition;
    const { startAt = ['Authorized'], stopAt = ['Authorized', 'EVConnected'] } = this.#options;
    const trigger = triggers[event];
    if (trigger === undefined) return;
    const transaction = this.#running.get(connectorId);
    const meets = (points: readonly TxPoint[]) => points.filter((point) => pointsOf[point](connector));
    if (transaction === undefined) {
      if (meets(startAt).length > 0) this.#start(transition, trigger, meets(stopAt));
      return;
    }
    const lost = [...transaction.held].some((point) => !pointsOf[point](connector));
    for (const point of meets(stopAt)) transaction.held.add(point);
    if (lost) this.#running.delete(connectorId);
    this.#send(lost ? 'Ended' : 'Updated', transition, trigger, transaction);
  }

  #start(transition: EvseConnectorTransition, trigger: string, held: readonly TxPoint[]): void {
    this.#count += 1;
    const transaction = { id: `T${this.#count}`, seqNo: 0, held: new Set(held) };
    this.#running.set(transition.connectorId, transaction);
    this.#send('Started', transition, trigger, transaction);
  }

  #send(type: string, transition: EvseConnectorTransition, trigger: string, transaction: Transaction): void {
    const { event, atS, session, connector, cause, powerW, idToken } = transition;
    const byCommand = cause === 'central' && (event === 'authorize' || event === 'stop') ? this.#trigger : null;
    const state = session?.chargingState ?? (connector.cable.evPlugged ? 'ev_connected' : 'idle');
    const words = [
      `${transaction.id}#${transaction.seqNo}`,
      type,
      byCommand ?? trigger,
      type === 'Ended' ? (session?.stopReason ?? (cause === 'timeout' ? 'Timeout' : 'Local')) : state,
      `${Math.round(atS * 1000) / 1000}s`,
      `${Math.round(connector.energyWh)}Wh`,
      `${Math.round(powerW)}W`,
      ...(type === 'Started' ? [idToken ?? '-'] : []),
      ...(session?.remoteStartId != null && transition.sessionChange === 'started'
        ? [`remote ${session.remoteStartId}`]
        : []),
      ...(session?.reservationId != null && transition.sessionChange === 'started'
        ? [`reservation ${session.reservationId}`]
        : []),
    ];
    transaction.seqNo += 1;
    this.sent.push(words.join(' '));
  }
}
