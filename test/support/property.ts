/**
 * Properties. `holds` and `holdsAsync` try one with random cases, which derive from the seed of the run, and before them
 * with cases that have failed in the past.
 */
import fc from 'fast-check';
import { depth } from './depth.ts';
import { counterexamplesFolder, examplesFolder, inProject, PropertyCases } from './property-cases.ts';
import type { CaseForm } from './property-cases.ts';
import { runningTest } from './running-test.ts';
import { runSeed } from './seed.ts';

type Arguments = readonly [unknown, ...unknown[]];
type Arbitraries<Args extends Arguments> = { readonly [Index in keyof Args]: fc.Arbitrary<Args[Index]> };

/** What does not belong to the property: tests of `holds` alone change it. */
export interface PropertyRun {
  readonly seed: number;
  /** Factor of the number of cases; absent: the depth decides. */
  readonly scale?: number;
  readonly examplesFolder: string;
  readonly counterexamplesFolder: string;
}

export interface PropertyOptions<Args extends Arguments> {
  /** Cases; default: 100. `quick` tries a third of them and `ci` 60 %, each at least 10, and `full` 20 times as many. */
  readonly runs?: number;
  /** Cases tried first. */
  readonly examples?: readonly Args[];
  /** For cases with functions or instances of classes, which JSON cannot hold. */
  readonly form?: CaseForm<Args>;
  readonly run?: PropertyRun;
}

function scaleOf(text: string | undefined): { readonly scale?: number } {
  if (text === undefined) return {};
  const scale = Number(text);
  if (!(scale > 0 && scale < Infinity)) throw new Error(`FC_SCALE is ${text}, not a number above 0`);
  return { scale };
}

const thisRun: PropertyRun = {
  seed: runSeed,
  ...scaleOf(process.env['FC_SCALE']),
  examplesFolder,
  counterexamplesFolder,
};

/** Fractions, whose quotients would round 0.6 x 55 up to 34. */
const shares = { quick: [1, 3], ci: [3, 5], full: [20, 1] } as const;
const minCases = 10;

/** Random cases of a property, of which each depth tries a share. */
export function casesFor(runs: number, scale = thisRun.scale, at = depth): number {
  if (scale !== undefined) return Math.ceil(runs * scale);
  const [numerator, denominator] = shares[at];
  return Math.max(Math.min(runs, minCases), Math.ceil((runs * numerator) / denominator));
}

const shrinkMs = 10_000;
const lengthened = new WeakSet<Mocha.Test>();

