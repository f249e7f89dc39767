import { expect } from 'chai';
import { pemIo } from '../../src/contract/certificate-choice.ts';
import { noCertificates } from '../../src/contract/certificates.ts';
import { MemoryFiles } from '../support/tls.ts';

describe('PEM texts of files and of certificates by name', () => {
  it('files are watched, and others may read them; certificates do not change and are private', () => {
    const files = new MemoryFiles();
    const io = pemIo(files, noCertificates);
    const sources = ['/site.pem', 'certificate:site'];
    const stamps = () => sources.map((source) => io.stampOf(source));
    for (const source of sources) files.open.add(source);
    const before = stamps();
    for (const source of sources) files.set(source, 'text');
    expect(stamps().map((stamp, at) => stamp === before[at])).to.deep.equal([false, true]);
    expect(sources.map((source) => io.readableByAll(source))).to.deep.equal([true, false]);
    expect(io.readText('/site.pem', 100, 'cert')).to.equal('text');
    expect(() => io.readText('certificate:site', 100, 'cert')).to.throw('there is no certificate "site"');
  });
});
