/** RequestStartTransaction, RequestStopTransaction (F01 to F03), UnlockConnector (F05) and TriggerMessage (F06). */
import { errorText } from '../../core/errors.ts';
import { beginStart, dropsWithdrawn, unlock, bestConnector } from '../remote-control.ts';
import type { After } from '../rpc/model.ts';
import type { Authorizations } from './authorization/authorization.ts';
import type { StatusInfo } from './messages.ts';
import type { Handler, Part, Replies, Requests, SmartCharging, StationParts, Transactions } from './parts.ts';
import { clauseOf } from './provisioning/registration.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { obstacle } from '../authorization.ts';
import { bearerOf, tokenFault } from './authorization/tokens.ts';
import type { Tokens } from './authorization/tokens.ts';
import type { Reservations } from './reservation.ts';

interface Refusal {
  /** of the standard */
  readonly reasonCode: string;
  readonly why: string;
}

interface PlaceDeps {
  readonly tokens: Pick<Tokens, 'groupOf'>;
  readonly authorization: Pick<Authorizations, 'checking'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'isFor'>;
}

interface PlaceParts {
  readonly parts: StationParts;
  readonly deps: PlaceDeps;
}

/** The reason code for a request that is invalid in every state of the station; null: valid. */
function requestFault({ device }: StationParts, { idToken, groupIdToken, evseId }: Start): string | null {
  const fault = tokenFault(idToken) ?? (groupIdToken === undefined ? null : tokenFault(groupIdToken));
  if (fault !== null) return fault;
  return evseId === undefined || device.connectorIds.includes(evseId) ? null : 'UnknownEvse';
}

/** True if an EVSE is reserved for another token; false if Authorize may show that the token is of its group. */
function isReservedForOther({ parts, deps }: PlaceParts, evseId: number, { idToken, groupIdToken }: Start): boolean {
  const group = groupIdToken ?? deps.tokens.groupOf(idToken);
  const willAuthorize = group === null && parts.variables.boolean('AuthCtrlr', 'AuthorizeRemoteStart');
  if (willAuthorize && deps.reservations.groupCounts(evseId)) return false;
  return deps.reservations.blocks(evseId, bearerOf(idToken, group));
}

function refusal(control: PlaceParts, connector: EvseConnectorDetail, start: Start): Refusal | null {
  const { connectorId: evseId, errorCode, operative } = connector;
  const why = obstacle(connector);
  if (why !== null) {
    const isOccupied = errorCode === 'NoError' && operative;
    return { reasonCode: isOccupied ? 'TxInProgress' : 'Unspecified', why: `EVSE ${evseId}: ${why}` };
  }
  if (control.deps.authorization.checking(evseId))
    return { reasonCode: 'TxInProgress', why: `EVSE ${evseId}: a token is being checked` };
  return isReservedForOther(control, evseId, start)
    ? { reasonCode: 'Unspecified', why: `EVSE ${evseId} is reserved for another token` }
    : null;
}

function choose(control: PlaceParts, start: Start): number | Refusal {
  const { parts, deps } = control;
  const bearer = bearerOf(start.idToken, start.groupIdToken ?? deps.tokens.groupOf(start.idToken));
  const best = bestConnector(
    parts.device.detail.connectors,
    (connector) => refusal(control, connector, start) === null,
    (evseId) => deps.reservations.isFor(evseId, bearer),
  );
  return best?.connectorId ?? { reasonCode: 'Unspecified', why: 'no EVSE is free for this token' };
}

/** The EVSE of a start, or its refusal. */
function placeFor(control: PlaceParts, start: Start): number | Refusal {
  const { evseId } = start;
  if (evseId === undefined) return choose(control, start);
  return refusal(control, control.parts.device.connector(evseId), start) ?? evseId;
}

// UnlockConnector. OCPP 2.0.1 F05.

type Reply = Replies['UnlockConnector'];

const replyOf = (status: Reply['status'], reasonCode: string): Reply => ({ status, statusInfo: { reasonCode } });

