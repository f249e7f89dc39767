/** Reports of one EndDevice to its server: DER documents, log events and the mirrors of its meters. */
import type {
  CsipDerDocument,
  CsipLogEvent,
  CsipLogEventRequest,
  CsipReadings,
  CsipSentDocument,
} from '../../contract/csip-reports.ts';
import { csipDerDocuments } from '../../contract/csip-reports.ts';
import type { Plant, TickEvent } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { OutgoingDocument } from '../xml/document.ts';
import { LogEvents } from './log-events.ts';
import type { LogEventOptions } from './log-events.ts';
import { Meters } from './meters.ts';
import type { MeterOptions } from './meters.ts';
import type { DeviceReports } from './model.ts';
import { minRateS, Sheet } from './sheet.ts';

/** Where the DER of one device keeps its documents; absolute URIs, null: the server has no place for it. */
export interface DerHrefs {
  readonly capability: string | null;
  readonly settings: string | null;
  readonly status: string | null;
  readonly availability: string | null;
}

/** What the server offers for reports of an EndDevice; absolute URIs, null: there is none. */
export interface ReportHrefs {
  /** one for each of the reports, in their order; null: the server has no DER for it */
  readonly ders: readonly (DerHrefs | null)[];
  /** of one DER that stands for all devices together; absent or null: there is none */
  readonly together?: DerHrefs | null;
  readonly logEventList: string | null;
  readonly mirrorUsagePointList: string | null;
  readonly deviceInformation: string | null;
  readonly deviceStatus: string | null;
  readonly powerStatus: string | null;
  readonly connectionPoint: string | null;
  /** EndDevice.postRate, s; null: the server does not say */
  readonly postRateS: number | null;
}

export interface ReporterOptions extends LogEventOptions {
  readonly clock: RemoteClock;
  readonly plant: Plant;
  /** one for each device of the EndDevice; at least one */
  readonly reports: readonly DeviceReports[];
  /** all devices as one DER, and their readings as those of one; null: each device for itself */
  readonly together: DeviceReports | null;
  /** of the EndDevice: 40 hex digits */
  readonly lfdi: string;
  /** the enterprise number as every mRID ends: 8 digits */
  readonly penDigits: string;
  /** whether readings are about whole minutes of the server */
  readonly wholeMinutes?: boolean;
  /** ConnectionPoint.connectionPointId; null: none is sent */
  readonly nmi: string | null;
  /** in place of the rates of the server, s; null: those of the server */
  readonly postRateS: number | null;
  readonly readings: MeterOptions['conventions'];
}

const nowhere: ReportHrefs = {
  ders: [],
  logEventList: null,
  mirrorUsagePointList: null,
  deviceInformation: null,
  deviceStatus: null,
  powerStatus: null,
  connectionPoint: null,
  postRateS: null,
};

/** Where neither the server nor a setting names a rate, s. */
const defaultPostRateS = 900;
/** Between two changes of one document that are sent, ms. */
const minGapMs = 1000;

type DerSheets = Readonly<Record<CsipDerDocument, Sheet>>;

interface Reported {
  readonly reports: DeviceReports;
  readonly sheets: DerSheets;
  marks: ReturnType<DeviceReports['marks']>;
  /** what was told last, without times */
  readonly told: { settings: string; status: string };
  /** when a setting changed last, s of server time */
  settingsS: number;
}

/** A document without what moves by itself: times, and the state of charge. */
function stateIn(document: object): string {
  return JSON.stringify(document, (name, value: unknown) =>
    name === 'dateTime' || name === 'readingTime' || name === 'updatedTime' || name === 'stateOfChargeStatus'
      ? undefined
      : value,
  );
}

