/** Test hierarchies against the certificates that OpenSSL made of the same fields. */
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { certificatesOf, keyOf } from '../../src/core/tls/material.ts';
import { csipTree } from '../../src/pki/csip-tree.ts';
import { modbusTree } from '../../src/pki/modbus-tree.ts';
import { generateTree } from '../../src/pki/tree.ts';
import type { Generated } from '../../src/pki/tree.ts';
import { comparer, recordedPki } from './support.ts';

/** Instant at which the authorities of the fixture begin. */
const nowMs = Date.parse('2026-12-01T08:40:32Z');

function expectRecorded(kind: 'csip' | 'modbus', generated: readonly Generated[]): void {
  const recorded = recordedPki(kind);
  expect(generated.map(({ entry }) => entry.name)).to.have.members([...recorded.keys()]);
  const [ofGenerated, ofRecorded] = [comparer(generated.map(({ cert }) => cert)), comparer(recorded.values())];
  for (const { entry, cert } of generated)
    expect(ofGenerated(cert), entry.name).to.deep.equal(ofRecorded(recorded.get(entry.name) ?? ''));
}

describe('test hierarchies', () => {
  let csip: readonly Generated[];
  before(async () => {
    csip = await generateTree(csipTree({ devices: 1, hosts: ['utility.example', '192.0.2.1'] }));
  });

  it('IEEE 2030.5: each field is that of OpenSSL, in the same encoding and order', () => {
    expectRecorded('csip', csip);
  });

  it('Modbus over TLS: each field is that of OpenSSL, in the same encoding and order', async () => {
    expectRecorded('modbus', await generateTree(modbusTree({ hosts: ['utility.example'], nowMs })));
  });

  it('each chain is signed by its issuers, and each key is on P-256 and belongs to its certificate', () => {
    const root = new X509Certificate(csip[0]?.cert ?? '');
    for (const { entry, cert, key } of csip) {
      const chain = certificatesOf(cert) ?? [];
      const isWhole = entry.issuer === 'root' || entry.chain.length > 0;
      for (const [i, each] of isWhole ? chain.entries() : [])
        expect(each.verify((chain[i + 1] ?? root).publicKey), `${entry.name} ${i}`).to.equal(true);
      const privateKey = keyOf(key);
      if (typeof privateKey === 'string') throw new Error(privateKey);
      expect(chain[0]?.checkPrivateKey(privateKey), entry.name).to.equal(true);
      expect(privateKey.asymmetricKeyDetails?.namedCurve).to.equal('prime256v1');
    }
  });

  it('serial numbers are positive, of 20 octets, and differ', () => {
    const serials = csip.map(({ cert }) => new X509Certificate(cert).serialNumber);
    expect(new Set(serials).size).to.equal(csip.length);
    for (const serial of serials) expect(serial).to.match(/^[4-7][0-9A-F]{39}$/);
  });

  it('keeps what exists, and issues the rest by it', async () => {
    const existing = new Map(csip.map(({ entry, cert, key }) => [entry.name, { cert, key }]));
    const more = await generateTree(csipTree({ devices: 2, hosts: [] }), (name) => existing.get(name) ?? null);
    expect(more.filter(({ isNew }) => isNew).map(({ entry }) => entry.name)).to.deep.equal(['device1']);
    const [device1, mica] = ['device1', 'mica'].map(
      (name) => more.find(({ entry }) => entry.name === name)?.cert ?? '',
    );
    expect(new X509Certificate(device1 ?? '').verify(new X509Certificate(mica ?? '').publicKey)).to.equal(true);
    expect(mica).to.equal(existing.get('mica')?.cert);
  });
});