/** Gives a test with many times its cases as many times its time. */
function lengthen(test: Mocha.Test, factor: number): void {
  if (factor <= 1 || lengthened.has(test)) return;
  lengthened.add(test);
  test.timeout(test.timeout() * factor);
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

class Trial<Args extends Arguments> {
  readonly #test = runningTest();
  readonly #file = inProject(this.#test.file ?? '');
  readonly #run: PropertyRun;
  readonly #runs: number;
  readonly #cases: PropertyCases<Args>;
  readonly #options: PropertyOptions<Args>;
  #shrinkEndMs = Infinity;

  constructor(name: string, options: PropertyOptions<Args>) {
    const { run = thisRun, runs = 100, form } = options;
    this.#options = options;
    this.#run = run;
    this.#runs = casesFor(runs, run.scale);
    this.#cases = new PropertyCases(this.#file, name, form);
    lengthen(this.#test, this.#runs / runs);
  }

  get parameters(): fc.Parameters<Args> {
    const examples = [...this.#cases.read(this.#run.examplesFolder), ...(this.#options.examples ?? [])];
    const { seed } = this.#run;
    return {
      seed,
      examples,
      numRuns: this.#runs + examples.length,
      endOnFailure: false,
      verbose: fc.VerbosityLevel.None,
      includeErrorInReport: true,
    };
  }

  /** The search for a smaller case ends in time for the report. */
  get isOver(): boolean {
    return performance.now() > this.#shrinkEndMs;
  }

  /** Notes the first failure. */
  failed(error?: unknown): void {
    if (fc.PreconditionFailure.isFailure(error) || this.#shrinkEndMs < Infinity) return;
    this.#shrinkEndMs = performance.now() + shrinkMs;
    if (this.#test.timeout() > 0) this.#test.timeout(this.#test.timeout() + 2 * shrinkMs);
  }

  /** @returns the number of cases tried */
  end(details: fc.RunDetails<Args>): number {
    const report = fc.defaultReportMessage(details);
    if (report === undefined) return details.numRuns;
    const lines = [
      report,
      `\nRepeat: ${this.#command}`,
      ...(details.counterexample ? [this.#keep(details.counterexample)] : []),
    ];
    throw new Error(lines.join('\n'), { cause: details.errorInstance });
  }

  get #command(): string {
    const { seed, scale } = this.#run;
    const amount = scale !== undefined ? `FC_SCALE=${scale} ` : depth === 'quick' ? '' : `TEST_DEPTH=${depth} `;
    return `FC_SEED=${seed} ${amount}npx mocha ${this.#file} -f ${quoted(this.#test.fullTitle())}`;
  }

  #keep(counterexample: Args): string {
    try {
      const path = inProject(this.#cases.write(this.#run.counterexamplesFolder, counterexample));
      return `The case is in ${path}; each run tries it first when you move it to test/examples.`;
    } catch (error) {
      if (error instanceof TypeError) return `The case is in no file: ${error.message}. Give the property a \`form\`.`;
      throw error;
    }
  }
}

/** Throws or returns false for a case that is wrong. */
type Predicate<Args extends Arguments> = (...args: Args) => unknown;
type AsyncPredicate<Args extends Arguments> = (...args: Args) => Promise<unknown>;

// fast-check types each number of arbitraries by itself; the functions below do it for all.
const listed = (arbitraries: unknown) =>
  (Array.isArray(arbitraries) ? arbitraries : [arbitraries]) as [fc.Arbitrary<unknown>];

/**
 * Fails with the smallest counterexample if the predicate throws or returns false for a case.
 *
 * @param name unique in its file: the file of the property's examples has it
 * @returns the number of cases tried
 */
export function holds<Args extends Arguments>(
  name: string,
  arbitraries: Arbitraries<Args>,
  predicate: Predicate<Args>,
  options?: PropertyOptions<NoInfer<Args>>,
): number;
export function holds<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  predicate: Predicate<[T]>,
  options?: PropertyOptions<[NoInfer<T>]>,
): number;
export function holds(
  name: string,
  arbitraries: unknown,
  predicate: Predicate<[unknown]>,
  options: PropertyOptions<[unknown]> = {},
): number {
  const trial = new Trial(name, options);
  const property = fc.property(...listed(arbitraries), (...args) => {
    if (trial.isOver) return true;
    try {
      const answer = predicate(...args);
      if (answer instanceof Promise) throw new TypeError(`${name}: its predicate takes time, which is for holdsAsync`);
      if (answer === false) trial.failed();
      return answer !== false;
    } catch (error) {
      trial.failed(error);
      throw error;
    }
  });
  return trial.end(fc.check(property, trial.parameters));
}

/** `holds` for a predicate that takes time. */
export async function holdsAsync<Args extends Arguments>(
  name: string,
  arbitraries: Arbitraries<Args>,
  predicate: AsyncPredicate<Args>,
  options?: PropertyOptions<NoInfer<Args>>,
): Promise<number>;
export async function holdsAsync<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  predicate: AsyncPredicate<[T]>,
  options?: PropertyOptions<[NoInfer<T>]>,
): Promise<number>;
export async function holdsAsync(
  name: string,
  arbitraries: unknown,
  predicate: AsyncPredicate<[unknown]>,
  options: PropertyOptions<[unknown]> = {},
): Promise<number> {
  const trial = new Trial(name, options);
  const property = fc.asyncProperty(...listed(arbitraries), async (...args) => {
    if (trial.isOver) return true;
    try {
      const answer = await predicate(...args);
      if (answer === false) trial.failed();
      return answer !== false;
    } catch (error) {
      trial.failed(error);
      throw error;
    }
  });
  return trial.end(await fc.check(property, trial.parameters));
}

/** Some values, the same ones for the seed of the run. */
export const samples = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: runSeed });
