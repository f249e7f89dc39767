import { expect } from 'chai';
import { Membership, ClaimError } from '../../../src/fleet/registry/membership.ts';
import type { MembershipOptions } from '../../../src/fleet/registry/membership.ts';
import { Observer } from '../../../src/fleet/registry/observer.ts';
import { decodedLease, decodedRoster, encoded, leaseKey, rosterKey } from '../../../src/fleet/registry/roster.ts';
import { pick } from '../../support/depth.ts';
import { casesOf } from '../../support/random.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { MemoryServer } from '../support/memory-link.ts';
import type { MemoryLink } from '../support/memory-link.ts';

const traits = { version: '0.3.0', apiVersion: '1.16.0', settings: { seed: '7', tick: '1.5' } };
const quiet = { info: () => undefined, warning: () => undefined };

/** A server whose lease bucket is old, so that a missing lease means a lost shard. */
function rig() {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const server = new MemoryServer(() => wall.monotonicMs());
  wall.advance(10_000);
  const lost: string[] = [];
  const shard = (name: string, first: number, more: Partial<MembershipOptions> = {}) => {
    const link = server.link();
    const membership = new Membership({
      link,
      shard: name,
      session: `${name}-${first}-${link.server}-${Math.trunc(wall.ms)}`,
      first,
      room: 10,
      traits,
      details: () => ({ count: 10, host: 'lab', http: '', ports: {}, tick: 0, simUs: 0, pid: 4711 }),
      clock: wall,
      later: timers.later,
      log: quiet,
      waitMs: 0,
      onLost: (reason) => lost.push(reason),
      ...more,
    });
    return { link, membership };
  };
  /** Passes time in steps in which requests settle. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      timers.pass(250);
      for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
    }
  };
  return { wall, timers, server, lost, shard, pass };
}

const refusalOf = (work: Promise<void>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ClaimError ? `${error.code}: ${error.message}` : String(error)),
  );

/** Lets the requests of two shards through to the server in a given order. */
class Turns {
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Set<string>();
  #isFree = false;

  /** From now on each request of a connection waits for a turn of its shard. */
  gate(link: MemoryLink, name: string): void {
    this.#waiting.set(name, []);
    for (const bucket of [link.leases, link.shared]) {
      const direct = { ...bucket };
      const turn = () =>
        this.#isFree ? Promise.resolve() : new Promise<void>((go) => this.#waiting.get(name)?.push(go));
      Object.assign(bucket, {
        ageMs: () => turn().then(() => direct.ageMs()),
        get: (key: string) => turn().then(() => direct.get(key)),
        create: (key: string, value: Uint8Array) => turn().then(() => direct.create(key, value)),
        update: (key: string, value: Uint8Array, revision: number) =>
          turn().then(() => direct.update(key, value, revision)),
        delete: (key: string) => turn().then(() => direct.delete(key)),
      });
    }
  }

  /** Counts work as running until it has ended. */
  async run<T>(name: string, work: Promise<T>): Promise<T> {
    this.#running.add(name);
    try {
      return await work;
    } finally {
      this.#running.delete(name);
    }
  }

  /** Gives turns until no work runs: to the shard of the letter where it waits, else to the other one. */
  async follow(order: string): Promise<void> {
    for (let at = 0; this.#running.size > 0; at += 1) {
      await new Promise(setImmediate);
      const letter = order[at % order.length] ?? '';
      const queues = [this.#waiting.get(letter) ?? [], ...this.#waiting.values()];
      queues.find(({ length }) => length > 0)?.shift()?.();
    }
  }

  /** Lets all requests through from now on. */
  free(): void {
    this.#isFree = true;
    for (const queue of this.#waiting.values()) for (const go of queue.splice(0)) go();
  }
}

/** Orders of turns of the shards a and b, drawn. */
function orders(count: number): readonly string[] {
  const random = casesOf('fleet', 'orders');
  return Array.from({ length: pick({ quick: count / 4, ci: count, full: 10 * count }) }, () =>
    Array.from({ length: 24 }, () => (random.next() < 0.5 ? 'a' : 'b')).join(''),
  );
}

describe('fleet/registry: the claim of a shard', () => {
  it('has a range of its own: one device in common is refused with the holder, the next range is not', async () => {
    const { shard } = rig();
    await shard('a', 100).membership.join();
    const holder = 'the devices 100..109 belong to the shard "a" on lab (pid 4711)';
    for (const first of [91, 109]) expect(await refusalOf(shard('b', first).membership.join())).to.contain(holder);
    for (const [name, first] of [
      ['c', 90],
      ['d', 110],
    ] as const)
      expect(await refusalOf(shard(name, first).membership.join())).to.equal('none');
  });

  it('is that of the fleet: another setting or minor version is refused by name, another patch level is not', async () => {
    const { shard } = rig();
    await shard('a', 0).membership.join();
    const join = (more: Partial<typeof traits>) =>
      refusalOf(shard('b', 10, { traits: { ...traits, ...more } }).membership.join());
    expect(await join({ settings: { seed: '8', tick: '1.5' } })).to.equal(
      'skew: this shard does not fit the fleet: seed: the fleet has 7, this shard 8',
    );
    expect(await join({ settings: { seed: '7', tick: '0.2' }, version: '0.4.0', apiVersion: '1.17.0' })).to.equal(
      'skew: this shard does not fit the fleet: tick: the fleet has 1.5, this shard 0.2; ' +
        'version: the fleet has 0.3, this shard 0.4; version of REST: the fleet has 1.16.0, this shard 1.17.0',
    );
    expect(await join({ version: '0.3.7' })).to.equal('none');
  });

  it('passes to another process when its lease has ended, with a higher epoch', async () => {
    const { shard, pass, wall, timers } = rig();
    const first = shard('a', 0);
    await first.membership.join();
    first.link.set('offline');
    await pass(3750);
    expect(await refusalOf(shard('a', 0).membership.join())).to.contain('belong to the shard "a"');
    await pass(500);
    const second = shard('a', 0);
    await second.membership.join();
    expect(second.membership.epoch).to.be.above(first.membership.epoch);
    const gateway = new Observer({
      link: second.link,
      clock: wall,
      later: timers.later,
      onFailure: (error) => {
        throw error;
      },
    });
    gateway.start();
    await pass(250);
    const { epoch } = second.membership;
    expect(gateway.shards.get('a')?.lease.epoch).to.equal(epoch);
    gateway.stop();
  });

  it('is lost once where another session has the lease, and is kept where nobody has', async () => {
    const { shard, pass, lost, server } = rig();
    const { membership, link } = shard('a', 0);
    await membership.join();
    const key = leaseKey('a');
    await link.leases.delete(key);
    await pass(1500);
    const again = server.leases.get(key);
    expect([lost, again === null]).to.deep.equal([[], false]);
    if (again === null) return;
    const other = { ...decodedLease(again.value), session: 'another' };
    await link.leases.update(key, encoded(other), again.revision);
    await pass(4000);
    expect(lost).to.deep.equal(['another process has taken the shard "a"']);
    await membership.leave();
    expect(server.leases.get(key)).to.equal(null);
  });

  it('is written again by all shards at once where the server has lost its store', async () => {
    const { shard, lost, server } = rig();
    const shards = Array.from({ length: 12 }, (_, at) => shard(`s${at}`, 10 * at));
    for (const { membership } of shards) await membership.join();
    const epochs = shards.map(({ membership }) => membership.epoch);
    for (const { link } of shards) link.set('offline');
    server.lose();
    for (const { link } of shards) link.set('connected');
    // no time passes: nobody waits for the next renewal
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    const { entries } = decodedRoster(server.shared.get(rosterKey)!.value);
    expect(entries.map(({ epoch }) => epoch)).to.deep.equal(epochs);
    expect([server.leases.entries.length, lost]).to.deep.equal([12, []]);
  });

  it('is that of one shard where two begin at once, in whichever order the server hears them', async () => {
    for (const order of orders(400)) {
      const { shard, server, lost, pass } = rig();
      const turns = new Turns();
      const rivals = (['a', 'b'] as const).map((name) => {
        const { link, membership } = shard(name, name === 'a' ? 0 : 5);
        turns.gate(link, name);
        return turns.run(name, refusalOf(membership.join()));
      });
      await turns.follow(order);
      const results = await Promise.all(rivals);
      const joined = (['a', 'b'] as const).filter((_, at) => results[at] === 'none');
      const { entries } = decodedRoster(server.shared.get(rosterKey)!.value);
      const seen = [joined.length <= 1, entries.map(({ shard: name }) => name), server.leases.entries.length];
      expect(seen, `order ${order}: ${results.join('; ')}`).to.deep.equal([
        true,
        joined.length === 1 ? joined : seen[1],
        joined.length,
      ]);
      turns.free();
      await pass(2000);
      expect(lost, order).to.deep.equal([]);
    }
  });

  it('is lost where its lease ended and a rival has replaced it, in whichever order the server hears them', async () => {
    for (const order of orders(400)) {
      const { shard, server, lost, pass, timers } = rig();
      const turns = new Turns();
      const paused = shard('a', 0);
      await paused.membership.join();
      await paused.link.leases.delete(leaseKey('a'));
      turns.gate(paused.link, 'a');
      const rival = shard('b', 5);
      turns.gate(rival.link, 'b');
      timers.pass(1000);
      const join = turns.run('b', refusalOf(rival.membership.join()));
      await turns.follow(order);
      const isJoined = (await join) === 'none';
      turns.free();
      await pass(2000);
      expect(lost.length, order).to.equal(isJoined ? 1 : 0);
      expect(
        server.leases.entries.map(({ key }) => key),
        order,
      ).to.deep.equal([leaseKey(isJoined ? 'b' : 'a')]);
    }
  });

  it('ends with its lease, of which a gateway knows at once', async () => {
    const { shard, pass, server, wall, timers } = rig();
    const { membership } = shard('a', 0);
    const events: string[] = [];
    const gateway = new Observer({ link: server.link(), clock: wall, later: timers.later, onFailure: () => undefined });
    gateway.onEvent(({ kind, shard: name }) => events.push(`${name} ${kind}`));
    gateway.start();
    await membership.join();
    await pass(2000);
    await membership.leave();
    await pass(250);
    expect(events).to.deep.equal(['a joined', 'a left']);
    gateway.stop();
  });
});
