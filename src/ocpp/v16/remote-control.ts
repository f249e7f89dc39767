/** RemoteStartTransaction, RemoteStopTransaction and UnlockConnector. OCPP 1.6 4.2, 5.11, 5.12 and 5.18. */
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { errorText } from '../../core/errors.ts';
import { beginStart, bestConnector, dropsWithdrawn, unlock } from '../remote-control.ts';
import type { After } from '../rpc/model.ts';
import type { StationPort } from '../station/port.ts';
import type { Authorizations } from './authorization/authorization.ts';
import type { Tokens } from './authorization/tokens.ts';
import type { Handler, Part, Replies, Requests, SmartCharging, StationParts } from './parts.ts';
import type { Reservations } from './reservation.ts';
import type { TransactionBook } from './transactions/transactions.ts';

// UnlockConnector. OCPP 1.6 5.18.

/**
 * Unlocks a connector; a running transaction ends first, with the reason UnlockCommand. A fixed cable has no lock, and
 * a failed lock is not moved.
 */
function unlockConnector(
  { device, log }: StationParts,
  { connectorId }: Requests['UnlockConnector'],
): Replies['UnlockConnector'] {
  const connector = device.detail.connectors.find((c) => c.connectorId === connectorId);
  const rating = device.ratings.find((r) => r.connectorId === connectorId);
  if (connector === undefined || rating?.attachedCable === true) return { status: 'NotSupported' };
  if (connector.errorCode === 'ConnectorLockFailure') return { status: 'UnlockFailed' };
  const running = connector.session !== null && connector.session.endedAtS === null;
  if (!connector.cable.locked && !running) return { status: 'Unlocked' };
  return { status: unlock({ device, log }, connectorId, `connector ${connectorId}`) };
}

// TriggerMessage (5.17) and ExtendedTriggerMessage (white paper 5.4): the message follows the answer.

export type TriggeredMessage =
  | Requests['TriggerMessage']['requestedMessage']
  | Requests['ExtendedTriggerMessage']['requestedMessage'];

/**
 * Functions that send a message, by message; a missing message is not implemented. The connector is absent if the
 * request names none; `extended`: the request is an ExtendedTriggerMessage.
 */
export type Triggers = Readonly<
  Partial<Record<TriggeredMessage, (connectorId: number | undefined, extended: boolean) => void>>
>;

/** Messages of one connector; the others are of the station and ignore the connector of the request. */
const perConnector: readonly TriggeredMessage[] = ['MeterValues', 'StatusNotification'];

/** @param refuses messages that cannot be sent in the present state of the station */
export function createTrigger(
  device: Pick<StationPort, 'connectorIds'>,
  triggers: Triggers,
  refuses: (message: TriggeredMessage) => boolean = () => false,
): Part & {
  readonly handlers: {
    readonly TriggerMessage: Handler<'TriggerMessage'>;
    readonly ExtendedTriggerMessage: Handler<'ExtendedTriggerMessage'>;
  };
} {
  const answer = (
    extended: boolean,
    { requestedMessage, connectorId }: { readonly requestedMessage: TriggeredMessage; readonly connectorId?: number },
    after: After,
  ) => {
    const send = triggers[requestedMessage];
    if (send === undefined) return { status: 'NotImplemented' } as const;
    if (refuses(requestedMessage)) return { status: 'Rejected' } as const;
    const isOfConnector = perConnector.includes(requestedMessage) && connectorId !== undefined;
    if (isOfConnector && connectorId !== 0 && !device.connectorIds.includes(connectorId))
      return { status: 'Rejected' } as const;
    after(() => {
      send(isOfConnector ? connectorId : undefined, extended);
    });
    return { status: 'Accepted' } as const;
  };
  return {
    handlers: {
      TriggerMessage: (request, after) => answer(false, request, after),
      ExtendedTriggerMessage: (request, after) => answer(true, request, after),
    },
  };
}

interface RemoteDeps {
  readonly tokens: Pick<Tokens, 'parentOf'>;
  readonly authorization: Pick<Authorizations, 'start' | 'checking'>;
  readonly transactions: Pick<TransactionBook, 'byId' | 'stop'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'isFor'>;
  readonly smartCharging: SmartCharging;
}

interface RemoteControl {
  readonly parts: StationParts;
  readonly deps: RemoteDeps;
}

