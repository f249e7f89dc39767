/** What a head-end may do to the client without harm: as much as the limits let it send. */
import { expect } from 'chai';
import { doubling } from '../../src/core/net/back-off.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { maxEvents } from '../../src/csip/events/receive.ts';
import { ResponseQueue } from '../../src/csip/events/responses.ts';
import { HandWall } from '../support/wall.ts';
import { control, program, Scene } from './events/scene.ts';
import { cpuMs } from '../support/spent.ts';

const most = 10_000;
const numbers = Array.from({ length: most }, (_, index) => index);

describe('CSIP: a hostile head-end', () => {
  it('10,000 controls, half of them behind the other half, are decided without a stall', () => {
    const controls = numbers.map((index) => control(`M${index}`, { startS: index % 2 === 0 ? 100 : 200 }));
    const scene = new Scene();
    const startMs = cpuMs();
    scene.read(0, program('P', 1, controls));
    expect(cpuMs() - startMs).to.be.below(8_000);
    expect(scene.state.events.size).to.equal(maxEvents);
  }).timeout(20_000);

  it('responses to 10,000 addresses are queued without a stall, and the newest are kept', async () => {
    const queue = await ResponseQueue.open({
      slot: createMemoryStore().slot('q'),
      wall: new HandWall(),
      backOff: doubling({ firstMs: 1_000, maxMs: 300_000 }),
    });
    const startMs = cpuMs();
    const owe = (mrid: string, replyTo: string) => ({ mrid, status: 1 as const, createdS: 0, replyTo });
    for (const batch of [0, 1]) {
      await queue.put(numbers.map((index) => owe(`M${batch} ${index}`, `https://server/rsp/${index}`)));
    }
    expect(cpuMs() - startMs).to.be.below(5_000);
    expect(queue.waiting).to.have.length(1_000);
    expect(queue.waiting.at(-1)?.mrid).to.equal('M1 9999');
  }).timeout(20_000);

  it('a response under way is not given up for later ones, so that its address stays in use', async () => {
    const queue = await ResponseQueue.open({
      slot: createMemoryStore().slot('q'),
      wall: new HandWall(),
      backOff: doubling({ firstMs: 1_000, maxMs: 300_000 }),
    });
    const owe = (mrid: string) => ({ mrid, status: 1 as const, createdS: 0, replyTo: 'https://server/rsp' });
    await queue.put([owe('first')]);
    const [first] = queue.take();
    await queue.put(numbers.map((index) => owe(`M${index}`)));
    await queue.settle(first?.id ?? 0, { kind: 'sent', httpStatus: 201 });
    expect(queue.take().map(({ mrid }) => mrid)).to.deep.equal(['M9001']);
  }).timeout(20_000);
});
