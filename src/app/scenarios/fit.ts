/** Compares the `config` of a scenario with the running simulator, which applies none of it. */
import { z } from 'zod';
import { readFileSync } from 'node:fs';
import { bundledExamplePath } from '../../config/profile/bundled.ts';
import { addedDeviceSchema } from '../../config/profile/device-entry.ts';
import { deviceTypeAliases } from '../../config/profile/device-types.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { parseYaml } from '../../core/yaml.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import { issueWords, withInput } from '../../core/zod-issues.ts';
import { createTemplate } from '../../der/device/template.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { readPoint } from '../../sunspec/map/view.ts';

/** The settings of the running simulator that a scenario may require. */
export type RunningConfig = Pick<AppConfig, 'deviceOf' | 'irradianceSource' | 'clouds' | 'grid'>;

/** A device beside an entry of `config`. */
export interface FittedDevice extends Pick<Device, 'index' | 'deviceType' | 'profileName'> {
  readonly bank: {
    readonly layout: Pick<Layout, 'slot'> & {
      readonly models: readonly { readonly def: { readonly id: number } }[];
    };
    value(slot: PointSlot): AnyPointValue;
  };
}

/** Entries of the setting `devices`, reduced to type and number. */
const deviceEntries = memo(() =>
  z
    .array(z.looseObject({ device_type: z.string().optional(), count: z.int().min(1).max(10_000).optional() }))
    .optional(),
);

type Entries = NonNullable<z.output<ReturnType<typeof deviceEntries>>>;
type Counted = readonly (readonly [type: string, count: number])[];

const typeOf = (name: string): string => deviceTypeAliases[name] ?? name;

/** `2 x PV-3Phase, EVSE and Batt-3Phase` */
function typesText(types: Counted): string {
  const texts = types.map(([type, count]) => (count === 1 ? type : `${count} x ${type}`));
  return [texts.slice(0, -1).join(', '), ...texts.slice(-1)].filter((text) => text !== '').join(' and ') || 'no device';
}

/** The difference between the types of the devices and of the entries; null: they are equal. */
function typeMisfit(entries: Entries, devices: readonly FittedDevice[]): string | null {
  const required = entries.map(({ device_type: type = '', count = 1 }) => [typeOf(type), count] as const);
  const present = devices.map(({ deviceType }) => typeOf(deviceType));
  let end = 0;
  const fits = required.every(([type, count]) => {
    const types = present.slice(end, end + count);
    end += count;
    return types.length === count && (type === '' || types.every((presentType) => presentType === type));
  });
  if (fits) return null;
  const counts = present.reduce<[string, number][]>((list, type) => {
    const last = list.at(-1);
    if (last?.[0] === type) last[1] += 1;
    else list.push([type, 1]);
    return list;
  }, []);
  return `${typesText(required)}, here ${typesText(counts)}`;
}

/** A wrong part of the entries, by its path below `devices`. */
interface WrongEntry {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
}
type Invalid = (entries: readonly WrongEntry[]) => Error;

/** Models and ratings of the device that an entry describes. */
interface Required {
  /** null: the entry gives its members */
  readonly profileName: string | null;
  readonly models: readonly number[];
  readonly ratings: readonly { readonly slot: PointSlot; readonly value: AnyPointValue }[];
}

/** True for a text that can only be the path of a file. */
const isPath = (value: unknown): boolean => typeof value === 'string' && /[./\\]/.test(value);

/**
 * @returns null: the entry names no profile, or a file, which is not read for a request
 * @throws the error of `invalid`
 */
function requiredOf(
  { device_type: type, profile, evse_profile: stationProfile }: Entries[number],
  position: number,
  { deviceOf, grid }: RunningConfig,
  invalid: Invalid,
): Required | null {
  if ((profile === undefined && stationProfile === undefined) || isPath(profile) || isPath(stationProfile)) return null;
  const parsed = addedDeviceSchema.safeParse({ device_type: type, profile, evse_profile: stationProfile }, withInput);
  if (!parsed.success)
    throw invalid(
      parsed.error.issues
        .flatMap((issue) => issueWords(issue, 'a member of a device'))
        .map(({ path, detail }) => ({ path: [position, ...path], detail })),
    );
  const entry = parsed.data;
  try {
    const device = deviceOf(
      { device_type: entry.device_type, profile: entry.profile, evse_profile: entry.evse_profile },
      0,
    );
    const { layout, image } = createTemplate(
      device.profile,
      device.phases,
      grid.nominalFrequencyHz,
      simTimeFromMs(0),
      0,
    );
    return {
      profileName: device.profileName,
      models: layout.models.map(({ def }) => def.id),
      ratings: layout.slots
        .filter(({ modelId, path }) => modelId === 702 && path.includes('Rtg'))
        .map((slot) => ({ slot, value: readPoint(layout, image, slot) }))
        .filter(({ value }) => value !== null),
    };
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    throw invalid(
      error.issues.map(({ name, detail }) => ({ path: [position, 'profile'], detail: `${name}: ${detail}` })),
    );
  }
}

function ratingOf(bank: FittedDevice['bank'], path: string): AnyPointValue {
  const slot = bank.layout.slot(702, path);
  return slot ? bank.value(slot) : null;
}

