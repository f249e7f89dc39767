/** Identity registers of a device. */
import { Buffer } from 'node:buffer';
import type { MeasurementView } from '../../sunspec/map/view.ts';
import { nameInputs } from '../classic/chain.ts';
import { commonOf } from './listed-chain.ts';
import type { MapMeter } from './listed-chain.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import type { DeviceSpec } from './template.ts';
import type { DcPort } from '../source/source.ts';

export interface DeviceIdentity extends DeviceProtocols, Pick<DeviceSpec, 'name' | 'deviceType' | 'profileName'> {
  readonly index: number;
  /** unique in the plant, as `serialNumberOf` gives it */
  readonly serialNumber: string;
  readonly version: string;
  /** address on a serial line at start (1.DA); absent: no serial line */
  readonly unitAddress?: number;
}

/** Octets of 1.SN. */
const maxSerialOctets = 32;

/**
 * Serial number of a device. SunSpec requires 1.SN to be unique per device, so only the first device of a profile has
 * the number of the profile unchanged; others get their index appended.
 * @param profileSerial serial number of the profile; absent or empty: none
 * @param isFirst true: no earlier device uses the profile
 */
export function serialNumberOf(index: number, profileSerial: string | undefined, isFirst: boolean): string {
  const digits = String(index).padStart(6, '0');
  if (profileSerial === undefined || profileSerial === '') return `DB-${digits}`;
  if (isFirst) return profileSerial;
  const suffix = `-${digits}`;
  let stem = profileSerial;
  while (Buffer.byteLength(stem) + suffix.length > maxSerialOctets) stem = stem.slice(0, -1);
  return stem + suffix;
}

const isEmpty = (text: string | null) => text === null || text === '';

/** Writes the registers that identify a device and its ports; other values of the profile in model 1 stay. */
export function writeIdentity(
  map: MeasurementView,
  { serialNumber, version, deviceType, unitAddress }: DeviceIdentity,
  ports: readonly DcPort[],
  meters: readonly MapMeter[] = [],
): void {
  const { m1 } = map;
  if (m1.SN !== serialNumber) m1.SN = serialNumber;
  if (isEmpty(m1.Vr)) m1.Vr = version;
  if (isEmpty(m1.Md)) m1.Md = deviceType;
  if (unitAddress !== undefined) m1.DA = unitAddress;
  ports.forEach(({ type, name }, i) => {
    const port = map.m714.Prt[i];
    if (port) Object.assign(port, { PrtTyp: type, ID: i + 1, IDStr: name });
  });
  nameInputs(map, ports);
  writeMeterVersions(map, { version }, meters);
}

/** Writes the version of the simulator into the common blocks of meters. */
export function writeMeterVersions(
  map: MeasurementView,
  { version }: Pick<DeviceIdentity, 'version'>,
  meters: readonly MapMeter[],
): void {
  for (const { common } of meters) Object.assign(commonOf(map, common), { Vr: version });
}
