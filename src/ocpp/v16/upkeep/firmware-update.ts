/** A firmware update as the central system has asked for it, and as it is kept over a restart of the process. */
import type { JsonValue } from '../../../core/store.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { payloadChecks } from '../../rpc/schemas/checks.ts';
import type { FirmwareOrder } from '../../upkeep/firmware-updater.ts';
import { firmwareSignature } from '../../upkeep/signature.ts';
import type { Requests } from '../parts.ts';

export type UpdateRequest =
  | { readonly action: 'UpdateFirmware'; readonly request: Requests['UpdateFirmware'] }
  | { readonly action: 'SignedUpdateFirmware'; readonly request: Requests['SignedUpdateFirmware'] };

/** @returns null: the signing certificate cannot be read */
export function orderOf(update: UpdateRequest): FirmwareOrder | null {
  const { retries, retryInterval: retryIntervalS } = update.request;
  const common = { asked: update as unknown as JsonValue, retries, retryIntervalS };
  if (update.action === 'UpdateFirmware') {
    const { location, retrieveDate } = update.request;
    const retrieveMs = Date.parse(retrieveDate);
    return { ...common, location, retrieveMs, installMs: NaN, requestId: null, signature: null };
  }
  const { requestId, firmware } = update.request;
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
export function keptOrder(value: JsonValue | undefined): FirmwareOrder | null {
  if (typeof value !== 'object' || value === null || !('action' in value)) return null;
  const { action, request } = value;
  if (action !== 'UpdateFirmware' && action !== 'SignedUpdateFirmware') return null;
  if (payloadChecks.check('ocpp1.6', action, 'request', request) !== null) return null;
  return orderOf({ action, request } as unknown as UpdateRequest);
}
