import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import type { Disturbable, Disturbance } from '../../../src/csip/transport/exchange.ts';
import type { ExchangeOptions } from '../../../src/csip/transport/sep-exchange.ts';
import { exchangeWith, get, PeerServer, post, refusalOf, testChannel } from './support.ts';

/** A document, and a redirect to it. */
const answers: RequestListener = (request, response) => {
  if (request.url === '/old') response.writeHead(302, { location: '/tm' }).end();
  else response.setHeader('content-type', 'application/sep+xml').end('<Time/>');
};

describe('exchange: faults and messages', () => {
  const open: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  const server = async () => {
    const peer = await PeerServer.open(null, answers);
    open.push(peer);
    return peer;
  };
  const client = (port: number, more: Partial<ExchangeOptions>) => {
    const made = exchangeWith(port, more);
    open.push(made);
    return made;
  };

  it('a disturber is asked while it is active: it delays, drops and replaces', async () => {
    const peer = await server();
    const asked: Disturbable[] = [];
    let next: Disturbance | null = null;
    const disturber = {
      active: false,
      disturb(request: Disturbable) {
        asked.push(request);
        return next;
      },
    };
    const waits: { ms: number; run: () => void }[] = [];
    const exchange = client(peer.port, {
      disturber,
      later: (ms, run) => {
        const wait = { ms, run };
        waits.push(wait);
        return () => waits.splice(waits.indexOf(wait), 1);
      },
    });
    await exchange.request(get('/tm?s=0'));
    expect(asked).to.be.empty;
    disturber.active = true;
    await exchange.request(get('/tm?s=0'));
    expect(asked).to.deep.equal([{ method: 'GET', resource: 'Time', deviceIndex: 0, path: '/tm', body: null }]);
    next = { drop: true };
    const { length: before } = peer.requests;
    expect(await refusalOf(exchange.request(get('/tm')))).to.deep.equal({
      code: 'PEER_TIMEOUT',
      message: 'the request was dropped by a fault',
    });
    expect(peer.requests).to.have.lengthOf(before);
    next = { body: { name: 'Time', value: { currentTime: 1 } } as never };
    await exchange.request(post('/rsp'));
    expect(peer.requests.at(-1)?.body).to.equal('<Time>{"currentTime":1}</Time>');
    next = { delayMs: 5000 };
    const late = exchange.request(get('/tm'));
    const givingUp = new AbortController();
    const never = refusalOf(exchange.request(get('/tm', { signal: givingUp.signal })));
    expect(waits.map(({ ms }) => ms)).to.deep.equal([5000, 5000]);
    givingUp.abort();
    expect((await never).code).to.equal('NOT_CONNECTED');
    expect(peer.requests).to.have.lengthOf(before + 1);
    waits[0]?.run();
    expect((await late).status).to.equal(200);
    const ended = refusalOf(exchange.request(get('/tm')));
    await exchange.close();
    expect((await ended).code).to.equal('NOT_CONNECTED');
  });

  it('each request and redirect is a message with its headers and bodies', async () => {
    const peer = await server();
    const channel = testChannel();
    const exchange = client(peer.port, { channel });
    await exchange.request(post('/old'));
    expect(channel.count).to.equal(0);
    channel.record(true, { source: 'rest', peer: '127.0.0.1:1' });
    await exchange.request(post('/old', { deviceIndex: 3 }));
    await peer.close();
    await refusalOf(exchange.request(get('/tm')));
    const entries = channel.list();
    expect(entries.map(({ summary }) => summary.replaceAll(/:\d+/g, ''))).to.deep.equal([
      'POST http://127.0.0.1/old 302',
      'POST http://127.0.0.1/tm 200',
      'GET http://127.0.0.1/tm cannot connect to tcp://127.0.0.1: the connection was refused',
    ]);
    expect(entries.map((entry) => channel.decode(entry))).to.deep.equal([
      { requestBody: '<Time>{"currentTime":7}</Time>', responseBody: null },
      { requestBody: '<Time>{"currentTime":7}</Time>', responseBody: '<Time/>' },
      { requestBody: null, responseBody: null },
    ]);
    expect(entries[1]).to.deep.include({ deviceIndex: 3, direction: 'out', kind: 'POST' });
    expect(entries[1]?.facts.responseHeaders).to.include({ 'content-type': 'application/sep+xml' });
  });
});
