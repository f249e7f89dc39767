/** The meters of one EndDevice and their mirrors: one for each device, and one for the connection point. */
import type { CsipReadings } from '../../contract/csip-reports.ts';
import type { Plant, SiteMeterNow } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { microsPerSecond } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Received } from '../xml/schema.ts';
import type { MirrorUsagePoint, MirrorUsagePointList } from '../xml/documents.ts';
import { Averager, quantitiesOf } from './readings.ts';
import { Mirror } from './mirror.ts';
import type { MirrorOptions } from './mirror.ts';
import { phaseCodes } from './model.ts';
import type { DeviceReports, MeterNow } from './model.ts';
import type { ReadingConventions } from './readings.ts';
import { minRateS } from './sheet.ts';
import type { Sending } from './sheet.ts';

export interface MeterOptions extends Sending {
  readonly clock: RemoteClock;
  readonly plant: Plant;
  readonly reports: readonly DeviceReports[];
  /** all devices as one, with a common mirror; null: each device has a separate mirror */
  readonly together: DeviceReports | null;
  readonly lfdi: string;
  /** the 8 digits of the enterprise number at the end of each mRID */
  readonly penDigits: string;
  /** overrides the rates of the server, s; null: no override */
  readonly postRateS: number | null;
  /** true: periods of whole minutes start at whole minutes */
  readonly wholeMinutes?: boolean;
  /** as of `MirrorOptions` */
  readonly mirrors?: NonNullable<MirrorOptions['mirrors']>;
  readonly conventions: ReadingConventions & {
    /** readings of each device */
    readonly device: boolean;
    /** readings of the connection point */
    readonly site: boolean;
  };
}

/** Default postRate and pollRate, s. */
const defaultRateS = 900;
/** Entries of the list per request. */
const pageSize = 255;
/** Maximum number of entries read. */
const maxListed = 10_000;
/** A period that has been over for this long without a tick means that the simulation stands still, ms. */
const stillMs = 5000;

interface Meter {
  readonly mirror: Mirror;
  readonly read: () => MeterNow;
  averager: Averager;
}

type MeterRead = Meter['read'];

/** The counters of the meter lag by up to one second, during which energy follows the power. */
const lagHours = 1 / 3600;
/** Minimum resolution of the counters, Wh and varh. */
const minCount = 1e-3;

/** Values of the site meter, whose import is positive, with injection positive. */
function ofMeter({ w, var: vars, volts, hz, ...energy }: SiteMeterNow): MeterNow {
  return {
    w: 0 - w,
    var: 0 - vars,
    totals: {
      injectedWh: energy.exportedWh,
      absorbedWh: energy.importedWh,
      injectedVarh: energy.exportedVarh,
      absorbedVarh: energy.importedVarh,
    },
    countWh: Math.max(minCount, 2 * Math.abs(w) * lagHours),
    countVarh: Math.max(minCount, 2 * Math.abs(vars) * lagHours),
    volts: new Map(phaseCodes.flatMap((code, i) => (volts[i] === undefined ? [] : [[code, volts[i]]]))),
    hz,
    storedWh: null,
  };
}

export class Meters {
  readonly #options: MeterOptions;
  readonly #meters: readonly Meter[];
  #simS: number;
  #rateS: number;
  #listHref: string | null = null;
  #cancelPoll: (() => void) | null = null;
  #cancelStill: (() => void) | null = null;
  #stopped = false;

