/** What a head-end may do to the client without harm: as much as the limits let it send. */
import { silentLogger } from '../../src/core/log/log.ts';
import { expect } from 'chai';
import { doubling } from '../../src/core/net/back-off.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { maxEvents } from '../../src/csip/events/receive.ts';
import { ResponseQueue } from '../../src/csip/events/responses.ts';
import { HandWall } from '../support/wall.ts';
import { control, outcome, program, Scene } from './events/scene.ts';
import type { ListedControl, ScheduleOptions } from '../../src/csip/events/model.ts';
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

  /** How often the starts of a row of events are read, of which each begins at the end of the one before. */
  const readsOf = (length: number, over: Partial<ListedControl>, options: Partial<ScheduleOptions>, first: number) => {
    let reads = 0;
    const row = Array.from({ length }, (_, index) => {
      const startS = 1000 + index * 10;
      const listed = control(`M${index}`, { durationS: 10, ...over });
      return Object.defineProperty({ ...listed }, 'startS', {
        enumerable: true,
        get: () => {
          reads += 1;
          return startS;
        },
      });
    });
    const scene = new Scene({ ...options });
    scene.read(first, program('H', 0, [control('H', { startS: 1000, durationS: 1e6 })]), program('P', 1, row));
    return reads;
  };
  const rows: readonly (readonly [string, Partial<ListedControl>, Partial<ScheduleOptions>, number])[] = [
    ['are refused', {}, { check: () => outcome('unsupported') }, 0],
    ['have no modes', { modes: [] }, { check: () => outcome('unsupported') }, 0],
    ['lose their modes', {}, {}, 1000],
    ['are predicted to lose', {}, { supersededResponse: 'at_discovery' }, 0],
    ['are predicted not to lose', { modes: ['opModConnect'] }, { supersededResponse: 'at_discovery' }, 0],
    ['are superseded', { modes: [], status: 'superseded' }, {}, 0],
  ];
  for (const [name, over, options, first] of rows)
    it(`a row of events that ${name} takes work in proportion to its length`, () => {
      const [short, long] = [200, 800].map((length) => readsOf(length, over, options, first)) as [number, number];
      // sorting has a logarithm more
      expect(long / short).to.be.below(6);
    });

  it('an event that thousands of programs list is placed by key', () => {
    const programs = numbers.map((index) => program(`P${index}`, index % 256, [control('M')]));
    const scene = new Scene().read(0, ...programs).read(1, ...programs);
    const [event] = [...scene.state.events.values()];
    expect(event?.programs).to.have.length(most);
    expect(event?.primacy).to.equal(0);
  });

  it('responses to 10,000 addresses are queued without a stall, and the newest are kept', async () => {
    const queue = await ResponseQueue.open({
      log: silentLogger,
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
      log: silentLogger,
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