/** Unlocks the cable of a connector that no token uses. A fixed cable has no lock, and a failed lock stays locked. */
function unlockConnector({ device, log }: StationParts, { evseId, connectorId }: Requests['UnlockConnector']): Reply {
  const connector = device.detail.connectors.find((c) => c.connectorId === evseId);
  if (connector === undefined) return replyOf('UnknownConnector', 'UnknownEvse');
  if (connectorId !== 1) return replyOf('UnknownConnector', 'UnknownConnectorId');
  if (connector.authorised) return replyOf('OngoingAuthorizedTransaction', 'TxInProgress');
  if (device.ratings.find((r) => r.connectorId === evseId)?.attachedCable === true)
    return replyOf('UnlockFailed', 'FixedCable');
  if (connector.errorCode === 'ConnectorLockFailure') return { status: 'UnlockFailed' };
  if (!connector.cable.evsePlugged) return replyOf('Unlocked', 'NoCable');
  if (!connector.cable.locked) return { status: 'Unlocked' };
  return { status: unlock({ device, log }, evseId, `EVSE ${evseId}: the connector`) };
}

// TriggerMessage (F06): the answer first, the message after it.

type TriggeredMessage = Requests['TriggerMessage']['requestedMessage'];

/** Messages about one EVSE. */
const perEvse: ReadonlySet<TriggeredMessage> = new Set(['MeterValues', 'StatusNotification', 'TransactionEvent']);

const triggerRejected = (reasonCode: string): Replies['TriggerMessage'] => ({
  status: 'Rejected',
  statusInfo: { reasonCode },
});

/** True unless StatusNotification lacks EVSE or connector: only connectors have a status (F06.FR.12, F06.FR.13). */
const isComplete = ({ requestedMessage, evse }: Requests['TriggerMessage']): boolean =>
  requestedMessage !== 'StatusNotification' || (evse !== undefined && evse.id !== 0 && evse.connectorId !== undefined);

/**
 * @param sends by message; a message without an entry is not implemented
 * @param refuses messages that cannot be sent in the present state of the station
 */
export function createTrigger(
  { device, registration, version, finding }: Pick<StationParts, 'device' | 'registration' | 'version' | 'finding'>,
  sends: NonNullable<Part['triggers']>,
  refuses: (message: TriggeredMessage, evseId: number | undefined) => boolean = () => false,
): Part & { readonly handlers: { readonly TriggerMessage: Handler<'TriggerMessage'> } } {
  return {
    handlers: {
      TriggerMessage: (request, after) => {
        const { requestedMessage, evse } = request;
        const send = sends[requestedMessage];
        if (send === undefined) return { status: 'NotImplemented' };
        // F06.FR.17
        if (requestedMessage === 'BootNotification' && registration.status === 'accepted')
          return triggerRejected('NotEnabled');
        if (!isComplete(request)) {
          finding(
            clauseOf(version, 'F06.FR.13'),
            'StatusNotification is requested without a connector',
            'TriggerMessage',
            'request_rule',
          );
          return triggerRejected('MissingParam');
        }
        const evseId = perEvse.has(requestedMessage) && evse !== undefined && evse.id !== 0 ? evse.id : undefined;
        if (evseId !== undefined && !device.connectorIds.includes(evseId)) return triggerRejected('UnknownEvse');
        if (evseId !== undefined && evse?.connectorId !== undefined && evse.connectorId !== 1)
          return triggerRejected('UnknownConnectorId');
        if (refuses(requestedMessage, evseId)) return triggerRejected('NotEnabled');
        after(() => {
          send(evseId);
        });
        return { status: 'Accepted' };
      },
    },
  };
}

interface RemoteDeps extends PlaceDeps {
  readonly authorization: Pick<Authorizations, 'startRemote' | 'checking'>;
  readonly transactions: Pick<Transactions, 'at' | 'byId' | 'stop'>;
  readonly smartCharging: SmartCharging;
}

interface RemoteControl {
  readonly parts: StationParts;
  readonly deps: RemoteDeps;
}

type Start = Requests['RequestStartTransaction'];
type StartReply = Replies['RequestStartTransaction'];

