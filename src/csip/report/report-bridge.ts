/** The registers of a device as documents of IEEE 2030.5, and its meter. */
import type { Device } from '../../contract/device.ts';
import { pointNumber } from '../../sunspec/map/bank.ts';
import type { ModeName } from '../control/model.ts';
import type { DeviceInformation } from '../xml/documents.ts';
import { availabilityOf } from './availability.ts';
import { phaseCodes } from './model.ts';
import type { DeviceReports, MeterNow, PhaseCode, ReportOptions } from './model.ts';
import { capabilityOf, categoryBits, ModeReport, settingsOf } from './ratings.ts';
import { alarmsOf, deviceStatusOf, powerSources, powerStatusOf, socOf, stateMark, StatusReport } from './status.ts';
import { hexBits } from './units.ts';

/** String32 counts octets: characters outside of ASCII become question marks. */
function text32(text: string | null): string {
  return (text ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 32);
}

/** Bits of functionsImplemented by function set that the client uses. */
const functionSets = {
  deviceCapability: 0,
  endDevice: 2,
  assignments: 3,
  subscription: 4,
  response: 5,
  time: 6,
  deviceInformation: 7,
  powerStatus: 8,
  logEvent: 10,
  metering: 14,
  derControl: 20,
} as const;

function functionsImplemented(subscribes: boolean): string {
  const bits = Object.values(functionSets)
    .filter((bit) => subscribes || bit !== functionSets.subscription)
    .reduce<number>((sum, bit) => sum + 2 ** bit, 0);
  return hexBits(bits, 8);
}

function informationOf(
  device: Device,
  { lfdi, pen, subscribes }: ReportOptions,
  installedS: number,
): DeviceInformation {
  const { Mn: maker, Md: model, Opt: option, Vr: version, SN: serial } = device.bank.map.m1;
  const hasBattery = socOf(device) !== null;
  return {
    functionsImplemented: functionsImplemented(subscribes),
    lFDI: lfdi,
    mfDate: installedS,
    mfHwVer: text32(option),
    mfID: pen,
    mfInfo: text32(maker),
    mfModel: text32(model),
    mfSerNum: text32(serial),
    primaryPower: powerSources.mains,
    secondaryPower: hasBattery ? powerSources.battery : powerSources.none,
    swActTime: installedS,
    swVer: text32(version),
  };
}

/** Energy of one count of a counter, Wh or varh. */
function countOf(device: Device, scaleFactor: string): number {
  return 10 ** (pointNumber(device.bank, 701, scaleFactor) ?? 0);
}

function meterOf(device: Device, { csipAus }: Pick<ReportOptions, 'csipAus'>): MeterNow {
  const { m701: m, m713: storage } = device.bank.map;
  const { WHRtg: ratedWh, SoC: socPct } = storage;
  const { TotWhInj, TotWhAbs, TotVarhInj, TotVarhAbs } = m;
  const volts = new Map<PhaseCode, number>();
  const phaseVolts = [m.VL1, m.VL2, m.VL3];
  phaseCodes.forEach((code, i) => {
    const v = phaseVolts[i];
    if (v !== null && v !== undefined) volts.set(code, v);
  });
  return {
    w: m.W ?? 0,
    var: m.Var ?? 0,
    totals:
      TotWhInj === null || TotWhAbs === null || TotVarhInj === null || TotVarhAbs === null
        ? null
        : { injectedWh: TotWhInj, absorbedWh: TotWhAbs, injectedVarh: TotVarhInj, absorbedVarh: TotVarhAbs },
    countWh: countOf(device, 'TotWh_SF'),
    countVarh: countOf(device, 'TotVarh_SF'),
    volts,
    hz: m.Hz,
    storedWh: csipAus === '1.3' && ratedWh !== null && socPct !== null ? (ratedWh * socPct) / 100 : null,
  };
}

/**
 * The reports of a device.
 * @param supported modes that the physics of its ControlTarget carries out
 */
export function createDeviceReports(
  device: Device,
  supported: ReadonlySet<ModeName>,
  options: ReportOptions,
): DeviceReports {
  const modes = new ModeReport(device, supported, options);
  const status = new StatusReport(device, options.revision);
  const { gradW = () => device.gradient.w.pctPerS } = options;
  return {
    deviceIndex: device.index,
    deviceCategory: 2 ** categoryBits[device.assetType],
    capability: () => capabilityOf(device, modes),
    settings: (updatedS) => settingsOf(device, modes, { ...options, gradW }, updatedS),
    status: (readingS) => status.read(readingS),
    availability: (readingS) => availabilityOf(device, options, readingS),
    information: (installedS) => informationOf(device, options, installedS),
    deviceStatus: (changedS) => deviceStatusOf(device, changedS),
    powerStatus: (changedS) => powerStatusOf(device, changedS),
    meter: () => meterOf(device, options),
    marks: () => ({ states: `${stateMark(device)} ${gradW()}`, write: device.bank.lastWrite }),
    get alarms() {
      return alarmsOf(device);
    },
  };
}
