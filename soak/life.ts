/** Lives of the simulator one after the other, with its clients and what they check. */
import { rmSync } from 'node:fs';
import type { RunningSimulator } from '../test/support/process.ts';
import type { RestartIssues } from './clients.ts';
import { startLife } from './fleet.ts';
import type { LifeOptions } from './fleet.ts';
import type { BookName } from './options.ts';
import type { Remote } from './remote.ts';
import type { Ports } from './tally.ts';

export const portsOf = ({ httpPort, modbusPort, dnp3Port }: RunningSimulator): Ports => ({
  http: httpPort,
  modbus: modbusPort,
  dnp3: dnp3Port,
});

export interface LivesOptions {
  readonly life: LifeOptions;
  /** with the methods of `Clients` */
  readonly clients: Pick<Remote, 'call'>;
  readonly books: ReadonlySet<BookName>;
}

/** The simulator over its restarts. */
export class Lives {
  readonly #options: LivesOptions;
  #simulator: RunningSimulator | null = null;
  #isEnding = false;
  /** restarts that were ready */
  restarts = 0;
  readonly readyMs: number[] = [];
  /** values that were not the promised ones after a restart, by life */
  readonly issues: string[] = [];
  /** starts that failed, and unexpected ends */
  readonly failures: string[] = [];

  constructor(options: LivesOptions) {
    this.#options = options;
  }

  get simulator(): RunningSimulator {
    if (this.#simulator === null) throw new Error('the simulator is not running');
    return this.#simulator;
  }

  /** @throws Error when it does not become ready */
  async start(): Promise<void> {
    const isFirst = this.#simulator === null;
    const simulator = await startLife(this.#options.life);
    this.#simulator = simulator;
    this.#isEnding = false;
    void simulator.ended.then((code) => {
      if (this.#simulator === simulator && !this.#isEnding)
        this.failures.push(`the simulator ended by itself with code ${String(code)}: ${simulator.output.slice(-2000)}`);
    });
    if (!isFirst) {
      this.restarts += 1;
      this.readyMs.push(simulator.readyMs);
    }
    const { clients, books, life } = this.#options;
    const checks = !isFirst && life.stateFolder !== null;
    const issues = await clients.call<RestartIssues | null>('begin', portsOf(simulator), checks);
    for (const book of ['rest', 'dnp3', 'energy'] as const)
      if (books.has(book))
        for (const issue of issues?.[book] ?? []) this.issues.push(`restart ${this.restarts}: ${issue}`);
  }

  /** Ends the present life at once. */
  async kill(): Promise<void> {
    const { clients } = this.#options;
    await clients.call('down');
    this.#isEnding = true;
    const atMs = Date.now();
    await this.simulator.kill();
    await clients.call('ended', atMs);
  }

  async stop(): Promise<number | null> {
    this.#isEnding = true;
    const code = (await this.#simulator?.stop()) ?? null;
    return code;
  }

  /** Ends what still runs, and removes the folders. */
  async close(): Promise<void> {
    this.#isEnding = true;
    await this.#simulator?.kill();
    const { folder, stateFolder } = this.#options.life;
    for (const each of [folder, ...(stateFolder === null ? [] : [stateFolder])])
      rmSync(each, { recursive: true, force: true });
  }
}