export class Reporter {
  readonly #options: ReporterOptions;
  readonly #devices: readonly Reported[];
  readonly #together: Reported | null;
  readonly #extra: Readonly<Record<'deviceInformation' | 'deviceStatus' | 'powerStatus' | 'connectionPoint', Sheet>>;
  readonly #logEvents: LogEvents;
  readonly #meters: Meters;
  readonly #endTicks: () => void;
  #serverRateS: number | null = null;
  #cancelPost: (() => void) | null = null;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#devices = options.reports.map((reports) => this.#reported(reports));
    this.#together = options.together && this.#reported(options.together);
    this.#extra = this.#extraSheets();
    this.#logEvents = new LogEvents(options);
    this.#meters = new Meters({ ...options, conventions: options.readings });
    this.#endTicks = options.plant.onTick((tick) => this.#tick(tick));
  }

  /** whether alarms are sent as log events */
  get sendsAlarms(): boolean {
    return this.#logEvents.enabled;
  }

  set sendsAlarms(on: boolean) {
    this.#logEvents.enabled = on;
  }

  /** newest first */
  get logEvents(): readonly CsipLogEvent[] {
    return this.#logEvents.events;
  }

  /** @param deviceIndex null: all devices of the EndDevice */
  readings(deviceIndex: number | null): CsipReadings & { readonly lastPostMs: number | null; readonly posted: number } {
    return this.#meters.readings(deviceIndex);
  }

  /** The documents of a device, or of all where one DER stands for them, as sent last; null: never. */
  lastSent(deviceIndex: number): Readonly<Record<CsipDerDocument, CsipSentDocument | null>> {
    const { sheets } = this.#shownOf(deviceIndex);
    return {
      capability: sheets.capability.last,
      settings: sheets.settings.last,
      status: sheets.status.last,
      availability: sheets.availability.last,
    };
  }

  /**
   * Reports to these places from now on; what is new there is written at once.
   * @param hrefs null: the EndDevice is not on the server; all is written again when it returns
   */
  follow(hrefs: ReportHrefs | null): void {
    this.#place(hrefs ?? nowhere);
  }

  #place(hrefs: ReportHrefs): void {
    const { nmi } = this.#options;
    this.#devices.forEach(({ sheets }, i) => void this.#followDer(sheets, hrefs.ders[i] ?? null));
    if (this.#together !== null) void this.#followDer(this.#together.sheets, hrefs.together ?? null);
    void this.#extra.deviceInformation.follow(hrefs.deviceInformation);
    void this.#extra.deviceStatus.follow(hrefs.deviceStatus);
    void this.#extra.powerStatus.follow(hrefs.powerStatus);
    void this.#extra.connectionPoint.follow(nmi === null ? null : hrefs.connectionPoint);
    this.#logEvents.follow(hrefs.logEventList);
    this.#meters.follow(hrefs.mirrorUsagePointList);
    const before = this.#postRateS;
    this.#serverRateS = hrefs.postRateS;
    if (this.#cancelPost === null || this.#postRateS !== before) this.#planPost();
  }

  /**
   * Sends documents at once.
   * @returns when that was tried
   * @throws SimError NOT_CONNECTED without a place for one of them
   */
  async sendNow(which: readonly CsipDerDocument[], deviceIndex: number): Promise<void> {
    const { sheets } = this.#shownOf(deviceIndex);
    const placeless = which.find((name) => sheets[name].href === null);
    if (placeless !== undefined) throw new SimError('NOT_CONNECTED', `the server has no place for the ${placeless}`);
    await Promise.all(which.map((name) => sheets[name].send()));
  }

  /** Ends the periods under way and sends them. @throws SimError NOT_CONNECTED without a place for them */
  sendReadings(): Promise<void> {
    return this.#meters.sendNow();
  }

  /** @throws SimError NOT_CONNECTED when the server has no list for them */
  async sendLogEvent(event: CsipLogEventRequest, deviceIndex: number): Promise<void> {
    if (this.#logEvents.href === null) throw new SimError('NOT_CONNECTED', 'the server has no list of log events');
    await this.#logEvents.request(deviceIndex, this.#nowS(), event);
  }

  stop(): void {
    this.#endTicks();
    this.#cancelPost?.();
    this.#logEvents.stop();
    this.#meters.stop();
    for (const { sheets } of this.#all) for (const name of csipDerDocuments) sheets[name].stop();
    for (const sheet of Object.values(this.#extra)) sheet.stop();
  }

  get #postRateS(): number {
    return Math.max(this.#options.postRateS ?? this.#serverRateS ?? defaultPostRateS, minRateS);
  }

  #nowS(): number {
    return Math.floor(this.#options.clock.nowMs() / 1000);
  }

  get #all(): readonly Reported[] {
    return this.#together === null ? this.#devices : [...this.#devices, this.#together];
  }

  /** What the server gets about a device. */
  #shownOf(deviceIndex: number): Reported {
    const own = this.#reportedOf(deviceIndex);
    return this.#together?.sheets.status.href ? this.#together : own;
  }

  #reportedOf(deviceIndex: number): Reported {
    const found = this.#devices.find(({ reports }) => reports.deviceIndex === deviceIndex);
    if (found === undefined)
      throw new SimError('UNKNOWN_DEVICE', `device ${deviceIndex} does not belong to this EndDevice`);
    return found;
  }

  #sheet(deviceIndex: number | null, make: () => OutgoingDocument): Sheet {
    return new Sheet({ ...this.#options, deviceIndex, make, minGapMs });
  }

  #reported(reports: DeviceReports): Reported {
    const { deviceIndex } = reports;
    const reported: Reported = {
      reports,
      marks: reports.marks(),
      told: { settings: stateIn(reports.settings(0)), status: stateIn(reports.status(this.#nowS())) },
      settingsS: this.#nowS(),
      sheets: {
        capability: this.#sheet(deviceIndex, () => ({ name: 'DERCapability', value: reports.capability() })),
        settings: this.#sheet(deviceIndex, () => ({
          name: 'DERSettings',
          value: reports.settings(reported.settingsS),
        })),
        status: this.#sheet(deviceIndex, () => ({ name: 'DERStatus', value: reports.status(this.#nowS()) })),
        availability: this.#sheet(deviceIndex, () => ({
          name: 'DERAvailability',
          value: reports.availability(this.#nowS()),
        })),
      },
    };
    return reported;
  }

  #extraSheets() {
    const { reports, plant, clock, nmi } = this.#options;
    const [first] = reports;
    if (first === undefined) throw new SimError('INTERNAL', 'an EndDevice without a device has nothing to report');
    const index = first.deviceIndex;
    const installedS = Math.floor(clock.ofSim(plant.device(index).startedAt) / 1000);
    return {
      deviceInformation: this.#sheet(index, () => ({
        name: 'DeviceInformation',
        value: first.information(installedS),
      })),
      deviceStatus: this.#sheet(index, () => ({ name: 'DeviceStatus', value: first.deviceStatus(this.#nowS()) })),
      powerStatus: this.#sheet(index, () => ({ name: 'PowerStatus', value: first.powerStatus(this.#nowS()) })),
      connectionPoint: this.#sheet(index, () => ({
        name: 'ConnectionPoint',
        value: { connectionPointId: nmi ?? '' },
      })),
    };
  }

  /** One after the other: a server may want the ratings before the rest. */
  async #followDer(sheets: DerSheets, hrefs: DerHrefs | null): Promise<void> {
    for (const name of csipDerDocuments) await sheets[name].follow(hrefs?.[name] ?? null);
  }

  #planPost(): void {
    this.#cancelPost?.();
    // like polls on the clock of the machine: that of the server may be set back by hours
    this.#cancelPost = this.#options.later(this.#postRateS * 1000, () => {
      for (const { sheets } of this.#all) {
        void sheets.status.send();
        void sheets.availability.send();
      }
      void this.#extra.deviceStatus.send();
      void this.#extra.powerStatus.send();
      this.#planPost();
    });
  }

  #tick({ sim }: TickEvent): void {
    const { clock, plant } = this.#options;
    const nowS = Math.floor(clock.ofSim(sim) / 1000);
    // a device that is off tells nothing
    const telling = this.#devices.filter(({ reports }) => !plant.silentDevices.has(reports.deviceIndex));
    for (const device of telling) {
      this.#logEvents.alarms(device.reports.deviceIndex, device.reports.alarms, nowS);
      this.#compare(device, nowS);
    }
    if (this.#together !== null && telling.length > 0) this.#compare(this.#together, nowS);
    this.#meters.tick(sim);
  }

  #compare(device: Reported, nowS: number): void {
    const { reports, sheets, told } = device;
    const marks = reports.marks();
    if (marks.states === device.marks.states && marks.write === device.marks.write) return;
    device.marks = marks;
    const status = stateIn(reports.status(nowS));
    if (status !== told.status) {
      told.status = status;
      sheets.status.touch();
      // what it can do has changed with its state; weather and load alone wait for the postRate
      sheets.availability.touch();
    }
    const settings = stateIn(reports.settings(0));
    if (settings !== told.settings) {
      told.settings = settings;
      device.settingsS = nowS;
      sheets.settings.touch();
    }
  }
}
