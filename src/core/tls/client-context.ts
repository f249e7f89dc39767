/** TLS contexts of clients, from PEM texts that came over REST. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { SimError } from '../errors.ts';
import type { TlsTriple } from './material.ts';

/**
 * @param pem texts of the own certificate, its key and the root certificates of the other end
 * @param ciphers OpenSSL names, colon between
 * @param place the member of the request that holds the three: `tls` gives the issues `/tls/cert`, `/tls/key`, ...
 * @throws SimError COMMAND_BAD_VALUE; the texts themselves are never in it
 */
export function createClientContext(pem: TlsTriple<string>, ciphers: string, place: string): SecureContext {
  const { cert, key, rootCert } = pem;
  const made = <T>(make: () => T, name: string, detail: string): T => {
    try {
      return make();
    } catch {
      throw new SimError('COMMAND_BAD_VALUE', `${place}.${name} ${detail}`, [{ name: `/${place}/${name}`, detail }]);
    }
  };
  const certificate = 'is not a certificate in PEM';
  made(() => new X509Certificate(rootCert), 'root_cert', certificate);
  made(() => new X509Certificate(cert), 'cert', certificate);
  made(() => createPrivateKey(key), 'key', 'is not an unencrypted private key in PEM');
  return made(
    () => createSecureContext({ ca: rootCert, cert, key, minVersion: 'TLSv1.2', ciphers }),
    'key',
    `does not belong to ${place}.cert`,
  );
}
