/** Mutual TLS between server and device of a generated hierarchy. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { csipTree } from '../../src/pki/csip-tree.ts';
import { modbusTree } from '../../src/pki/modbus-tree.ts';
import { generateTree } from '../../src/pki/tree.ts';
import type { Entry } from '../../src/pki/tree.ts';

interface Pem {
  readonly cert: string;
  readonly key: string;
}

async function pkiOf(entries: readonly Entry[]): Promise<(name: string) => Pem> {
  const generated = await generateTree(entries);
  return (name) => generated.find(({ entry }) => entry.name === name) ?? { cert: '', key: '' };
}

/**
 * A TLS 1.2 session in which both ends verify each other.
 * @returns common name of the server as the client sees it, and octets of the client's certificate as the server sees it
 * @throws the alert or the verification error
 */
async function session(server: Pem, client: Pem, ca: string): Promise<{ name: string; presented: Buffer }> {
  const suite = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const;
  const listener = createServer({ ...server, ca, ...suite, requestCert: true, rejectUnauthorized: true });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const refused = once(listener, 'tlsClientError') as Promise<[Error]>;
  const socket = connect({ host: '127.0.0.1', port, ...client, ca, ...suite });
  try {
    await Promise.race([
      once(socket, 'secureConnect'),
      refused.then(([error]) => {
        throw error;
      }),
    ]);
    const [end] = await accepted;
    const { subject } = socket.getPeerCertificate();
    return { name: String(subject.CN), presented: end.getPeerX509Certificate()?.raw ?? Buffer.alloc(0) };
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe('TLS with generated certificates', () => {
  it('IEEE 2030.5: devices and aggregator verify the server by the root, and it verifies them', async () => {
    const pem = await pkiOf(csipTree({ devices: 1, hosts: [] }));
    const { cert: root } = pem('root');
    for (const name of ['device0', 'aggregator', 'comm_004a', 'comm_004b', 'comm_004c']) {
      const { name: server, presented } = await session(pem('server'), pem(name), root);
      expect(server).to.equal('Test server');
      expect(presented.length, name).to.be.greaterThan(300);
    }
    for (const name of ['comm_004d', 'comm_004e', 'comm_004g']) {
      const failure = await session(pem('server'), pem(name), root).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure, name).to.be.an('error');
    }
  });

  it('Modbus: a client of the other CA, and one that has expired, get no session', async () => {
    const pem = await pkiOf(modbusTree({ hosts: [], nowMs: Date.now() - 60_000 }));
    const { cert: ca } = pem('ca');
    expect((await session(pem('server'), pem('gridservice'), ca)).name).to.equal('server');
    for (const name of ['bad-expired', 'bad-foreign']) {
      const failure = await session(pem('server'), pem(name), ca).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure, name).to.be.an('error');
    }
  });
});
