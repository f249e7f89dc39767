import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { expect } from 'chai';
import createMdns from 'multicast-dns';
import { service, subtype, discoverServers } from '../../../src/csip/discovery.ts';
import { SimError } from '../../../src/core/errors.ts';
import { skip } from '../../support/skip.ts';

const group = '224.0.0.251';
const loopback = '127.0.0.1';
const instance = `Head end.${service}`;

/** A port on which this machine sends to the group and hears itself; null: it cannot. */
async function multicastPort(): Promise<number | null> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  try {
    socket.bind(0, '0.0.0.0');
    await once(socket, 'listening');
    socket.addMembership(group, loopback);
    socket.setMulticastInterface(loopback);
    const { port } = socket.address();
    const heard = once(socket, 'message', { signal: AbortSignal.timeout(5000) });
    socket.send('x', port, group);
    await heard;
    return port;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

describe('discovery of servers over multicast DNS', () => {
  let network: { readonly interface: string; readonly port: number };
  let responder: ReturnType<typeof createMdns>;
  const asked: string[] = [];

  before(async function () {
    const port = await multicastPort();
    if (port === null) skip(this, 'this machine has no multicast on loopback');
    network = { interface: loopback, port };
    responder = createMdns({ ...network, bind: '0.0.0.0' });
    // it answers one question at a time: pointers, then the instance, then the host
    responder.on('query', ({ questions }) => {
      for (const { name, type } of questions ?? []) {
        asked.push(`${type} ${name}`);
        if (name === service) responder.respond([{ type: 'PTR', name, ttl: 120, data: instance }]);
        else if (name === instance && type === 'SRV')
          responder.respond([{ type: 'SRV', name, ttl: 120, data: { target: 'head-end.local', port: 80 } }]);
        else if (name === instance)
          responder.respond([
            { type: 'TXT', name, ttl: 120, data: ['txtvers=1', 'dcap=/dcap', 'https=8443', 'level=-S1'] },
          ]);
        else if (type === 'A') responder.respond([{ type: 'A', name, ttl: 120, data: '127.0.0.1' }]);
      }
    });
    await once(responder, 'ready');
  });
  after(async () => {
    await new Promise<void>((resolve) => {
      if ((responder as typeof responder | undefined) === undefined) resolve();
      else responder.destroy(resolve);
    });
  });

  it('finds a server, asking for what it has not been told', async () => {
    const found = await discoverServers({ network, enough: 1 });
    expect(found).to.deep.equal([
      {
        name: 'Head end',
        host: 'head-end.local',
        addresses: ['127.0.0.1'],
        port: 80,
        httpsPort: 8443,
        dcap: '/dcap',
        level: '-S1',
        permitted: true,
      },
    ]);
    expect(asked).to.include.members([
      `PTR ${service}`,
      `PTR ${subtype}`,
      `SRV ${instance}`,
      `TXT ${instance}`,
      'A head-end.local',
    ]);
  });

  it('ends at its time with what is known, and after an abort', async () => {
    const calls: { readonly ms: number; readonly run: () => void }[] = [];
    const later = (ms: number, run: () => void) => {
      calls.push({ ms, run });
      return () => undefined;
    };
    const whole = discoverServers({ network, later, timeoutMs: 2000 });
    const first = once(responder, 'query');
    await first;
    expect(calls.map(({ ms }) => ms)).to.deep.equal([1000, 2000]);
    // the repetition is one more query
    const second = once(responder, 'query');
    calls[0]!.run();
    await second;
    calls[1]!.run();
    expect((await whole).length).to.be.below(2);
    const controller = new AbortController();
    const aborted = discoverServers({ network, later, signal: controller.signal, limit: 0 });
    await once(responder, 'query');
    controller.abort();
    expect(await aborted).to.deep.equal([]);
    expect(await discoverServers({ signal: controller.signal })).to.deep.equal([]);
  });

  it('survives packets that are no DNS, and floods', async () => {
    const socket = createSocket('udp4');
    socket.bind(0, loopback);
    await once(socket, 'listening');
    const found = discoverServers({ network, enough: 1 });
    for (let count = 0; count < 50; count++) socket.send(Buffer.alloc(count, 0xff), network.port, loopback);
    expect(await found).to.have.length(1);
    socket.close();
  });

  it('says that this machine has no multicast DNS', async () => {
    const failure = await discoverServers({ network: { interface: '192.0.2.1', port: network.port } }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(SimError);
    expect((failure as SimError).code).to.equal('PEER_ERROR');
    expect((failure as SimError).message).to.match(/^multicast DNS is not possible: /);
  });
});
