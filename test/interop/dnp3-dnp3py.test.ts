import { expect } from 'chai';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith } from './support/peers.ts';
import type { PythonPeer } from './support/peers.ts';

describeWith(['dnp3py'], 'an outstation at a master of dnp3py', function () {
  this.timeout(60_000);
  let bench: Dnp3Bench;
  let master: PythonPeer;

  before(async () => {
    bench = await Dnp3Bench.open(['--tick', '0.1', '--dnp3_remote_addr', '7', '--dnp3_unsolicited', 'yes']);
    master = bench.dnp3py(7);
    await master.ask('opened');
  });
  after(async () => {
    await master.ask('closed');
    await master.stop();
    await bench.close();
  });

  it('polls classes 1 to 3 and 0 in several fragments, each with the next sequence number', async () => {
    const fragments = (await master.ask('integrity')) as { sequence: number }[];
    expect(fragments.length).to.be.greaterThan(1);
    const first = fragments[0]?.sequence ?? 0;
    expect(fragments.map(({ sequence }) => sequence)).to.deep.equal(fragments.map((_, i) => (first + i) % 16));
    const counts = await master.ask('counts');
    const { points } = await bench.get('dnp3');
    expect(counts.AI).to.equal(points.AI.served);
    expect(counts.BI).to.equal(points.BI.served);
  });

  it('reads the frequency that the registers have', async () => {
    const { AI536 } = await master.ask('values', { points: ['AI536'] });
    expect(AI536).to.equal(Math.round(Number(await bench.register(701, 'Hz')) * 1000));
  });

  it('selects and operates; registers show it', async () => {
    await master.ask('operate', {
      commands: [
        ['AO', 88, 450],
        ['BO', 17, true],
      ],
    });
    expect(await bench.register(704, 'WMaxLimPct')).to.equal(45);
    expect(await bench.register(704, 'WMaxLimPctEna')).to.equal(1);
    await master.ask('operate', { commands: [['BO', 17, false]], select: false });
    expect(await bench.register(704, 'WMaxLimPctEna')).to.equal(0);
  });

  it('polls the event of a change, and gets it unsolicited once enabled', async () => {
    await master.ask('classes', { one: true, two: true, three: true });
    await bench.post('registers/704', { points: { WMaxLimPct: 60 } });
    await master.ask('classes', { two: true });
    expect((await master.ask('values', { points: ['AI149'] })).AI149).to.equal(600);
    await master.ask('unsolicited', { on: true });
    await bench.post('registers/704', { points: { WMaxLimPct: 61 } });
    for (;;) {
      expect(await master.ask('listen')).to.not.equal(null);
      if ((await master.ask('values', { points: ['AI149'] })).AI149 === 610) break;
    }
  });

  it('is a master without findings', async () => {
    expect(await bench.brokenRules()).to.deep.equal([]);
  });
});