  constructor(options: MeterOptions) {
    const { reports, together, conventions, plant } = options;
    const metered = together === null ? reports : [together];
    this.#options = options;
    this.#rateS = options.postRateS ?? defaultRateS;
    this.#simS = plant.latest.sim / microsPerSecond;
    this.#meters = [
      ...(conventions.device
        ? metered.map((each) =>
            this.#meter('device', each, each === together ? 'All devices' : `Device ${each.deviceIndex}`, () =>
              each.meter(),
            ),
          )
        : []),
      ...reports
        .slice(0, conventions.site ? 1 : 0)
        .map((first) => this.#meter('site', first, 'Connection point', () => this.#siteMeter(first))),
    ];
  }

  /** @param deviceIndex null: all devices */
  readings(deviceIndex: number | null): CsipReadings & { readonly lastPostMs: number | null; readonly posted: number } {
    const { together } = this.#options;
    const mirrors = this.#meters.map(({ mirror }) => mirror);
    const posts = mirrors.flatMap(({ lastPostMs }) => (lastPostMs === null ? [] : [lastPostMs]));
    const sets = mirrors.flatMap(({ sets: each }) => each);
    return {
      mupHref: mirrors[0]?.href ?? null,
      postRateS: this.#listHref === null ? null : this.#rateS,
      sets: deviceIndex === null || together !== null ? sets : sets.filter((set) => set.deviceIndex === deviceIndex),
      lastPostMs: posts.length === 0 ? null : Math.max(...posts),
      posted: mirrors.reduce((sum, { posted }) => sum + posted, 0),
    };
  }

  /** Sets the list at which mirrors are created. @param listHref MirrorUsagePointList; null: the server has none */
  follow(listHref: string | null): void {
    if (listHref === this.#listHref) return;
    this.#listHref = listHref;
    for (const { mirror } of this.#meters) mirror.follow(listHref);
    this.#cancelPoll?.();
    if (listHref === null) return;
    // energy metered without a list belongs to no mirror
    this.#restart();
    void this.#poll(listHref);
  }

  /** Samples the meters at the end of a tick. */
  tick(sim: SimTime): void {
    this.#simS = sim / microsPerSecond;
    this.#sample(this.#options.clock.ofSim(sim));
  }

  /** @throws SimError NOT_CONNECTED without a resource for readings */
  async sendNow(): Promise<void> {
    if (this.#listHref === null) throw new SimError('NOT_CONNECTED', 'the server has no place for readings');
    await Promise.all(
      this.#meters.map(({ averager, mirror }) => {
        const period = averager.cut();
        return mirror.post(period === null ? [] : [period]);
      }),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelPoll?.();
    this.#cancelStill?.();
    for (const { mirror } of this.#meters) mirror.stop();
  }

  #meter(role: MirrorOptions['role'], reports: DeviceReports, name: string, read: MeterRead): Meter {
    const { conventions } = this.#options;
    return {
      read,
      averager: this.#averager(read),
      mirror: new Mirror({
        ...this.#options,
        role,
        deviceIndex: reports.deviceIndex,
        isSingleDevice: role === 'device' && reports !== this.#options.together,
        description: name,
        quantities: quantitiesOf(conventions, read()),
        onPostRate: (seconds) => this.#setRate(seconds),
      }),
    };
  }

  /**
   * Values at the connection point: those of the site meter if the site has one and `reports` covers all devices of the
   * site; otherwise the net power of the devices and local loads, which the averager integrates to energy.
   */
  #siteMeter(first: DeviceReports): MeterNow {
    const { plant, reports } = this.#options;
    if (plant.meter !== null && reports.length === plant.devices.length) return ofMeter(plant.meter.now);
    const { volts, hz } = first.meter();
    return {
      w: plant.siteOf(reports.map(({ deviceIndex }) => deviceIndex)).netW,
      // local loads have no reactive power
      var: reports.reduce((sum, each) => sum + each.meter().var, 0),
      totals: null,
      countWh: 1,
      countVarh: 1,
      volts,
      hz,
      storedWh: null,
    };
  }

  #averager(read: MeterRead): Averager {
    const first = { atMs: this.#options.clock.nowMs(), simS: this.#simS, meter: read() };
    return new Averager(first, this.#rateS * 1000, this.#options.wholeMinutes);
  }

  #restart(): void {
    for (const meter of this.#meters) meter.averager = this.#averager(meter.read);
    this.#watchStill();
  }

  #sample(atMs: number): void {
    let ended = false;
    for (const { averager, mirror, read } of this.#meters) {
      const periods = averager.add({ atMs, simS: this.#simS, meter: read() });
      ended ||= periods.length > 0;
      if (periods.length > 0 && this.#listHref !== null) void mirror.post(periods);
    }
    if (ended) this.#watchStill();
  }

  /** Ends periods while the simulation is paused and no tick ends them. */
  #watchStill(): void {
    this.#cancelStill?.();
    const [first] = this.#meters;
    if (first === undefined || this.#stopped || this.#listHref === null) return;
    const { clock, later } = this.#options;
    const waitMs = first.averager.dueMs - clock.nowMs() + stillMs;
    this.#cancelStill = later(Math.max(waitMs, stillMs), () => {
      // a remote clock that stands still with the simulation has not reached the end
      if (clock.nowMs() >= first.averager.dueMs + stillMs) this.#sample(clock.nowMs());
      else this.#watchStill();
    });
  }

  #setRate(seconds: number): void {
    const rateS = this.#options.postRateS ?? Math.max(seconds, minRateS);
    if (rateS === this.#rateS) return;
    this.#rateS = rateS;
    for (const { averager } of this.#meters) averager.periodMs = rateS * 1000;
    this.#watchStill();
  }

  /** Reads the list at its pollRate: the postRate may change, and a mirror may have been removed. */
  async #poll(listHref: string): Promise<void> {
    let pollS = defaultRateS;
    try {
      const { pollRate, listed } = await this.#readList(listHref);
      pollS = pollRate ?? defaultRateS;
      for (const { mirror } of this.#meters) await mirror.refresh(listed);
    } catch {
      // the next poll reads the list again; the walk reports the loss of a server
    }
    if (this.#stopped || this.#listHref !== listHref) return;
    const waitMs = Math.max(pollS, minRateS) * 1000;
    this.#cancelPoll = this.#options.later(waitMs, () => void this.#poll(listHref));
  }

  async #readList(listHref: string): Promise<{
    readonly pollRate: number | undefined;
    readonly listed: readonly Received<MirrorUsagePoint>[] | null;
  }> {
    const { exchange } = this.#options;
    const listed: Received<MirrorUsagePoint>[] = [];
    let list: Received<MirrorUsagePointList> = {};
    do {
      const url = new URL(listHref);
      url.searchParams.set('s', String(listed.length));
      url.searchParams.set('l', String(pageSize));
      const { document } = await exchange.request({
        method: 'GET',
        href: url.href,
        resource: 'MirrorUsagePointList',
        deviceIndex: null,
      });
      if (document?.name !== 'MirrorUsagePointList') return { pollRate: list.pollRate, listed: null };
      list = document.value;
      const page = list.MirrorUsagePoint ?? [];
      if (page.length === 0) break;
      listed.push(...page);
    } while (listed.length < Math.min(list.all ?? 0, maxListed));
    return { pollRate: list.pollRate, listed };
  }
}
