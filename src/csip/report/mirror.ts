/** One MirrorUsagePoint on the server: its creation, its postRate, and its readings in order. */
import { createHash } from 'node:crypto';
import type { CsipReadingSet } from '../../contract/csip-reports.ts';
import { errorText } from '../../core/errors.ts';
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import { Turns } from '../../core/turns.ts';
import type { SepAnswer } from '../transport/exchange.ts';
import type { OutgoingDocument, Received } from '../xml/schema.ts';
import type { MirrorMeterReading, MirrorUsagePoint } from '../xml/documents.ts';
import type { AddressBook } from '../addresses.ts';
import type { Period, Quantity } from './readings.ts';
import { mridOf } from './readings.ts';
import { retryWaits } from '../transport/exchange.ts';
import { passesLater } from './sheet.ts';
import type { Sending } from './sheet.ts';

/** roleFlags of the mirror of a DER behind a submeter, and of the premises. */
export const mirrorRoles = { device: '0049', site: '0003' } as const;
export type MirrorRole = keyof typeof mirrorRoles;

/** ServiceKind */
const electricity = 0;
/** UsagePointStatus */
const switchedOn = 1;
/** Reading.qualityFlags */
const valid = '0001';

/** Maximum number of waiting periods: one day of five-minute periods. Beyond it the oldest are dropped. */
const maxWaitingPeriods = 288;
/** Maximum number of periods in one request. */
const maxPerPost = 12;
/** Statuses of a refused list, after which a request with one reading may still succeed. */
const listRefusals: ReadonlySet<number> = new Set([400, 405, 415, 422, 501]);

export interface MirrorOptions extends Sending {
  readonly role: MirrorRole;
  /** index of the device, or of the first of several */
  readonly deviceIndex: number;
  /** true for a single device: the mRID then contains its index */
  readonly isSingleDevice: boolean;
  /** LFDI of the EndDevice */
  readonly lfdi: string;
  /** the 8 digits of the enterprise number at the end of each mRID */
  readonly penDigits: string;
  readonly description: string;
  readonly quantities: readonly Quantity[];
  /** called with the postRate of the server, s */
  readonly onPostRate: (seconds: number) => void;
  /** mirrors of an earlier process: they are not created again; absent: none are known */
  readonly mirrors?: Pick<AddressBook, 'get' | 'set'>;
}

interface Series {
  readonly quantity: Quantity;
  readonly mrid: string;
}

const startS = ({ startMs }: Period) => Math.round(startMs / 1000);
/** Both ends are rounded in the same way, so that periods leave no gap. */
const durationS = (period: Period) => Math.round(period.endMs / 1000) - startS(period);

/** The multipliers of the readings in a mirror, by mRID. */
function multipliersIn(document: NonNullable<SepAnswer['arrived']> | null): ReadonlyMap<string, number> {
  const { MirrorMeterReading: readings = [] } = document?.name === 'MirrorUsagePoint' ? document.value : {};
  return new Map(
    readings.flatMap(({ mRID, ReadingType: type }) =>
      mRID === undefined || type?.powerOfTenMultiplier === undefined ? [] : [[mRID, type.powerOfTenMultiplier]],
    ),
  );
}

export class Mirror {
  readonly mrid: string;
  readonly #options: MirrorOptions;
  readonly #series: readonly Series[];
  readonly #backOff: BackOff;
  readonly #turns = new Turns();
  #listHref: string | null = null;
  #href: string | null = null;
  /** the address is from an earlier process, and its mirror has not been read yet */
  #isKept = false;
  #waiting: Period[] = [];
  #sent: readonly Period[] = [];
  #lastPostMs: number | null = null;
  /** multipliers by mRID as sent after fault injection; null: sent unchanged */
  #sentMultipliers: ReadonlyMap<string, number> | null = null;
  #posted = 0;
  #oneByOne = false;
  #cancelRetry: (() => void) | null = null;
  #failing = false;
  #stopped = false;

  constructor(options: MirrorOptions) {
    const { lfdi, penDigits, role, deviceIndex, isSingleDevice, quantities } = options;
    const mridWith = (...parts: readonly string[]) =>
      mridOf(penDigits, lfdi, role, ...(isSingleDevice ? [deviceIndex] : []), ...parts);
    this.#options = options;
    this.mrid = mridWith();
    this.#series = quantities.map((quantity) => ({ quantity, mrid: mridWith(quantity.key) }));
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
  }

  /** href of the MirrorUsagePoint; null: not created yet */
  get href(): string | null {
    return this.#href;
  }

