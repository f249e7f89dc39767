/**
 * One request of a client of IEEE 2030.5 in the runtime that runs this file: `csip-handshake.ts DIR PORT STRICT`.
 * Prints runtime and session as JSON; DIR is made by derbench pki.
 */
import { join } from 'node:path';
import { silentLogger } from '../../../src/core/log/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { ClientCredentials } from '../../../src/csip/transport/certificates.ts';
import { exchangeWith, get } from '../../csip/transport/support.ts';

const [directory = '', port = '', strict = ''] = process.argv.slice(2);
const path = (name: string) => join(directory, name);
const identity = new ClientCredentials({
  files: { cert: path('device0.pem'), tls: { key: path('device0.key'), rootCert: path('root.pem') } },
  names: { cert: 'cert', key: 'key', rootCert: 'root' },
  strictCipher: strict === 'strict',
  testPki: directory,
  clock: systemClock,
  logger: silentLogger,
});
const exchange = exchangeWith(Number(port), { tls: { identity, checkHostname: true } });
const { status } = await exchange.request(get('/tm'));
process.stdout.write(
  JSON.stringify({ runtime: process.versions.node, status, lfdi: identity.facts?.lfdi, ...exchange.negotiated }),
);
await exchange.close();
