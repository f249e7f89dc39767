import { expect } from 'chai';
import { replaceContents } from '../../../src/state/contents.ts';
import { migrated } from '../../../src/state/migrations.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { curve } from '../schedules/orders.ts';
import { limitOf, limitSchedule, Process } from './rig.ts';

const voltWatt = [5, 129, 5] as const;
const curvePoints = [
  [1030, 1000],
  [1060, 200],
] as const;

describe('commands of DNP3 after the end of the process', () => {
  it('a command that waits in its time window is carried out at the same instant', async () => {
    const first = await Process.start();
    await first.operate(['AO16', 100], ['BO5', false]);
    await first.pass(1);
    const whole = await Process.start();
    await whole.operate(['AO16', 100], ['BO5', false]);
    await whole.pass(1);
    const second = await first.restarted();
    for (let s = 0; s < 100; s += 5) {
      expect(second.plant.device(0).switchClosed, `${s} s`).to.equal(whole.plant.device(0).switchClosed);
      await second.pass(5);
      await whole.pass(5);
    }
    expect(second.plant.device(0).switchClosed).to.equal(false);
    // the next draw is that of a process without a restart
    await second.operate(['BO5', true]);
    await whole.operate(['BO5', true]);
    for (let s = 0; s < 100; s += 5) {
      await second.pass(5);
      await whole.pass(5);
      expect(second.plant.device(0).switchClosed, `${s} s`).to.equal(whole.plant.device(0).switchClosed);
    }
  });

  it('a state for a limited time ends at its time, unless another writer has it since', async () => {
    const first = await Process.start();
    await first.operate(['AO17', 60], ['BO5', false], ['AO15', 60], ['BO2', true]);
    await first.pass(10);
    const second = await first.restarted();
    await second.pass(40);
    expect([second.plant.device(0).switchClosed, second.register(715, 'OpCtl')]).to.deep.equal([false, 'STOP']);
    second.write(715, 'OpCtl', 'STOP');
    await second.pass(1);
    const third = await second.restarted();
    await third.pass(15);
    expect([third.plant.device(0).switchClosed, third.register(715, 'OpCtl')]).to.deep.equal([true, 'STOP']);
  });

  it('a ramp goes on, and the slope is then what it was', async () => {
    const first = await Process.start(undefined, { type: 'Batt-3Phase' });
    await first.pass(5);
    await first.operate(['AO91', 100], ['AO93', 500], ['BO18', true]);
    await first.pass(50);
    const second = await first.restarted();
    const { gradient } = second.plant.device(0);
    expect(gradient.w.source).to.equal('gradient');
    await second.pass(52);
    expect(second.plant.device(0).gradient.w.source).to.equal('register');
    expect(second.value('AI152')).to.equal(100);
  });

  it('a curve acts and is locked, and one that is half written can be finished', async () => {
    const first = await Process.start();
    await first.operate(...curve(7, voltWatt, curvePoints), ['AO173', 7], ['BO25', true]);
    await first.operate(...curve(8, voltWatt, curvePoints).slice(0, -2));
    const second = await first.restarted();
    expect([second.value('AO244'), second.value('AO245'), second.value('AO246'), second.value('AO249')]).to.deep.equal([
      8, 5, 0, 1030,
    ]);
    await second.operate(['AO252', 100], ['AO246', 2], ['AO173', 8]);
    expect(second.register(706, 'Crv[0].Pt[1].W')).to.equal(10);
    await second.operate(['AO244', 8]);
    expect(await second.ask(5, '29 01 28 01 00 f6 00 01 00 00 00 00')).to.match(/0a$/);
  });

  it('a window on curves belongs to the master that has selected', async () => {
    const first = await Process.start();
    await first.operate(['AO244', 9]);
    const second = await first.restarted();
    const other = { address: 5, peer: '5@127.0.0.1:1' };
    const control = { kind: 'analog', index: 245, value: 5, isFloat: false } as const;
    expect(second.outstation.points.controls.operate(control, other)).to.equal(17);
    await second.operate(['AO245', 5]);
  });

  it('a schedule goes on, and gives back at its end what was there before it', async () => {
    const first = await Process.start();
    await first.operate(['AO88', 900], ['BO17', true]);
    await first.operate(
      ...limitSchedule(first, [
        [0, 500],
        [200, 300],
        [400, 0],
      ]),
    );
    await first.pass(20);
    expect([first.value('AI569'), ...limitOf(first)]).to.deep.equal([2, 'ENABLED', 50]);
    const second = await first.restarted();
    expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([2, 'ENABLED', 50]);
    second.timers.pass(150_000);
    await second.settled();
    expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([2, 'ENABLED', 30]);
    const third = await second.restarted();
    third.timers.pass(200_000);
    await third.settled();
    expect([third.value('AI569'), ...limitOf(third)]).to.deep.equal([0, 'ENABLED', 90]);
    const fourth = await third.restarted();
    expect([fourth.value('AI569'), ...limitOf(fourth)]).to.deep.equal([0, 'ENABLED', 90]);
  });

  it('a schedule that form 1 of the state has kept gives back at its end what was there before it', async () => {
    const first = await Process.start();
    await first.operate(['AO88', 900], ['BO17', true]);
    await first.operate(
      ...limitSchedule(first, [
        [0, 500],
        [100, 0],
      ]),
    );
    await first.pass(20);
    const contents = new Map(first.store.contents());
    const name = [...contents.keys()].find((slot) => slot.startsWith('dnp3/') && slot.endsWith('/values')) ?? '';
    const entries = (contents.get(name) ?? []).map((text) => JSON.parse(text) as Record<string, unknown>);
    const inForm1 = entries.map(({ 'holds of schedules': present, ...others }) => ({
      ...others,
      ...(present !== undefined && { 'holds of schedules': { former: present, present } }),
    }));
    contents.set(
      name,
      inForm1.map((entry) => JSON.stringify(entry)),
    );
    const folder = new TestFolder();
    await replaceContents(folder, migrated(contents, 1));
    const second = await first.restarted(folder);
    expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([2, 'ENABLED', 50]);
    second.timers.pass(150_000);
    await second.settled();
    expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([0, 'ENABLED', 90]);
  });

  it('a schedule stays in force when the process stops', async () => {
    const first = await Process.start();
    await first.operate(
      ...limitSchedule(first, [
        [0, 500],
        [400, 0],
      ]),
    );
    first.outstation.close('kept');
    expect(limitOf(first)).to.deep.equal(['ENABLED', 50]);
    const second = await first.restarted();
    second.outstation.close();
    expect(limitOf(second)).to.deep.equal(['DISABLED', 100]);
  });

  it('a schedule that ended while the process was down gives back what was there before it', async () => {
    const first = await Process.start();
    await first.operate(
      ...limitSchedule(first, [
        [0, 500],
        [30, 0],
      ]),
    );
    expect(limitOf(first)).to.deep.equal(['ENABLED', 50]);
    const second = await first.restarted();
    expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([0, 'DISABLED', 100]);
    expect(second.value('BO42')).to.equal(0);
  });

  it('a schedule leaves alone what another writer has changed, also before the end of the process', async () => {
    const first = await Process.start();
    await first.operate(
      ...limitSchedule(first, [
        [0, 500],
        [400, 0],
      ]),
    );
    first.write(704, 'WMaxLimPct', 77);
    await first.pass(2);
    const second = await first.restarted();
    expect(limitOf(second)).to.deep.equal(['ENABLED', 77]);
    second.timers.pass(400_000);
    await second.settled();
    expect(limitOf(second)[1]).to.equal(77);
  });

  it('the limit of charging is in force', async () => {
    const first = await Process.start(undefined, { type: 'Batt-3Phase' });
    await first.operate(['AO87', 300], ['BO17', true]);
    const limit = (process: Process) => process.plant.siteOf([0]).limits.load;
    const { limitW } = limit(first);
    expect(limitW).to.be.greaterThan(0);
    const second = await first.restarted();
    expect([limit(second).limitW, limit(second).setBy?.source, second.value('AI148')]).to.deep.equal([
      limitW,
      'dnp3',
      300,
    ]);
    second.outstation.close('kept');
    expect(limit(second).limitW).to.equal(limitW);
  });

  it('an output shows the value as it was written while the register holds its rounding', async () => {
    const first = await Process.start();
    await first.operate(['AO64', 30_000]);
    const second = await first.restarted();
    expect([second.value('AO64'), second.value('AI123')]).to.deep.equal([30_000, 30_000]);
    second.write(711, 'Ctl[0].KOf', Number(second.register(711, 'Ctl[0].KOf')));
    expect(second.value('AI123')).to.equal(Math.round(1000 / Number(second.register(711, 'Ctl[0].KOf'))));
    await second.pass(1);
    const third = await second.restarted();
    expect(third.value('AI123')).to.equal(Math.round(1000 / Number(third.register(711, 'Ctl[0].KOf'))));
  });
});
