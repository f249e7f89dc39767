/** A parser or listener that is fuzzed. */
import { HttpProblem } from '../../src/api/http/errors.ts';
import { SimError } from '../../src/core/errors.ts';

/** An open target. */
export interface Subject {
  /** Gives it octets. @throws Error for a failure, never for a refusal of the target's own kind */
  feed(input: Buffer): void | Promise<void>;
  /** Makes a valid request. @throws Error when it is not answered as it must be */
  alive(): void | Promise<void>;
  close(): void | Promise<void>;
}

export interface Target {
  readonly name: string;
  /** valid inputs */
  readonly samples: () => readonly Buffer[];
  /** words are replaced too */
  readonly isText: boolean;
  readonly open: () => Subject | Promise<Subject>;
}

export const nothing = (): void => undefined;

/** Does work in which only a refusal by a `SimError` or a problem of HTTP may be thrown; INTERNAL is no refusal. */
export function refusing(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (error instanceof SimError && error.code !== 'INTERNAL') return;
    if (error instanceof HttpProblem) return;
    throw error;
  }
}

/** A target whose parser is called with the text, and has no state. */
export function parserTarget(name: string, samples: () => readonly string[], parse: (text: string) => unknown): Target {
  return {
    name,
    isText: true,
    samples: () => samples().map((text) => Buffer.from(text)),
    open: () => ({
      feed(input) {
        refusing(() => parse(input.toString()));
      },
      alive() {
        const [valid = ''] = samples();
        parse(valid);
      },
      close: nothing,
    }),
  };
}
