import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith } from './support/peers.ts';
import type { PythonPeer } from './support/peers.ts';

const latchOn = 3;
/** IIN1.7 */
const restart = 0x80;

describeWith(['opendnp3'], 'an outstation whose process is killed, at a master of opendnp3', function () {
  this.timeout(60_000);
  let folder: string;
  let bench: Dnp3Bench;
  let master: PythonPeer;
  const flags = () => ['--tick', '0.1', '-d', 'PV-3Phase', '--state_dir', folder];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-dnp3-'));
    bench = await Dnp3Bench.open(flags());
    master = bench.opendnp3();
    await master.ask('begun');
    await master.ask('task', { kind: 'NON_LAN_TIME_SYNC' });
  });
  after(async () => {
    await master.stop();
    await bench.close();
    await rm(folder, { recursive: true });
  });

  it('goes on with the classes, frozen counters and settings that were confirmed, and delivers its events', async () => {
    const headers = [
      [60, 2],
      [30, 0, 149, 149],
    ];
    expect(await master.ask('perform', { function: 22, headers })).to.equal('SUCCESS');
    expect(await master.ask('perform', { function: 7, headers: [[20, 0]] })).to.equal('SUCCESS');
    await master.ask('all', { group: 21, variation: 0 });
    const { FCTR0: frozen } = await master.ask('values', { points: ['FCTR0'] });
    await master.ask('scan', { classes: 14 });
    await master.ask('operate', { commands: [['AO', 16, 77, 'Int32']], select: false });
    const { results } = await master.ask('operate', { commands: [['BO', 17, latchOn]] });
    expect(results[0].status).to.equal('SUCCESS');
    const { masters } = await bench.get('dnp3');
    expect(masters[0].events.class_2).to.be.greaterThan(0);

    await bench.kill();
    await master.stop();
    bench = await Dnp3Bench.open(flags());
    master = bench.opendnp3();

    // the start-up conversation of the master polls all classes
    await master.ask('begun');
    expect(await master.ask('event_of', { point: 'BI69' })).to.include({ value: true });
    await master.ask('scan', { classes: 14 });
    expect((await master.ask('iin'))[0] & restart).to.equal(0);
    await master.ask('all', { group: 21, variation: 0 });
    await master.ask('all', { group: 40, variation: 0 });
    const values = await master.ask('values', { points: ['FCTR0', 'AO16'] });
    expect([values.FCTR0, values.AO16[0]]).to.deep.equal([frozen, 77]);
    const { points } = await bench.get('dnp3/points?type=AI&from=149&to=149');
    expect(points[0].class).to.equal(1);
    await master.ask('scan', { classes: 14 });
    expect((await master.ask('events')).some(({ point }: { point: string }) => point === 'BI69')).to.equal(false);
  });
});
