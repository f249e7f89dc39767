/** A simulator, and the order in which its parts start and stop. */
import type { Api } from '../api/http/server.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { Recorder } from '../contract/recorder.ts';
import type { Adapter } from '../core/adapter.ts';
import { errorText } from '../core/errors.ts';
import type { EventLoopWatch } from '../core/event-loop.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import type { FindingRegistry } from '../core/findings/registry.ts';
import type { LogBook, Logger } from '../core/log/log.ts';
import { buildId, packageVersion } from '../core/package-files.ts';
import type { ListStore } from '../core/store.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { ClockWatch } from '../core/time/clock-watch.ts';
import type { Ticker, Later } from '../core/time/timers.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import type { ScenarioHost } from '../scenario/run/host.ts';
import type { Contents } from '../state/contents.ts';
import { exposureWarnings } from './adapters/seats.ts';
import type { NotOpened } from './adapters/seats.ts';
import type { ShardStart } from '../fleet/clock/join.ts';
import type { DeviceChanges } from './devices/changes.ts';
import type { EndedFindings } from './finding-reports.ts';
import type { Http } from './http.ts';
import type { Scenarios } from './scenarios/kept.ts';
import type { SettingsInForce } from './settings.ts';
import type { TimelineFeed } from './timeline/feed.ts';
import type { SlotOwners } from './slot-owners.ts';
import type { HistoryKeeping } from './history-keeping.ts';
import type { PlantKeeping } from './keeping.ts';
import type { LogKeeping } from './log-keeping.ts';
import type { Folder } from '../state/files.ts';
import type { State } from './state.ts';

/** A new simulator that takes the place of this one. */
export interface Restart {
  readonly reason: string;
  /** its state */
  readonly contents: Contents;
  /** state of a simulator that starts if the new one does not; absent: the process ends then */
  readonly former?: Contents;
}

export interface AppOptions {
  readonly wall?: WallClock;
  /** timers of `wall`, for waits for a remote system */
  readonly later?: Later;
  readonly logBook?: LogBook;
  /** without `state_dir`; default: a store in memory, which is lost when the simulator ends */
  readonly store?: ListStore;
  /** opens the folder of `state_dir`; default: one of the disk */
  readonly openStateFolder?: (path: string) => Folder;
  readonly checkReplies?: boolean;
  /** called when `POST stop` asks for the end of the process */
  readonly onStopRequest?: (reason: string) => void;
  /** the fleet that the simulator joins, as it was found; absent: it joins none */
  readonly joined?: ShardStart | null;
  /** called when another process has the name of this shard in its fleet */
  readonly onLeaseLost?: () => void;
  /** called when `POST state/restore` or `POST config` asks for a new simulator; absent: such requests are refused */
  readonly onRestartRequest?: (restart: Restart) => void;
  /** why the settings of requests that the state has kept are not in force; absent: they are */
  readonly withoutRequests?: string;
  /** called when a change of the settings has restarted adapters, or switched them on or off */
  readonly onAdapters?: () => void;
}

export interface Endpoints {
  readonly http: { readonly host: string; readonly port: number };
  /** one line per listener, for people */
  readonly lines: readonly string[];
}

/** The parts of a simulator. */
export interface Parts {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly findings: FindingRegistry;
  /** The reports on all peers. @param scenario whose run they are about; absent: none */
  readonly endedFindings: (scenario?: string) => Promise<EndedFindings>;
  readonly http: Http;
  /** every adapter that is switched on, the stream included, in the order of their start; follows the settings */
  readonly adapters: readonly Adapter[];
  /** Starts the adapters. @param leavesOff true: those that do not open are left switched off @throws SimError LISTEN_FAILED */
  readonly startAdapters: (leavesOff: boolean) => Promise<NotOpened>;
  /** true: a request has loaded the lab */
  readonly isLoadedLab: boolean;
  readonly changes: DeviceChanges;
  readonly settings: SettingsInForce;
  readonly ticker: Pick<Ticker, 'start' | 'stop'>;
  readonly eventLoop: EventLoopWatch;
  readonly feed: TimelineFeed;
  readonly clockWatch: ClockWatch;
  readonly logBook: LogBook;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly scenarios: Scenarios;
  readonly state: State;
  readonly owners: SlotOwners;
  /** null: the state of the devices ends with the process */
  readonly keeping: PlantKeeping | null;
  /** null: the log ends with the process */
  readonly logKeeping: LogKeeping | null;
  /** null: the history ends with the process */
  readonly historyKeeping: HistoryKeeping | null;
}

/** Starts and stops the parts of a simulator. */
export class App {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly findings: FindingRegistry;
  readonly api: Api;
  readonly adapters: readonly Adapter[];
  readonly logBook: LogBook;
  /** recorder of all messages */
  readonly recorder: Recorder;
  readonly version = packageVersion();
  readonly buildId = buildId();
  readonly #config: AppConfig;
  readonly #parts: Parts;
  #stopping: Promise<void> | undefined;

  constructor(config: AppConfig, parts: Parts) {
    this.#config = config;
    this.#parts = parts;
    this.plant = parts.plant;
    this.faults = parts.faults;
    this.findings = parts.findings;
    this.api = parts.http.api;
    this.adapters = parts.adapters;
    this.logBook = parts.logBook;
    this.recorder = parts.recorder;
  }

