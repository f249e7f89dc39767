/** The order of requests of an exchange, the form of their answers, and the watch over a silent client. */
import type { Plant } from '../../contract/plant.ts';
import type { Origin } from '../../core/origin.ts';
import { callLater } from '../../core/time/timers.ts';
import { Turns } from '../../core/turns.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { defaultOutputs } from './columns.ts';
import type { AnswerForm } from './columns.ts';

const maxWaiting = 8;

/** Ends of a silence, in the words of the log. */
const silenceWords = {
  detach: 'its devices return to the grid of the simulator',
  keep: 'its devices keep the last values',
  outage: 'its devices have an outage',
  nominal: 'its devices have nominal voltage and frequency',
} as const;
export type SilenceAction = keyof typeof silenceWords;
export const silenceActions = Object.keys(silenceWords) as SilenceAction[];

/** Choices of a client at its attachment. */
export interface AttachmentForm extends AnswerForm {
  /** real time, s; 0: the client may be silent for ever */
  readonly idleTimeoutS: number;
  readonly onSilence: SilenceAction;
}

const noAttachment: AttachmentForm = {
  outputs: defaultOutputs,
  hasPhases: false,
  idleTimeoutS: 0,
  onSilence: 'detach',
};

type DeskParts = Pick<RouteContext, 'plant' | 'later' | 'logBook' | 'timeline' | 'stopDelayS'>;

export class ExchangeDesk {
  readonly #parts: DeskParts;
  readonly #turns = new Turns();
  #form = noAttachment;
  #cancelWatch: () => void = () => undefined;
  /** columns that readers wait for; null: the next reader waits for a turn of its own */
  #read: Promise<object> | null = null;
  /** turns of readers that wait */
  #readsWaiting = 0;
  /** requests of the client that wait or run */
  #underWay = 0;
  /** since the start of the simulator */
  readonly counts = { steps: 0, stepSeconds: 0, trials: 0, silences: 0 };

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  get form(): AttachmentForm {
    return this.#form;
  }

  /** @throws SimError as `GridExchange.attach` */
  attach(indexes: readonly number[], owner: string, form: AttachmentForm, by: Origin): void {
    this.#parts.plant.exchange.attach(indexes, owner, by);
    this.#form = form;
    this.#watch();
  }

  end(): void {
    this.#cancelWatch();
    this.#parts.plant.exchange.end();
    this.#form = noAttachment;
  }

  /**
   * Runs requests one after the other, so that none sees a step half done.
   * @throws HttpProblem `too-many-requests`
   */
  inTurn<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.#turns.waiting - this.#readsWaiting >= maxWaiting)
      throw new HttpProblem('too-many-requests', `${maxWaiting} requests of the exchange wait for others.`);
    // a later reader wants what this request has done
    this.#read = null;
    return this.#turns.take(async () => work());
  }

  /**
   * Reads after all requests before it. Readers that wait for the same requests share one turn, and take no place from
   * the client.
   * @param columns the same of all readers
   */
  read<T extends object>(columns: () => T): Promise<T> {
    if (!this.#turns.isBusy) return this.#turns.take(() => Promise.resolve(columns()));
    const read = (this.#read as Promise<T> | null) ?? this.#readInTurn(columns);
    this.#read = read;
    return read;
  }

  #readInTurn<T extends object>(columns: () => T): Promise<T> {
    this.#readsWaiting += 1;
    const read = this.#turns.take(() => {
      this.#readsWaiting -= 1;
      if (this.#read === read) this.#read = null;
      return Promise.resolve(columns());
    });
    return read;
  }

  /** Runs a request of the client in its turn; the watch over its silence rests meanwhile, however long a step takes. */
  async ofClient<T>(work: () => Promise<T> | T): Promise<T> {
    this.#underWay += 1;
    this.#cancelWatch();
    try {
      return await this.inTurn(work);
    } finally {
      this.#underWay -= 1;
      this.#watch();
    }
  }

  #watch(): void {
    this.#cancelWatch();
    const { idleTimeoutS } = this.#form;
    if (idleTimeoutS === 0 || this.#underWay > 0) return;
    const { later = callLater } = this.#parts;
    this.#cancelWatch = later(idleTimeoutS * 1000, () => {
      this.#silence();
    });
  }

  #silence(): void {
    const { plant, logBook, timeline, stopDelayS } = this.#parts;
    if (plant.exchange.now === null || stopDelayS !== null) return;
    const { owner } = plant.exchange.now;
    const { onSilence, idleTimeoutS } = this.#form;
    const text = `${JSON.stringify(owner)} has sent no values for ${idleTimeoutS} s: ${silenceWords[onSilence]}`;
    logBook.logger('Lab').warning(`exchange: ${text}`);
    timeline.add({ kind: 'grid', level: 'warn', title: 'Exchange is silent', text: `${text}.` });
    this.counts.silences += 1;
    if (onSilence === 'detach') this.end();
    if (onSilence === 'outage') plant.exchange.put({ outage: true });
    if (onSilence === 'nominal') plant.exchange.put(nominalOf(plant));
  }
}

const nominalOf = ({ devices }: Plant) => ({
  aPu: 1,
  bPu: 1,
  cPu: 1,
  frequencyHz: devices[0]?.trace.nominalHz ?? 60,
  angleDeg: 0,
  outage: false,
  island: false,
});

const desks = new WeakMap<Plant, ExchangeDesk>();

/** The desk of the exchange of a plant. */
export function deskOf(ctx: DeskParts): ExchangeDesk {
  const desk = desks.get(ctx.plant) ?? new ExchangeDesk(ctx);
  desks.set(ctx.plant, desk);
  return desk;
}
