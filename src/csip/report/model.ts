/** Reports about one device, as the bridge makes them from its registers. Times are seconds of server time. */
import type { DERAvailability, DERCapability, DERSettings, DERStatus, DeviceInformation } from '../xml/documents.ts';

/** Quantities of the metering mirror, summed or averaged between two readings. */
export interface MeterTotals {
  /** energy counters of the device, watt-hours, with fractions; both rise only */
  readonly injectedWh: number;
  readonly absorbedWh: number;
  readonly injectedVarh: number;
  readonly absorbedVarh: number;
}

/** Alarms of DERStatus.alarmStatus, by bit. */
export type AlarmBit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** The documents of one device; each call reads the registers. */
export interface DeviceReports {
  readonly deviceIndex: number;
  /** bits of DeviceCategoryType */
  readonly deviceCategory: number;
  capability(): DERCapability;
  settings(updatedS: number): DERSettings;
  status(readingS: number): DERStatus;
  availability(readingS: number): DERAvailability;
  information(): DeviceInformation;
  /** bits that are on */
  readonly alarms: ReadonlySet<AlarmBit>;
}
