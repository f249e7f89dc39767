import { expect } from 'chai';
import { TickPublisher } from '../../../src/fleet/shard/ticks.ts';
import { decodeTick } from '../../../src/fleet/messages.ts';
import { inverterStates } from '../../../src/contract/snapshot.ts';
import { testPlant } from '../../support/plant.ts';
import { MemoryServer } from '../support/memory-link.ts';

function rig({ devices = false } = {}) {
  const plant = testPlant();
  const server = new MemoryServer();
  const link = server.link();
  const lines: string[] = [];
  const publisher = new TickPublisher({
    link,
    plant,
    prefix: 'lab',
    shard: 'b',
    session: 'Q3',
    epoch: () => 9,
    devices,
    log: { info: (line) => lines.push(line), warning: (line) => lines.push(line) },
  });
  const parts = () =>
    server.published.flatMap(({ subject, body }) => (subject === 'lab.tick.b' ? [decodeTick(body)] : []));
  const heads = () => parts().map(({ head: { tick, first } }) => [tick, first]);
  /** A tick, after which the flush of its message has settled where nothing holds it. */
  const step = async () => {
    await plant.step(1);
    await new Promise(setImmediate);
  };
  return { lines, step, plant, server, link, publisher, parts, heads };
}

describe('fleet: ticks of a shard', () => {
  it('have the snapshots of REST and the columns of the devices', async () => {
    const { step, plant, parts } = rig();
    await step();
    const [part] = parts();
    const { latest, devices } = plant;
    expect(part?.head).to.include({ session: 'Q3', epoch: 9, tick: latest.tick, simUs: latest.sim, parts: 1 });
    expect(part?.json.map(String)).to.deep.equal(latest.published.map(({ json }) => json.toString()));
    expect([...(part?.index ?? [])]).to.deep.equal(devices.map(({ index }) => index));
    expect([...(part?.injectW ?? [])]).to.deep.equal(devices.map(({ available }) => available.injectW));
    const shown = latest.published.map(({ snapshot }) => snapshot);
    expect([...(part?.powerW ?? [])]).to.deep.equal(shown.map(({ metrics }) => metrics.power_kw * 1000));
    expect([...(part?.inverterState ?? [])].map((code) => inverterStates[code])).to.deep.equal(
      shown.map(({ status }) => status.inverter_state),
    );
  });

  it('are the first ones once, and again after the server was away, when those between count as missed', async () => {
    const { step, link, publisher, heads } = rig();
    await step();
    await step();
    link.set('offline');
    await step();
    await step();
    expect(heads()).to.deep.equal([
      [1, true],
      [2, false],
    ]);
    expect(publisher.missed).to.equal(2);
    link.set('connected');
    await new Promise(setImmediate);
    await step();
    expect(heads().slice(2)).to.deep.equal([
      [4, true],
      [5, false],
    ]);
  });

  it('wait for nothing: one is not sent while the last one is under way', async () => {
    const { step, link, publisher, heads, lines } = rig();
    let arrive: () => void = () => undefined;
    link.flushing = () => new Promise((resolve) => (arrive = resolve));
    await step();
    await step();
    expect([heads().length, publisher.missed]).to.deep.equal([1, 1]);
    arrive();
    await new Promise(setImmediate);
    await step();
    expect(heads().map(([tick]) => tick)).to.deep.equal([1, 3]);
    expect(lines).to.deep.equal([
      'ticks are not sent to the fleet: its server takes them too slowly',
      'ticks are sent to the fleet again; 1 were not sent',
    ]);
  });

  it('are sent again to a receiver that asks while one is under way, once that has left', async () => {
    const { step, link, publisher, heads } = rig();
    let arrive: () => void = () => undefined;
    link.flushing = () => new Promise((resolve) => (arrive = resolve));
    await step();
    publisher.repeat();
    expect(heads()).to.deep.equal([[1, true]]);
    arrive();
    await new Promise(setImmediate);
    expect(heads()).to.deep.equal([
      [1, true],
      [1, true],
    ]);
  });

  it('leave in parts, between which requests are answered', () => {
    const published = Array.from({ length: 1500 }, (_, index) => ({
      snapshot: { device_index: index, metrics: {}, status: {} },
      json: Buffer.alloc(900, ' '),
    }));
    const plant = testPlant();
    const event = { ...plant.latest, tick: 1, published: published as unknown as typeof plant.latest.published };
    let work: (tick: typeof event) => Iterable<undefined> = () => [];
    const server = new MemoryServer();
    const link = server.link();
    const publisher = new TickPublisher({
      link,
      plant: {
        devices: [],
        latest: event,
        health: plant.health,
        time: plant.time,
        site: plant.site,
        sitePowerW: () => 0,
        fleetPart: plant.fleetPart,
        onTickInParts(follow) {
          work = follow;
          return () => undefined;
        },
      },
      prefix: 'lab',
      shard: 'b',
      session: 'Q3',
      epoch: () => 9,
      devices: false,
      log: { info: () => undefined, warning: () => undefined },
    });
    const sentAfter = [...work(event)].map(() => undefined);
    expect([sentAfter.length, server.published.length, publisher.sent]).to.deep.equal([3, 3, 1]);
    const steps = work({ ...event, tick: 4 })[Symbol.iterator]();
    steps.next();
    link.set('offline');
    steps.next();
    expect([publisher.sent, publisher.missed]).to.deep.equal([1, 1]);
    link.set('connected');
    // numbers 2 and 3 have never been those of a tick
    expect(decodeTick(server.published.at(-1)?.body ?? Buffer.alloc(0)).head).to.include({ unused: 2, first: true });
  });

  it('have a subject per device on request alone', async () => {
    for (const devices of [false, true]) {
      const { step, plant, server } = rig({ devices });
      await step();
      const subjects = server.published.flatMap(({ subject }) => (subject.startsWith('lab.dev.') ? [subject] : []));
      expect(subjects).to.deep.equal(devices ? plant.devices.map(({ index }) => `lab.dev.${index}`) : []);
    }
  });

  it('end with the publisher', async () => {
    const { step, publisher, heads } = rig();
    publisher.stop();
    await step();
    expect(heads()).to.deep.equal([]);
  });
});
