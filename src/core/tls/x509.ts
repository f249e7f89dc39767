/** The library that writes certificates and requests to sign them (PKCS#10, RFC 2986), loaded when it is first needed. */
import { createRequire } from 'node:module';
import type X509 from '@peculiar/x509';
import { lazily } from '../lazy.ts';

const require = createRequire(import.meta.url);

export const loadX509 = lazily(() => {
  // the library needs Reflect metadata
  require('reflect-metadata');
  return require('@peculiar/x509') as typeof X509;
});
