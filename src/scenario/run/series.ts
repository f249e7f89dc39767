/** Samples of signals for plots in reports. */
import type { SignalSeries } from '../../contract/scenarios.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { signalText } from '../file/words.ts';
import type { SignalValue } from '../model.ts';
import type { SignalReader } from './signals.ts';

/** Maximum of samples of one signal; beyond it every second one is dropped. */
const maxSamples = 2048;

class Series {
  readonly #reader: SignalReader;
  #samples: (readonly [number, number])[] = [];
  /** ticks per sample */
  #stride = 1;
  #ticks = 0;

  constructor(reader: SignalReader) {
    this.#reader = reader;
  }

  sample(s: number): void {
    this.#ticks += 1;
    if (this.#ticks % this.#stride !== 0) return;
    const value = this.#reader.read();
    if (!(value instanceof Promise)) this.#add(s, value);
  }

  async ask(s: number): Promise<void> {
    this.#add(s, await this.#reader.read());
  }

  #add(s: number, value: SignalValue): void {
    if (typeof value !== 'number') return;
    this.#samples.push([s, value]);
    if (this.#samples.length < maxSamples) return;
    this.#samples = this.#samples.filter((_, n) => n % 2 === 1);
    this.#stride *= 2;
  }

  get result(): SignalSeries {
    return { signal: signalText(this.#reader.signal), unit: this.#reader.unit, samples: this.#samples };
  }
}

/** Ticks per sample of a signal that takes a request. */
const requestStride = 20;

/** The plotted signals of one run. */
export class SeriesBook {
  /** signals that are read without a request */
  readonly #series: readonly Series[];
  readonly #ofAnswers: readonly Series[];
  #ticks = 0;
  #isDue = false;
  readonly #begin: SimTime;

  constructor(readers: readonly SignalReader[], begin: SimTime) {
    const unique = [...new Set(readers)];
    const isAnswer = ({ signal }: SignalReader) => signal.kind === 'answer';
    this.#series = unique.filter((reader) => !isAnswer(reader)).map((reader) => new Series(reader));
    this.#ofAnswers = unique.filter(isAnswer).map((reader) => new Series(reader));
    this.#begin = begin;
  }

  sample(instant: SimTime): void {
    const s = secondsBetween(this.#begin, instant);
    for (const each of this.#series) each.sample(s);
    this.#isDue ||= this.#ticks % requestStride === 0;
    this.#ticks += 1;
  }

  /** Samples signals that take a request, at intervals. */
  async ask(instant: SimTime): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = false;
    const s = secondsBetween(this.#begin, instant);
    for (const each of this.#ofAnswers) await each.ask(s);
  }

  /** Series with at least one number. */
  get results(): readonly SignalSeries[] {
    return [...this.#series, ...this.#ofAnswers]
      .map(({ result }) => result)
      .filter(({ samples }) => samples.length > 0);
  }
}
