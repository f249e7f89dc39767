/** Fuzzes one target in a thread of its own, so that a parser that hangs can be ended. */
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../../src/core/random.ts';
import { textOf } from '../tally.ts';
import { mutated } from './mutate.ts';
import { shrunk } from './shrink.ts';
import type { Subject, Target } from './target.ts';
import { targets } from './targets/all.ts';

/** Given to the thread. */
export interface FuzzTask {
  readonly name: string;
  readonly seed: number;
  readonly seconds: number;
  /** one input instead of mutations; null: mutations */
  readonly input: Uint8Array | null;
  /** input under way, for the parent: start in ms, number of the case, length, octets */
  readonly shared: SharedArrayBuffer;
}

/** An input that fails. */
export interface Find {
  readonly name: string;
  readonly number: number;
  readonly reason: string;
  /** as small as it could be made */
  readonly input: Uint8Array;
}

export interface FuzzResult {
  readonly cases: number;
  readonly finds: readonly Find[];
}

export const sharedHead = 3 * 8;
export const sharedOctets = sharedHead + 256 * 1024;
/** An input that takes longer fails. */
const maxFeedMs = 1000;
const aliveEvery = 50;
const maxFinds = 5;

class Fuzzer {
  readonly #target: Target;
  readonly #task: FuzzTask;
  readonly #head: Float64Array;
  readonly #octets: Uint8Array;
  #subject: Subject | null = null;

  constructor(target: Target, task: FuzzTask) {
    this.#target = target;
    this.#task = task;
    this.#head = new Float64Array(task.shared, 0, sharedHead / 8);
    this.#octets = new Uint8Array(task.shared, sharedHead);
  }

  /** @returns the failure of an input; null: none */
  async #failure(input: Buffer, number: number, checksAlive: boolean): Promise<string | null> {
    this.#subject ??= await this.#target.open();
    this.#octets.set(input);
    this.#head.set([Date.now(), number, input.length]);
    const begin = performance.now();
    try {
      await this.#subject.feed(input);
      const ms = performance.now() - begin;
      if (ms > maxFeedMs) return `it takes ${Math.round(ms)} ms`;
      if (checksAlive) await this.#subject.alive();
      return null;
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : textOf(error);
    } finally {
      this.#head[0] = 0;
    }
  }

  /** A failure may have left the subject in any state. */
  async #reopen(): Promise<void> {
    const subject = this.#subject;
    this.#subject = null;
    await Promise.resolve(subject?.close()).catch(() => undefined);
  }

  async #find(input: Buffer, number: number, reason: string): Promise<Find> {
    const kind = reason.split('\n')[0]?.replaceAll(/\d+/g, '0');
    const smallest = await shrunk(input, async (shorter) => {
      await this.#reopen();
      const failure = await this.#failure(shorter, number, true);
      return failure?.split('\n')[0]?.replaceAll(/\d+/g, '0') === kind;
    });
    await this.#reopen();
    return { name: this.#target.name, number, reason, input: smallest };
  }

  async run(): Promise<FuzzResult> {
    const { seed, seconds, name, input } = this.#task;
    const finds: Find[] = [];
    let cases = 0;
    if (input !== null) {
      const reason = await this.#failure(Buffer.from(input), 0, true);
      if (reason !== null) finds.push({ name, number: 0, reason, input });
      await this.#reopen();
      return { cases: 1, finds };
    }
    const samples = this.#target.samples();
    if (samples.length === 0) throw new Error(`${name} has no samples`);
    const random = createRandom(seed, 'fuzz', name);
    for (const sample of samples) {
      const reason = await this.#failure(sample, 0, true);
      if (reason === null) continue;
      finds.push({ name, number: 0, reason: `a valid sample: ${reason}`, input: sample });
      return { cases, finds };
    }
    const endMs = performance.now() + seconds * 1000;
    while (performance.now() < endMs && finds.length < maxFinds) {
      cases += 1;
      const octets = mutated(samples, this.#target.isText, random);
      const reason = await this.#failure(octets, cases, cases % aliveEvery === 0);
      if (reason !== null) finds.push(await this.#find(octets, cases, reason));
    }
    await this.#reopen();
    return { cases, finds };
  }
}

if (parentPort !== null) {
  const task = workerData as FuzzTask;
  const target = targets.find(({ name }) => name === task.name);
  if (target === undefined) throw new Error(`there is no target ${task.name}`);
  parentPort.postMessage(await new Fuzzer(target, task).run());
}