interface Rejection {
  readonly status: 'Rejected';
  readonly statusInfo: StatusInfo;
}

function rejected(reasonCode: string, why?: string): Rejection {
  const more = why === undefined ? {} : { additionalInfo: why.slice(0, 512) };
  return { status: 'Rejected', statusInfo: { reasonCode, ...more } };
}

/**
 * Installs the profile of a start, which must be a TxProfile without a transaction (F01.FR.08 to FR.11).
 * @returns the rejection of the start; null: installed, or no profile
 */
function installProfile(
  { parts, deps }: RemoteControl,
  evseId: number,
  profile: Start['chargingProfile'],
): StartReply | null {
  if (profile === undefined) return null;
  const { chargingProfilePurpose: purpose, transactionId } = profile;
  if (purpose !== 'TxProfile' || transactionId !== undefined) {
    const why =
      purpose === 'TxProfile' ? 'the profile names a transaction' : `the purpose of the profile is ${purpose}`;
    parts.finding(
      clauseOf(parts.version, 'F01'),
      `no such profile can come with a start: ${why}`,
      'RequestStartTransaction',
      'profile_rule',
    );
    return rejected('InvalidProfile', why);
  }
  const reasonCode = deps.smartCharging.install(evseId, profile);
  return reasonCode === null ? null : rejected(reasonCode);
}

function begin({ parts, deps }: RemoteControl, evseId: number, start: Start): Promise<void> {
  const { idToken, groupIdToken = null, remoteStartId } = start;
  const ask = parts.variables.boolean('AuthCtrlr', 'AuthorizeRemoteStart');
  return beginStart(
    parts,
    `EVSE ${evseId}`,
    () => deps.authorization.startRemote(evseId, { idToken, groupIdToken, remoteStartId, ask }),
    () => {
      deps.smartCharging.forget(evseId, start.chargingProfile?.id);
    },
  );
}

function requestStart(control: RemoteControl, request: Start, after: After): StartReply {
  const { parts, deps } = control;
  if (!parts.registration.isReady) return rejected('CSNotAccepted');
  const fault = requestFault(parts, request);
  if (fault !== null) return rejected(fault);
  const place = placeFor(control, request);
  if (typeof place !== 'number') return rejected(place.reasonCode, place.why);
  const rejection = installProfile(control, place, request.chargingProfile);
  if (rejection !== null) return rejection;
  after(() => {
    void begin(control, place, request);
  });
  const running = deps.transactions.at(place);
  if (running === null) return { status: 'Accepted' };
  // a transaction that began with the cable continues with this token (F01.FR.13)
  return { status: 'Accepted', transactionId: running.transactionId, statusInfo: { reasonCode: 'TxStarted' } };
}

function requestStop(
  { parts, deps }: RemoteControl,
  { transactionId }: Requests['RequestStopTransaction'],
  after: After,
): Replies['RequestStopTransaction'] {
  const { log, device, registration } = parts;
  if (!registration.isReady) return rejected('CSNotAccepted');
  const running = deps.transactions.byId(transactionId);
  if (running === null) return rejected('TxNotFound');
  after(() => {
    // the transaction may have ended meanwhile
    if (deps.transactions.byId(transactionId) === null) return;
    try {
      deps.transactions.stop(running.evseId, { reason: 'Remote', trigger: 'RemoteStop' });
    } catch (error) {
      log.warning(`a transaction could not be stopped: ${errorText(error)}`, device.deviceIndex);
    }
  });
  return { status: 'Accepted' };
}

export function createRemote(parts: StationParts, deps: RemoteDeps): Part {
  const control: RemoteControl = { parts, deps };
  return {
    handlers: {
      RequestStartTransaction: (request, after) => requestStart(control, request, after),
      RequestStopTransaction: (request, after) => requestStop(control, request, after),
      UnlockConnector: (request) => unlockConnector(parts, request),
    },
    ...dropsWithdrawn(parts.device, (connectorId) => {
      deps.smartCharging.forget(connectorId);
    }),
  };
}
