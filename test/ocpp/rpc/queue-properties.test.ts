import { expect } from 'chai';
import fc from 'fast-check';
import type { CallOutcome } from '../../../src/ocpp/rpc/model.ts';
import { holdsAsync } from '../../support/property.ts';
import { calm, message, QueueRig, refusal, result } from './queue-rig.ts';

type Step =
  | { readonly kind: 'push'; readonly role: 'start' | 'middle' | 'end' }
  | { readonly kind: 'answer'; readonly outcome: 'result' | 'lostAnswer' | 'error' | 'timeout' }
  | { readonly kind: 'connect' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'pass' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('push' as const), role: fc.constantFrom('start', 'middle', 'end') }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      outcome: fc.constantFrom('result', 'result', 'lostAnswer', 'error', 'timeout'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>({ kind: 'connect' }, { kind: 'cut' }, { kind: 'restart' }, { kind: 'pass' }),
  },
);

/** Books of the central system: what reached it, in order. */
class Run {
  readonly rig = new QueueRig({ policy: () => ({ attempts: 3, intervalS: 10 }) });
  readonly received: number[] = [];
  pushed = 0;
  /** the last transmission has no outcome yet */
  #open = 0;

  get #waits(): boolean {
    return this.rig.sent.length > this.#open;
  }

  async restart(): Promise<void> {
    this.rig.queue.stop();
    this.#open = this.rig.sent.length;
    this.rig.isOpen = false;
    await this.rig.make({ policy: () => ({ attempts: 3, intervalS: 10 }) }).load();
  }

  async #answer(outcome: CallOutcome): Promise<void> {
    this.#open = this.rig.sent.length;
    await this.rig.last.answer(outcome);
  }

  async do(act: Step): Promise<void> {
    const { rig } = this;
    if (act.kind === 'push') {
      this.pushed += 1;
      rig.queue.push(message(this.pushed, act.role));
    } else if (act.kind === 'connect') {
      if (!rig.isOpen) await rig.connect();
    } else if (act.kind === 'cut') await this.cut();
    else if (act.kind === 'restart') await this.restart();
    else if (act.kind === 'pass') rig.timers.pass(30_000);
    else if (this.#waits) {
      if (act.outcome === 'result' || act.outcome === 'lostAnswer') {
        this.received.push(Number(rig.last.payload['n']));
      }
      if (act.outcome === 'lostAnswer') await this.cut();
      else await this.#answer({ result, error: refusal, timeout: { kind: 'timeout' } as const }[act.outcome]);
    }
    await calm();
  }

  async cut(): Promise<void> {
    this.rig.isOpen = false;
    this.rig.queue.pause();
    if (this.#waits) await this.#answer({ kind: 'lost' });
  }

  /** A connection that answers everything. */
  async finish(): Promise<void> {
    if (!this.rig.isOpen) await this.rig.connect();
    while (this.rig.queue.length > 0) {
      this.rig.timers.pass(30_000);
      await calm();
      await this.do({ kind: 'answer', outcome: 'result' });
    }
  }
}

describe('the queue of transaction messages in any order of cuts (OCPP 1.6 4.1)', () => {
  it('keeps the order, loses nothing and doubles only what had its answer lost', async () => {
    await holdsAsync(
      'order and loss of queued calls',
      fc.array(step, { maxLength: 60 }),
      async (steps) => {
        const run = new Run();
        await run.rig.queue.load();
        let lost = 0;
        for (const act of steps) {
          await run.do(act);
          if (act.kind === 'answer' && act.outcome === 'lostAnswer') lost += 1;
        }
        await run.finish();
        const { received, pushed } = run;
        const ascending = received.every((n, at) => at === 0 || n >= (received[at - 1] ?? 0));
        expect(ascending, received.join()).to.equal(true);
        const given = run.rig.dropped.map((words) => Number(words.split(' ')[0]));
        expect(new Set([...received, ...given]).size, 'nothing is lost').to.equal(pushed);
        expect(received.length - new Set(received).size, 'doubled').to.be.at.most(lost);
        expect(await run.rig.slot.read()).to.deep.equal([]);
      },
      { runs: 150 },
    );
  });
});
