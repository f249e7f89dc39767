import { expect } from 'chai';
import type { Disturber } from '../../../../src/sunspec/modbus/server/context.ts';
import { RawClient } from '../../../support/modbus-client.ts';
import { answer100, infos, read100, TlsRigs, until } from '../../../support/modbus-tls.ts';
import { testPki } from '../../../support/pki.ts';
import type { TestPki } from '../../../support/pki.ts';
import { spentMs } from '../../../support/spent.ts';

describe('Modbus/TCP Security: a handshake that is not finished', () => {
  let pki: TestPki;
  let rigs: TlsRigs;

  before(async () => {
    pki = await testPki();
    rigs = new TlsRigs(pki);
  });
  afterEach(() => rigs.end());

  it('silence ends after the time for a handshake, by the injected clock', async () => {
    const made = await rigs.rig();
    const silent = await rigs.openRaw(made);
    const halfway = await rigs.openRaw(made);
    halfway.send('16030100c8');
    await until(() => made.context.counters.acceptedConnections === 2);
    made.clock.advance(9999);
    made.context.sweeper.sweep();
    expect(silent.closed || halfway.closed).to.equal(false);
    made.clock.advance(1);
    made.context.sweeper.sweep();
    await Promise.all([silent.untilClosed(), halfway.untilClosed()]);
    await until(() => made.context.counters.handshakeFailures === 2);
    expect(infos(made)).to.deep.equal(
      Array.from({ length: 2 }, () => 'info PEER: no TLS session: it was not finished in time'),
    );
  });

  it('takes no place of a connection, however few of these there are', async () => {
    const made = await rigs.rig({}, { limits: { maxConnections: 1 } });
    for (let i = 0; i < 20; i += 1) await rigs.openRaw(made);
    await until(() => made.context.counters.acceptedConnections === 20);
    const client = await rigs.open(made);
    expect(await client.request(read100)).to.equal(answer100);
    expect(made.context.counters).to.include({ refusedConnections: 0, handshakeFailures: 0 });
    const second = await rigs.openRaw(made);
    await second.untilClosed();
    expect(made.context.counters.refusedConnections).to.equal(1);
  });

  it('500 that are held on to keep no master out: beyond 256 the oldest gives way', async () => {
    const made = await rigs.rig({}, { limits: { maxConnections: 100 } });
    const halfOpen: RawClient[] = [];
    for (let i = 0; i < 500; i += 1) {
      const client = await rigs.openRaw(made);
      if (i % 2 === 0) client.send('16030100c80100');
      halfOpen.push(client);
    }
    await until(() => made.context.counters.acceptedConnections === 500);
    await Promise.all(halfOpen.slice(0, 244).map((client) => client.untilClosed()));
    for (let i = 0; i < 20; i += 1) expect(await (await rigs.open(made)).request(read100)).to.equal(answer100);
    expect(halfOpen.filter(({ closed }) => closed)).to.have.lengthOf(245);
    expect(halfOpen.slice(245).some(({ closed }) => closed)).to.equal(false);
    expect(made.context.counters).to.include({ refusedConnections: 0, handshakeFailures: 245 });
    expect(infos(made)[0]).to.equal('info PEER: no TLS session: too many other handshakes were unfinished');
    made.clock.advance(10_000);
    made.context.sweeper.sweep();
    await until(() => made.context.counters.handshakeFailures === 500);
    expect(made.server.connectionCount).to.equal(20);
  });

  it('closes no idle session at the cap, which a finished one does', async () => {
    const made = await rigs.rig({}, { limits: { maxConnections: 1 } });
    const idle = await rigs.open(made);
    expect(await idle.request(read100)).to.equal(answer100);
    made.clock.advance(60_001);
    await rigs.openRaw(made);
    await until(() => made.context.counters.acceptedConnections === 2);
    expect(made.server.connectionCount).to.equal(1);
    expect(idle.closed).to.equal(false);
    expect(await (await rigs.open(made)).request(read100)).to.equal(answer100);
    await idle.untilClosed();
    expect(made.server.connectionCount).to.equal(1);
  });

  it('finds the last place taken when two begin at one time', async () => {
    const made = await rigs.rig({}, { limits: { maxConnections: 1 } });
    const both = Array.from({ length: 2 }, () => RawClient.over(rigs.connect(made, pki.clients.ReadOnlySunSpec)));
    await until(() => made.context.counters.refusedConnections === 1);
    await until(() => both.filter(({ closed }) => closed).length === 1);
    const left = both.find(({ closed }) => !closed);
    expect(await left?.request(read100)).to.equal(answer100);
  });

  it('is a connection to fault injection, which may close it for another, and that is no failure', async () => {
    const open: number[] = [];
    const disturber: Disturber = {
      active: true,
      cuts: () => false,
      shutForMs: () => 0,
      onChange: () => () => undefined,
      aliasOf: () => undefined,
      onRequest: () => null,
      onConnect(_, before) {
        open.push(before);
        return before < 2 ? { kind: 'serve' } : { kind: 'serve', left: 0 };
      },
    };
    const made = await rigs.rig({}, { disturber });
    const halfOpen = [await rigs.openRaw(made), await rigs.openRaw(made)];
    const client = await rigs.open(made);
    await Promise.all(halfOpen.map((each) => each.untilClosed()));
    expect(await client.request(read100)).to.equal(answer100);
    expect([open, made.context.counters.handshakeFailures]).to.deep.equal([[0, 1, 2], 0]);
  });

  it('does not keep a listener from closing, those that gave way and those that are just coming to a session among them', async () => {
    const made = await rigs.rig({}, { limits: { maxConnections: 1 } });
    for (let i = 0; i < 260; i += 1) await rigs.openRaw(made);
    const coming = Array.from({ length: 3 }, () => RawClient.over(rigs.connect(made, pki.clients.ReadOnlySunSpec)));
    await until(() => made.context.counters.acceptedConnections >= 262);
    await made.server.close();
    await Promise.all(coming.map((client) => client.untilClosed()));
    expect([made.server.connectionCount, made.server.port]).to.deep.equal([0, 0]);
  });

  it('200 half-open handshakes and 100 resets do not keep others from being served', async () => {
    const made = await rigs.rig();
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const client = await rigs.openRaw(made);
        if (i % 2 === 0) client.send('16030100c80100');
      }),
    );
    for (let i = 0; i < 100; i += 1) (await rigs.openRaw(made)).socket.resetAndDestroy();
    const begin = spentMs();
    const client = await rigs.open(made);
    for (let i = 0; i < 50; i += 1) expect(await client.request(read100)).to.equal(answer100);
    expect(spentMs() - begin).to.be.lessThan(2000);
    await until(() => made.context.counters.handshakeFailures >= 100);
    expect(made.server.clients()).to.have.lengthOf(1);
  });
});
