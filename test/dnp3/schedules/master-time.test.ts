import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { hex } from '../rig/frames.ts';
import type { TestMaster } from '../rig/master.ts';
import { Site } from '../whole/site.ts';

const dayMs = 86_400_000;
const directOperate = 5;

function analogOutput(index: number, value: number): Buffer {
  const octets = Buffer.from([41, 1, 0x28, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  octets.writeUInt16LE(index, 5);
  octets.writeInt32LE(value, 7);
  return octets;
}

function writtenTime(ms: number): Buffer {
  const octets = hex('32 01 07 01 00 00 00 00 00 00');
  octets.writeUIntLE(ms, 4, 6);
  return octets;
}

/** Writes a limit of 40 % for 100 s, and makes it ready. */
async function beginLimit(master: TestMaster, startMs: number): Promise<void> {
  const orders: readonly (readonly [index: number, value: number])[] = [
    ...([
      [461, 1],
      [464, 13],
      [465, Math.floor(startMs / dayMs)],
      [466, startMs % dayMs],
    ] as const),
    ...([
      [470, 0],
      [471, 400],
      [472, 100],
      [473, 0],
      [469, 2],
    ] as const),
  ];
  for (const [index, value] of orders) {
    const { objects } = await master.ask(directOperate, analogOutput(index, value));
    expect(objects.at(-1), `AO${index}`).to.equal(0);
  }
  const { objects } = await master.ask(directOperate, hex('0c 01 28 01 00 2a 00 03 01 00 00 00 00 00 00 00 00 00'));
  expect(objects.at(-1), 'BO42').to.equal(0);
}

describe('schedules on the time of masters', () => {
  let site: Site;
  afterEach(() => site.close());
  const isLimited = () => site.register('WMaxLimPctEna') === 'ENABLED';
  const step = (ticks: number) => site.post('controls/time/step', { ticks });

  it('begin and end by the time that a master has written, whatever the simulated date', async () => {
    site = await Site.open(['PV-3Phase'], ['--remote_clock', 'simulated', '--tick', '1']);
    const master = await site.master();
    const now = Date.parse('2031-03-01T12:00:00Z');
    await master.ask(2, writtenTime(now));
    await beginLimit(master, now + 10_000);
    await site.post('controls/time', { clock_time: '03:00:00' });
    await step(9);
    expect(isLimited()).to.equal(false);
    await step(2);
    expect(isLimited()).to.equal(true);
    await step(99);
    expect(isLimited()).to.equal(false);
  });

  it('follow a master that sets the time back or forward', async () => {
    site = await Site.open(['PV-3Phase'], ['--remote_clock', 'simulated', '--tick', '1']);
    const master = await site.master();
    const now = Date.parse('2031-03-01T12:00:00Z');
    await master.ask(2, writtenTime(now));
    await beginLimit(master, now + 10_000);
    await step(11);
    await master.ask(2, writtenTime(now));
    await step(1);
    expect(isLimited()).to.equal(false);
    await master.ask(2, writtenTime(now + 50_000));
    await step(1);
    expect(isLimited()).to.equal(true);
    await master.ask(2, writtenTime(now + 200_000));
    await step(1);
    expect(isLimited()).to.equal(false);
  });
});
