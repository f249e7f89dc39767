import { expect } from 'chai';
import type { PeerCertificate } from 'node:tls';
import { checkIdentityWithoutWildcards, failureOf } from '../../../src/ocpp/rpc/socket.ts';
import { createAuthority, issue } from '../../support/pki.ts';
import { openCentral, TransportRig } from './rig.ts';

const certificate = (CN: string, subjectaltname?: string) =>
  ({ subject: { CN }, ...(subjectaltname !== undefined && { subjectaltname }) }) as PeerCertificate;

describe('OCPP: names in the certificate of a central system without wildcards (2.x, AllowCSMSTLSWildcards)', () => {
  const rows: readonly (readonly [certificate: PeerCertificate, fits: boolean])[] = [
    [certificate('x', 'DNS:csms.example.org'), true],
    [certificate('x', 'DNS:*.example.org, DNS:csms.example.org'), true],
    [certificate('x', 'DNS:*.example.org'), false],
    [certificate('x', 'DNS:*.example.org, IP Address:10.0.0.1'), false],
    [certificate('csms.example.org', 'DNS:*.example.org'), false],
    [certificate('x', 'DNS:other.example.org'), false],
    [certificate('csms.example.org'), true],
    [certificate('*.example.org'), false],
  ];
  for (const [given, fits] of rows)
    it(`${given.subject.CN as string} ${given.subjectaltname ?? 'alone'}: ${fits ? 'fits' : 'does not'}`, () => {
      const found = checkIdentityWithoutWildcards('csms.example.org', given);
      expect(found === undefined).to.equal(fits);
      if (found !== undefined) expect(failureOf(found).kind).to.equal('certificate');
    });

  it('a connection opens with a wildcard only while that is permitted', async () => {
    const ca = await createAuthority('CA');
    const server = await issue(ca, 'csms', { purpose: 'server', hosts: ['*.csms.example'] });
    const central = await openCentral({ tls: server });
    const url = new URL(central.url);
    url.hostname = 'one.csms.example';
    const names = {
      hosts: () => Promise.resolve('127.0.0.1 one.csms.example\n'),
      resolver: () => {
        throw new Error('no name server');
      },
      system: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    };
    const rig = new TransportRig(url.href, { names, credentials: { securityProfile: 2, rootCert: ca.cert } });
    const { link } = rig;
    link.setTarget({ ...link.target, wildcards: false });
    link.connect();
    const { kind, text } = await rig.failed.take();
    expect([kind, text]).to.deep.equal([
      'certificate',
      'no connection: its certificate names the host only by a wildcard, which is not permitted',
    ]);
    link.setTarget({ ...link.target, wildcards: true });
    link.connect();
    await rig.opened.take();
    await rig.transport.stop();
    await central.close();
  });
});
