import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { roleOfCertificate, roles } from '../../../../src/sunspec/modbus/access/certificate-role.ts';
import { issue, testPki, utf8String } from '../../../support/pki.ts';
import type { Identity, TestPki } from '../../../support/pki.ts';
import { holds } from '../../../support/property.ts';
import { cpuMs } from '../../../support/spent.ts';

const derOf = ({ cert }: Identity) => new X509Certificate(cert).raw;

/** A certificate of nothing but extensions, each as DER. */
function bareCertificate(...extensions: readonly Buffer[]): Buffer {
  return der(0x30, der(0x30, der(0xa3, der(0x30, ...extensions))));
}

function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const octets = Buffer.concat(content);
  if (octets.length < 0x80) return Buffer.concat([Buffer.of(tag, octets.length), octets]);
  if (octets.length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, octets.length), octets]);
  return Buffer.concat([Buffer.of(tag, 0x82, octets.length >> 8, octets.length & 0xff), octets]);
}

const oid = Buffer.from('060b2b060104018389 0c862201'.replace(' ', ''), 'hex');
const critical = der(0x01, Buffer.of(0xff));
const roleExtension = (value: Uint8Array, ...between: readonly Buffer[]) =>
  der(0x30, oid, ...between, der(0x04, value));
const reasonOf = (certificate: Uint8Array) => {
  const finding = roleOfCertificate(certificate);
  return finding.role === null ? finding.reason : `role ${finding.role}`;
};

const unreadable = 'the extensions of its certificate cannot be read';
const notOneText = 'the role of its certificate is not one UTF8String';

describe('Modbus/TCP Security, role OID: the role in a certificate', () => {
  let pki: TestPki;
  before(async () => {
    pki = await testPki();
  });

  it('is read from certificates of every role', () => {
    for (const role of roles) expect(roleOfCertificate(derOf(pki.clients[role]))).to.deep.equal({ role });
  });

  it('is the super administrator in both spellings', async () => {
    const short = await issue(pki.ca, 'short', { purpose: 'client', roles: [utf8String('SuperAdministratorSpec')] });
    expect(roleOfCertificate(derOf(short))).to.deep.equal({ role: 'SuperAdministratorSunSpec' });
  });

  it('is none where it is missing, doubled, badly encoded or unknown, each with its reason', () => {
    expect(
      Object.fromEntries(Object.entries(pki.roleless).map(([name, identity]) => [name, reasonOf(derOf(identity))])),
    ).to.deep.equal({
      none: 'its certificate has no role',
      'two extensions': 'its certificate has more than one role',
      'two in one': notOneText,
      unknown: 'the role of its certificate is not a SunSpec role (8 characters)',
      IA5String: notOneText,
      empty: 'the role of its certificate is not a SunSpec role (0 characters)',
      'bare octets': notOneText,
    });
  });

  it('is taken as it is written, with nothing around it', () => {
    for (const name of [
      'gridservicesunspec',
      ' GridServiceSunSpec',
      'GridServiceSunSpec\0',
      '\ufeffGridServiceSunSpec',
      'toString',
      '__proto__',
    ]) {
      expect(reasonOf(bareCertificate(roleExtension(utf8String(name)))), name).to.match(/not a SunSpec role/);
    }
  });

  it('may be marked critical', () => {
    expect(roleOfCertificate(bareCertificate(roleExtension(utf8String('ReadOnlySunSpec'), critical)))).to.deep.equal({
      role: 'ReadOnlySunSpec',
    });
  });

  it('is not found by its octets alone, in another extension or in a name', () => {
    const hidden = der(
      0x30,
      Buffer.from('0603551d11', 'hex'),
      der(0x04, roleExtension(utf8String('SuperAdministratorSunSpec'))),
    );
    expect(reasonOf(bareCertificate(hidden))).to.equal('its certificate has no role');
    const inSubject = der(0x30, der(0x30, der(0x30, roleExtension(utf8String('SuperAdministratorSunSpec')))));
    expect(reasonOf(inSubject)).to.equal('its certificate has no role');
  });

  it('needs definite lengths in the fewest octets (X.690 10.1)', () => {
    const good = utf8String('ReadOnlySunSpec');
    const long = Buffer.concat([Buffer.of(0x0c, 0x81, good.length - 2), good.subarray(2)]);
    const indefinite = Buffer.concat([Buffer.of(0x0c, 0x80), good.subarray(2), Buffer.of(0, 0)]);
    for (const value of [
      long,
      indefinite,
      Buffer.concat([good, Buffer.of(0)]),
      good.subarray(0, -1),
      Buffer.of(0x0c, 0x01, 0xff),
    ]) {
      expect(reasonOf(bareCertificate(roleExtension(value))), value.toString('hex')).to.equal(notOneText);
    }
  });

  it('is none in what is not a certificate', () => {
    const shapes = [
      '',
      '30',
      '3000',
      '30800000',
      '3084ffffffff',
      '308400000002a300',
      '30022000',
      'ff',
      '1f8100',
      '30050203010001',
    ];
    for (const hex of shapes)
      expect(reasonOf(Buffer.from(hex, 'hex')), hex).to.be.oneOf([unreadable, 'its certificate has no role']);
    expect(reasonOf(bareCertificate(der(0x31, oid)))).to.equal(unreadable);
    expect(reasonOf(bareCertificate(der(0x30, oid)))).to.equal(unreadable);
    expect(reasonOf(bareCertificate(roleExtension(utf8String('ReadOnlySunSpec'), critical, critical)))).to.equal(
      unreadable,
    );
  });

  it('never throws and never takes long, whatever the octets are', () => {
    holds(
      'any octets as a certificate',
      fc.uint8Array({ maxLength: 400 }),
      (octets) => {
        expect(roleOfCertificate(octets)).to.have.property('role');
      },
      { runs: 2000 },
    );
  });

  it('survives any change of a real certificate: a role that it gives is one of those known', () => {
    const real = derOf(pki.clients.GridServiceSunSpec);
    const change = fc.record({ at: fc.nat(real.length - 1), octet: fc.nat(255) });
    holds(
      'any change of a certificate',
      [fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(real.length)],
      (changes, cut) => {
        for (const length of [real.length, cut]) {
          const octets = Buffer.from(real.subarray(0, length));
          for (const { at, octet } of changes) if (at < length) octets[at] = octet;
          const { role } = roleOfCertificate(octets);
          if (role !== null) expect(roles).to.include(role);
        }
      },
      { runs: 2000 },
    );
  });

  it('is found at once in a megabyte of hostile nesting', () => {
    const deep = Buffer.alloc(1_000_000, Buffer.of(0x30, 0x80));
    const flat = bareCertificate(...Array.from({ length: 5000 }, () => Buffer.of(0x30, 0x00)));
    const begin = cpuMs();
    expect(reasonOf(deep)).to.equal(unreadable);
    expect(reasonOf(flat)).to.equal(unreadable);
    // linear: a few milliseconds; a walk that is not takes minutes
    expect(cpuMs() - begin).to.be.lessThan(5000);
  });
});
