/** The readers of a station: tokens that persons present, one at a time at each connector, and `AUTO` of vehicles. */
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { StackOptions } from '../station/stack.ts';

interface OfflineRules {
  /** LocalAuthorizeOffline */
  readonly known: boolean;
  /** 1.6: AllowOfflineTxForUnknownId; 2.x: OfflineTxForUnknownIdEnabled */
  readonly unknown: boolean;
}

/**
 * Status of a token without an answer: a known one counts as it is known, an accepted one only where the rules permit; a
 * token that neither list nor cache holds is refused unless the rules permit unknown ones.
 * @param knownStatus of local list or cache; null: neither holds it
 * @param refused status where the rules decide against the token
 */
export function offlineStatus<Status extends string>(
  knownStatus: Status | 'Accepted' | null,
  rules: OfflineRules,
  refused: Status,
): Status | 'Accepted' {
  if (knownStatus === null) return rules.unknown ? 'Accepted' : refused;
  if (knownStatus !== 'Accepted') return knownStatus;
  return rules.known ? 'Accepted' : refused;
}

/** token of a vehicle that is plugged in where plugging in presents one, as the device tells it */
export const autoToken = 'AUTO';

export function conflict(connectorId: number, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${connectorId}: ${why}`);
}

/** Reason why no token can authorise a connector by itself; null: one can. */
export function obstacle({ errorCode, operative, phase }: EvseConnectorDetail): string | null {
  if (errorCode !== 'NoError') return `${errorCode} must be cleared first`;
  if (!operative) return 'it is out of operation';
  return phase === 'free' || phase === 'connected' || phase === 'finishing' ? null : 'it is in use by another token';
}

/** @throws SimError COMMAND_CONFLICT */
export function checkFree(connector: EvseConnectorDetail): void {
  const why = obstacle(connector);
  if (why !== null) throw conflict(connector.connectorId, why);
}

/** One token at a time: the answer for one decides what the next one means. */
export interface Turns {
  /** a token is being checked at the connector */
  busy(connectorId: number): boolean;
  /** @throws SimError COMMAND_CONFLICT while another token is being checked; what `act` throws */
  alone<T>(connectorId: number, act: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const checking = new Set<number>();
  return {
    busy: (connectorId) => checking.has(connectorId),
    async alone(connectorId, act) {
      if (checking.has(connectorId)) throw conflict(connectorId, 'another token is being checked');
      checking.add(connectorId);
      try {
        return await act();
      } finally {
        checking.delete(connectorId);
      }
    },
  };
}

interface ReaderDeps extends Pick<StackOptions, 'device' | 'log'> {
  readonly registration: { onAccepted(listener: () => void): () => void };
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** connectors whose `AUTO` the central system has not answered; the reader adds those it finds and empties it */
  readonly unanswered: Set<number>;
  readonly present: (connectorId: number, idToken: string) => Promise<{ readonly status: string }>;
}

/**
 * Presents the tokens that the device tells of. `AUTO` of a vehicle that came while nothing could be asked, or before the
 * station was heard, is presented again once the central system has accepted the station.
 * @returns ends it
 */
export function followReader({
  device,
  log,
  registration,
  autoAuthorize,
  unanswered,
  present,
}: ReaderDeps): () => void {
  // the person at the station sees no more than that nothing happens, so a refusal is logged
  const show = async (connectorId: number, idToken: string): Promise<void> => {
    try {
      const { status } = await present(connectorId, idToken);
      if (status !== 'Accepted')
        log.info(`connector ${connectorId}: a token is refused: ${status}`, device.deviceIndex);
    } catch (error) {
      log.info(`a token is refused: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const isWaiting = (connectorId: number) => device.connector(connectorId).phase === 'connected';
  if (autoAuthorize) for (const id of device.connectorIds.filter(isWaiting)) unanswered.add(id);
  const ends = [
    device.onTransition((transition) => {
      if (!('connector' in transition) || transition.event !== 'token') return;
      void show(transition.connectorId, transition.idToken ?? '');
    }),
    registration.onAccepted(() => {
      const waiting = [...unanswered].filter(isWaiting);
      unanswered.clear();
      for (const connectorId of waiting) void show(connectorId, autoToken);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
