/** Reports about one device, as the bridge makes them from its registers. Times are seconds of server time. */
import type { Revision } from '../xml/document.ts';
import type {
  DERAvailability,
  DERCapability,
  DERSettings,
  DERStatus,
  DeviceInformation,
  DeviceStatus,
  PowerStatus,
} from '../xml/documents.ts';

/** Energy counters of the device, Wh and varh, in the steps of their registers. */
export interface MeterTotals {
  readonly injectedWh: number;
  readonly absorbedWh: number;
  readonly injectedVarh: number;
  readonly absorbedVarh: number;
}

/** PhaseCode of IEEE 2030.5: L1, L2 and L3 to neutral. */
export const phaseCodes = [129, 65, 33] as const;
export type PhaseCode = (typeof phaseCodes)[number];

/** What the meter of a device shows now; injection is positive. */
export interface MeterNow {
  readonly w: number;
  readonly var: number;
  /** null: the device has no counters */
  readonly totals: MeterTotals | null;
  /** one count of the counters, Wh and varh */
  readonly countWh: number;
  readonly countVarh: number;
  /** line to neutral, of the phases that there are */
  readonly volts: ReadonlyMap<PhaseCode, number>;
  readonly hz: number | null;
  /** energy in the storage, Wh; null: there is none, or it is not reported */
  readonly storedWh: number | null;
}

/** Alarms of DERStatus.alarmStatus, by bit. */
export const alarmBits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;
export type AlarmBit = (typeof alarmBits)[number];

/** What reports say beside the registers. */
export interface ReportOptions {
  readonly revision: Revision;
  /** adds the members of CSIP-AUS; null: without it */
  readonly csipAus: '1.2' | '1.3' | null;
  /** of the EndDevice or of the device: 40 hex digits */
  readonly lfdi: string;
  /** IANA private enterprise number, DeviceInformation.mfID */
  readonly pen: number;
  /** whether the client takes part in subscription and notification */
  readonly subscribes: boolean;
  /** slope of active power for setGradW, percent per second; absent: that of the device */
  readonly gradW?: () => number;
}

/** The documents of one device; each call reads the registers. */
export interface DeviceReports {
  readonly deviceIndex: number;
  /** bits of DeviceCategoryType */
  readonly deviceCategory: number;
  capability(): DERCapability;
  settings(updatedS: number): DERSettings;
  /** Each state in it has the time of the call that saw it first. */
  status(readingS: number): DERStatus;
  availability(readingS: number): DERAvailability;
  /** @param installedS when the device was made and its software started, as far as anything knows */
  information(installedS: number): DeviceInformation;
  deviceStatus(changedS: number): DeviceStatus;
  powerStatus(changedS: number): PowerStatus;
  meter(): MeterNow;
  /**
   * Marks of the present states and settings, cheap to read: while both are the same, status and settings say the same
   * but for times and the state of charge.
   */
  marks(): { readonly states: string; readonly write: object | null };
  /** bits that are on */
  readonly alarms: ReadonlySet<AlarmBit>;
}