type Start = Requests['RemoteStartTransaction'];

/** True if the token may use a connector; a token to be authorised may belong to the group that reserved it. */
function isFree({ parts, deps }: RemoteControl, connectorId: number, idTag: string): boolean {
  const parent = deps.tokens.parentOf(idTag);
  const willAuthorize = parent === null && parts.keys.boolean('AuthorizeRemoteTxRequests');
  if (willAuthorize && deps.reservations.groupCounts(connectorId)) return true;
  return !deps.reservations.blocks(connectorId, idTag, parent);
}

function canStart(control: RemoteControl, connector: EvseConnectorDetail, idTag: string): boolean {
  const { connectorId, errorCode, operative, phase } = connector;
  return (
    errorCode === 'NoError' &&
    operative &&
    (phase === 'free' || phase === 'connected' || phase === 'finishing') &&
    !control.deps.authorization.checking(connectorId) &&
    isFree(control, connectorId, idTag)
  );
}

function choose(control: RemoteControl, idTag: string): EvseConnectorDetail | undefined {
  const { parts, deps } = control;
  const parent = deps.tokens.parentOf(idTag);
  return bestConnector(
    parts.device.detail.connectors,
    (connector) => canStart(control, connector, idTag),
    (connectorId) => deps.reservations.isFor(connectorId, idTag, parent),
  );
}

/**
 * Installs the profile of a start, which must be a TxProfile without a transaction (3.13.4 and 5.11).
 * @returns false: refused
 */
function installProfile(
  { parts, deps }: RemoteControl,
  connectorId: number,
  profile: Start['chargingProfile'],
): boolean {
  if (profile === undefined) return true;
  const { chargingProfilePurpose: purpose, transactionId } = profile;
  if (purpose !== 'TxProfile' || transactionId !== undefined) {
    const why = purpose === 'TxProfile' ? 'it names a transaction' : `its purpose is ${purpose}`;
    const text = `no such profile can come with a start: ${why}`;
    parts.finding('OCPP 1.6 5.11', text, 'RemoteStartTransaction', 'profile_rule');
    return false;
  }
  return deps.smartCharging.install(connectorId, profile);
}

function remoteStart(control: RemoteControl, request: Start, after: After): Replies['RemoteStartTransaction'] {
  const { idTag, connectorId } = request;
  const { device, keys, registration } = control.parts;
  if (!registration.isReady) return { status: 'Rejected' };
  const connector =
    connectorId === undefined
      ? choose(control, idTag)
      : device.detail.connectors.find((c) => c.connectorId === connectorId && canStart(control, c, idTag));
  if (connector === undefined || !installProfile(control, connector.connectorId, request.chargingProfile))
    return { status: 'Rejected' };
  after(() => {
    void beginStart(
      control.parts,
      `connector ${connector.connectorId}`,
      () => control.deps.authorization.start(connector.connectorId, idTag, keys.boolean('AuthorizeRemoteTxRequests')),
      () => {
        control.deps.smartCharging.forget(connector.connectorId);
      },
    );
  });
  return { status: 'Accepted' };
}

function remoteStop(
  { parts, deps }: RemoteControl,
  { transactionId }: Requests['RemoteStopTransaction'],
  after: After,
): Replies['RemoteStopTransaction'] {
  const { log, device, registration } = parts;
  const running = registration.isReady ? deps.transactions.byId(transactionId) : null;
  if (running === null) return { status: 'Rejected' };
  after(() => {
    // the transaction may have ended since the answer
    if (deps.transactions.byId(transactionId) === null) return;
    try {
      deps.transactions.stop(running.connectorId, 'Remote');
    } catch (error) {
      log.warning(`transaction ${transactionId} could not be stopped: ${errorText(error)}`, device.deviceIndex);
    }
  });
  return { status: 'Accepted' };
}

export function createRemote(parts: StationParts, deps: RemoteDeps): Part {
  const control: RemoteControl = { parts, deps };
  return {
    handlers: {
      RemoteStartTransaction: (request, after) => remoteStart(control, request, after),
      RemoteStopTransaction: (request, after) => remoteStop(control, request, after),
      UnlockConnector: (request) => unlockConnector(parts, request),
    },
    ...dropsWithdrawn(parts.device, (connectorId) => {
      deps.smartCharging.forget(connectorId);
    }),
  };
}
