import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createFileTransfer, TransferError } from '../../../src/ocpp/files/transfer.ts';
import type { FileTransferOptions } from '../../../src/ocpp/files/transfer.ts';
import { testPki } from '../../support/pki.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { fileServer, rawServer } from './servers.ts';
import type { FileServer } from './servers.ts';

const file = { name: 'a.log', octets: Buffer.from('line\n') };
const { signal } = new AbortController();

/** A promise that a callback resolves. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function transferOf(options: Partial<FileTransferOptions> = {}) {
  const timers = new HandTimers(new HandWall());
  const transfer = createFileTransfer({ later: timers.later, maxOctets: 1000, ...options });
  const pieces: Buffer[] = [];
  return {
    timers,
    transfer,
    pieces,
    download: (location: string) => transfer.download(location, { signal, chunk: (piece) => pieces.push(piece) }),
    upload: (location: string) => transfer.upload(location, file, signal),
  };
}

async function failed(act: Promise<unknown>): Promise<readonly [failure: string, text: string]> {
  try {
    await act;
  } catch (error) {
    if (error instanceof TransferError) return [error.failure, error.message];
    throw error;
  }
  return ['none', ''];
}

describe('OCPP files at servers that do what they should not', () => {
  const open: { close(): Promise<void> }[] = [];
  const serve = async (answer: RequestListener): Promise<FileServer> => {
    const server = await fileServer(answer);
    open.push(server);
    return server;
  };
  const serveRaw = async (connected: (socket: Socket) => void) => {
    const server = await rawServer(connected);
    open.push(server);
    return server.base;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  it('one that never answers, and one that stops in the middle, are given up after a minute', async () => {
    const sockets: Socket[] = [];
    const accepted: (() => void)[] = [];
    const base = await serveRaw((socket) => {
      sockets.push(socket);
      socket.once('data', () => accepted.shift()?.());
    });
    const asked = () => new Promise<void>((resolve) => accepted.push(resolve));
    const s = transferOf();
    for (const begin of [s.download, s.upload]) {
      const request = asked();
      const transfer = failed(begin(`${base}/fw.bin`));
      await request;
      s.timers.pass(60_000);
      expect(await transfer).to.deep.equal(['broken', 'the server takes too long']);
    }
    const request = asked();
    const first = gate();
    const transfer = failed(
      s.transfer.download(`${base}/fw.bin`, {
        signal,
        chunk: () => {
          first.open();
        },
      }),
    );
    await request;
    sockets.at(-1)?.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
    await first.opened;
    s.timers.pass(60_000);
    expect(await transfer).to.deep.equal(['broken', 'the server takes too long']);
    expect(s.timers.waiting).to.equal(0);
  });

  it('one that sends an octet now and then is given up after ten minutes in all', async () => {
    let arrived: () => void = () => undefined;
    const base = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n');
      socket.on('data', () => undefined);
      sockets.push(socket);
    });
    const sockets: Socket[] = [];
    const s = transferOf();
    const transfer = failed(
      s.transfer.download(`${base}/fw.bin`, {
        signal,
        chunk: () => {
          arrived();
        },
      }),
    );
    for (let minute = 0; minute < 11; minute += 1) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
        if (minute > 0) sockets[0]?.write('1\r\nx\r\n');
      });
      s.timers.pass(55_000);
    }
    expect(await transfer).to.deep.equal(['broken', 'the server takes too long']);
  });

  it('a file that has no end, or announces too many octets, is too large; the connection ends', async () => {
    const ended: Promise<void>[] = [];
    const base = await serveRaw((socket) => {
      const end = gate();
      socket.on('close', end.open);
      ended.push(end.opened);
      socket.once('data', (request) => {
        if (request.toString().includes('/long')) {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n');
          return;
        }
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const more = () => {
          while (!socket.destroyed && socket.write(`400\r\n${'x'.repeat(1024)}\r\n`));
        };
        socket.on('drain', more);
        more();
      });
    });
    const s = transferOf();
    const tooLarge = ['too_large', 'the file has more than 1000 octets'];
    expect(await failed(s.download(`${base}/long`))).to.deep.equal(tooLarge);
    expect(s.pieces).to.have.lengthOf(0);
    expect(await failed(s.download(`${base}/endless`))).to.deep.equal(tooLarge);
    await Promise.all(ended);
    expect(ended).to.have.lengthOf(2);
  });

  const broken: Readonly<Record<string, string>> = {
    'a cut in the middle': 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf',
    'no answer but an end': '',
    'what is no HTTP': '220 files ready\r\n',
    'headers without an end': `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`,
  };
  for (const [name, octets] of Object.entries(broken))
    it(`${name}: broken`, async () => {
      const base = await serveRaw((socket) => {
        socket.once('data', () => {
          socket.end(octets);
        });
      });
      expect((await failed(transferOf().download(`${base}/fw.bin`)))[0]).to.equal('broken');
    });

  it('nobody listens: broken', async () => {
    const base = await serveRaw(() => undefined);
    await open.splice(0)[0]?.close();
    expect((await failed(transferOf().upload(`${base}/logs/`)))[0]).to.equal('broken');
  });

  const byStatus: readonly (readonly [status: number, failure: string])[] = [
    [204, 'broken'],
    [206, 'broken'],
    [400, 'bad_message'],
    [401, 'permission'],
    [403, 'permission'],
    [404, 'broken'],
    [413, 'too_large'],
    [415, 'bad_message'],
    [500, 'broken'],
    [503, 'broken'],
  ];
  it('statuses of a refusal', async () => {
    const server = await serve((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end();
    });
    for (const [status, failure] of byStatus) {
      expect(await failed(transferOf().download(`${server.base}/${status}`)), `GET ${status}`).to.deep.equal([
        failure,
        `the server answers ${status}`,
      ]);
      if (status < 300) continue;
      // `1.` makes it the name of a file
      const location = `${server.base}/${status}.0`;
      expect((await failed(transferOf().upload(location)))[0], `PUT ${status}`).to.equal(failure);
    }
  });

  it('POST where the server has no PUT; unsupported where it has neither', async () => {
    const server = await serve((request, response) => {
      const has = request.url?.startsWith('/post') === true && request.method === 'POST';
      response.writeHead(has ? 201 : 405).end();
    });
    await transferOf().upload(`${server.base}/post/`);
    expect(server.received.map(({ method, url, body }) => [method, url, body])).to.deep.equal([
      ['PUT', '/post/a.log', 'line\n'],
      ['POST', '/post/a.log', 'line\n'],
    ]);
    expect(server.received[1]?.headers).to.include({
      'content-length': '5',
      'content-disposition': 'attachment; filename="a.log"',
    });
    expect(await failed(transferOf().upload(`${server.base}/none/`))).to.deep.equal([
      'unsupported',
      'the server answers 405',
    ]);
  });

  it('a cancelled transfer ends at once, also one that was cancelled before', async () => {
    const asked = gate();
    const base = await serveRaw((socket) => {
      socket.once('data', () => {
        asked.open();
      });
    });
    const { transfer, timers } = transferOf();
    const ending = new AbortController();
    const act = failed(transfer.upload(`${base}/logs/`, file, ending.signal));
    await asked.opened;
    ending.abort();
    expect((await act)[0]).to.equal('cancelled');
    expect((await failed(transfer.upload(`${base}/logs/`, file, ending.signal)))[0]).to.equal('cancelled');
    expect(timers.waiting).to.equal(0);
  });

  describe('redirects', () => {
    const to = (routes: Readonly<Record<string, readonly [status: number, location: string]>>): RequestListener => {
      return (request, response) => {
        const [status, location] = routes[request.url ?? ''] ?? [200, ''];
        response.writeHead(status, location === '' ? {} : { location }).end('content');
      };
    };

    it('are followed three times, and not into a circle', async () => {
      const server = await serve(
        to({ '/1': [301, '/2'], '/2': [302, '3'], '/3': [307, '/fw.bin'], '/o': [308, '/o'] }),
      );
      expect(await transferOf().download(`${server.base}/1`)).to.deep.equal({ name: '1', octets: 7 });
      expect(await failed(transferOf().download(`${server.base}/o`))).to.deep.equal([
        'broken',
        'more than 3 redirects',
      ]);
    });

    it('carry an upload on, except 303', async () => {
      const server = await serve(to({ '/a/a.log': [307, '/b/a.log'], '/c/a.log': [303, '/b/a.log'] }));
      await transferOf().upload(`${server.base}/a/`);
      expect(server.received.at(-1)).to.deep.include({ method: 'PUT', url: '/b/a.log', body: 'line\n' });
      expect(await failed(transferOf().upload(`${server.base}/c/`))).to.deep.equal([
        'broken',
        'the server answers 303',
      ]);
    });

    it('give user and password to their own origin only', async () => {
      const other = await serve(to({}));
      const server = await serve(to({ '/own': [302, '/fw.bin'], '/other': [302, `${other.base}/fw.bin`] }));
      const base = server.base.replace('//', '//user:S3CR3T-marker@');
      await transferOf().download(`${base}/own`);
      await transferOf().download(`${base}/other`);
      const authorization = `Basic ${Buffer.from('user:S3CR3T-marker').toString('base64')}`;
      expect(server.received.map(({ headers }) => headers.authorization)).to.deep.equal([
        authorization,
        authorization,
        authorization,
      ]);
      expect(other.received.map(({ headers }) => headers.authorization)).to.deep.equal([undefined]);
    });

    it('lead to no other kind of transfer, no refused target, and nowhere without a location', async () => {
      const server = await serve(
        to({
          '/file': [302, 'file:///etc/passwd'],
          '/ftp': [302, 'ftp://127.0.0.1/fw.bin'],
          '/metadata': [302, 'http://[::ffff:169.254.169.254]/latest'],
          '/decimal': [302, 'http://2852039166/latest'],
          '/broken': [302, 'http://'],
        }),
      );
      const outcomes: Record<string, string> = {};
      for (const path of ['file', 'ftp', 'metadata', 'decimal', 'broken'])
        outcomes[path] = (await failed(transferOf().download(`${server.base}/${path}`)))[0];
      expect(outcomes).to.deep.equal({
        file: 'unsupported',
        ftp: 'unsupported',
        metadata: 'bad_location',
        decimal: 'bad_location',
        broken: 'bad_location',
      });
    });

    it('do not leave TLS; the server is one of the roots given, else broken', async () => {
      const { ca, server: identity } = await testPki();
      const plain = await serve(to({}));
      const server = await fileServer(to({ '/down': [302, `${plain.base}/fw.bin`] }), identity);
      open.push(server);
      const trusting = () => transferOf({ roots: () => [ca.cert] });
      expect(await trusting().download(`${server.base}/fw.bin`)).to.deep.equal({ name: 'fw.bin', octets: 7 });
      expect(await failed(trusting().download(`${server.base}/down`))).to.deep.equal([
        'bad_location',
        'the server redirects from HTTPS to HTTP',
      ]);
      expect((await failed(transferOf().download(`${server.base}/fw.bin`)))[0]).to.equal('broken');
      expect(plain.received).to.deep.equal([]);
    });
  });
});
