/** RemoteStartTransaction, RemoteStopTransaction and UnlockConnector. OCPP 1.6 4.2, 5.11, 5.12 and 5.18. */
import { followWithdrawals } from '../charging/withdrawals.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import { errorText } from '../../core/errors.ts';
import type { After } from '../rpc/model.ts';
import type { Authorizations } from './auth/authorization.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Part, Replies, Requests, SmartCharging, StationParts } from './parts.ts';
import type { Reservations } from './reservations.ts';
import type { TransactionBook } from './transactions/transactions.ts';
import { unlockConnector } from './unlock.ts';

export interface RemoteDeps {
  readonly tokens: Pick<Tokens, 'parentOf'>;
  readonly authorization: Pick<Authorizations, 'start' | 'checking'>;
  readonly transactions: Pick<TransactionBook, 'byId' | 'stop'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'isFor'>;
  readonly smartCharging: SmartCharging;
}

interface Work {
  readonly parts: StationParts;
  readonly deps: RemoteDeps;
}

type Start = Requests['RemoteStartTransaction'];

/** Whether the token may use a connector; one that is asked about first may turn out to be of the group that reserved it. */
function isFree({ parts, deps }: Work, connectorId: number, idTag: string): boolean {
  const parent = deps.tokens.parentOf(idTag);
  const asks = parent === null && parts.keys.boolean('AuthorizeRemoteTxRequests');
  if (asks && deps.reservations.groupCounts(connectorId)) return true;
  return !deps.reservations.blocks(connectorId, idTag, parent);
}

function canStart(work: Work, connector: EvseConnectorDetail, idTag: string): boolean {
  const { connectorId, errorCode, operative, phase } = connector;
  return (
    errorCode === 'NoError' &&
    operative &&
    (phase === 'free' || phase === 'connected' || phase === 'finishing') &&
    !work.deps.authorization.checking(connectorId) &&
    isFree(work, connectorId, idTag)
  );
}

/** Of the connectors where a start is possible: one reserved for the token, one with a vehicle, the first free one. */
function choose(work: Work, idTag: string): EvseConnectorDetail | undefined {
  const { parts, deps } = work;
  // a vehicle that has charged already waits to leave; one whose token did not come in time waits for a start
  const able = parts.device.detail.connectors.filter(
    (c) => (c.phase !== 'finishing' || c.session === null) && canStart(work, c, idTag),
  );
  const parent = deps.tokens.parentOf(idTag);
  return (
    able.find(({ connectorId }) => deps.reservations.isFor(connectorId, idTag, parent)) ??
    able.find(({ phase }) => phase === 'connected' || phase === 'finishing') ??
    able[0]
  );
}

/** Only a TxProfile without a transaction can come with a start (3.13.4 and 5.11). */
function takesProfile({ parts, deps }: Work, connectorId: number, profile: Start['chargingProfile']): boolean {
  if (profile === undefined) return true;
  const { chargingProfilePurpose: purpose, transactionId } = profile;
  if (purpose !== 'TxProfile' || transactionId !== undefined) {
    const why = purpose === 'TxProfile' ? 'it names a transaction' : `its purpose is ${purpose}`;
    parts.finding('OCPP 1.6 5.11', `no such profile can come with a start: ${why}`, 'RemoteStartTransaction');
    return false;
  }
  return deps.smartCharging.install(connectorId, profile);
}

async function begin({ parts, deps }: Work, connectorId: number, idTag: string): Promise<void> {
  const { keys, log, device } = parts;
  const forget = (why: string) => {
    log.warning(`connector ${connectorId}: the remote start does not happen: ${why}`, device.deviceIndex);
    deps.smartCharging.forget(connectorId);
  };
  try {
    const { status } = await deps.authorization.start(connectorId, idTag, keys.boolean('AuthorizeRemoteTxRequests'));
    if (status !== 'Accepted') forget(`the token is ${status}`);
  } catch (error) {
    forget(errorText(error));
  }
}

function remoteStart(work: Work, request: Start, after: After): Replies['RemoteStartTransaction'] {
  const { idTag, connectorId } = request;
  const { device, registration } = work.parts;
  if (!registration.accepted) return { status: 'Rejected' };
  const connector =
    connectorId === undefined
      ? choose(work, idTag)
      : device.detail.connectors.find((c) => c.connectorId === connectorId && canStart(work, c, idTag));
  if (connector === undefined || !takesProfile(work, connector.connectorId, request.chargingProfile))
    return { status: 'Rejected' };
  after(() => {
    void begin(work, connector.connectorId, idTag);
  });
  return { status: 'Accepted' };
}

function remoteStop(
  { parts, deps }: Work,
  { transactionId }: Requests['RemoteStopTransaction'],
  after: After,
): Replies['RemoteStopTransaction'] {
  const { log, device, registration } = parts;
  const running = registration.accepted ? deps.transactions.byId(transactionId) : null;
  if (running === null) return { status: 'Rejected' };
  after(() => {
    // it may have ended by itself since
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
  const work: Work = { parts, deps };
  let endListening: (() => void) | null = null;
  return {
    handlers: {
      RemoteStartTransaction: (request, after) => remoteStart(work, request, after),
      RemoteStopTransaction: (request, after) => remoteStop(work, request, after),
      UnlockConnector: (request) => unlockConnector(parts, request),
    },
    load() {
      endListening = followWithdrawals(parts.device, (connectorId) => {
        deps.smartCharging.forget(connectorId);
      });
      return Promise.resolve();
    },
    stop() {
      endListening?.();
    },
  };
}
