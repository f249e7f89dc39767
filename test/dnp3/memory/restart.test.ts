import { expect } from 'chai';
import { binaryEvents, Process } from './rig.ts';

const clearRestart = '50 01 00 07 07 00';
const writeTime = '32 01 07 01 00 68 e5 cf 8b 01';
const allBinaryEvents = '02 02 06';
const [restart, needTime, overflow] = [0x0080, 0x0010, 0x0800];
const iinOf = (response: string) => parseInt(response.slice(9, 11) + response.slice(6, 8), 16);
/** BI69 mirrors BO17. */
const limitEnabled = 69;

describe('an outstation of DNP3 whose process has ended', () => {
  it('8.6 reports DEVICE_RESTART and NEED_TIME, and has no select', async () => {
    const first = await Process.start();
    await first.ask(2, clearRestart);
    expect(iinOf(await first.ask(2, writeTime)) & (restart | needTime)).to.equal(0);
    await first.ask(3, '0c 01 28 01 00 11 00 03 01 64 00 00 00 64 00 00 00 00');
    expect(first.association.selectPending).to.equal(true);
    const second = await first.restarted();
    expect(second.association.selectPending).to.equal(false);
    expect(iinOf(await second.ask(23)) & (restart | needTime)).to.equal(restart | needTime);
  });

  it('has the events that no confirm has removed, with the same times', async () => {
    const first = await Process.start();
    await first.ask(2, clearRestart);
    await first.ask(2, writeTime);
    await first.operate(['BO17', true]);
    await first.pass(3);
    await first.operate(['BO17', false]);
    const before = binaryEvents(await first.ask(1, allBinaryEvents));
    expect(before.map(({ index, state }) => [index, state])).to.deep.equal([
      [limitEnabled, true],
      [limitEnabled, false],
    ]);
    const second = await first.restarted();
    expect(binaryEvents(await second.ask(1, allBinaryEvents))).to.deep.equal(before);
    const third = await second.restarted();
    await third.operate(['BO17', true]);
    const later = binaryEvents(await third.ask(1, allBinaryEvents));
    expect(later.slice(0, 2)).to.deep.equal(before);
    // two times of a minute without a process
    expect(later.length).to.equal(3);
    expect((later[2]?.ms ?? 0) - (before[1]?.ms ?? 0)).to.be.within(120_000, 121_000);
  });

  it('moves the times of events from before the first time write as soon as it is written', async () => {
    const first = await Process.start();
    await first.operate(['BO17', true]);
    const [event] = binaryEvents(await first.ask(1, allBinaryEvents));
    const second = await first.restarted();
    expect(binaryEvents(await second.ask(1, allBinaryEvents))).to.deep.equal([event]);
    const ahead = 1_700_000_000_000 - second.wall.nowMs() - 1;
    await second.ask(2, writeTime);
    const third = await second.restarted();
    const [moved] = binaryEvents(await third.ask(1, allBinaryEvents));
    expect((moved?.ms ?? 0) - (event?.ms ?? 0)).to.equal(ahead);
  });

  it('does not repeat an event whose confirm came before a later response', async () => {
    const first = await Process.start();
    await first.operate(['BO17', true]);
    const seq = Number.parseInt((await first.ask(1, allBinaryEvents)).slice(1, 2), 16);
    first.confirm(seq);
    await first.ask(1, '3c 04 06');
    const second = await first.restarted();
    expect(binaryEvents(await second.ask(1, allBinaryEvents))).to.deep.equal([]);
  });

  it('reports an overflow from before, with as many events as there is room for', async () => {
    const first = await Process.start();
    const { database } = first.outstation.points;
    for (let n = 1; n <= 520; n += 1)
      database.update('binaryInput', limitEnabled, { value: n % 2, flags: 1 }, first.plant.time.sim);
    await first.settled();
    expect(first.association.events.isOverflown).to.equal(true);
    const second = await first.restarted();
    expect(iinOf(await second.ask(23)) & overflow).to.equal(overflow);
    expect(second.association.events.all.map(({ number }) => number)).to.deep.equal(
      first.association.events.all.map(({ number }) => number),
    );
    expect(second.association.events.size).to.equal(first.association.events.size);
  });

  it('has classes, deadbands and frozen counters as masters have set them', async () => {
    const first = await Process.start();
    await first.pass(40);
    await first.ask(22, '3c 02 06 1e 00 00 95 95');
    await first.ask(2, '22 02 17 01 95 07 00 00 00');
    await first.ask(7, '14 00 06');
    const frozen = (process: Process) => process.ask(1, '15 00 06');
    const before = (await frozen(first)).slice(12);
    await first.pass(40);
    const second = await first.restarted();
    const [view] = second.outstation.points.views({ type: 'AI', from: 149, to: 149 });
    expect([view?.class, view?.deadband]).to.deep.equal([1, 7]);
    expect((await frozen(second)).slice(12)).to.equal(before);
    const counters = second.outstation.points.database.points('counter');
    expect(counters[0]?.state.value).to.be.greaterThan(0);
  });

  it('sends its first unsolicited response without objects, and events once the master has enabled their class', async () => {
    const first = await Process.start();
    first.timers.pass(0);
    first.confirm(0);
    await first.ask(20, '3c 02 06 3c 03 06 3c 04 06');
    await first.operate(['BO17', true]);
    const second = await first.restarted();
    expect(second.association.unsolicited.classes).to.deep.equal([]);
    second.timers.pass(0);
    const [empty] = second.sent();
    expect(empty?.slice(0, 5)).to.equal('f0 82');
    expect(empty?.length).to.equal(11);
    second.association.receive(Buffer.from([0xd0, 0]), 'unicast');
    second.timers.pass(0);
    expect(second.sent()).to.deep.equal([]);
    await second.ask(20, '3c 03 06');
    second.timers.pass(0);
    expect(second.sent().some((fragment) => fragment.startsWith('f1 82'))).to.equal(true);
  });

  it('begins anew when its device was removed, and keeps everything when the process stops', async () => {
    const first = await Process.start();
    await first.ask(22, '3c 02 06 1e 00 00 95 95');
    await first.operate(['BO17', true], ['AO16', 33]);
    first.outstation.close('kept');
    await first.settled();
    const second = await first.restarted();
    expect([second.value('AO16'), second.value('BO17'), second.association.events.size > 0]).to.deep.equal([
      33,
      1,
      true,
    ]);
    second.outstation.close();
    await second.settled();
    const third = await second.restarted();
    expect([third.value('AO16'), third.association.events.size]).to.deep.equal([0, 0]);
    expect(third.outstation.points.views({ type: 'AI', from: 149, to: 149 })[0]?.class).to.equal(2);
  });
});
