/** The certificate of the station for vehicles, with the certificates above it, as OCPP names them (M03, M04). */
import type { X509Certificate } from 'node:crypto';
import { certificatesOf } from '../../../core/tls/material.ts';
import type { OwnCertificate } from '../../pki/certificates.ts';
import { isIssuedBy, isSelfIssued } from '../../pki/chain.ts';
import { hashDataOf } from '../../pki/hash-data.ts';
import type { CertificateHashData, HashAlgorithm } from '../../pki/hash-data.ts';

export interface V2gChain {
  readonly leaf: CertificateHashData;
  /** above the leaf, in this order; at most 4, as the message has room for */
  readonly children: readonly CertificateHashData[];
}

const maxChildren = 4;

/** @param roots of ISO 15118: the last certificate of the chain is of one of them */
export function v2gChainOf(
  { pem, certificate }: OwnCertificate,
  roots: readonly X509Certificate[],
  algorithm?: HashAlgorithm,
): V2gChain {
  const chain = (certificatesOf(pem) ?? []).filter((each, at) => at === 0 || !isSelfIssued(each));
  const hashData = (each: X509Certificate, at: number) => {
    const issuer = chain[at + 1] ?? roots.find((root) => isIssuedBy(each, root)) ?? each;
    return hashDataOf(each, issuer, algorithm);
  };
  const [leaf = hashDataOf(certificate, certificate, algorithm), ...children] = chain.map(hashData);
  return { leaf, children: children.slice(0, maxChildren) };
}
