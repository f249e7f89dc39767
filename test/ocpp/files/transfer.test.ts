import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFileTransfer, shownLocation, TransferError } from '../../../src/ocpp/files/transfer.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const failureOf = (act: Promise<unknown>) =>
  act.then(
    () => 'none',
    (error: unknown) => (error instanceof TransferError ? error.failure : String(error)),
  );

describe('OCPP files', () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`);
    request.resume();
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (request.url === '/large') response.end(Buffer.alloc(2000));
    else if (request.url?.startsWith('/no') === true) response.writeHead(403).end();
    else response.end('derbench-firmware 2.0.0\n');
  });
  let base = '';
  const transfer = createFileTransfer({ later: new HandTimers(new HandWall()).later, maxOctets: 1000 });
  const { signal } = new AbortController();
  const download = (location: string) => transfer.download(location, { signal, chunk: () => undefined });

  before((done) => {
    server.listen(0, '127.0.0.1', () => {
      base = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  after((done) => {
    server.close(done);
  });

  it('fetches with the credentials of the URL, and delivers into a folder', async () => {
    expect(await download(`http://u:p%40@${base}/fw.bin`)).to.deep.equal({ name: 'fw.bin', octets: 24 });
    await transfer.upload(`http://${base}/logs`, { name: 'a.log', octets: Buffer.from('x') }, signal);
    expect(seen).to.deep.equal([`GET /fw.bin Basic ${Buffer.from('u:p@').toString('base64')}`, 'PUT /logs/a.log -']);
  });

  it('refuses other schemes, refused targets also behind a redirect, and what is too large', async () => {
    expect(await failureOf(download('file:///etc/passwd'))).to.equal('unsupported');
    expect(await failureOf(download('http://169.254.169.254/'))).to.equal('bad_location');
    expect(await failureOf(download(`http://${base}/away`))).to.equal('bad_location');
    expect(await failureOf(download(`http://${base}/large`))).to.equal('too_large');
    expect(await failureOf(download(`http://${base}/no`))).to.equal('permission');
  });

  it('shows no credentials and no query', () => {
    expect(shownLocation('http://u:S3CR3T-marker@h/x?token=S3CR3T-marker')).to.equal('http://h/x');
  });
});
