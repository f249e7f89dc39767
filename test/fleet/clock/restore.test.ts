import { expect } from 'chai';
import { joinFleet } from '../../../src/fleet/clock/join.ts';
import { ClockMember } from '../../../src/fleet/clock/member.ts';
import { clockMessage, clockSubject } from '../../../src/fleet/clock/messages.ts';
import { clockKey, decodedRecord, encodedRecord } from '../../../src/fleet/clock/record.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import { testPlant } from '../../support/plant.ts';
import { clockRecord, handTime, quietLog } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';

/** A shard in free run at the tenth tick, with its server and the time. */
async function running(over: Partial<ClockRecord> = {}, joinsAfterTicks = 10) {
  const { wall, timers, pass, settle } = handTime();
  const server = new MemoryServer(() => wall.monotonicMs());
  const record = clockRecord({ seq: 7, sim0Us: testPlant().now, wall0Ms: wall.ms - joinsAfterTicks * 1500, ...over });
  await server.link().shared.create(clockKey, encodedRecord(record));
  const plant = testPlant({ wall, mode: 'accelerated', joinsAfterTicks });
  const link = server.link();
  const around = { wall, later: timers.later, sent: () => Promise.resolve() };
  const warnings: string[] = [];
  const log = { ...quietLog, warning: (text: string) => warnings.push(text) };
  const anchors = new Map([['pv', 3]]);
  const member = new ClockMember({
    link,
    prefix: 'lab',
    shard: 'a',
    epoch: () => 1,
    plant,
    record,
    anchors,
    log,
    ...around,
  });
  await member.open();
  member.startTicks();
  await settle();
  /** The server ends, and comes back with what `change` makes of its store. */
  const outage = async (change: () => void = () => undefined) => {
    link.set('offline');
    change();
    link.set('connected');
    await settle();
  };
  const stored = () => {
    const entry = server.shared.get(clockKey);
    return entry && decodedRecord(entry.value);
  };
  const join = () =>
    joinFleet({
      link: server.link(),
      first: () => clockRecord({ fleet: 'new', wall0Ms: wall.ms, madeMs: wall.ms }),
      profiles: new Map([['pv', 8]]),
      nowMs: () => wall.ms,
    });
  return { wall, server, record, plant, member, warnings, pass, outage, stored, join };
}

describe('fleet/clock: a shard whose server comes back', () => {
  it('without its store writes clock and anchors again, and goes on tick by tick', async () => {
    const { server, record, plant, pass, outage, stored, join } = await running();
    await pass(3000);
    await outage(() => server.lose());
    expect(stored()).to.deep.equal(record);
    const later = await join();
    expect([later.record.fleet, later.tick, later.anchors.get('pv')]).to.deep.equal(['one', 12, 3]);
    await pass(1500);
    expect(plant.latest.tick).to.equal(13);
  });

  it('with an older clock writes its own, and with a later one follows that', async () => {
    const { server, record, outage, stored } = await running();
    const put = (over: Partial<ClockRecord>) => () => {
      const revision = server.shared.get(clockKey)?.revision ?? 0;
      server.shared.put(clockKey, encodedRecord({ ...record, ...over }), revision);
    };
    await outage(put({ seq: 3, rate: 9 }));
    expect(stored()).to.deep.equal(record);
    await outage(put({ seq: 8, rate: 9 }));
    expect(stored()).to.include({ seq: 8, rate: 9 });
  });

  it('has the fleet that began on the empty store give way', async () => {
    const { server, plant, pass, outage, stored, join } = await running();
    await outage(() => server.lose());
    server.lose();
    expect((await join()).record.fleet).to.equal('new');
    await outage();
    expect(stored()?.fleet).to.equal('one');
    const { tick } = plant.latest;
    await pass(1500);
    expect(plant.latest.tick).to.equal(tick + 1);
  });
});

describe('fleet/clock: a shard whose fleet has begun anew without it', () => {
  const another = (wallMs: number, over: Partial<ClockRecord> = {}) =>
    clockRecord({ fleet: 'two', seq: 0, sim0Us: testPlant().now, wall0Ms: wallMs, madeMs: wallMs, ...over });

  it('follows the clock of the new one, though its changes count from 0', async () => {
    const { server, wall, member, plant, warnings, pass, outage, stored } = await running({}, 0);
    await pass(10_000);
    const next = another(wall.ms, { sim0Us: (plant.latest.sim + 30e6) as ClockRecord['sim0Us'], tick0: 500 });
    await outage(() => {
      server.shared.put(clockKey, encodedRecord(next), server.shared.get(clockKey)?.revision ?? 0);
    });
    await pass(3100);
    expect(stored()?.fleet).to.equal('two');
    expect(member.record.fleet).to.equal('two');
    expect([plant.latest.tick, plant.latest.sim]).to.deep.equal([502, next.sim0Us + 3e6]);
    expect(warnings[0]).to.contain('that of another start');
  });

  it('stands still where it is ahead, and agrees to changes by the instants', async () => {
    const { server, wall, plant, warnings, pass, outage } = await running();
    await pass(10_000);
    const { tick } = plant.latest;
    await outage(() => {
      server.shared.put(clockKey, encodedRecord(another(wall.ms)), server.shared.get(clockKey)?.revision ?? 0);
    });
    await pass(6000);
    expect(plant.latest.tick).to.equal(tick);
    expect(warnings[1]).to.match(/^this shard is 24 simulated s ahead of its fleet: it stands still .* in 24 s$/);
    const ask = (atTick: number) =>
      server
        .link()
        .request(clockSubject('lab', 'set', 'a'), clockMessage({ phase: 'prepare', term: 0, seq: 1, atTick }), 100)
        .then(
          () => 'ready',
          (error: unknown) => String(error),
        );
    expect(await ask(16)).to.equal('ready');
    expect(await ask(15)).to.contain('it has run tick 16, and the change is for tick 15');
  });
});
