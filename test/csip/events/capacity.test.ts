import { expect } from 'chai';
import { createMemoryStore, defaultStoreLimits } from '../../../src/core/store.ts';
import { saveSchedule } from '../../../src/csip/events/state.ts';
import { owed, queueRig, sent } from './queue-rig.ts';
import { control, program, Scene } from './scene.ts';

describe('CSIP events: capacity', () => {
  it('of ended events that have left their lists the last 500 are kept', () => {
    const scene = new Scene();
    for (let i = 0; i < 530; i++) {
      const startS = 10 * i;
      scene.read(startS, program('P', 1, [control(`E${i}`, { startS, durationS: 10 })]));
    }
    scene.read(8_000, program('P', 1, [])).read(8_001, program('P', 1, []));
    expect(scene.state.events.size).to.equal(500);
    expect(scene.stateOf('E529')).to.equal('completed');
    expect([scene.stateOf('E30'), scene.stateOf('E29')]).to.deep.equal(['completed', undefined]);
  });

  it('at most 4,000 are taken in, which a slot of the store holds', async () => {
    const of = (i: number) => `https://head-end.example.org/dcap/derp/1/derc/${'0'.repeat(32)}/${i}`;
    const list = Array.from({ length: 4_100 }, (_, i) => {
      const times = { startS: 1_000 + i, durationS: 1 };
      return control(`${i}`.padStart(32, 'E'), { ...times, href: of(i), replyTo: of(i), description: 'd'.repeat(32) });
    });
    const { state } = new Scene().read(0, program('P'.repeat(32), 1, list));
    expect(state.events.size).to.equal(4_000);
    const kept = createMemoryStore().slot('events');
    await kept.replace([saveSchedule(state)]);
    expect(JSON.stringify(saveSchedule(state)).length).to.be.below(defaultStoreLimits.maxBytes);
  });

  it('the queue keeps at most 1,000 that wait and 200 that are done, also in its slot', async () => {
    const { queue, slot } = await queueRig();
    for (let i = 0; i < 1_300; i++) await queue.put([owed(`E${i}`, 1)]);
    expect(queue.waiting.length).to.equal(1_000);
    expect(queue.waiting[0]?.mrid).to.equal('E300');
    expect(queue.list().length).to.equal(1_200);
    expect(queue.list().filter(({ result }) => result === 'dropped')).to.have.length(200);
    expect((await slot.read()).length).to.be.at.most(1_600);
    for (let i = 0; i < 1_000; i++) for (const { id } of queue.take()) await queue.settle(id, sent);
    expect(queue.list().length).to.equal(200);
    expect((await slot.read()).length).to.be.at.most(600);
    expect((await queueRig(slot)).queue.waiting).to.deep.equal([]);
  });
});
