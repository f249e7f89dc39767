/** The devices of a run, and the nominal frequency of their grid. */
import { resolve } from 'node:path';
import type { AssetType } from '../../contract/device.ts';
import { ocppUrlOf, ocppVersionsOf } from '../../contract/ocpp-settings.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Issue } from '../../core/errors.ts';
import type { DeviceConfig, DeviceSeriesPaths } from '../settings/app-config.ts';
import { hostOf, maxDevices } from './device-entry.ts';
import type { DeviceEntry } from './device-entry.ts';
import { securityProfileOf } from '../layers/protocols.ts';
import { transportDetail } from '../issues/conflicts.ts';
import type { FaultGroup } from './fault-list.ts';
import { ownFaultGroups } from './fault-profiles.ts';
import { deviceTypes } from './device-types.ts';
import type { DeviceTypeInfo, DeviceTypeName } from './device-types.ts';
import { refused } from '../issues/issues.ts';
import type { ConfigFile } from '../layers/files.ts';
import { isGiven } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { isForKind, settingOf } from '../settings/settings.ts';
import type { FoundProfile, ProfileStore } from './profiles.ts';
import type { DeviceProfile } from './device-profile.ts';

const defaultHz = 60;

/** Nominal frequency of the grid, and the setting or profile that sets it. */
interface NominalFrequency {
  readonly hz: number;
  readonly from: string;
}

/** The frequency of a plant at its start. */
export interface StartFrequency extends NominalFrequency {
  /** log line if a profile changes the frequency also for devices whose profiles do not set it */
  readonly notices: readonly string[];
}

/** The issue of a profile for another frequency; null: it fits. @param where prefix of the key */
function frequencyIssue(
  { nominalFrequencyHz }: Pick<DeviceProfile, 'nominalFrequencyHz'>,
  { hz, from }: NominalFrequency,
  where: string,
): Issue | null {
  if (nominalFrequencyHz === null || nominalFrequencyHz === hz) return null;
  return {
    name: `${where}: nominal_frequency_hz`,
    detail: `given ${nominalFrequencyHz}; allowed: ${hz}, as ${from} says`,
  };
}

/**
 * The frequency of the grid: from the file, else from the first profile that sets it, else 60 Hz.
 * @param issues receives one issue for each profile that is made for another frequency
 */
export function nominalFrequency(
  { file }: Gathered,
  devices: readonly DeviceConfig[],
  issues: Issue[],
): StartFrequency {
  const labels = new Map<DeviceProfile, string>();
  for (const { profile, profileName, name } of devices)
    if (!labels.has(profile))
      labels.set(profile, profileName === null ? `profile of ${name}` : `profile ${profileName} of ${name}`);
  const [settingProfile] = [...labels].filter(([{ nominalFrequencyHz }]) => nominalFrequencyHz !== null);
  const fileHz = file?.grid.nominal_frequency_hz;
  const frequency: NominalFrequency =
    fileHz !== undefined
      ? { hz: fileHz, from: 'grid.nominal_frequency_hz' }
      : {
          hz: settingProfile?.[0].nominalFrequencyHz ?? defaultHz,
          from: settingProfile?.[1] ?? 'the default of the grid',
        };
  for (const [profile, label] of labels) {
    const issue = frequencyIssue(profile, frequency, label);
    if (issue) issues.push(issue);
  }
  const others = [...labels].filter(([{ nominalFrequencyHz }]) => nominalFrequencyHz === null).length;
  const isChanged = fileHz === undefined && frequency.hz !== defaultHz && others > 0;
  return { ...frequency, notices: isChanged ? [frequencyNotice(frequency, others)] : [] };
}

function frequencyNotice({ hz, from }: NominalFrequency, others: number): string {
  const profiles = others === 1 ? 'one other profile that sets' : `${others} other profiles that set`;
  return (
    `the nominal frequency of the grid is ${hz} Hz instead of ${defaultHz} Hz, as ${from} says, also for the devices ` +
    `of ${profiles} none; grid.nominal_frequency_hz in the configuration file overrides it`
  );
}

