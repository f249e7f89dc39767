/** Ports, addresses and identities of devices that one device alone can have, and blocks that the settings rule out. */
import { dnp3AddressOf, dnp3PortOf, modbusPortOf, unitIdOf } from '../../contract/device-protocols.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import { addressesMeet } from '../../core/net/listen.ts';
import type { Issue } from '../../core/errors.ts';
import type { AppConfig } from '../settings/app-config.ts';

/** The settings that the places of devices follow from. */
export type PlaceSettings = Pick<AppConfig, 'csip' | 'dnp3' | 'firstDevice' | 'modbus'>;

export interface DevicePlace extends DeviceProtocols {
  readonly index: number;
}

/** Something that one device alone can have. */
interface Claim {
  /** in which values must differ */
  readonly space: string;
  readonly value: number | string;
  /** true: the entry of the device makes it; rows by index have issues of their own */
  readonly isOwn: boolean;
  /** key path in the entry of a device */
  readonly member: string;
  readonly words: string;
}

/** A claim of a device that another device has made too. */
export interface Clash extends Pick<Claim, 'member' | 'value' | 'words'> {
  readonly device: number;
  readonly other: number;
}

function modbusClaim({ modbus }: PlaceSettings, device: DevicePlace): Claim | null {
  const { enabled, sharedPort, host, framing } = modbus;
  if (!enabled) return null;
  if (!sharedPort)
    return {
      space: `port of ${host}`,
      value: modbusPortOf(modbus, device),
      isOwn: device.modbus?.port !== undefined,
      member: 'modbus.port',
      words: 'Modbus port',
    };
  if (framing === 'rtu_over_tcp') return null;
  const isOwn = device.modbus?.unitId !== undefined;
  return { space: 'unit', value: unitIdOf(modbus, device), isOwn, member: 'modbus.unit_id', words: 'unit id' };
}

function dnp3Claim({ dnp3, modbus }: PlaceSettings, device: DevicePlace): Claim | null {
  if (dnp3 === null) return null;
  if (dnp3.sharedPort)
    return {
      space: 'address',
      value: dnp3AddressOf(dnp3, device),
      isOwn: device.dnp3?.address !== undefined,
      member: 'dnp3.address',
      words: 'link address',
    };
  return {
    space: `port of ${addressesMeet(dnp3.host, modbus.host) ? modbus.host : dnp3.host}`,
    value: dnp3PortOf(dnp3, device),
    isOwn: device.dnp3?.port !== undefined,
    member: 'dnp3.port',
    words: 'DNP3 port',
  };
}

function lfdiClaim({ csip: settings, firstDevice }: PlaceSettings, { index, csip }: DevicePlace): Claim | null {
  const value = csip?.lfdi ?? settings?.lfdis[index - firstDevice];
  if (settings?.identity !== 'aggregator' || value === undefined) return null;
  return { space: 'lfdi', value, isOwn: csip?.lfdi !== undefined, member: 'csip.lfdi', words: 'LFDI' };
}

/** The claims that two devices make, one of them by its entry, at the later device. Port 0 is any free one. */
export function placeClashes(settings: PlaceSettings, devices: readonly DevicePlace[]): readonly Clash[] {
  const takers = new Map<string, { readonly index: number; readonly isOwn: boolean }>();
  return devices.flatMap((device) =>
    [modbusClaim, dnp3Claim, lfdiClaim].flatMap((claimOf): Clash[] => {
      const claim = claimOf(settings, device);
      if (claim === null || claim.value === 0) return [];
      const { space, value, isOwn, member, words } = claim;
      const key = `${space} ${value}`;
      const other = takers.get(key);
      if (other === undefined) takers.set(key, { index: device.index, isOwn });
      const clashes = other !== undefined && (isOwn || other.isOwn);
      return clashes ? [{ device: device.index, other: other.index, member, value, words }] : [];
    }),
  );
}

/** Issues of blocks that the settings rule out, named by key paths in the entry of the device. */
export function blockIssues({ csip: settings }: PlaceSettings, { csip }: DeviceProtocols): Issue[] {
  if (settings === null || settings.identity === 'aggregator' || csip?.lfdi === undefined) return [];
  const detail = `given with csip_identity ${settings.identity}; allowed: with aggregator, because other LFDIs follow from certificates`;
  return [{ name: 'csip.lfdi', detail }];
}

/** Issues of the places of all devices of a configuration. */
export function placeIssues(settings: PlaceSettings, devices: readonly DevicePlace[]): Issue[] {
  const unfit = devices.flatMap((device) =>
    blockIssues(settings, device).map(({ name, detail }) => ({ name: `${name} of device ${device.index}`, detail })),
  );
  const clashes = placeClashes(settings, devices).map(({ device, other, member, value, words }) => ({
    name: `${member} of device ${device}`,
    detail: `the ${words} ${value}, which device ${other} has too; allowed: another one`,
  }));
  return [...unfit, ...clashes];
}
