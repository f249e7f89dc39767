/** RequestStartTransaction, RequestStopTransaction and UnlockConnector. OCPP 2.0.1 F01 to F03 and F05. */
import { followWithdrawals } from '../../charging/withdrawals.ts';
import { errorText } from '../../../core/errors.ts';
import type { After } from '../../rpc/model.ts';
import type { Authorizations } from '../auth/authorization.ts';
import type { StatusInfo } from '../messages.ts';
import type { Part, Replies, Requests, SmartCharging, StationParts, Transactions } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import { placeFor, requestFault } from './places.ts';
import type { PlaceDeps } from './places.ts';
import { unlockConnector } from './unlock.ts';

export interface RemoteDeps extends PlaceDeps {
  readonly authorization: Pick<Authorizations, 'startRemote' | 'checking'>;
  readonly transactions: Pick<Transactions, 'at' | 'byId' | 'stop'>;
  readonly smartCharging: SmartCharging;
}

interface Work {
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

/** Only a TxProfile without a transaction can come with a start (F01.FR.08 to FR.11). */
function profileFault({ parts, deps }: Work, evseId: number, profile: Start['chargingProfile']): StartReply | null {
  if (profile === undefined) return null;
  const { chargingProfilePurpose: purpose, transactionId } = profile;
  if (purpose !== 'TxProfile' || transactionId !== undefined) {
    const why =
      purpose === 'TxProfile' ? 'the profile names a transaction' : `the purpose of the profile is ${purpose}`;
    parts.finding(
      clauseOf(parts.version, 'F01'),
      `no such profile can come with a start: ${why}`,
      'RequestStartTransaction',
    );
    return rejected('InvalidProfile', why);
  }
  const reasonCode = deps.smartCharging.install(evseId, profile);
  return reasonCode === null ? null : rejected(reasonCode);
}

async function begin({ parts, deps }: Work, evseId: number, start: Start): Promise<void> {
  const { variables, log, device } = parts;
  const forget = (why: string) => {
    log.warning(`EVSE ${evseId}: the remote start does not happen: ${why}`, device.deviceIndex);
    deps.smartCharging.forget(evseId, start.chargingProfile?.id);
  };
  const { idToken, groupIdToken = null, remoteStartId } = start;
  const ask = variables.boolean('AuthCtrlr', 'AuthorizeRemoteStart');
  try {
    const { status } = await deps.authorization.startRemote(evseId, { idToken, groupIdToken, remoteStartId, ask });
    if (status !== 'Accepted') forget(`the token is ${status}`);
  } catch (error) {
    forget(errorText(error));
  }
}

function requestStart(work: Work, request: Start, after: After): StartReply {
  const { parts, deps } = work;
  if (!parts.registration.accepted) return rejected('CSNotAccepted');
  const fault = requestFault(parts, request);
  if (fault !== null) return rejected(fault);
  const place = placeFor(work, request);
  if (typeof place !== 'number') return rejected(place.reasonCode, place.why);
  const ofProfile = profileFault(work, place, request.chargingProfile);
  if (ofProfile !== null) return ofProfile;
  after(() => {
    void begin(work, place, request);
  });
  const running = deps.transactions.at(place);
  if (running === null) return { status: 'Accepted' };
  // one that began with the cable goes on with this token (F01.FR.13)
  return { status: 'Accepted', transactionId: running.transactionId, statusInfo: { reasonCode: 'TxStarted' } };
}

function requestStop(
  { parts, deps }: Work,
  { transactionId }: Requests['RequestStopTransaction'],
  after: After,
): Replies['RequestStopTransaction'] {
  const { log, device, registration } = parts;
  if (!registration.accepted) return rejected('CSNotAccepted');
  const running = deps.transactions.byId(transactionId);
  if (running === null) return rejected('TxNotFound');
  after(() => {
    // it may have ended by itself since
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
  const work: Work = { parts, deps };
  let endListening: (() => void) | null = null;
  return {
    handlers: {
      RequestStartTransaction: (request, after) => requestStart(work, request, after),
      RequestStopTransaction: (request, after) => requestStop(work, request, after),
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
