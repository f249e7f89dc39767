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

const isEmpty = (text: string | null) => text === null || text === '';

/** Writes the registers that identify a device and its ports; what the profile gives of model 1 stays. */
export function writeIdentity(
  map: MeasurementView,
  { serialNumber, version, deviceType, unitAddress }: DeviceIdentity,
  ports: readonly DcPort[],
): void {
  const { m1 } = map;
  if (isEmpty(m1.SN)) m1.SN = serialNumber;
  if (isEmpty(m1.Vr)) m1.Vr = version;
  if (isEmpty(m1.Md)) m1.Md = deviceType;
  if (unitAddress !== undefined) m1.DA = unitAddress;
  ports.forEach(({ type, name }, i) => {
    const port = map.m714.Prt[i];
    if (port) Object.assign(port, { PrtTyp: type, ID: i + 1, IDStr: name });
  });
}
