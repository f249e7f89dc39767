/** The identity that a device shows. */
import type { MeasurementView } from '../../sunspec/map/view.ts';
import type { DcPort } from '../source/source.ts';

export interface DeviceIdentity {
  readonly index: number;
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly serialNumber: string;
  readonly version: string;
  /** address on a line at start (1.DA); absent: there is no line */
  readonly unitAddress?: number;
}

/** Writes the registers that identify a device and its ports. */
export function writeIdentity(
  map: MeasurementView,
  { serialNumber, version, deviceType, unitAddress }: DeviceIdentity,
  ports: readonly DcPort[],
): void {
  const { m1 } = map;
  m1.SN = serialNumber;
  m1.Vr = version;
  m1.Md = deviceType;
  if (unitAddress !== undefined) m1.DA = unitAddress;
  ports.forEach(({ type, name }, i) => {
    const port = map.m714.Prt[i];
    if (port) Object.assign(port, { PrtTyp: type, ID: i + 1, IDStr: name });
  });
}