/** The devices of a run. */
export interface DeviceList {
  /** only valid ones */
  readonly devices: readonly DeviceConfig[];
  /** number of all devices, valid or not */
  readonly count: number;
  readonly kinds: ReadonlySet<AssetType>;
}

interface Building {
  readonly gathered: Gathered;
  readonly store: ProfileStore;
  readonly issues: Issue[];
}

/** The profile that the settings give a device of a type. */
function settingsProfile(
  { gathered: { values, originOf, io }, store }: Building,
  type: DeviceTypeInfo,
): FoundProfile | null {
  const key = type.assetType === 'evse' ? 'evse_profile' : 'f';
  const text = values[key];
  if (text === null) return store.ofType(type);
  const name = originOf(key);
  return placed(store.byReference({ text, base: io.cwd, name }, type), name);
}

/** A profile with the place where it was chosen. */
function placed(profile: FoundProfile | null, profilePlace: string): FoundProfile | null {
  return profile && { ...profile, profilePlace };
}

const seriesKeys = { dc: 'dc_profile', load: 'load_profile', vehicles: 'vehicles' } as const;
type SeriesKey = (typeof seriesKeys)[keyof typeof seriesKeys];

function settingsSeries({ values }: Gathered, kind: AssetType): DeviceSeriesPaths {
  const of = (key: SeriesKey) => (isForKind(key, kind) ? values[key] : null);
  return { dc: of('dc_profile'), load: of('load_profile'), vehicles: of('vehicles') };
}

/** @param where prefix of the member in an issue */
function entrySeries(
  { gathered, issues }: Building,
  entry: DeviceEntry,
  kind: AssetType,
  where: string,
): DeviceSeriesPaths {
  const inherited = settingsSeries(gathered, kind);
  const base = gathered.file?.directory ?? gathered.io.cwd;
  const pathOf = (name: keyof typeof seriesKeys): string | null => {
    const key = seriesKeys[name];
    const member = entry[key];
    if (member === undefined) return inherited[name];
    const path = resolve(base, member);
    if (!isForKind(key, kind)) {
      const kinds =
        settingOf(key)
          .kinds?.map((allowed) => kindTable[allowed].label)
          .join(', ') ?? '';
      issues.push({ name: `${where}${key}`, detail: `given for a device of kind ${kind}; allowed for: ${kinds}` });
    } else if (!gathered.io.isFile(path))
      issues.push(refused(`${where}${key}`, member, 'the path of a file that exists'));
    return path;
  };
  return { dc: pathOf('dc'), load: pathOf('load'), vehicles: pathOf('vehicles') };
}

function entryProfile(
  building: Building,
  entry: DeviceEntry,
  type: DeviceTypeInfo,
  where: string,
): FoundProfile | null {
  const {
    gathered: { file, io },
    store,
    issues,
  } = building;
  const base = file?.directory ?? io.cwd;
  const { profile, evse_profile: evse } = entry;
  if (evse !== undefined && (profile !== undefined || type.assetType !== 'evse')) {
    const detail =
      profile === undefined
        ? `given for a device of kind ${type.assetType}; allowed: profile`
        : 'given beside profile; allowed: one of the two';
    issues.push({ name: `${where}evse_profile`, detail });
    return null;
  }
  if (typeof profile === 'object')
    return placed(store.inline(profile, { base, name: `${where}profile` }, type), `${where}profile`);
  const text = profile ?? evse;
  if (text === undefined) return settingsProfile(building, type);
  const name = `${where}${profile === undefined ? 'evse_profile' : 'profile'}`;
  return placed(store.byReference({ text, base, name }, type), name);
}

function entryType({ device_type: type, evse_profile: evse }: DeviceEntry, preset: DeviceTypeName): DeviceTypeName {
  return type ?? (evse === undefined ? preset : 'EVSE');
}

/** The device type of the settings; evse_profile without device_type means EVSE. */
function presetType(gathered: Gathered): DeviceTypeName {
  const { device_type: type, evse_profile: evse } = gathered.values;
  return isGiven(gathered, 'device_type') || evse === null ? type : 'EVSE';
}