  /** True if requests have changed settings of adapters. */
  get hasRequestedAdapters(): boolean {
    return this.#parts.settings.hasRequestedAdapters;
  }

  /** True if a request has loaded the lab. */
  get isLoadedLab(): boolean {
    return this.#parts.isLoadedLab;
  }

  /** The simulator as the host of a scenario of this name. */
  scenarioHost(name: string): ScenarioHost {
    return this.#parts.scenarios.hostOf(name);
  }

  /**
   * Findings about all peers so far, with the settings for them.
   * @param scenario whose run they are about; absent: none
   * @returns null: the settings ask neither for a report nor for an exit code
   */
  async endedFindings(scenario?: string): Promise<EndedFindings | null> {
    const { reports, failOn } = this.#config.findings;
    return reports.length === 0 && failOn === 'never' ? null : this.#parts.endedFindings(scenario);
  }

  /**
   * Binds every listener, then begins to tick.
   * @param leavesOff true: adapters that do not open are left switched off, until a request changes settings
   * @throws SimError LISTEN_FAILED with nothing left open
   */
  async start(leavesOff = false): Promise<Endpoints> {
    const { log, ticker, eventLoop, clockWatch, http, state, keeping, logKeeping, historyKeeping } = this.#parts;
    for (const warning of [...this.#exposureWarnings(), ...this.#config.unused, ...this.#config.notices])
      log.warning(warning);
    if (this.#config.ignoredVariables.length > 0)
      log.debug(
        `environment variables that a cluster sets for its services are ignored: ${this.#config.ignoredVariables.join(', ')}`,
      );
    try {
      const { reports } = this.#config.findings;
      if (reports.length > 0) (await import('./finding-reports.ts')).checkReportFiles(reports);
      await state.open();
      logKeeping?.open();
      this.#parts.owners.settleMoves();
      await historyKeeping?.open(http.history);
      const notOpened = new Map(await this.#parts.startAdapters(leavesOff));
      this.#parts.owners.save();
      http.timelineStream.open();
      const address = await this.api.start((error) => {
        if (!leavesOff) throw error;
        notOpened.set('csip-website', error);
      });
      this.#parts.settings.leaveOff(notOpened);
      keeping?.start();
      ticker.start();
      eventLoop.start();
      clockWatch.start();
      log.info(`derbench ${this.version} runs with ${devicesInWords(this.plant)}`);
      const listeners = [
        ...http.startLines(address),
        ...this.adapters.flatMap((adapter) => adapter.startLines?.() ?? []),
      ];
      return { http: address, lines: [...listeners, this.#summaryLine()] };
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops everything in order and in bounded time; idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { log, ticker, changes, settings, eventLoop, clockWatch, scenarios, state, keeping, historyKeeping, feed } =
      this.#parts;
    const { timelineStream } = this.#parts.http;
    // gateways send their requests elsewhere at once, and nothing later delays the name of the shard
    await this.#stopAdapters(({ comm }) => comm === 'fleet');
    await this.#waitForEnd('a scenario', scenarios.kept.close());
    // from here on no new request is served; answers under way may finish
    // guarded at once: a failure before it is waited for would end the process
    const http = this.#waitForEnd('HTTP', this.api.stop());
    await this.#waitForEnd('a change of the settings', settings.end());
    // while the clients of the protocols say which devices they serve
    this.#parts.owners.save();
    this.plant.end();
    // HTTP requests may be waiting for work of these adapters
    await this.#stopAdapters(({ outbound = false }) => outbound);
    await this.#waitForEnd('the tick', ticker.stop());
    await this.#waitForEnd('a change of the devices', changes.settled());
    // commands that wait go on after a restart
    if (keeping) await this.#waitForEnd('the state of the devices', keeping.close());
    else this.plant.commands.cancelAll();
    if (historyKeeping) await this.#waitForEnd('the history', historyKeeping.close());
    await this.#stopAdapters(({ outbound = false }) => !outbound);
    timelineStream.close();
    await http;
    this.findings.close();
    this.faults.close();
    eventLoop.stop();
    feed.close();
    clockWatch.stop();
    this.#parts.logKeeping?.close();
    await this.#waitForEnd('the state', state.close());
    log.info('stopped');
    this.logBook.flush();
  }

  async #stopAdapters(which: (adapter: Adapter) => boolean): Promise<void> {
    await Promise.all(this.adapters.filter(which).map((adapter) => this.#waitForEnd(adapter.comm, adapter.stop())));
  }

  /** Waits for one part; a failure is logged and does not prevent the others from closing. */
  async #waitForEnd(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#parts.log.error(`${what} did not stop cleanly: ${errorText(error)}`);
    }
  }

  #exposureWarnings(): readonly string[] {
    return exposureWarnings([
      ...this.#parts.http.exposures,
      ...this.adapters.flatMap(({ exposure }) => exposure ?? []),
    ]);
  }

  #summaryLine(): string {
    const paused = this.plant.time.mode === 'paused' ? 'the clock is paused; ' : '';
    return `${devicesInWords(this.plant)}, tick ${this.#config.tickS} s; ${paused}${this.#parts.state.words}`;
  }
}

function devicesInWords({ devices: { length } }: SimPlant): string {
  return `${length} device${length === 1 ? '' : 's'}`;
}
