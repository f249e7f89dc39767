/** The simulators of one process, one after the other: a restored state or another lab replaces the one that runs. */
import { createApp } from '../build.ts';
import type { App, Endpoints, Restart } from '../start-stop.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import { errorText } from '../../core/errors.ts';
import { createLogBook } from '../../core/log/log.ts';
import type { LogBook } from '../../core/log/log.ts';
import { systemClock } from '../../core/time/clock.ts';
import { createMemoryStore } from '../../core/store.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { callLater } from '../../core/time/timers.ts';
import type { ShardStart } from '../../fleet/clock/join.ts';
import type { Contents } from '../../state/contents.ts';
import { findFleet } from '../fleet-start.ts';
import type { AroundStart } from '../fleet-start.ts';
import { replaceState } from '../state.ts';
import { createStopHandler } from './ending.ts';

/** The process around the simulators. */
interface ProcessAround {
  /** Prints the lines of a simulator that has started. */
  readonly print: (lines: readonly string[]) => void;
  /** Prints a line about the end of the process. */
  readonly warn: (line: string) => void;
  /** Called when the adapters of the simulator may be others. */
  readonly onAdapters?: () => void;
  readonly exit: (code: number) => never;
  readonly fail: (error: unknown) => never;
  /** Ends the process when a new simulator cannot be built or started. */
  readonly failRestart: (error: unknown) => never;
}

/** Parts that are there before the first simulator. */
interface FleetStart {
  readonly logBook: LogBook;
  readonly joined: ShardStart | null;
}

const logBookOf = (config: AppConfig) => createLogBook({ ...config.log, clock: systemClock });

const aroundOf = (logBook: LogBook): AroundStart => ({
  wall: systemClock,
  later: callLater,
  log: logBook.logger('Lab'),
});

export class Running {
  readonly #around: ProcessAround;
  /** one log for all simulators of the process */
  readonly #logBook: LogBook;
  readonly #stopOrEnd: () => void;
  #config: AppConfig;
  /** the fleet that the next simulator joins; null: none */
  #joined: ShardStart | null;
  /** state of the next simulator without a state folder */
  #contents: Contents = new Map();
  #app: App;
  #isEnding = false;
  #hasLostLease = false;
  /** a restart that is under way; null: none is */
  #restart: Promise<void> | null = null;

  /**
   * Builds the first simulator; nothing is bound yet. A shard finds its fleet before.
   * @throws SimError CONFIG_INVALID, LISTEN_FAILED
   */
  static async open(config: AppConfig, around: ProcessAround): Promise<Running> {
    const logBook = logBookOf(config);
    return new Running(config, around, { logBook, joined: await findFleet(config, aroundOf(logBook)) });
  }

  constructor(
    config: AppConfig,
    around: ProcessAround,
    start: FleetStart = { logBook: logBookOf(config), joined: null },
  ) {
    this.#config = config;
    this.#around = around;
    this.#logBook = start.logBook;
    this.#joined = start.joined;
    this.#app = this.#build();
    const { exit, fail } = around;
    this.#stopOrEnd = createStopHandler({ stop: () => this.#stop(), exit, fail, later: callLater });
  }

  /** Writes the counts of repeated lines. */
  flushLog(): void {
    this.#logBook.flush();
  }

  /** Functions of the present simulator that read files again. */
  get reloads(): readonly (() => void)[] {
    return this.#app.adapters.flatMap(({ reload }) => reload ?? []);
  }

  /**
   * @param isTrial true: the former lab starts again where an adapter of this one does not open
   * @throws SimError LISTEN_FAILED with nothing left open
   */
  async start(isTrial = false): Promise<void> {
    const { http, lines } = await this.#startApp(isTrial);
    // clients find a later simulator where this one was, also after `--website_port 0`
    this.#config = { ...this.#config, web: { ...this.#config.web, port: http.port } };
    this.#around.onAdapters?.();
    this.#around.print(lines);
  }

  /**
   * Where an adapter does not open with settings that requests have changed, those of the configuration apply. One that
   * does not open with the lab of a request is left switched off.
   */
  async #startApp(isTrial: boolean): Promise<Endpoints> {
    const { hasRequestedAdapters, isLoadedLab } = this.#app;
    const leavesOff = isLoadedLab && !isTrial;
    try {
      return await this.#app.start(leavesOff && !hasRequestedAdapters);
    } catch (error) {
      if (this.#isEnding || !hasRequestedAdapters) throw error;
      this.#app = this.#build(errorText(error));
      return this.#app.start(leavesOff);
    }
  }

  /** Ends the process cleanly; a second call ends it at once, and so does a stop that takes 4 s. */
  end(): void {
    this.#isEnding = true;
    this.#stopOrEnd();
  }

  async #stop(): Promise<number> {
    await this.#restart;
    // a stop that fails or takes too long must not cost the reports
    const code = await this.#endFindings();
    await this.#app.stop();
    return this.#hasLostLease ? exitCodes.leaseLost : code;
  }

  /** Writes reports on findings. @returns the exit code */
  async #endFindings(): Promise<number> {
    const findings = await this.#app.endedFindings();
    if (findings === null) return exitCodes.ok;
    const { failingPeers, writeFindings } = await import('../finding-reports.ts');
    const issues = writeFindings([findings]).map(({ name, detail }) => `${name}: ${detail}`);
    const failing = failingPeers(findings);
    for (const line of [...issues, ...failing]) this.#around.warn(line);
    if (issues.length > 0) return exitCodes.internal;
    return failing.length > 0 ? exitCodes.failed : exitCodes.ok;
  }

  #build(withoutRequests?: string): App {
    return createApp(this.#config, {
      ...(withoutRequests !== undefined && { withoutRequests }),
      joined: this.#joined,
      logBook: this.#logBook,
      store: createMemoryStore({}, this.#contents),
      onAdapters: () => this.#around.onAdapters?.(),
      onStopRequest: () => {
        this.end();
      },
      onLeaseLost: () => {
        this.#hasLostLease = true;
        this.end();
      },
      onRestartRequest: (restart) => {
        if (this.#isEnding || this.#restart !== null) return;
        this.#restart = this.#replace(restart)
          .catch((error: unknown) => this.#around.failRestart(error))
          .finally(() => {
            this.#restart = null;
          });
      },
    });
  }

  /** The old simulator has let go of ports and folder before the new one is built. */
  async #replace({ contents, former }: Restart): Promise<void> {
    await this.#app.stop();
    try {
      await this.#startWith(contents, former !== undefined);
    } catch (error) {
      if (former === undefined) throw error;
      this.#logBook.logger('Lab').error(`the other lab cannot be started, and the former one is: ${errorText(error)}`);
      await this.#startWith(former, false);
    }
  }

  async #startWith(contents: Contents, isTrial: boolean): Promise<void> {
    const { stateDir } = this.#config;
    if (stateDir === null) this.#contents = contents;
    else await replaceState(stateDir, contents);
    // a signal came meanwhile: the state is in place, and the process ends
    if (this.#isEnding) return;
    // requests to the old simulator may have changed the log
    this.#logBook.print(this.#config.log);
    this.#joined = await findFleet(this.#config, aroundOf(this.#logBook));
    this.#app = this.#build();
    await this.start(isTrial);
  }
}
