/** Reports about one device, which the bridge builds from its registers. Times are seconds of server time. */
import type { Revision } from '../xml/schema.ts';
import type {
  DERAvailability,
  DERCapability,
  DERSettings,
  DERStatus,
  DeviceInformation,
  DeviceStatus,
  PowerStatus,
} from '../xml/documents.ts';

/** Energy counters of the device, Wh and varh, with the resolution of their registers. */
export interface MeterTotals {
  readonly injectedWh: number;
  readonly absorbedWh: number;
  readonly injectedVarh: number;
  readonly absorbedVarh: number;
}

/** PhaseCode of IEEE 2030.5: L1, L2 and L3 to neutral. */
export const phaseCodes = [129, 65, 33] as const;
export type PhaseCode = (typeof phaseCodes)[number];

/** Present values of the meter of a device; injection is positive. */
export interface MeterNow {
  readonly w: number;
  readonly var: number;
  /** null: no counters */
  readonly totals: MeterTotals | null;
  /** active energy of one count of the counters, Wh */
  readonly countWh: number;
  /** reactive energy of one count of the counters, varh */
  readonly countVarh: number;
  /** line to neutral, of each phase of the device */
  readonly volts: ReadonlyMap<PhaseCode, number>;
  /** null: not measured */
  readonly hz: number | null;
  /** energy in the storage, Wh; null: no storage, or not reported */
  readonly storedWh: number | null;
}

/** Alarms of DERStatus.alarmStatus, by bit. */
export const alarmBits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;
export type AlarmBit = (typeof alarmBits)[number];

/** Facts that reports need and the registers do not have. */
export interface ReportOptions {
  readonly revision: Revision;
  /** version whose members are added; null: no CSIP-AUS members */
  readonly csipAus: '1.2' | '1.3' | null;
  /** LFDI of the EndDevice or of the device: 40 hex digits */
  readonly lfdi: string;
  /** IANA private enterprise number, DeviceInformation.mfID */
  readonly pen: number;
  /** true if the client uses subscription and notification */
  readonly subscribes: boolean;
  /** slope of active power for setGradW, percent per second; absent: that of the device */
  readonly gradW?: () => number;
}

/** The documents of one device. Each call reads the registers. */
export interface DeviceReports {
  readonly deviceIndex: number;
  /** bits of DeviceCategoryType */
  readonly deviceCategory: number;
  capability(): DERCapability;
  settings(updatedS: number): DERSettings;
  /** Each state has the time of the call that first saw it. */
  status(readingS: number): DERStatus;
  availability(readingS: number): DERAvailability;
  /** @param installedS assumed time of the manufacture of the device and of the start of its software */
  information(installedS: number): DeviceInformation;
  deviceStatus(changedS: number): DeviceStatus;
  powerStatus(changedS: number): PowerStatus;
  meter(): MeterNow;
  /**
   * Marks of the present states and settings, cheap to compare: while `states` and `write` stay equal, DERStatus and
   * DERSettings change only in times and state of charge.
   */
  marks(): { readonly states: string; readonly write: object | null };
  /** alarms that are set */
  readonly alarms: ReadonlySet<AlarmBit>;
}