type UnnamedDevice = Omit<DeviceConfig, 'name'>;

/**
 * The device of an entry.
 * @param preset type if the entry has neither device_type nor evse_profile
 * @returns null when its profile has issues
 */
function entryDevice(
  building: Building,
  entry: DeviceEntry,
  preset: DeviceTypeName,
  where: string,
): UnnamedDevice | null {
  const deviceType = entryType(entry, preset);
  const type: DeviceTypeInfo = deviceTypes[deviceType];
  const { assetType, phases } = type;
  const series = entrySeries(building, entry, assetType, where);
  const profile = entryProfile(building, entry, type, where);
  const faults = entryFaults(building, entry, where);
  const protocols = {
    ...entryStation(building, entry, assetType, where),
    ...entryPlaces(building, entry, where),
  };
  return profile && { deviceType, assetType, phases, ...profile, series, faults, ...protocols };
}

/** Members that one device alone can have. */
const uniqueMembers = { csip: ['lfdi'], dnp3: ['port'], modbus: ['port', 'unit_id'] } as const;

/** Identities and places of an entry in CSIP, DNP3 and Modbus. */
function entryPlaces({ issues }: Building, entry: DeviceEntry, where: string): DeviceProtocols {
  const { csip, dnp3, modbus, count = 1 } = entry;
  for (const name of ['csip', 'dnp3', 'modbus'] as const)
    for (const [member, value] of Object.entries(entry[name] ?? {}))
      if (count > 1 && value !== undefined && (uniqueMembers[name] as readonly string[]).includes(member))
        issues.push({
          name: `${where}${name}.${member}`,
          detail: `given for ${count} devices; allowed: for one device`,
        });
  return {
    ...(csip && { csip: { ...csip, ...(csip.lfdi !== undefined && { lfdi: csip.lfdi.toUpperCase() }) } }),
    ...(dnp3 && { dnp3 }),
    ...(modbus && {
      modbus: {
        ...(modbus.port !== undefined && { port: modbus.port }),
        ...(modbus.unit_id !== undefined && { unitId: modbus.unit_id }),
      },
    }),
  } as DeviceProtocols;
}

/** OCPP settings of the station of an entry. */
function entryStation(
  { gathered, issues }: Building,
  { ocpp: station, count = 1 }: DeviceEntry,
  kind: AssetType,
  where: string,
): Pick<DeviceProtocols, 'ocpp'> {
  const { values, originOf } = gathered;
  if (station === undefined) return {};
  const { id, version, url, auto_authorize: autoAuthorize } = station;
  const addIssue = (member: string, detail: string | null) => {
    if (detail !== null) issues.push({ name: `${where}ocpp${member}`, detail });
  };
  if (kind !== 'evse') addIssue('', `given for a device of kind ${kind}; allowed for: EVSE`);
  if (id !== undefined && count > 1) addIssue('.id', `given for ${count} devices; allowed: for one device`);
  if (url !== undefined && values.ocpp_enable)
    addIssue('.url', transportDetail(url, securityProfileOf(values), originOf('ocpp_security_profile')));
  const isGuarded = url !== undefined && gathered.hasRequestedDevices === true;
  if (isGuarded && isRefusedTarget(hostOf(url))) addIssue('.url', `${hostOf(url)} ${refusedTargetText}`);
  return {
    ocpp: {
      ...(id !== undefined && count === 1 && { id }),
      ...(version !== undefined && { versions: ocppVersionsOf(version) }),
      ...(url !== undefined && { url: ocppUrlOf(url) }),
      ...(isGuarded && { guarded: true }),
      ...(autoAuthorize !== undefined && { autoAuthorize }),
    },
  };
}

/** Faults that act on the devices of an entry alone, and so must not name a device. */
function entryFaults({ gathered: { file, io }, issues }: Building, entry: DeviceEntry, where: string): FaultGroup[] {
  const place = { base: file?.directory ?? io.cwd, nameOf: (position: number) => `${where}faults[${position}]` };
  return ownFaultGroups(entry.faults ?? [], place, 'the entry of a device', io, issues);
}

