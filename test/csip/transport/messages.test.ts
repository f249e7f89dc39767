import { expect } from 'chai';
import { CsipMessageBook, recordExchange } from '../../../src/csip/transport/messages.ts';
import type { CsipChannel, Exchanged } from '../../../src/csip/transport/messages.ts';
import { testChannel } from './support.ts';

const exchanged = (more: Partial<Exchanged> = {}): Exchanged => ({
  direction: 'out',
  peer: 'https://127.0.0.1:8443',
  deviceIndex: 0,
  method: 'GET',
  url: 'https://127.0.0.1:8443/edev/1/rg?s=0',
  status: 200,
  durationMs: 5,
  requestHeaders: { accept: 'application/sep+xml' },
  requestBody: null,
  responseHeaders: {},
  responseBody: null,
  error: null,
  ...more,
});

describe('messages of CSIP', () => {
  let channel: CsipChannel;
  let book: CsipMessageBook;

  beforeEach(() => {
    channel = testChannel();
    book = new CsipMessageBook(channel);
    book.record(true, { source: 'rest', peer: '127.0.0.1:1' });
  });
  const record = (more: Partial<Exchanged> = {}) => {
    recordExchange(channel, exchanged(more));
  };

  it('are kept from the moment they are asked for, newest last, by filter', () => {
    expect(new CsipMessageBook(testChannel())).to.include({ recording: false, capacity: 500, count: 0 });
    record();
    record({ method: 'POST', url: 'https://127.0.0.1:8443/rsp', deviceIndex: 1 });
    record({ direction: 'in', method: 'POST', url: '/notify', deviceIndex: null, status: 404 });
    expect(book.list({}).map(({ id }) => id)).to.deep.equal([1, 2, 3]);
    expect(book.list({ afterId: 1, limit: 1 }).map(({ id }) => id)).to.deep.equal([3]);
    expect(book.list({ method: 'POST', deviceIndex: 1 }).map(({ id }) => id)).to.deep.equal([2]);
    expect(book.list({ path: '/edev' }).map(({ id }) => id)).to.deep.equal([1]);
    expect(book.list({ path: '/not' })[0]).to.deep.include({ direction: 'in', status: 404, requestBody: null });
    book.clear();
    expect(book.count).to.equal(0);
    expect(book.lastId).to.equal(3);
    expect(book.changedBy?.source).to.equal('rest');
  });

  it('the PIN of a Registration is never kept, wherever it stands', () => {
    const forms = [
      '<Registration><pIN>271828</pIN></Registration>',
      '<s:Registration xmlns:s="urn:ieee:std:2030.5:ns"><s:pIN >271828</s:pIN ></s:Registration>',
      '<Registration><pIN a="b">&#50;71828<!-- x --></pIN></Registration>',
      '<Registration><pIN>\n271828',
    ];
    for (const form of forms) {
      record({ requestBody: Buffer.from(form), responseBody: Buffer.from(`<x>é</x>${form}`) });
      const [message] = book.list({ afterId: book.lastId - 1 });
      expect(message?.requestBody, form).to.contain('(hidden)').and.to.not.contain('71828');
      expect(message?.responseBody, form).to.match(/^<x>é<\/x><.*\(hidden\)/);
      expect(message?.responseBody, form).to.not.contain('71828');
    }
    record({ responseBody: Buffer.from(forms[0] ?? '', 'utf16le') });
    expect(JSON.stringify(channel.list().map(({ raw }) => raw.toString('latin1')))).to.not.contain('71828');
    expect(book.list({}).at(-1)?.id).to.equal(forms.length);
  });

  it('headers that carry secrets are hidden', () => {
    record({
      requestHeaders: { Authorization: 'Basic S3CR3T-marker' },
      responseHeaders: { 'set-cookie': 'S3CR3T-marker', server: 'x' },
    });
    const [message] = book.list({});
    expect(message?.requestHeaders).to.deep.equal({ Authorization: '(hidden)' });
    expect(message?.responseHeaders).to.deep.equal({ 'set-cookie': '(hidden)', server: 'x' });
  });

  it('bodies are cut at 256 KiB and marked, and together at 8 MiB', () => {
    const kib = 1024;
    record({ requestBody: Buffer.alloc(300 * kib, 'a'), responseBody: Buffer.alloc(10, 'b') });
    const [message] = book.list({});
    expect(message?.truncated).to.equal(true);
    expect(message?.requestBody).to.have.lengthOf(256 * kib);
    expect(message?.responseBody).to.equal('bbbbbbbbbb');
    for (let times = 0; times < 40; times += 1) record({ responseBody: Buffer.alloc(256 * kib, 'c') });
    expect(book.bytes).to.equal(8 * kib * kib);
    expect(book.count).to.equal(32);
    expect(book.list({}).every(({ truncated }) => !truncated)).to.equal(true);
    for (let times = 0; times < 600; times += 1) record();
    expect(book.count).to.equal(500);
  });
});
