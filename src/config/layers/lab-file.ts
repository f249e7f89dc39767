/** A running lab as the content of a configuration file: the reverse of `files.ts` and `profile/devices.ts`. */
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { chosenCertificate } from '../../contract/certificate-choice.ts';
import { createChargePointIds } from '../../contract/charge-point-ids.ts';
import type { ChargePointIdOf } from '../../contract/charge-point-ids.ts';
import type { Device } from '../../contract/device.ts';
import type { LabConfig } from '../../contract/lab-config.ts';
import type { SettingReport } from '../../contract/settings.ts';
import { SimError } from '../../core/errors.ts';
import type { FlatFault } from '../../fault-kinds/request.ts';
import { isBundledFaultProfile, isBundledProfile } from '../profile/bundled.ts';
import type { DeviceEntry } from '../profile/device-entry.ts';
import type { AppConfig } from '../settings/app-config.ts';
import type { FindingsBlock } from './findings-block.ts';
import { isSettingKey, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import { pemSource } from '../settings/value-kinds.ts';

/** A device of the lab and the entry that made it. */
export interface LabDevice extends Pick<Device, 'index' | 'name' | 'deviceType' | 'assetType' | 'ocpp'> {
  /** devices of one entry share it; null: the settings alone made the device */
  readonly entry: DeviceEntry | null;
  readonly hasJoined: boolean;
  /** true: a request has made or changed it */
  readonly isChanged: boolean;
}

export interface Lab {
  readonly config: Pick<AppConfig, 'settings' | 'grid' | 'faults' | 'firstDevice' | 'devices' | 'chargePointId'>;
  /** settings in force */
  readonly reports: readonly SettingReport[];
  /** by index */
  readonly devices: readonly LabDevice[];
  readonly chargePointId: ChargePointIdOf;
  /** settings of rules, waivers and names of peers in force */
  readonly findings: FindingsBlock;
}

/** Indexes of a configuration have no gaps. */
interface Placement {
  readonly first: number;
  /** index in the file by index in the lab */
  readonly indexOf: ReadonlyMap<number, number>;
}

type Content = Readonly<Record<string, unknown>>;

function placementOf(devices: readonly LabDevice[]): Placement {
  const first = devices[0]?.index ?? 0;
  return { first, indexOf: new Map(devices.map(({ index }, at) => [index, first + at])) };
}

/** One sentence for each run of devices that have another index in the file. */
function movedNotes({ indexOf }: Placement): readonly string[] {
  const runs: { from: number; to: number; by: number }[] = [];
  for (const [index, place] of indexOf) {
    const last = runs.at(-1);
    if (last?.by === index - place && last.to === index - 1) last.to = index;
    else if (place !== index) runs.push({ from: index, to: index, by: index - place });
  }
  const span = (from: number, to: number) => (from === to ? String(from) : `${from} to ${to}`);
  return runs.map(
    ({ from, to, by }) =>
      `indexes of a configuration have no gaps: device ${span(from, to)} is device ${span(from - by, to - by)} here`,
  );
}

/** An entry with absolute paths, which a file in any directory may have. */
function withAbsolutePaths(entry: DeviceEntry, base: string): DeviceEntry {
  const path = (text: string) => resolve(base, text);
  const profileName = (text: string) => (isBundledProfile(text) ? text : path(text));
  const faultList = (list: readonly (string | FlatFault)[]) => absoluteFaults(list, base);
  const { profile, evse_profile: evse, dc_profile: dc, load_profile: load, vehicles, faults } = entry;
  const inlineFaults = typeof profile === 'object' ? profile.faults : undefined;
  return {
    ...entry,
    ...(typeof profile === 'string' && { profile: profileName(profile) }),
    ...(typeof profile === 'object' && inlineFaults && { profile: { ...profile, faults: faultList(inlineFaults) } }),
    ...(evse !== undefined && { evse_profile: profileName(evse) }),
    ...(dc !== undefined && { dc_profile: path(dc) }),
    ...(load !== undefined && { load_profile: path(load) }),
    ...(vehicles !== undefined && { vehicles: path(vehicles) }),
    ...(faults && { faults: faultList(faults) }),
  };
}

function absoluteFaults(list: readonly (string | FlatFault)[], base: string): (string | FlatFault)[] {
  return list.map((each) => (typeof each !== 'string' || isBundledFaultProfile(each) ? each : resolve(base, each)));
}

function withoutPin({ csip, ...entry }: DeviceEntry): DeviceEntry {
  const shown = Object.fromEntries(Object.entries(csip ?? {}).filter(([member]) => member !== 'pin'));
  return { ...entry, ...(Object.keys(shown).length > 0 && { csip: shown }) };
}

/** Members of an entry that `deviceEntries` writes anew. */
const rewritten: readonly string[] = ['device_type', 'name', 'count'];

/** The other members of an entry, with the identity of a station if its place in the file gives it another one. */
function membersOf(device: LabDevice, idInFile: string | null, { chargePointId, config }: Lab): Content {
  const { file, directory } = config.settings;
  const entry = withAbsolutePaths(device.entry ?? {}, file?.directory ?? directory);
  const members = Object.fromEntries(
    Object.entries(withoutPin(entry)).filter(([member]) => !rewritten.includes(member)),
  );
  const id = chargePointId(device);
  return id === null || id === idInFile ? members : { ...members, ocpp: { ...entry.ocpp, id } };
}

interface Row {
  /** origin of the members: rows of other origin do not share a profile */
  readonly source: DeviceEntry | null;
  readonly type: string;
  /** null: the name that follows from type and index */
  readonly name: string | null;
  readonly members: Content;
}

function rowsOf(lab: Lab, { first, indexOf }: Placement): readonly Row[] {
  const placed = lab.devices.map((device) => ({ ...device, index: indexOf.get(device.index) ?? first }));
  const idOf = createChargePointIds({ devices: placed }, lab.config.chargePointId);
  return lab.devices.map((device, at) => {
    const { index = first } = placed[at] ?? {};
    const { name, deviceType: type, entry: source } = device;
    const members = membersOf(device, idOf({ ...device, index }), lab);
    return { source, type, name: name === `${type} ${index}` ? null : name, members };
  });
}

/** Number of rows that one entry can make, and the name of that entry. */
function groupOf(head: Row, rows: readonly Row[]): { readonly count: number; readonly name: string | null } {
  const { source, type, name, members } = head;
  const base = name?.endsWith(' 1') === true ? name.slice(0, -2) : '';
  if (name !== null && base.trim() === '') return { count: 1, name };
  const fits = (row: Row, k: number) =>
    row.source === source &&
    row.type === type &&
    row.name === (name === null ? null : `${base} ${k + 1}`) &&
    isDeepStrictEqual(row.members, members);
  const other = rows.findIndex((row, k) => !fits(row, k));
  const count = other < 0 ? rows.length : other;
  return { count, name: name === null || count === 1 ? name : base };
}

function deviceEntries(lab: Lab, placement: Placement): readonly Content[] {
  let rows = rowsOf(lab, placement);
  const entries: Content[] = [];
  for (let head = rows[0]; head !== undefined; head = rows[0]) {
    const { count, name } = groupOf(head, rows);
    entries.push({
      device_type: head.type,
      ...(name !== null && { name }),
      ...head.members,
      ...(count > 1 && { count }),
    });
    rows = rows.slice(count);
  }
  return entries;
}

/** The common faults. A set that names a device whose index differs in the file is written fault by fault. */
function faultEntries({ config }: Lab, { indexOf }: Placement): readonly (string | FlatFault)[] {
  const { list, base } = config.settings.faultList;
  return absoluteFaults(list, base).flatMap((entry, at) => {
    const faults = config.faults[at]?.faults ?? [];
    const stays = faults.every(({ device }) => typeof device !== 'number' || indexOf.get(device) === device);
    if (stays) return [entry];
    return faults.flatMap((fault): FlatFault[] => {
      if (typeof fault.device !== 'number') return [fault];
      const device = indexOf.get(fault.device);
      return device === undefined ? [] : [{ ...fault, device }];
    });
  });
}

function gridBlock({ config: { grid, settings } }: Lab): Content {
  const { nominalFrequencyHz: hz, profilePath, feeder } = grid;
  return {
    ...(hz !== 60 && { nominal_frequency_hz: hz }),
    ...(profilePath !== null && settings.values.grid_profile === null && { profile: profilePath }),
    ...(feeder && { feeder: { short_circuit_ratio: feeder.scr, x_over_r: feeder.xOverR } }),
  };
}

interface SettingsPart extends Pick<LabConfig, 'leftOut'> {
  readonly settings: Content;
}

/** The settings that differ from their defaults. */
function settingsPart({ reports }: Lab): SettingsPart {
  const given = new Set(reports.flatMap(({ key, origin }) => (origin === 'default' ? [] : key)));
  // evse_profile without device_type makes added devices EVSEs
  const isNeeded = (key: SettingKey) => key === 'device_type' && given.has(key) && given.has('evse_profile');
  const settings: Record<string, unknown> = {};
  const leftOut: { key: string; variable: string }[] = [];
  for (const { key, isSecret, isSet, value, default: preset } of reports) {
    if (!isSettingKey(key) || settingOf(key).noFile === true) continue;
    if (isSecret) {
      if (isSet) leftOut.push({ key, variable: variableOf(key) });
    } else if (!isDeepStrictEqual(value, preset) || isNeeded(key)) settings[key] = value;
  }
  return { settings, leftOut };
}

/** True if clients have added or removed devices. */
function haveChanged({ devices, config }: Lab): boolean {
  return devices.length !== config.devices.length || devices.some(({ hasJoined }) => hasJoined);
}

/** True if the folder of the lab would repeat changes of devices. */
const isRepeated = (lab: Lab) => haveChanged(lab) || lab.devices.some(({ isChanged }) => isChanged);

/** Remarks on PINs of devices, which no file repeats. */
function pinNotes({ devices }: Lab, { indexOf }: Placement): readonly string[] {
  return devices.flatMap(({ index, entry }) =>
    entry?.csip?.pin === undefined
      ? []
      : [`csip.pin of device ${indexOf.get(index) ?? index} is left out: it is a secret`],
  );
}

/** Lists with a value for each device by its place, which added and removed devices have made untrue. */
function listsByPlace(lab: Lab): readonly string[] {
  const { csip_nmi: nmi, csip_lfdi: lfdi } = lab.config.settings.values;
  if (!haveChanged(lab)) return [];
  return [...(nmi.length > 1 ? ['csip_nmi'] : []), ...(lfdi.length > 0 ? ['csip_lfdi'] : [])];
}

/** True if the file needs no `first_device`, because the number of its shard gives the same. */
function isFirstOfOrdinal({ config, devices }: Lab, { first }: Placement): boolean {
  const { shard_ordinal: ordinal, fleet_room: room } = config.settings.values;
  return ordinal !== null && ordinal * (room ?? devices.length) === first;
}

/** Settings that depend on the devices, undefined: left out. */
function settingsOfDevices(lab: Lab, placement: Placement): Content {
  const { N } = lab.config.settings.values;
  const { first } = placement;
  return {
    ...(isFirstOfOrdinal(lab, placement)
      ? { first_device: undefined }
      : { first_device: first === 0 ? undefined : first, shard_ordinal: undefined }),
    ...(N !== lab.devices.length && { N: undefined }),
    ...Object.fromEntries(listsByPlace(lab).map((key) => [key, undefined])),
    ...(isRepeated(lab) && { state_dir: undefined, state_history: undefined }),
  };
}

/** A note about certificates by name, whose texts a file does not have. */
function certificateNotes(settings: Content): readonly string[] {
  const keys = Object.entries(settings).flatMap(([key, value]) => {
    const isChoice =
      isSettingKey(key) && settingOf(key).kind === pemSource && chosenCertificate(String(value)) !== null;
    return isChoice ? key : [];
  });
  return keys.length === 0
    ? []
    : [`${keys.join(', ')}: the certificates are in the state folder of the lab, not in this file`];
}

const stateNote =
  'state_dir is left out: the folder of the lab repeats what clients have added, changed and removed; give another one';

/** @throws SimError COMMAND_CONFLICT for a lab without devices, which no configuration can express */
export function labFile(lab: Lab): LabConfig {
  if (lab.devices.length === 0)
    throw new SimError('COMMAND_CONFLICT', 'there are no devices; a configuration has at least one');
  const placement = placementOf(lab.devices);
  const { settings, leftOut } = settingsPart(lab);
  const { state_dir: stateDir, scenario } = lab.config.settings.values;
  const grid = gridBlock(lab);
  const faults = faultEntries(lab, placement);
  const content: Content = {
    ...settings,
    ...settingsOfDevices(lab, placement),
    ...(Object.keys(grid).length > 0 && { grid }),
    ...(faults.length > 0 && { faults }),
    ...(Object.keys(lab.findings).length > 0 && { findings: lab.findings }),
    devices: deviceEntries(lab, placement),
  };
  return {
    content: Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined)),
    leftOut,
    notes: [
      ...movedNotes(placement),
      ...listsByPlace(lab).map((key) => `${key} is left out: clients have added or removed devices since it was given`),
      ...(stateDir !== null && isRepeated(lab) ? [stateNote] : []),
      ...certificateNotes(settings),
      ...pinNotes(lab, placement),
      ...(scenario === null ? [] : ['scenario is left out: it is given at a start']),
    ],
  };
}
