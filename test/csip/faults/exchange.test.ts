/** What faults of the client do to what a server gets, over HTTP. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { callLater } from '../../../src/core/time/timers.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { simTimeFromMs, systemClock } from '../../../src/core/time/clock.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import { createCsipDisturber } from '../../../src/csip/faults/disturber.ts';
import type { SepRequest } from '../../../src/csip/transport/exchange.ts';
import { csipChannel } from '../../../src/csip/transport/messages.ts';
import { HttpExchange } from '../../../src/csip/transport/sep-exchange.ts';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import {
  clockSkewFault,
  delayFault,
  dropFault,
  duplicateFault,
  malformedXmlFault,
  missingElementFault,
  suppressFault,
  wrongContentTypeFault,
} from '../../../src/fault-kinds/csip.ts';
import { FaultBench } from '../../support/faults.ts';

interface Got {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const status: SepRequest = {
  method: 'PUT',
  href: '/edev/0/der/0/ders',
  resource: 'DERStatus',
  deviceIndex: 0,
  body: { name: 'DERStatus', value: { readingTime: 1000 } },
};

describe('faults of the client of IEEE 2030.5, over HTTP', () => {
  let server: Server;
  let got: Got[];
  let bench: FaultBench;
  let exchange: HttpExchange;
  let waits: number[];

  beforeEach(async () => {
    got = [];
    waits = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (bytes: Buffer) => (body += bytes.toString()));
      request.on('end', () => {
        got.push({ method: request.method, headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bench = new FaultBench([0]);
    const log = createLogBook({ write: () => undefined }).logger('CSIP');
    const channel = csipChannel(new WireLog({ clock: systemClock, sim: () => simTimeFromMs(0), log }));
    channel.record(true, { source: 'rest' });
    exchange = new HttpExchange({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      tls: null,
      allowedHosts: [],
      anywhere: true,
      codec: { parse: parseDocument, build: (document) => buildDocument(document, { revision: '2018', aus: null }) },
      clock: systemClock,
      later(ms, act) {
        // the waits of a fault pass at once
        if (ms === 12_345) waits.push(ms);
        return ms === 12_345 ? callLater(0, act) : callLater(ms, act);
      },
      channel,
      disturber: createCsipDisturber({ registry: bench.registry, holds: () => true }),
    });
  });
  afterEach(async () => {
    await exchange.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const failure = (request: SepRequest) =>
    exchange.request(request).then(
      () => null,
      (error: unknown) => (error as { code?: string }).code,
    );

  it('spoils documents and headers, and tells the truth again afterwards', async () => {
    bench.inject(clockSkewFault, { skew_s: 60 });
    bench.inject(wrongContentTypeFault, { content_type: 'application/json' });
    expect((await exchange.request(status)).status).to.equal(204);
    expect(got[0]?.body).to.contain('<readingTime>1060</readingTime>');
    expect(got[0]?.headers['content-type']).to.equal('application/json');
    bench.registry.clear();
    bench.inject(missingElementFault, { elements: ['readingTime'] });
    await exchange.request(status);
    expect(got[1]?.body).to.match(/<DERStatus[^>]*><\/DERStatus>$/);
    bench.registry.clear();
    bench.inject(malformedXmlFault, { mode: 'not_closed' });
    await exchange.request(status);
    expect(got[2]?.body).to.match(/<\/readingTime>$/);
    bench.registry.clear();
    await exchange.request(status);
    expect(got[3]?.body).to.match(/<readingTime>1000<\/readingTime><\/DERStatus>$/);
    expect(got[3]?.headers['content-type']).to.equal('application/sep+xml');
  });

  it('sends twice, late, or not at all', async () => {
    bench.inject(duplicateFault, {}, { count: 1 });
    await exchange.request(status);
    expect(got.map(({ method }) => method)).to.deep.equal(['PUT', 'PUT']);
    bench.inject(delayFault, { delay_ms: 12_345 }, { count: 1 });
    await exchange.request(status);
    expect([got.length, waits]).to.deep.equal([3, [12_345]]);
    bench.inject(dropFault, {}, { count: 1 });
    expect(await failure(status)).to.equal('PEER_TIMEOUT');
    bench.inject(suppressFault, {}, { count: 1 });
    expect((await exchange.request(status)).status).to.equal(204);
    expect(got).to.have.length(3);
    await exchange.request(status);
    expect(got).to.have.length(4);
  });
});