/** The differences between a device and an entry: of their profiles where they have other names, else of each rating. */
function ratingMisfits(
  { index, bank, profileName: presentName }: FittedDevice,
  { profileName, models, ratings }: Required,
): readonly string[] {
  const present = new Set(bank.layout.models.map(({ def }) => def.id));
  const absent = models.filter((id) => !present.has(id));
  if (absent.length > 0) return [`device ${index}: model ${absent.join(', ')}, here none`];
  const differing = ratings
    .map(({ slot, value }) => ({ slot, value, presentValue: ratingOf(bank, slot.path) }))
    .filter(({ value, presentValue }) => value !== presentValue);
  if (differing.length > 0 && profileName !== null && presentName !== null && profileName !== presentName)
    return [`device ${index}: ${profileName}, here ${presentName}`];
  return differing.map(({ slot: { path, def }, value, presentValue }) => {
    const texts = [value, presentValue].map((each) => [String(each), def.units].filter(Boolean).join(' '));
    return `device ${index}: ${def.label} (702.${path}) ${texts.join(', here ')}`;
  });
}

/** Models and ratings by the JSON of an entry; null: the entry names no profile. */
export type RequiredByEntry = Map<string, Required | null>;

/** Yields null after each device, when other work may run. */
function* devicesMisfits(
  entries: Entries,
  devices: readonly FittedDevice[],
  running: RunningConfig,
  invalid: Invalid,
  byEntry: RequiredByEntry,
): Generator<string | null> {
  let from = 0;
  for (const [position, entry] of entries.entries()) {
    const { count = 1, ...rest } = entry;
    const key = JSON.stringify(rest);
    if (!byEntry.has(key)) byEntry.set(key, requiredOf(entry, position, running, invalid));
    const required = byEntry.get(key) ?? null;
    for (const device of required === null ? [] : devices.slice(from, from + count)) {
      yield* ratingMisfits(device, required as Required);
      yield null;
    }
    from += count;
  }
}

const gridBlock = z.looseObject({
  nominal_frequency_hz: z.number().optional(),
  feeder: z.looseObject({ short_circuit_ratio: z.number(), x_over_r: z.number() }).optional(),
});

type Feeder = AppConfig['grid']['feeder'];
const feederText = (feeder: Feeder) =>
  feeder === null
    ? 'a stiff grid'
    : `a grid behind a feeder of short_circuit_ratio ${feeder.scr} and x_over_r ${feeder.xOverR}`;

function* gridMisfits(value: unknown, grid: AppConfig['grid']): Generator<string> {
  const block = gridBlock.safeParse(value);
  if (!block.success) return;
  const { nominal_frequency_hz: hz, feeder: line } = block.data;
  if (hz !== undefined && hz !== grid.nominalFrequencyHz)
    yield `a grid of ${hz} Hz, here ${grid.nominalFrequencyHz} Hz`;
  const feeder = line ? { scr: line.short_circuit_ratio, xOverR: line.x_over_r } : null;
  if (feederText(feeder) !== feederText(grid.feeder)) yield `${feederText(feeder)}, here ${feederText(grid.feeder)}`;
}

function* skyMisfits(
  { irradiance_source: source, clouds }: Readonly<Record<string, unknown>>,
  running: RunningConfig,
): Generator<string> {
  if (source !== undefined && source !== running.irradianceSource)
    yield `irradiance_source ${JSON.stringify(source)}, here "${running.irradianceSource}"`;
  if (clouds !== undefined && clouds !== running.clouds)
    yield `clouds ${JSON.stringify(clouds)}, here "${running.clouds}"`;
}

/** The settings of a bundled configuration; null: no bundled configuration has this name. */
export function settingsOfBundled(name: string): Readonly<Record<string, unknown>> | null {
  const path = bundledExamplePath(name);
  return path === undefined ? null : (parseYaml(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>);
}

/** Number of devices that a configuration has, as far as its form is valid. */
export function devicesIn({ devices, N: count = 1 }: Readonly<Record<string, unknown>>): number {
  const parsed = deviceEntries().safeParse(devices);
  const entries = (parsed.success && parsed.data) || [{ count: Number(count) || 1 }];
  return entries.reduce((sum, entry) => sum + (entry.count ?? 1), 0);
}

const maxMisfits = 20;

/**
 * Reasons why the running simulator does not fit the `config` of a scenario: all, or the first twenty. Each names what
 * the scenario is for, then what is here: `device 0: 10kW-3Phase, here 500kW-3Phase`. Compares only
 * settings in `config`, but `grid` as a whole: a grid without `feeder` is stiff. Yields when other work may run.
 * @param invalid creates the error of invalid entries
 * @param byEntry entries of earlier comparisons, to which those of this one are added
 */
export function* misfits(
  config: Readonly<Record<string, unknown>>,
  present: readonly FittedDevice[],
  running: RunningConfig,
  invalid: Invalid,
  byEntry: RequiredByEntry = new Map(),
): Generator<undefined, readonly string[]> {
  const { devices, device_type: type, f: profile, evse_profile: stationProfile, N: count } = config;
  const single = { device_type: type ?? 'EVSE', profile, evse_profile: stationProfile, count };
  const isNamed = type !== undefined || stationProfile !== undefined;
  const parsed = deviceEntries().safeParse(devices ?? (isNamed ? [single] : undefined), withInput);
  if (!parsed.success) throw invalid(parsed.error.issues.flatMap((issue) => issueWords(issue, 'a member of a device')));
  const entries = parsed.data ?? [];
  const typeReason = typeMisfit(entries, present);
  const reasons: string[] = [];
  for (const group of [
    gridMisfits(config['grid'], running.grid),
    skyMisfits(config, running),
    typeReason === null ? devicesMisfits(entries, present, running, invalid, byEntry) : [typeReason],
  ])
    for (const reason of group) {
      if (reasons.length === maxMisfits) return [...reasons, 'and more'];
      if (reason === null) yield;
      else reasons.push(reason);
    }
  return reasons;
}
