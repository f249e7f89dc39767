import { expect } from 'chai';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { maxCertificates } from '../../src/contract/certificates.ts';
import { SimError } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createListStore } from '../../src/core/store.ts';
import type { ListStore } from '../../src/core/store.ts';
import { csipTree } from '../../src/pki/csip-tree.ts';
import { certificatesSlot, KeptCertificates } from '../../src/pki/store.ts';
import { generateTree } from '../../src/pki/tree.ts';
import { withoutSecrets } from '../../src/state/secrets.ts';
import { recordedPki } from './support.ts';

const nowMs = Date.parse('2026-12-01T08:00:00Z');

describe('kept certificates', () => {
  let memory: ListStore;
  let warnings: string[];
  let present = nowMs;
  const open = (earlier = memory.values(certificatesSlot)) =>
    new KeptCertificates({
      slot: memory.slot(certificatesSlot),
      earlier,
      nowMs: () => present,
      log: { ...silentLogger, warning: (line) => void warnings.push(line) },
    });
  let store: KeptCertificates;
  beforeEach(() => {
    present = nowMs;
    warnings = [];
    memory = createListStore({ changed: () => null, durable: () => null });
    store = open();
  });
  const lab = { devices: 1, hosts: [], prefix: 'lab-' };
  const recorded = recordedPki('csip');
  const pem = (name: string) => recorded.get(name) ?? '';

  async function refusal(work: Promise<unknown>): Promise<SimError> {
    const error: unknown = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error instanceof SimError) return error;
    throw new Error('it was not refused', { cause: error });
  }

  it('a generated device: kind, chain, LFDI and SFDI, key for TLS', async () => {
    const { created, kept } = await store.generate(lab);
    expect(kept).to.deep.equal([]);
    expect(created.map(({ name, kind }) => `${name} ${kind}`).slice(0, 6)).to.deep.equal([
      'lab-root ca',
      'lab-mca ca',
      'lab-mica ca',
      'lab-server server',
      'lab-aggregator device',
      'lab-device0 device',
    ]);
    const device = store.get('lab-device0');
    expect(device).to.include({ subject: '', chainLength: 3, hasKey: true, addedAtMs: nowMs });
    expect(device.caPem).to.equal(store.get('lab-root').certPem);
    expect(device.lfdi).to.equal(new X509Certificate(device.certPem).fingerprint256.replaceAll(':', '').slice(0, 40));
    expect(String(device.sfdi)).to.match(/^\d{2,12}$/);
    expect(store.get('lab-server')).to.include({ lfdi: null, sfdi: null });
    const { cert, key, ca } = store.tls('lab-device0');
    expect(() => createSecureContext({ cert, key, ca: ca ?? '' })).to.not.throw();
  });

  it('a second generation keeps what exists and adds devices', async () => {
    await store.generate(lab);
    const root = store.get('lab-root');
    const { created, kept } = await store.generate({ ...lab, devices: 2 });
    expect(created.map(({ name }) => name)).to.deep.equal(['lab-device1']);
    expect(kept).to.have.lengthOf(14);
    expect(store.get('lab-root')).to.deep.equal(root);
    await store.remove('lab-mica');
    await store.add({ name: 'lab-mica', certPem: pem('mica') });
    expect(await refusal(store.generate({ ...lab, devices: 3 }))).to.include({
      code: 'COMMAND_CONFLICT',
      message: 'mica has no key, so it cannot issue device2',
    });
  });

  it('an existing certificate that is no authority issues nothing', async () => {
    await store.generate(lab);
    const { cert, key } = store.tls('lab-aggregator');
    await store.add({ name: 'other-root', certPem: cert, keyPem: key });
    const { code, message } = await refusal(store.generate({ ...lab, prefix: 'other-' }));
    expect([code, message]).to.deep.equal([
      'COMMAND_CONFLICT',
      'an existing certificate is no authority, so it cannot issue others',
    ]);
    const { privateKey } = generateKeyPairSync('ed25519');
    const ed25519 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { cert: root } = store.tls('lab-root');
    const signed = generateTree(csipTree({ devices: 0, hosts: [] }), (name) =>
      name === 'root' ? { cert: root, key: ed25519 } : null,
    );
    expect((await refusal(signed)).message).to.contain('has no key on P-256');
  });

  it('of two generations at a time one is refused, and leaves nothing', async () => {
    const results = await Promise.allSettled([store.generate(lab), store.generate(lab)]);
    expect(results.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
    expect(memory.values(certificatesSlot)).to.have.lengthOf(14);
    expect(store.list()).to.have.lengthOf(14);
  });

  it('adds a certificate of another maker, and keeps nothing of its text but certificates', async () => {
    await store.generate(lab);
    const { cert, key } = store.tls('lab-device0');
    const added = await store.add({ name: 'copy', certPem: `${key}${cert}# end`, keyPem: key, caPem: pem('root') });
    expect(added).to.include({ kind: 'device', hasKey: true, chainLength: 3, certPem: cert });
    expect(JSON.stringify(store.get('copy'))).to.not.contain('PRIVATE KEY');
    expect(store.tls('copy').key).to.equal(key);
  });

  it('refuses what cannot be read or does not fit, with every issue', async () => {
    await store.generate(lab);
    const { key } = store.tls('lab-server');
    const wrong = await refusal(
      store.add({ name: 'x', certPem: pem('device0'), keyPem: key, caPem: 'no certificate' }),
    );
    expect(wrong.issues.map(({ name }) => name)).to.deep.equal(['/key_pem', '/ca_pem']);
    expect(wrong.message).to.contain('does not belong to the certificate').and.not.contain('BEGIN');
    const order = await refusal(store.add({ name: 'x', certPem: pem('device0') + pem('root') + pem('mca') }));
    expect(order.message).to.contain('its certificate 4 is not issued by the next one');
    const chain = Array.from({ length: 11 }, () => pem('root')).join('');
    expect((await refusal(store.add({ name: 'x', certPem: chain }))).message).to.contain('allowed: at most 10');
    expect((await refusal(store.add({ name: '../x', certPem: pem('root') }))).code).to.equal('COMMAND_BAD_VALUE');
    expect((await refusal(store.add({ name: 'lab-root', certPem: pem('root') }))).code).to.equal('COMMAND_CONFLICT');
    expect(store.list()).to.have.lengthOf(14);
  });

  it('dates are warnings', async () => {
    await store.add({ name: 'expired', certPem: recordedPki('modbus').get('bad-expired') ?? '' });
    await store.add({ name: 'root', certPem: pem('root') });
    expect(store.get('expired').warnings).to.deep.equal(['it has expired at 2021-01-01T00:00:00.000Z']);
    expect(store.get('root').warnings).to.deep.equal([]);
    present = Date.UTC(2025, 0, 1);
    expect(store.get('root').warnings).to.deep.equal(['it is valid from 2026-01-01T00:00:00.000Z on only']);
  });

  it('one in use is not removed until each use has ended; one without a key is not for TLS', async () => {
    await store.add({ name: 'root', certPem: pem('root') });
    const ends = [store.use('root', 'csip_cert'), store.use('root', 'csip_cert')];
    ends[0]?.();
    ends[0]?.();
    expect(store.get('root').usedBy).to.deep.equal(['csip_cert']);
    expect((await refusal(store.remove('root'))).message).to.equal('the certificate "root" is in use by csip_cert');
    ends[1]?.();
    expect(() => store.tls('root')).to.throw('has no key');
    expect((await store.remove('root')).name).to.equal('root');
    expect(() => store.get('root')).to.throw('there is no certificate "root"');
  });

  it('a full store takes none of several', async () => {
    for (let i = 0; i < maxCertificates; i += 1) await store.add({ name: `c${i}`, certPem: pem('root') });
    expect((await refusal(store.add({ name: 'more', certPem: pem('root') }))).message).to.contain('256 certificates');
    for (const name of ['c0', 'c1']) await store.remove(name);
    expect((await refusal(store.generate(lab))).code).to.equal('COMMAND_CONFLICT');
    expect(store.list()).to.have.lengthOf(maxCertificates - 2);
  });

  it('the next process has them, an export has them without keys, and one that cannot be read is left out', async () => {
    await store.generate(lab);
    await store.remove('lab-comm_004g');
    expect(open().list()).to.deep.equal(store.list());
    const { values, hasLeftOut } = withoutSecrets(certificatesSlot, memory.values(certificatesSlot));
    expect(hasLeftOut).to.equal(true);
    expect(JSON.stringify(values)).to.not.contain('PRIVATE').and.not.contain('"key"');
    const imported = open([...values, { name: 'broken', cert: 'x' }]);
    expect(imported.list().map(({ hasKey }) => hasKey)).to.deep.equal(Array(13).fill(false));
    expect(warnings).to.deep.equal(['the kept certificate "broken" cannot be read and is left out']);
  });
});
