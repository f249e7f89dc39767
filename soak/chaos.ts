/** The disturbances of a soak, by chance from its seed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RandomStream } from '../src/core/random.ts';

export type Disturbance = 'kill' | 'cut clients' | 'cut ocpp' | 'cut csip' | 'full disk';

export interface Planned {
  readonly what: Disturbance;
  /** after the one before, s */
  readonly afterS: number;
}

const others = ['cut clients', 'cut ocpp', 'cut csip'] as const;

/** Each kill comes 20 to 60 s after the one before, one of four after a disk that is full for some seconds. */
export function* plan(random: RandomStream): Generator<Planned> {
  for (;;) {
    const lifeS = 20 + 40 * random.next();
    const isFull = random.next() < 0.25;
    const cuts = Math.floor(3 * random.next());
    // the second half of the life of a full disk is for its recovery
    const cutS = (isFull ? lifeS / 2 : lifeS) / (cuts + 1);
    for (let cut = 0; cut < cuts; cut += 1)
      yield { what: others[Math.floor(others.length * random.next())] ?? 'cut ocpp', afterS: cutS };
    if (isFull) yield { what: 'full disk', afterS: cutS };
    yield { what: 'kill', afterS: isFull ? lifeS / 2 : cutS };
  }
}

const run = promisify(execFile);

/** Lets every write of a process to a file fail (EFBIG), or permits it again. @throws Error without `prlimit` of Linux */
export async function limitFiles(pid: number, isFull: boolean): Promise<void> {
  await run('prlimit', [`--pid=${pid}`, `--fsize=${isFull ? 0 : 'unlimited'}:`]);
}