function listedDevices(building: Building, entries: readonly (DeviceEntry | null)[]): DeviceList {
  const {
    gathered: { values, file },
    issues,
  } = building;
  const label = `${file?.label ?? ''}: devices`;
  const deviceCount = entries.reduce((sum, entry) => sum + (entry?.count ?? 1), 0);
  const fits = deviceCount <= maxDevices;
  if (!fits) issues.push({ name: label, detail: `given ${deviceCount} devices in all; allowed: up to ${maxDevices}` });
  const devices: DeviceConfig[] = [];
  const kinds = new Set<AssetType>();
  let index = values.first_device;
  entries.forEach((entry, position) => {
    const count = fits ? (entry?.count ?? 1) : 1;
    const firstIndex = index;
    index += count;
    if (!entry) return;
    kinds.add(deviceTypes[entryType(entry, values.device_type)].assetType);
    const device = entryDevice(building, entry, values.device_type, `${label}[${position}].`);
    if (!device) return;
    for (let k = 0; k < count; k += 1) {
      const deviceName =
        entry.name === undefined
          ? `${device.deviceType} ${firstIndex + k}`
          : count > 1
            ? `${entry.name} ${k + 1}`
            : entry.name;
      devices.push({ ...device, name: deviceName });
    }
  });
  return { devices, count: index - values.first_device, kinds };
}

/**
 * Builds a device that is added to a running plant. Members that its entry omits are taken from the settings.
 * @param trustedUrl of the configuration, to which the outbound rules do not apply
 * @throws SimError CONFIG_INVALID with all its issues, named by the members of the entry
 */
export function buildDevice(
  { trustedUrl = null, ...gathered }: Gathered & { readonly trustedUrl?: string | null },
  storeFor: (issues: Issue[]) => ProfileStore,
  entry: DeviceEntry,
  index: number,
  frequency: NominalFrequency,
): DeviceConfig {
  const issues: Issue[] = [];
  const device = entryDevice({ gathered, store: storeFor(issues), issues }, entry, presetType(gathered), '');
  const issue = device && frequencyIssue(device.profile, frequency, 'profile');
  if (issue) issues.push(issue);
  if (!device || issues.length > 0) throw new SimError('CONFIG_INVALID', 'The device cannot be built:', issues);
  const { ocpp } = device;
  const isGuarded = ocpp?.url !== undefined && entry.ocpp?.url !== trustedUrl;
  const guarded: Pick<DeviceConfig, 'ocpp'> = isGuarded ? { ocpp: { ...ocpp, guarded: true } } : {};
  return { ...device, ...guarded, name: entry.name ?? `${device.deviceType} ${index}` };
}

function repeatedDevices(building: Building): DeviceList {
  const { gathered } = building;
  const { values } = gathered;
  const deviceType = presetType(gathered);
  const type: DeviceTypeInfo = deviceTypes[deviceType];
  const { assetType, phases } = type;
  const profile = settingsProfile(building, type);
  const series = settingsSeries(gathered, assetType);
  const devices = profile
    ? Array.from({ length: values.N }, (_, index) => ({
        deviceType,
        assetType,
        name: `${deviceType} ${values.first_device + index}`,
        phases,
        ...profile,
        series,
        faults: [],
      }))
    : [];
  return { devices, count: values.N, kinds: new Set([assetType]) };
}

/** The entry of each device that a file lists; empty: the settings alone make the devices. */
export function configuredEntries(file: Pick<ConfigFile, 'devices'> | null): readonly (DeviceEntry | null)[] {
  return (file?.devices ?? []).flatMap((entry) => Array.from({ length: entry?.count ?? 1 }, () => entry));
}

/** The devices that the file lists, otherwise `N` of one type. */
export function buildDevices(gathered: Gathered, store: ProfileStore, issues: Issue[]): DeviceList {
  const building = { gathered, store, issues };
  return gathered.file?.devices ? listedDevices(building, gathered.file.devices) : repeatedDevices(building);
}
