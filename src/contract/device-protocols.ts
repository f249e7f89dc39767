/** Identities and settings that one device has in its protocols, in place of those of the process. */
import type { Dnp3Profile, Dnp3Settings } from './dnp3-settings.ts';
import type { OcppStationSettings } from './ocpp-settings.ts';

export interface CsipDeviceSettings {
  /** identifier of its connection point; of a site, that of its first device counts */
  readonly nmi?: string;
  /** LFDI behind an aggregator, upper case */
  readonly lfdi?: string;
  /** includes the check digit */
  readonly pin?: number;
}

export interface Dnp3DeviceSettings {
  /** link address */
  readonly address?: number;
  /** counts where each outstation has a port */
  readonly port?: number;
  readonly profile?: Dnp3Profile;
}

export interface ModbusDeviceSettings {
  /** counts where each device has a port */
  readonly port?: number;
  /** counts on a port for several devices, without RTU frames */
  readonly unitId?: number;
}

/** An absent block: the settings of the process apply. */
export interface DeviceProtocols {
  readonly ocpp?: OcppStationSettings | undefined;
  readonly csip?: CsipDeviceSettings | undefined;
  readonly dnp3?: Dnp3DeviceSettings | undefined;
  readonly modbus?: ModbusDeviceSettings | undefined;
}

export const deviceProtocols = ['ocpp', 'csip', 'dnp3', 'modbus'] as const satisfies readonly (keyof DeviceProtocols)[];

/** The blocks of a device, its configuration or its specification. */
export function protocolsOf({ ocpp, csip, dnp3, modbus }: DeviceProtocols): DeviceProtocols {
  return { ...(ocpp && { ocpp }), ...(csip && { csip }), ...(dnp3 && { dnp3 }), ...(modbus && { modbus }) };
}

/** A device as far as its place at listeners needs it. */
export interface PlacedAtListeners extends Pick<DeviceProtocols, 'dnp3' | 'modbus'> {
  readonly index: number;
}

/** A row of ports, unit ids or link addresses, one for each device. */
export interface PlaceRow {
  /** index of the device that has the first of them; absent: 0 */
  readonly countsFrom?: number;
}

interface PortRow extends PlaceRow {
  /** port of the device `countsFrom`; 0: any free port */
  readonly port: number;
}

const portInRow = ({ port, countsFrom = 0 }: PortRow, index: number) => (port === 0 ? 0 : port + index - countsFrom);

/** Port of a device that shares none. 0: any free port */
export const modbusPortOf = (row: PortRow, { index, modbus }: PlacedAtListeners): number =>
  modbus?.port ?? portInRow(row, index);

/** Unit id of a device on a port for several devices. */
export const unitIdOf = ({ countsFrom = 0 }: PlaceRow, { index, modbus }: PlacedAtListeners): number =>
  modbus?.unitId ?? 1 + index - countsFrom;

/** Port of an outstation that shares none. 0: any free port */
export const dnp3PortOf = (row: PortRow, { index, dnp3 }: PlacedAtListeners): number =>
  dnp3?.port ?? portInRow(row, index);

/** Link address of an outstation. */
export const dnp3AddressOf = (
  {
    outstationAddress,
    sharedPort,
    countsFrom = 0,
  }: Pick<Dnp3Settings, 'outstationAddress' | 'sharedPort' | 'countsFrom'>,
  { index, dnp3 }: PlacedAtListeners,
): number => dnp3?.address ?? outstationAddress + (sharedPort ? index - countsFrom : 0);
