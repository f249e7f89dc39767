import { expect } from 'chai';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith } from './support/peers.ts';
import type { PythonPeer } from './support/peers.ts';

const latchOn = 3;
const latchOff = 4;
/** Indications: IIN1.7, IIN1.4 */
const [restart, needTime] = [0x80, 0x10];

describeWith(['opendnp3'], 'an outstation at a master of opendnp3', function () {
  this.timeout(60_000);
  let bench: Dnp3Bench;
  let master: PythonPeer;

  before(async () => {
    bench = await Dnp3Bench.open(['--tick', '0.1', '-d', 'Batt-3Phase', '--dnp3_unsolicited', 'yes']);
    master = bench.opendnp3();
    await master.ask('begun');
  });
  after(async () => {
    await master.stop();
    await bench.close();
  });

  const pctOf = () => bench.register(704, 'WMaxLimPct');

  it('goes through the start-up conversation: restart cleared, time written, integrity poll', async () => {
    expect(await master.ask('task', { kind: 'NON_LAN_TIME_SYNC' })).to.equal('SUCCESS');
    const { tasks } = await master.ask('begun');
    const results = Object.fromEntries(tasks as [string, string][]);
    expect(results).to.include({
      CLEAR_RESTART: 'SUCCESS',
      STARTUP_INTEGRITY_POLL: 'SUCCESS',
      NON_LAN_TIME_SYNC: 'SUCCESS',
    });
    // an unsolicited response that is repeated has the bits of its first time
    await master.ask('all', { group: 10, variation: 0 });
    expect((await master.ask('iin'))[0] & (restart | needTime)).to.equal(0);
  });

  it('polls as many static points as REST lists', async () => {
    await master.ask('all', { group: 10, variation: 0 });
    await master.ask('all', { group: 40, variation: 0 });
    const counts = await master.ask('counts');
    const { points } = await bench.get('dnp3');
    for (const kind of ['BI', 'BO', 'AI', 'AO', 'CTR']) expect(counts[kind], kind).to.equal(points[kind].served);
    expect(counts.AI).to.be.greaterThan(200);
  });

  it('reads measurements as the registers have them', async () => {
    await master.ask('range', { group: 30, variation: 1, start: 533, stop: 556 });
    const { AI536, AI546 } = await master.ask('values', { points: ['AI536', 'AI546'] });
    expect(AI536).to.deep.equal([Math.round(Number(await bench.register(701, 'Hz')) * 1000), 1]);
    expect(AI546[1]).to.equal(1);
  });

  it('8.2: selects and operates a limit, which the registers and its mirror show', async () => {
    const done = await master.ask('operate', { commands: [['AO', 88, 400, 'Int32']] });
    expect(done.results).to.deep.equal([{ index: 88, state: 'SUCCESS', status: 'SUCCESS' }]);
    expect((await master.ask('operate', { commands: [['BO', 17, latchOn]] })).results[0].status).to.equal('SUCCESS');
    expect(await pctOf()).to.equal(40);
    expect(await bench.register(704, 'WMaxLimPctEna')).to.equal(1);
    await master.ask('range', { group: 30, variation: 1, start: 149, stop: 149 });
    expect((await master.ask('values', { points: ['AI149'] })).AI149).to.deep.equal([400, 1]);
  });

  it('8.3: operates directly, in every variation of g41', async () => {
    for (const [i, form] of ['Int16', 'Int32', 'Float32', 'Double64'].entries()) {
      const value = 500 + 10 * i;
      const { results } = await master.ask('operate', { commands: [['AO', 88, value, form]], select: false });
      expect(results[0].status, form).to.equal('SUCCESS');
      expect(await pctOf(), form).to.equal(value / 10);
    }
    await master.ask('operate', { commands: [['BO', 17, latchOff]], select: false });
    expect(await bench.register(704, 'WMaxLimPctEna')).to.equal(0);
  });

  it('8.4: judges each of several controls alone', async () => {
    const commands = [
      ['AO', 88, 700, 'Int32'],
      ['AO', 88, 70_000, 'Int32'],
      ['BO', 14, latchOn],
      ['BO', 999, latchOn],
    ];
    const { results } = await master.ask('operate', { commands, select: false });
    expect((results as { status: string }[]).map(({ status }) => status)).to.deep.equal([
      'SUCCESS',
      'OUT_OF_RANGE',
      'NOT_SUPPORTED',
      'NOT_SUPPORTED',
    ]);
    expect(await pctOf()).to.equal(70);
  });

  it('tells of a change that REST made, by an event poll with the time of the master', async () => {
    await master.ask('scan', { classes: 14 });
    await bench.post('registers/704', { points: { WMaxLimPct: 33 } });
    expect(await master.ask('scan', { classes: 14 })).to.equal('SUCCESS');
    const event = await master.ask('event_of', { point: 'AI149' });
    expect(event).to.include({ value: 330, flags: 1 });
  });

  it('8.26: takes another class for a point', async () => {
    const result = await master.ask('perform', {
      function: 22,
      headers: [
        [60, 2],
        [30, 0, 149, 149],
      ],
    });
    expect(result).to.equal('SUCCESS');
    await master.ask('scan', { classes: 14 });
    await bench.post('registers/704', { points: { WMaxLimPct: 34 } });
    await master.ask('scan', { classes: 2 });
    expect((await master.ask('event_of', { point: 'AI149' })).value).to.equal(340);
  });

  it('8.17: freezes counters', async () => {
    expect(await master.ask('perform', { function: 7, headers: [[20, 0]] })).to.equal('SUCCESS');
    await master.ask('all', { group: 21, variation: 0 });
    const counts = await master.ask('counts');
    expect(counts.FCTR).to.equal(4);
  });

  it('8.8: restarts, and is started up anew', async () => {
    await master.ask('clear_tasks');
    const [summary] = await master.ask('restart');
    expect(summary).to.equal('SUCCESS');
    await master.ask('scan', { classes: 1 }).catch(() => undefined);
    expect(await master.ask('task', { kind: 'CLEAR_RESTART' })).to.equal('SUCCESS');
    expect(await master.ask('task', { kind: 'NON_LAN_TIME_SYNC' })).to.equal('SUCCESS');
  });

  it('has the findings of its clock, which is an hour ahead, and of the controls of 8.4, and no others', async () => {
    expect(await bench.brokenRules()).to.deep.equal(['control_unknown', 'control_value', 'time_wrong']);
  });
});

describeWith(['opendnp3'], 'unsolicited responses of an outstation at opendnp3', function () {
  this.timeout(60_000);
  let bench: Dnp3Bench;
  let master: PythonPeer;

  before(async () => {
    bench = await Dnp3Bench.open(['--tick', '0.1', '--dnp3_unsolicited', 'yes']);
    master = bench.opendnp3({ unsolicited: true });
    await master.ask('task', { kind: 'ENABLE_UNSOLICITED' });
  });
  after(async () => {
    await master.stop();
    await bench.close();
  });

  it('8.11: come without a poll when a setting changes', async () => {
    expect(await master.ask('task', { kind: 'ENABLE_UNSOLICITED' })).to.equal('SUCCESS');
    await master.ask('forget_events');
    await bench.post('registers/704', { points: { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 25 } });
    expect((await master.ask('event_of', { point: 'AI149' })).value).to.equal(250);
    expect((await master.ask('event_of', { point: 'BI69' })).value).to.equal(true);
    const [own] = (await bench.get('dnp3')).masters;
    expect(own.unsolicited).to.include({ configured: true, null_confirmed: true });
  });

  it('has no finding but that of its clock', async () => {
    expect(await bench.brokenRules()).to.deep.equal(['time_wrong']);
  });
});
