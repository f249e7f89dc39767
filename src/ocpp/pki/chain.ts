/** Checks of certificates and chains with the words of OpenSSL, without its system store. */
import type { KeyObject, X509Certificate } from 'node:crypto';

/** RSA of fewer bits is refused (white paper 1.6, A00.FR.506: 2048; 112 bits of security). */
const minRsaBits = 2048;
const minEcBits = 224;
const maxChain = 10;

const curveBits: Readonly<Record<string, number>> = {
  secp224r1: 224,
  prime256v1: 256,
  secp256k1: 256,
  secp384r1: 384,
  secp521r1: 521,
};

function keyIssue({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string | null {
  if (type === 'rsa' || type === 'rsa-pss')
    return (details?.modulusLength ?? 0) >= minRsaBits ? null : 'its RSA key is too short';
  if (type === 'ec')
    return (curveBits[details?.namedCurve ?? ''] ?? 0) >= minEcBits ? null : 'its curve is not supported';
  return 'its key is neither RSA nor EC';
}

/** Why a certificate cannot be used now; null: it can. @param atMs ms since the epoch */
export function validityIssue(certificate: X509Certificate, atMs: number): string | null {
  if (!(Date.parse(certificate.validTo) >= atMs)) return 'it has expired';
  if (!(Date.parse(certificate.validFrom) <= atMs)) return 'it is not valid yet';
  return keyIssue(certificate.publicKey);
}

/** Whether the name, the rights and the signature say so. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

export const isSelfIssued = (certificate: X509Certificate): boolean => certificate.subject === certificate.issuer;

/** Why a chain, the leaf first, does not hold together now; null: it does. */
export function chainIssue(chain: readonly X509Certificate[], atMs: number): string | null {
  if (chain.length === 0 || chain.length > maxChain) return 'there is no chain of a usable length';
  for (const [at, certificate] of chain.entries()) {
    const issue = validityIssue(certificate, atMs);
    if (issue !== null) return at === 0 ? issue : `of a certificate above: ${issue}`;
    const issuer = chain[at + 1];
    if (issuer !== undefined && !isIssuedBy(certificate, issuer)) return 'a certificate is not issued by the next one';
  }
  return null;
}

/** Why a chain, the leaf first, does not lead to one of the roots; null: it does. */
export function anchorIssue(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  atMs: number,
): string | null {
  const issue = chainIssue(chain, atMs);
  if (issue !== null) return issue;
  const usable = roots.filter((root) => validityIssue(root, atMs) === null);
  // a root among the certificates, or above one of them: what the peer sends behind it does not matter
  const anchored = chain.some((certificate) =>
    usable.some((root) => root.fingerprint256 === certificate.fingerprint256 || isIssuedBy(certificate, root)),
  );
  return anchored ? null : 'it leads to no installed root';
}
