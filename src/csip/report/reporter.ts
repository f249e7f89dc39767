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
import type { OutgoingDocument } from '../xml/schema.ts';
import { LogEvents } from './log-events.ts';
import type { LogEventOptions } from './log-events.ts';
import { Meters } from './meters.ts';
import type { MeterOptions } from './meters.ts';
import type { DeviceReports } from './model.ts';
import { minRateS, Sheet } from './sheet.ts';

/** URIs of the documents of one DER, absolute; null: the server has no place for the document. */
export interface DerHrefs {
  readonly capability: string | null;
  readonly settings: string | null;
  readonly status: string | null;
  readonly availability: string | null;
}

/** Resources of the server for reports of an EndDevice, absolute URIs; null: the server has none. */
export interface ReportHrefs {
  /** DERs of `ReporterOptions.reports`, in the same order; null: the server has none */
  readonly ders: readonly (DerHrefs | null)[];
  /** DER that represents all devices; absent or null: none */
  readonly together?: DerHrefs | null;
  readonly logEventList: string | null;
  readonly mirrorUsagePointList: string | null;
  readonly deviceInformation: string | null;
  readonly deviceStatus: string | null;
  readonly powerStatus: string | null;
  readonly connectionPoint: string | null;
  /** EndDevice.postRate, s; null: not set by the server */
  readonly postRateS: number | null;
}

export interface ReporterOptions extends LogEventOptions {
  readonly clock: RemoteClock;
  readonly plant: Plant;
  /** one for each device of the EndDevice; at least one */
  readonly reports: readonly DeviceReports[];
  /** all devices as one DER with common readings; null: each device is reported separately */
  readonly together: DeviceReports | null;
  /** LFDI of the EndDevice: 40 hex digits */
  readonly lfdi: string;
  /** the 8 digits of the enterprise number at the end of each mRID */
  readonly penDigits: string;
  /** true if readings cover whole minutes of the server */
  readonly wholeMinutes?: boolean;
  /** ConnectionPoint.connectionPointId; null: not sent */
  readonly nmi: string | null;
  /** overrides the rates of the server, s; null: no override */
  readonly postRateS: number | null;
  readonly readings: MeterOptions['conventions'];
  /** as of `MeterOptions` */
  readonly mirrors?: NonNullable<MeterOptions['mirrors']>;
}

/** The resources of an EndDevice that is not on the server. */
export const nowhere: ReportHrefs = {
  ders: [],
  logEventList: null,
  mirrorUsagePointList: null,
  deviceInformation: null,
  deviceStatus: null,
  powerStatus: null,
  connectionPoint: null,
  postRateS: null,
};

/** Default postRate, s. */
const defaultPostRateS = 900;
/** Minimum time between two changes of one document that are sent, ms. */
const minGapMs = 1000;

type DerSheets = Readonly<Record<CsipDerDocument, Sheet>>;

interface Reported {
  readonly reports: DeviceReports;
  readonly sheets: DerSheets;
  marks: ReturnType<DeviceReports['marks']>;
  /** content of the last documents, without times and state of charge */
  readonly lastReported: { settings: string; status: string };
  /** time of the last change of a setting, s of server time */
  settingsS: number;
}

