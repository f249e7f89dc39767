/** UpdateFirmware: what is wrong with a request, and the order that a good one gives (L01, L02). */
import type { X509Certificate } from 'node:crypto';
import type { JsonValue } from '../../../core/store.ts';
import { certificatesOf } from '../../../core/tls/material.ts';
import { anchorIssue } from '../../pki/chain.ts';
import { payloadChecks } from '../../rpc/schemas/checks.ts';
import { instantOf } from '../../station/instants.ts';
import type { FirmwareOrder } from '../../upkeep/firmware-updater.ts';
import { firmwareSignature } from '../../upkeep/signature.ts';
import type { FirmwareSignature } from '../../upkeep/signature.ts';
import type { Replies, Requests, Version2 } from '../parts.ts';

type Request = Requests['UpdateFirmware'];

/** A request that is not carried out. */
export interface Refusal {
  readonly status: Exclude<Replies['UpdateFirmware']['status'], 'Accepted' | 'AcceptedCanceled'>;
  readonly reasonCode: string;
  readonly additionalInfo: string;
}

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  reasonCode,
  additionalInfo,
});

/**
 * What is wrong with a request by itself; null: nothing. No list of revoked certificates reaches the station, so that it
 * never answers RevokedCertificate.
 * @param roots of the manufacturer
 */
export function refusalOf({ firmware }: Request, roots: readonly X509Certificate[], nowMs: number): Refusal | null {
  const { location, signingCertificate, signature } = firmware;
  if (signingCertificate === undefined && signature !== undefined)
    return rejected('MissingParam', 'a signature needs a signingCertificate');
  if (signingCertificate !== undefined) {
    const chain = certificatesOf(signingCertificate);
    const issue = chain === null ? 'it is not in PEM form' : anchorIssue(chain, roots, nowMs);
    if (issue !== null)
      return { status: 'InvalidCertificate', reasonCode: 'InvalidCertificate', additionalInfo: issue };
    if (signature === undefined) return rejected('MissingParam', 'a signingCertificate needs a signature');
  }
  return URL.canParse(location) ? null : rejected('InvalidURL', 'the location is no URL');
}

function signatureOf({ signingCertificate, signature }: Request['firmware']): FirmwareSignature | null {
  const [signer] = certificatesOf(signingCertificate ?? '') ?? [];
  return signer === undefined || signature === undefined ? null : firmwareSignature(signer, signature);
}

/** @param request one that `refusalOf` finds nothing wrong with */
export function orderOf(request: Request): FirmwareOrder {
  const { requestId, retries, retryInterval: retryIntervalS, firmware } = request;
  const { location, retrieveDateTime, installDateTime = '' } = firmware;
  return {
    asked: request as unknown as JsonValue,
    location,
    retries,
    retryIntervalS,
    retrieveMs: instantOf(retrieveDateTime),
    installMs: instantOf(installDateTime),
    requestId,
    signature: signatureOf(firmware),
  };
}

/** An update of an earlier process; null: there is none, or it does not fit its schema. */
export function keptOrder(version: Version2, value: JsonValue | undefined): FirmwareOrder | null {
  if (value === undefined || payloadChecks.check(version, 'UpdateFirmware', 'request', value) !== null) return null;
  return orderOf(value as unknown as Request);
}
