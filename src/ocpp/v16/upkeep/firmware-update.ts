/** A firmware update as the central system has asked for it, and as it is kept over a restart of the process. */
import type { JsonValue } from '../../../core/store.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { payloadChecks } from '../../rpc/schemas/checks.ts';
import type { Requests } from '../parts.ts';
import { firmwareSignature } from './signature.ts';
import type { FirmwareSignature } from './signature.ts';

export type UpdateRequest =
  | { readonly action: 'UpdateFirmware'; readonly request: Requests['UpdateFirmware'] }
  | { readonly action: 'SignedUpdateFirmware'; readonly request: Requests['SignedUpdateFirmware'] };

export interface Update {
  readonly asked: UpdateRequest;
  readonly location: string;
  readonly retries: number | undefined;
  readonly retryIntervalS: number | undefined;
  /** NaN: at once */
  readonly retrieveMs: number;
  /** NaN: at once */
  readonly installMs: number;
  /** null: not signed */
  readonly requestId: number | null;
  readonly signature: FirmwareSignature | null;
}

/** @returns null: the signing certificate cannot be read */
export function updateOf(asked: UpdateRequest): Update | null {
  const { retries, retryInterval: retryIntervalS } = asked.request;
  const common = { asked, retries, retryIntervalS };
  if (asked.action === 'UpdateFirmware') {
    const { location, retrieveDate } = asked.request;
    const retrieveMs = Date.parse(retrieveDate);
    return { ...common, location, retrieveMs, installMs: NaN, requestId: null, signature: null };
  }
  const { requestId, firmware } = asked.request;
  const { location, retrieveDateTime, installDateTime = '', signingCertificate, signature } = firmware;
  const [signer] = certificatesOf(signingCertificate) ?? [];
  if (signer === undefined) return null;
  return {
    ...common,
    location,
    retrieveMs: Date.parse(retrieveDateTime),
    installMs: Date.parse(installDateTime),
    requestId,
    signature: firmwareSignature(signer, signature),
  };
}

/** An update of an earlier process; null: there is none, or it does not fit its schema. */
export function keptUpdate(value: JsonValue | undefined): Update | null {
  if (typeof value !== 'object' || value === null || !('action' in value)) return null;
  const { action, request } = value;
  if (action !== 'UpdateFirmware' && action !== 'SignedUpdateFirmware') return null;
  if (payloadChecks.check('ocpp1.6', action, 'request', request) !== null) return null;
  return updateOf({ action, request } as unknown as UpdateRequest);
}
