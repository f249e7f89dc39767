import { expect } from 'chai';
import { lfdiOf, sfdiOf } from '../../../src/contract/csip-identity.ts';
import { certificateFacts, managedLfdi, penDigits } from '../../../src/csip/transport/certificates.ts';
import { headEndPki } from '../../support/head-end.ts';

/** A certificate as IEEE 2030.5 devices have it: no subject, no end of validity, a hardwareModuleName. */
const device = `-----BEGIN CERTIFICATE-----
MIIBvTCCAWOgAwIBAgICEAEwCgYIKoZIzj0EAwIwJzERMA8GA1UECgwIVGVzdCBM
YWIxEjAQBgNVBAMMCVRlc3QgTUlDQTAgFw0yNDAxMDEwMDAwMDBaGA85OTk5MTIz
MTIzNTk1OVowADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDpM0CjqyB9uqBlV
XkUC9AnPG5rSLVF8sK3P+lCt/3NdpAoO0Kj2sxkfDaWTnrrS+ow0hpyKNrVZJ/tu
BNZX1dSjgaMwgaAwDgYDVR0PAQH/BAQDAgOIMB8GA1UdIwQYMBaAFDQtQGiBmR3a
yvN2Y6jqOC0GcO0+MBoGA1UdIAEB/wQQMA4wDAYKKwYBBAGCvhwBATAyBgNVHREB
Af8EKDAmoCQGCCsGAQUFBwgEoBgwFgYKKwYBBAGCvhxjAQQIU0lNLTAwMDEwHQYD
VR0OBBYEFPvexd7JpsFoQaaeb3SQdCXRPlCJMAoGCCqGSM49BAMCA0gAMEUCIQCr
NdLn6vm9FURfrWlz3kgyYjVqR2d1wcrNiLzLUWVgFQIgbGII2E40qD22dkQBw7QV
xD086E1M4Ib1BBECac5kqDM=
-----END CERTIFICATE-----
`;

describe('LFDI and SFDI', () => {
  it('of a device certificate, as openssl computes them', () => {
    expect(certificateFacts(device)).to.deep.equal({
      lfdi: 'B75B155D1C9D865DC052924DB565155563851708',
      sfdi: 492_191_963_691,
      subject: '',
      issuer: 'O=Test Lab, CN=Test MICA',
      notBeforeMs: Date.UTC(2024, 0, 1, 0, 0, 0),
      notAfterMs: Date.UTC(9999, 11, 31, 23, 59, 59),
      chainLength: 1,
    });
  });

  it('the example of the standard', () => {
    expect(sfdiOf('3E4F45AB31EDFE5B67E343E5E4562E31984E23E5')).to.equal(167_261_211_391);
    expect(sfdiOf('3e4f45ab31edfe5b67e343e5e4562e31984e23e5')).to.equal(167_261_211_391);
    expect(sfdiOf('000000000FFF')).to.equal(0);
  });

  it('is of the octets of the certificate, not of its text', () => {
    expect(lfdiOf(Buffer.from(device))).to.not.equal('B75B155D1C9D865DC052924DB565155563851708');
    const reformatted = device.replaceAll('\n', '\r\n');
    expect(certificateFacts(`a comment\n${reformatted}`)?.lfdi).to.equal('B75B155D1C9D865DC052924DB565155563851708');
  });

  it('of a chain that of the first certificate; of no certificate nothing', async () => {
    const { device: chained, bare } = await headEndPki();
    expect(certificateFacts(chained.cert)?.chainLength).to.equal(2);
    expect(certificateFacts(bare.cert)?.chainLength).to.equal(1);
    expect(certificateFacts(bare.key)).to.equal(null);
    expect(certificateFacts('')).to.equal(null);
  });

  it('has enterprise numbers as 32 bits, and as their decimal digits', () => {
    expect([penDigits(40_732, 'number'), penDigits(40_732, 'decimal')]).to.deep.equal(['00009F1C', '00040732']);
    expect(penDigits(99_999_999, 'decimal')).to.have.length(8);
  });

  it('of devices behind an aggregator: stable, different, and with the enterprise number at the end', () => {
    const aggregator = 'B75B155D1C9D865DC052924DB565155563851708';
    const [first, second] = [managedLfdi(aggregator, 'device0', 64_415), managedLfdi(aggregator, 'device1', 64_415)];
    expect(first).to.match(/^[0-9A-F]{32}00064415$/);
    expect(second).to.match(/^[0-9A-F]{32}00064415$/);
    expect(first).to.not.equal(second);
    expect(managedLfdi(aggregator.toLowerCase(), 'device0', 64_415)).to.equal(first);
    expect(managedLfdi('A'.repeat(40), 'device0', 64_415)).to.not.equal(first);
  });
});
