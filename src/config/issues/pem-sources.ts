/** PEM texts that settings choose: files, and certificates of the simulator by name. */
import { certificateChoice, chosenCertificate, pemReader } from '../../contract/certificate-choice.ts';
import type { CertificateTexts } from '../../contract/certificate-choice.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { TlsIo } from '../../core/tls/watch.ts';
import type { ConfigIo } from '../layers/files.ts';
import { refused } from './issues.ts';

/** The issue of a certificate that the simulator does not have; null: it has it, or a file is chosen. */
export function missingCertificate(issueName: string, source: string, certificates: CertificateTexts): Issue | null {
  const name = chosenCertificate(source);
  const names = certificates.list().map((each) => each.name);
  if (name === null || names.includes(name)) return null;
  const near = didYouMean(source, names.map(certificateChoice));
  return refused(issueName, source, `certificate:NAME with a name of GET certificates${near}`);
}

/** The issue of a text that does not exist; null: it does, or the certificates are not open yet. */
export function missingPem(issueName: string, source: string, { isFile, certificates }: ConfigIo): Issue | null {
  if (chosenCertificate(source) !== null)
    return certificates === undefined ? null : missingCertificate(issueName, source, certificates);
  return isFile(source) ? null : refused(issueName, source, 'the path of a file that exists');
}

/** The reader of these texts; null: one is a certificate, and the certificates are not open yet. */
export function pemReaderFor(
  sources: Iterable<string>,
  { readFile, certificates }: ConfigIo,
): TlsIo['readText'] | null {
  if (certificates !== undefined) return pemReader(readFile, certificates);
  return [...sources].some((source) => chosenCertificate(source) !== null) ? null : readFile;
}
