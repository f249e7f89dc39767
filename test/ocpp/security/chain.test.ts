import { expect } from 'chai';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import {
  anchorIssue,
  chainIssue,
  isIssuedBy,
  isSelfIssued,
  validityIssue,
} from '../../../src/ocpp/security/certificates.ts';
import { createAuthority, expiredMs, issue } from '../../support/pki.ts';

const dayMs = 86_400_000;
const nowMs = Date.now();
const validDays = [-1, 365] as const;
const certificate = ({ cert }: { readonly cert: string }) => new X509Certificate(cert);

async function pki() {
  const root = await createAuthority('Root');
  const middle = await createAuthority('Middle', root);
  const foreign = await createAuthority('Foreign');
  const leaf = await issue(middle, 'leaf', { purpose: 'client', validDays });
  const direct = await issue(root, 'direct', { purpose: 'client', validDays });
  return {
    root: certificate(root),
    middle: certificate(middle),
    foreign: certificate(foreign),
    leaf: certificate(leaf),
    direct: certificate(direct),
  };
}

/** A certificate of which only the key matters. */
const withKey = (publicKey: KeyObject): X509Certificate =>
  ({
    publicKey,
    validFrom: new Date(0).toUTCString(),
    validTo: new Date(8e12).toUTCString(),
  }) as unknown as X509Certificate;

describe('OCPP chains of certificates', () => {
  let made: Awaited<ReturnType<typeof pki>>;
  before(async () => {
    made = await pki();
  });

  it('a certificate is usable between its dates', () => {
    const { leaf } = made;
    expect(validityIssue(leaf, nowMs)).to.equal(null);
    expect(validityIssue(leaf, nowMs - 2 * dayMs)).to.equal('it is not valid yet');
    expect(validityIssue(leaf, nowMs + 400 * dayMs)).to.equal('it has expired');
    expect(validityIssue(leaf, NaN)).to.equal('it has expired');
  });

  it('A00.FR.506: RSA of 2048 bits and more, or a curve of 224 bits and more', () => {
    const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey;
    const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;
    expect(validityIssue(withKey(rsa(2048)), nowMs)).to.equal(null);
    expect(validityIssue(withKey(rsa(1024)), nowMs)).to.equal('its RSA key is too short');
    for (const curve of ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'])
      expect(validityIssue(withKey(ec(curve)), nowMs), curve).to.equal(null);
    expect(validityIssue(withKey(ec('prime192v1')), nowMs)).to.equal('its curve is not supported');
    expect(validityIssue(withKey(generateKeyPairSync('ed25519').publicKey), nowMs)).to.equal(
      'its key is neither RSA nor EC',
    );
  });

  it('issued by: name, signature, and the right to issue', () => {
    const { root, middle, foreign, leaf, direct } = made;
    expect(isIssuedBy(leaf, middle)).to.equal(true);
    expect(isIssuedBy(leaf, root)).to.equal(false);
    expect(isIssuedBy(middle, foreign)).to.equal(false);
    // a leaf issues nothing
    expect(isIssuedBy(leaf, direct)).to.equal(false);
    expect([isSelfIssued(root), isSelfIssued(middle)]).to.deep.equal([true, false]);
  });

  it('a chain of the same names by other keys does not hold', async () => {
    const impostor = certificate(await createAuthority('Middle'));
    expect(chainIssue([made.leaf, impostor], nowMs)).to.equal('a certificate is not issued by the next one');
  });

  it('a chain holds together, or tells where it does not', () => {
    const { root, middle, leaf } = made;
    expect(chainIssue([leaf, middle, root], nowMs)).to.equal(null);
    expect(chainIssue([leaf], nowMs)).to.equal(null);
    expect(chainIssue([leaf, root], nowMs)).to.equal('a certificate is not issued by the next one');
    expect(chainIssue([], nowMs)).to.equal('there is no chain of a usable length');
    expect(chainIssue(new Array<X509Certificate>(11).fill(root), nowMs)).to.equal(
      'there is no chain of a usable length',
    );
    expect(chainIssue([leaf, middle], nowMs + 400 * dayMs)).to.equal('it has expired');
    expect(chainIssue([withKeyOf(leaf), middle], expiredMs)).to.equal('of a certificate above: it has expired');
  });

  it('leads to a root: given with it or not, by an intermediate that is itself installed too', () => {
    const { root, middle, foreign, leaf } = made;
    expect(anchorIssue([leaf, middle, root], [root], nowMs)).to.equal(null);
    expect(anchorIssue([leaf, middle], [foreign, root], nowMs)).to.equal(null);
    expect(anchorIssue([leaf], [middle], nowMs)).to.equal(null);
    expect(anchorIssue([root], [root], nowMs)).to.equal(null);
    expect(anchorIssue([leaf], [root], nowMs)).to.equal('it leads to no installed root');
    expect(anchorIssue([leaf, middle, root], [], nowMs)).to.equal('it leads to no installed root');
    expect(anchorIssue([leaf, root], [root], nowMs)).to.equal('a certificate is not issued by the next one');
  });

  it('a root that has expired anchors nothing', () => {
    const { root, direct } = made;
    expect(anchorIssue([withKeyOf(direct)], [root], expiredMs)).to.equal('it leads to no installed root');
  });

  /** A certificate that never expires, otherwise the given one. */
  function withKeyOf(given: X509Certificate): X509Certificate {
    return new Proxy(given, {
      get: (target, name) => {
        if (name === 'validTo') return new Date(8e15).toUTCString();
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
});
