/** A shard's side of stepping: ticks begin, advance and end by messages of the leader. */
import { SimError } from '../../core/errors.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { FleetError } from '../link.ts';
import { readPiece } from '../site/messages.ts';
import type { Go, Prepare, Standing, StepNumber } from './messages.ts';
import type { ClockedPlant } from './plant.ts';
import { orderOf, stepAct } from './steps.ts';
import type { StepAct, StepVerb } from './steps.ts';

export interface SteppedOptions {
  readonly plant: Pick<ClockedPlant, 'latest' | 'runTo' | 'driven' | 'fleetPart' | 'devices'>;
  /** Resolves when the last tick has left: a tick is not sent while the one before it waits. */
  readonly sent: () => Promise<void>;
}

interface LastMessage extends StepNumber {
  readonly verb: StepVerb;
  readonly answer: Promise<Standing>;
}

export class SteppedTicks {
  readonly #options: SteppedOptions;
  #last: LastMessage | null = null;

  constructor(options: SteppedOptions) {
    this.#options = options;
  }

  /** @throws FleetError `refused` */
  prepare(message: Prepare): Promise<Standing> {
    return this.#take('prepare', message, async (act) => {
      if (act === 'begin') await this.#options.plant.driven.begin(message.by);
      return act === 'resume';
    });
  }

  /** @throws FleetError `refused` */
  go(message: Go): Promise<Standing> {
    return this.#take('go', message, async (act) => {
      if (act === 'catch up') await this.#catchUp(message.toUs);
      else await this.#advance(message);
      return false;
    });
  }

  /** @param work its result: a tick was open before */
  #take(verb: StepVerb, message: StepNumber, work: (act: StepAct) => Promise<boolean>): Promise<Standing> {
    const last = this.#last;
    const order = orderOf(message, last);
    if (order === 'same' && last?.verb === verb) return last.answer;
    if (order !== 'newer')
      return Promise.reject(new FleetError('refused', `the message is ${order}, the last one was ${last?.step ?? 0}`));
    const { term, step } = message;
    // the one before may still be at work, where the leader has given up waiting
    const before = last?.answer.catch(() => undefined);
    const answer = this.#answer(before, step, () => {
      return work(stepAct(verb, this.#options.plant.driven.isOpen ? 'open tick' : 'no tick'));
    });
    this.#last = { term, step, verb, answer };
    return answer;
  }

  async #answer(before: Promise<unknown> | undefined, step: number, work: () => Promise<boolean>): Promise<Standing> {
    await before;
    try {
      return this.#standing(step, await work());
    } catch (error) {
      if (error instanceof SimError) throw new FleetError('refused', error.message, { cause: error });
      throw error;
    }
  }

  async #advance({ toUs, tick, site }: Go): Promise<void> {
    const { plant, sent } = this.#options;
    if (site !== undefined) plant.fleetPart.lead(site && readPiece(site, plant.devices.length));
    const { driven } = plant;
    while (driven.reached < toUs) await driven.advancePiece(toUs);
    if (tick === null) return;
    await sent();
    await driven.publish(tick);
  }

  /** Runs ticks of its own to an instant that the others have reached. */
  async #catchUp(to: SimTime): Promise<void> {
    const { plant, sent } = this.#options;
    if (to <= plant.latest.sim) return;
    await sent();
    await plant.runTo(to);
  }

  #standing(step: number, isResumed: boolean): Standing {
    const { latest, driven } = this.#options.plant;
    const { dueUs } = driven;
    return {
      step,
      atUs: driven.reached,
      tick: latest.tick,
      isOpen: driven.isOpen,
      isResumed,
      dueUs: Number.isFinite(dueUs) ? dueUs : null,
      sharingUs: driven.sharingUs,
      isLimited: driven.isLimited,
    };
  }
}