  /** number of accepted requests with readings */
  get posted(): number {
    return this.#posted;
  }

  /** wall time of the last accepted readings, ms; null: never */
  get lastPostMs(): number | null {
    return this.#lastPostMs;
  }

  /** reading sets for REST, with the values of the last accepted request */
  get sets(): readonly CsipReadingSet[] {
    const { deviceIndex, role, isSingleDevice } = this.#options;
    const meter = role === 'site' ? 'site' : isSingleDevice ? 'device' : 'devices';
    return this.#series.map(({ quantity, mrid }) => {
      const { uom = 0, flowDirection = null, phase = null, powerOfTenMultiplier: multiplier = 0 } = quantity.type;
      const values = this.#sent.flatMap((period) => {
        const value = quantity.value(period);
        if (value === null) return [];
        const scaledValue = Number(`${value}e${multiplier}`);
        return [{ startServerMs: startS(period) * 1000, durationS: durationS(period), value: scaledValue }];
      });
      return {
        mrid,
        description: quantity.description,
        meter,
        deviceIndex,
        uom,
        flowDirection,
        phase,
        multiplier,
        ...(this.#sentMultipliers !== null && { sentMultiplier: this.#sentMultipliers.get(mrid) ?? null }),
        lastPostMs: this.#lastPostMs,
        values,
      };
    });
  }

  /** Sets the list at which the mirror is created. @param listHref MirrorUsagePointList; null: the server has none */
  follow(listHref: string | null): void {
    if (listHref === this.#listHref) return;
    this.#listHref = listHref;
    this.#href = listHref === null ? null : (this.#options.mirrors?.get(this.#key(listHref)) ?? null);
    this.#isKept = this.#href !== null;
    if (listHref !== null) void this.send();
  }

  /** Equal for one mirror with the same readings at one list. */
  #key(listHref: string): string {
    const readings = JSON.stringify(this.#series.map(({ quantity: { type }, mrid }) => [mrid, type]));
    return `${this.mrid} ${createHash('sha256').update(`${listHref} ${readings}`).digest('hex').slice(0, 32)}`;
  }

  #setHref(href: string | null): void {
    this.#href = href;
    this.#isKept = false;
    if (this.#listHref !== null) this.#options.mirrors?.set(this.#key(this.#listHref), href);
  }

  /** Adds periods to the queue. @returns a promise that resolves after an attempt to send them; it never rejects */
  post(periods: readonly Period[]): Promise<void> {
    this.#waiting = [...this.#waiting, ...periods.filter((period) => durationS(period) > 0)].slice(-maxWaitingPeriods);
    return this.send();
  }

  send(): Promise<void> {
    return this.#turns.take(() => this.#run());
  }

  /**
   * Reads the postRate of the mirror, and creates the mirror again if the server has removed it.
   * @param listed the MirrorUsagePoints of the list; null: the list could not be read completely
   */
  async refresh(listed: readonly Received<MirrorUsagePoint>[] | null): Promise<void> {
    if (this.#href === null || this.#stopped) return;
    const usagePoint = listed?.find(({ mRID }) => mRID?.toUpperCase() === this.mrid);
    if (usagePoint !== undefined) {
      this.#takeRate(usagePoint);
    } else if (!(await this.#read(this.#href))) {
      this.#setHref(null);
      await this.send();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
  }

  async #run(): Promise<void> {
    this.#cancelRetry?.();
    try {
      const reason = await this.#sendWaiting();
      if (reason === null) {
        this.#backOff.reset();
        this.#failing = false;
        return;
      }
      this.#fail(reason);
    } catch (error) {
      this.#fail(errorText(error));
    }
  }

  #fail(reason: string): void {
    const { log, deviceIndex, later } = this.#options;
    if (!this.#failing) log.warning(`readings wait, because the server did not accept them: ${reason}`, deviceIndex);
    this.#failing = true;
    if (!this.#stopped) this.#cancelRetry = later(this.#backOff.nextMs(), () => void this.send());
  }

  /** Creates the mirror and sends waiting periods. @returns the reason for a retry; null: nothing to retry */
  async #sendWaiting(): Promise<string | null> {
    let isRecreated = false;
    while (this.#listHref !== null && !this.#stopped) {
      if (this.#href === null) {
        const refusal = await this.#create(this.#listHref);
        if (refusal !== null) return refusal;
        continue;
      }
      if (this.#isKept) {
        if (!(await this.#read(this.#href))) this.#setHref(null);
        this.#isKept = false;
        continue;
      }
      const batch = this.#waiting.slice(0, maxPerPost);
      if (batch.length === 0) return null;
      const status = await this.#postBatch(this.#href, batch);
      if (status === 404) {
        // the server has lost the mirror: create it again, but only once
        this.#setHref(null);
        if (isRecreated) return 'status 404';
        isRecreated = true;
        continue;
      }
      if (passesLater(status)) return `status ${status}`;
      this.#removeSent(batch, status);
    }
    return null;
  }

  #removeSent(batch: readonly Period[], status: number): void {
    const { wall, log, deviceIndex } = this.#options;
    this.#waiting = this.#waiting.filter((period) => !batch.includes(period));
    if (status >= 400) {
      log.warning(`the server refused readings for good: status ${status}`, deviceIndex);
      return;
    }
    this.#sent = batch;
    this.#lastPostMs = wall.nowMs();
    this.#posted += 1;
  }

  async #request(method: 'GET' | 'POST', href: string, body?: OutgoingDocument): Promise<SepAnswer> {
    const { exchange, deviceIndex } = this.#options;
    const resource = body?.name ?? 'MirrorUsagePoint';
    return exchange.request({ method, href, resource, deviceIndex, ...(body && { body }) });
  }

  /** Creates the mirror. @returns the reason of a refusal; null: created */
  async #create(listHref: string): Promise<string | null> {
    const { role, lfdi, description, onLost } = this.#options;
    const value: MirrorUsagePoint = {
      mRID: this.mrid,
      description,
      roleFlags: mirrorRoles[role],
      serviceCategoryKind: electricity,
      status: switchedOn,
      deviceLFDI: lfdi,
      MirrorMeterReading: this.#series.map(({ quantity: { description, type }, mrid }) => ({
        mRID: mrid,
        description,
        ReadingType: type,
      })),
    };
    const { status, location, arrived } = await this.#request('POST', listHref, { name: 'MirrorUsagePoint', value });
    this.#sentMultipliers = arrived === undefined ? null : multipliersIn(arrived);
    if (status >= 400) {
      if (status === 404 && !this.#failing) onLost('MirrorUsagePointList');
      return `status ${status}`;
    }
    if (location === null) return 'no Location';
    this.#setHref(location);
    // a server that refuses a GET of the mirror may still accept its readings
    await this.#read(location);
    return null;
  }

  /** Reads the postRate of the mirror. @returns false if the server answered 404, or has another mirror there */
  async #read(href: string): Promise<boolean> {
    try {
      const { status, document } = await this.#request('GET', href);
      if (document?.name === 'MirrorUsagePoint') {
        const { mRID } = document.value;
        if (mRID !== undefined && mRID.toUpperCase() !== this.mrid) return false;
        this.#takeRate(document.value);
      }
      return status !== 404;
    } catch {
      // the next poll reads the mirror again; readings have separate retries
      return true;
    }
  }

  #takeRate({ postRate }: Received<MirrorUsagePoint>): void {
    if (postRate !== undefined) this.#options.onPostRate(postRate);
  }

  /** Sends readings as a list, or one by one. @returns the status; for several answers the first failure, or 201 */
  async #postBatch(href: string, batch: readonly Period[]): Promise<number> {
    const readings = this.#series.flatMap(({ quantity, mrid }) => this.#readingOf(quantity, mrid, batch));
    if (!this.#oneByOne) {
      const value = { all: readings.length, results: readings.length, MirrorMeterReading: readings };
      const { status } = await this.#request('POST', href, { name: 'MirrorMeterReadingList', value });
      if (!listRefusals.has(status)) return status;
    }
    for (const value of readings) {
      const { status } = await this.#request('POST', href, { name: 'MirrorMeterReading', value });
      if (status >= 400) return status;
    }
    // the server does not support lists, but has accepted single readings
    this.#oneByOne = true;
    return 201;
  }

  #readingOf(quantity: Quantity, mrid: string, batch: readonly Period[]): readonly MirrorMeterReading[] {
    const sets = batch.flatMap((period) => {
      const value = quantity.value(period);
      if (value === null) return [];
      const timePeriod = { duration: durationS(period), start: startS(period) };
      const { penDigits } = this.#options;
      return [
        {
          mRID: mridOf(penDigits, mrid, timePeriod.start),
          timePeriod,
          Reading: [{ qualityFlags: valid, timePeriod, value }],
        },
      ];
    });
    return sets.length === 0 ? [] : [{ mRID: mrid, description: quantity.description, MirrorReadingSet: sets }];
  }
}
