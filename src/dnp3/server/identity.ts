/** The identity of a master by its certificate. */
import { X509Certificate } from 'node:crypto';
import type { PeerIdentity } from './context.ts';

/** @param certificate DER; one that cannot be read has no name */
export function identityOf(certificate: Buffer): PeerIdentity {
  try {
    const { subject, fingerprint256 } = new X509Certificate(certificate);
    const parts = subject.split('\n');
    return {
      // Node lists from the root on, RFC 4514 the other way round
      subject: parts.toReversed().join(','),
      commonName: parts.find((part) => part.startsWith('CN='))?.slice(3) ?? '',
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    };
  } catch {
    return { subject: '', commonName: '', fingerprint: '' };
  }
}
