/** The name in the certificate of a central system, where wildcards are not permitted (AllowCSMSTLSWildcards of 2.x). */
import { checkServerIdentity } from 'node:tls';
import type { PeerCertificate } from 'node:tls';

/** Takes its place among the codes of OpenSSL for certificates that are not accepted. */
const code = 'CERT_WILDCARD';

/** For `checkServerIdentity` of a connection. @returns why the host is not named, but for a wildcard; undefined: it is */
export function checkIdentityWithoutWildcards(host: string, certificate: PeerCertificate): Error | undefined {
  const issue = checkServerIdentity(host, certificate);
  if (issue !== undefined) return issue;
  const { subject, subjectaltname } = certificate;
  const names = subjectaltname?.split(', ').filter((name) => !name.includes('*'));
  // the common name counts only where there are no other names
  const isBareName = names === undefined && !String(subject.CN).includes('*');
  const bare = {
    ...certificate,
    ...(!isBareName && { subject: { ...subject, CN: '' } }),
    ...(names !== undefined && { subjectaltname: names.join(', ') }),
  };
  if (checkServerIdentity(host, bare) === undefined) return undefined;
  return Object.assign(new Error('the certificate names the host only by a wildcard'), {
    code,
    reason: 'its certificate names the host only by a wildcard, which is not permitted',
  });
}