/** A document as JSON without times and state of charge, which change continually. */
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
  readonly #unsubscribeTicks: () => void;
  #serverRateS: number | null = null;
  #cancelPost: (() => void) | null = null;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#devices = options.reports.map((reports) => this.#startReporting(reports));
    this.#together = options.together && this.#startReporting(options.together);
    this.#extra = this.#extraSheets();
    this.#logEvents = new LogEvents(options);
    this.#meters = new Meters({ ...options, conventions: options.readings });
    this.#unsubscribeTicks = options.plant.onTick((tick) => this.#tick(tick));
  }

  /** true if alarms are sent as log events */
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

  /** The last documents sent for a device, or for the DER that represents all devices; null: never sent. */
  lastSent(deviceIndex: number): Readonly<Record<CsipDerDocument, CsipSentDocument | null>> {
    const { sheets } = this.#sentReportsOf(deviceIndex);
    return {
      capability: sheets.capability.last,
      settings: sheets.settings.last,
      status: sheets.status.last,
      availability: sheets.availability.last,
    };
  }

  /**
   * Sets the resources for reports; documents for new resources are sent at once.
   * @param hrefs `nowhere`: the EndDevice is not on the server; everything is sent again when it returns
   */
  follow(hrefs: ReportHrefs): void {
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
   * @returns a promise that resolves after the attempts
   * @throws SimError NOT_CONNECTED if the server has no resource for one of the documents
   */
  async sendNow(which: readonly CsipDerDocument[], deviceIndex: number): Promise<void> {
    const { sheets } = this.#sentReportsOf(deviceIndex);
    const placeless = which.find((name) => sheets[name].href === null);
    if (placeless !== undefined) throw new SimError('NOT_CONNECTED', `the server has no place for the ${placeless}`);
    await Promise.all(which.map((name) => sheets[name].send()));
  }

  /** Ends the present periods and sends their readings. @throws SimError NOT_CONNECTED without a resource for them */
  sendReadings(): Promise<void> {
    return this.#meters.sendNow();
  }

  /** @throws SimError NOT_CONNECTED if the server has no LogEventList */
  async sendLogEvent(event: CsipLogEventRequest, deviceIndex: number): Promise<void> {
    if (this.#logEvents.href === null) throw new SimError('NOT_CONNECTED', 'the server has no list of log events');
    await this.#logEvents.request(deviceIndex, this.#nowS(), event);
  }

  stop(): void {
    this.#unsubscribeTicks();
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

  /** The reports that the server gets about a device: those of the common DER if the server has one. */
  #sentReportsOf(deviceIndex: number): Reported {
    const reported = this.#reportedOf(deviceIndex);
    return this.#together?.sheets.status.href ? this.#together : reported;
  }

  #reportedOf(deviceIndex: number): Reported {
    const reported = this.#devices.find(({ reports }) => reports.deviceIndex === deviceIndex);
    if (reported === undefined)
      throw new SimError('UNKNOWN_DEVICE', `device ${deviceIndex} does not belong to this EndDevice`);
    return reported;
  }

  #sheet(deviceIndex: number | null, make: () => OutgoingDocument): Sheet {
    return new Sheet({ ...this.#options, deviceIndex, make, minGapMs });
  }

  #startReporting(reports: DeviceReports): Reported {
    const { deviceIndex } = reports;
    const reported: Reported = {
      reports,
      marks: reports.marks(),
      lastReported: { settings: stateIn(reports.settings(0)), status: stateIn(reports.status(this.#nowS())) },
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

  /** Sends the documents in order, since a server may require the ratings first. */
  async #followDer(sheets: DerSheets, hrefs: DerHrefs | null): Promise<void> {
    for (const name of csipDerDocuments) await sheets[name].follow(hrefs?.[name] ?? null);
  }

  #planPost(): void {
    this.#cancelPost?.();
    // timed by the clock of this machine, as polls are: the clock of the server may be set back by hours
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
    // a silent device sends nothing
    const reporting = this.#devices.filter(({ reports }) => !plant.silentDevices.has(reports.deviceIndex));
    for (const device of reporting) {
      this.#logEvents.updateAlarms(device.reports.deviceIndex, device.reports.alarms, nowS);
      this.#sendChanges(device, nowS);
    }
    if (this.#together !== null && reporting.length > 0) this.#sendChanges(this.#together, nowS);
    this.#meters.tick(sim);
  }

  #sendChanges(device: Reported, nowS: number): void {
    const { reports, sheets, lastReported } = device;
    const marks = reports.marks();
    if (marks.states === device.marks.states && marks.write === device.marks.write) return;
    device.marks = marks;
    const status = stateIn(reports.status(nowS));
    if (status !== lastReported.status) {
      lastReported.status = status;
      sheets.status.sendSoon();
      // the availability changes with the state; its changes by weather and load wait for the postRate
      sheets.availability.sendSoon();
    }
    const settings = stateIn(reports.settings(0));
    if (settings !== lastReported.settings) {
      lastReported.settings = settings;
      device.settingsS = nowS;
      sheets.settings.sendSoon();
    }
  }
}
