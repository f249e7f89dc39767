/** Device profiles, bundled or from files, with the settings that replace members of all profiles of a kind. */
import { basename, dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { EvseParameters } from '../../contract/kinds/evse.ts';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { didYouMean } from '../../core/nearest.ts';
import { bundledEvseProfileNames, bundledProfileNames, bundledProfilePath, profileNameOf } from './bundled.ts';
import { whyNotSettable, deviceProfileSchema, resolveProfile } from './device-profile.ts';
import type { DeviceProfile, DeviceProfileInput } from './device-profile.ts';
import { deviceTypes } from './device-types.ts';
import type { DeviceTypeInfo } from './device-types.ts';
import { ownFaultGroups } from './fault-profiles.ts';
import { zodIssues } from '../issues/issues.ts';
import { readMapping, systemIo } from '../layers/files.ts';
import type { ConfigIo } from '../layers/files.ts';
import { blockNames } from './kind-parameters.ts';
import { isForKind, settingKeys, settingOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';
import type { AssetType } from '../../contract/device.ts';

const overrideKeys = settingKeys.filter((key) => settingOf(key).member !== undefined);

type Members = Readonly<Record<string, unknown>>;

/** A copy with another value at the end of a path; undefined leaves the member out. */
function withMember(from: Members, [name = '', ...rest]: readonly string[], value: unknown): Members {
  const inner = rest.length === 0 ? value : withMember((from[name] ?? {}) as Members, rest, value);
  return Object.fromEntries(Object.entries({ ...from, [name]: inner }).filter(([, member]) => member !== undefined));
}

/** A profile in which the settings of its kind replace members. */
function withOverrides(input: DeviceProfileInput, kind: AssetType, values: Values): DeviceProfileInput {
  let members: Members = input;
  for (const key of overrideKeys) {
    const { member } = settingOf(key);
    const value = values[key];
    if (member === undefined || value === null || !isForKind(key, kind)) continue;
    // the chain of a profile says all that these settings could
    if (input.chain !== undefined && (key === 'map_layout' || key === 'map_float')) continue;
    const { path, factor = 1, replaces = [] } = member;
    for (const other of replaces) members = withMember(members, other.split('.'), undefined);
    members = withMember(members, path.split('.'), typeof value === 'number' ? factor * value : value);
  }
  return members;
}

/**
 * An issue of a profile; if a setting replaced the refused member, the issue is named by the setting.
 * @param where prefix of the name of the issue
 */
function issueOfSetting(issue: Issue, where: string, values: Values, originOf: (key: SettingKey) => string): Issue {
  const replaced = overrideKeys.filter((key) => values[key] !== null);
  const path = issue.name.slice(`${where}: `.length);
  // a combination that no fuel cell has is an issue of the whole block
  const key =
    replaced.find((setting) => settingOf(setting).member?.path === path) ??
    (path === 'fuel_cell'
      ? replaced.find((setting) => settingOf(setting).member?.path.startsWith('fuel_cell.'))
      : undefined);
  return key === undefined ? issue : { ...issue, name: originOf(key) };
}

const combinationProfiles: readonly (readonly [chemistry: string, mode: string, fuel: string, profile: string])[] = [
  ['PEMFC', 'fc_only', 'tank', 'Fuelcell-PEM-5kW-3Phase'],
  ['PEMFC', 'bidirectional', 'tank', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  ['SOFC', 'fc_only', 'continuous', 'Fuelcell-SOFC-200kW-3Phase'],
  ['SOFC', 'bidirectional', 'tank', 'Fuelcell-SOFC-200kW-reversible-3Phase'],
];

/**
 * The bundled profile of the fuel cell that the settings describe; null: none fits, so the profile of the type applies,
 * whose check refuses the combination.
 */
function fuelCellProfile(v: Values): string | null {
  const combination = [v.fuelcell_chemistry ?? 'PEMFC', v.fuelcell_mode ?? 'fc_only', v.fuelcell_fuel ?? 'tank'];
  return combinationProfiles.find((row) => combination.every((value, i) => row[i] === value))?.[3] ?? null;
}

/** A profile and the name that telemetry shows for it. */
export interface FoundProfile {
  readonly profile: DeviceProfile;
  /** null: the user named no profile */
  readonly profileName: string | null;
  /** the flag or key that chose the profile, for messages; absent: the default of the device type */
  readonly profilePlace?: string;
}

/** A mention of a profile. */
interface Reference {
  /** bundled name or path */
  readonly text: string;
  /** directory that a relative path starts from */
  readonly base: string;
  /** the flag or key with this text */
  readonly name: string;
}

/** The origin of a profile. */
interface ProfileOrigin {
  /** directory that relative paths in it start from */
  readonly base: string;
  /** prefix of its keys in issues */
  readonly name: string;
}

/** Profiles that were read without an issue. Stores that share a cache return the same profile objects. */
interface ProfileCache {
  readonly inputs: Map<string, DeviceProfileInput>;
  readonly resolved: Map<string, DeviceProfile>;
}

/** Of the profiles that come with the program, which do not change while it runs. */
const bundledInputs = new Map<string, DeviceProfileInput>();

export function createProfileCache(): ProfileCache {
  return { inputs: new Map(), resolved: new Map() };
}

interface StoreOptions {
  readonly io: ConfigIo;
  readonly longitudeDeg: number;
  /** settings of a kind replace members of the profiles */
  readonly values: Values;
  readonly originOf: (key: SettingKey) => string;
  /** receives the issues of profiles, each once */
  readonly issues: Issue[];
  readonly cache: ProfileCache;
}

/** Built on demand: only issues need it. */
const profileJsonSchema = memo(() => z.toJSONSchema(deviceProfileSchema, { io: 'input' }));

/** Issue of an EVSE profile given for another kind, or of another profile given for an EVSE; null: no issue. */
function roleIssue(input: DeviceProfileInput, { text, name }: Reference, { assetType }: DeviceTypeInfo): Issue | null {
  const evse = input.evse !== undefined;
  const givenText = `given ${JSON.stringify(text)}`;
  if (assetType !== 'evse') {
    return evse
      ? {
          name,
          detail: `${givenText}, which is an EVSE profile; allowed: another profile here, or this one with --evse_profile`,
          allowed: bundledProfileNames,
        }
      : null;
  }
  if (evse || !blockNames.some((block) => input[block] !== undefined)) return null;
  return {
    name,
    detail:
      `${givenText}, which is not an EVSE profile; allowed: an EVSE profile ` +
      `(${bundledEvseProfileNames.join(', ')}), or this one with -f`,
    allowed: bundledEvseProfileNames,
  };
}

function missingIssue({ text, name }: Reference, { assetType }: DeviceTypeInfo): Issue {
  const allowed = assetType === 'evse' ? bundledEvseProfileNames : bundledProfileNames;
  return {
    name,
    detail:
      `given ${JSON.stringify(text)}, which is not a file; allowed: a path or a bundled profile ` +
      `(${allowed.join(', ')})${didYouMean(basename(text), allowed)}`,
    allowed,
  };
}

/** Reads and completes profiles; devices with one file, kind, phases and wind type share one object. */
export class ProfileStore {
  readonly #options: StoreOptions;
  /** files and profiles with issues that were reported */
  readonly #invalid = new Set<string>();
  readonly #reported = new Set<string>();

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The profile of a bundled name or a path; null when it has issues. */
  byReference(reference: Reference, type: DeviceTypeInfo): FoundProfile | null {
    const { io, issues } = this.#options;
    const bundled = bundledProfilePath(reference.text);
    const path = bundled ?? resolve(reference.base, reference.text);
    if (bundled === undefined && !io.isFile(path)) {
      // a missing file is reported once, like a file with issues
      if (!this.#invalid.has(path)) issues.push(missingIssue(reference, type));
      this.#invalid.add(path);
      return null;
    }
    const profile = this.#load(path, reference, type, bundled !== undefined);
    return profile && { profile, profileName: profileNameOf(reference.text) };
  }

  /** A profile written in the configuration itself; null when it has issues. */
  inline(input: DeviceProfileInput, origin: ProfileOrigin, type: DeviceTypeInfo): FoundProfile | null {
    const profile = this.#complete(input, origin, type);
    return profile && { profile, profileName: null };
  }

  /** The bundled profile of a type. */
  ofType(type: DeviceTypeInfo): FoundProfile | null {
    const { io, values } = this.#options;
    const text = (type.assetType === 'fuelcell' ? fuelCellProfile(values) : null) ?? type.defaultProfile;
    const profile = this.byReference({ text, base: io.cwd, name: 'device_type' }, type);
    return profile && { ...profile, profileName: null };
  }

  #load(path: string, reference: Reference, type: DeviceTypeInfo, bundled: boolean): DeviceProfile | null {
    const { resolved } = this.#options.cache;
    const key = `${type.assetType} ${type.phases} ${type.windType ?? ''} ${path}`;
    const cachedProfile = resolved.get(key);
    if (cachedProfile) return cachedProfile;
    if (this.#invalid.has(key)) return null;
    const input = this.#read(path, reference.name, bundled);
    const issue = input && roleIssue(input, reference, type);
    if (issue) this.#report(issue);
    const choice = bundled ? { place: reference.name, given: reference.text } : null;
    const origin = { base: dirname(path), name: basename(path) };
    const profile = input && !issue ? this.#complete(input, origin, type, choice) : null;
    if (profile) resolved.set(key, profile);
    else this.#invalid.add(key);
    return profile;
  }

  #read(path: string, name: string, bundled: boolean): DeviceProfileInput | null {
    const { cache, io, issues } = this.#options;
    const inputs = bundled ? bundledInputs : cache.inputs;
    const cachedInput = inputs.get(path);
    if (cachedInput) return cachedInput;
    if (this.#invalid.has(path)) return null;
    const raw = readMapping(path, name, bundled ? systemIo : io, issues);
    const checked = raw && deviceProfileSchema.safeParse(raw);
    if (checked?.success === false) {
      const context = { input: raw, schema: profileJsonSchema(), where: basename(path), absent: whyNotSettable };
      issues.push(...zodIssues(checked.error.issues, context));
    }
    const input = checked?.data;
    if (input) inputs.set(path, input);
    else this.#invalid.add(path);
    return input ?? null;
  }

  /**
   * Fills in the defaults of a profile; null when it has issues.
   * @param bundled the setting that chose a bundled profile: issues name it, because the user cannot change the file
   */
  #complete(
    input: DeviceProfileInput,
    { base, name: where }: ProfileOrigin,
    { assetType, phases, windType }: DeviceTypeInfo,
    bundled: { readonly place: string; readonly given: string } | null = null,
  ): DeviceProfile | null {
    const { io, longitudeDeg, values, originOf } = this.#options;
    const profileIssues: Issue[] = [];
    const target = { assetType, phases, longitudeDeg, ...(windType !== undefined && { windType }) };
    const place = { base, nameOf: (position: number) => `${where}: faults[${position}]` };
    const faults = ownFaultGroups(input.faults ?? [], place, 'a device profile', io, profileIssues);
    const profile = resolveProfile(withOverrides(input, assetType, values), target, where, profileIssues, faults);
    for (const issue of profileIssues) {
      const named = issueOfSetting(issue, where, values, originOf);
      const detail = `given ${JSON.stringify(bundled?.given)}, in which ${issue.name.slice(where.length + 2)}: ${issue.detail}`;
      this.#report(named === issue && bundled ? { name: bundled.place, detail } : named);
    }
    return profileIssues.length === 0 ? profile : null;
  }

  /** Reports an issue once: several profiles may have the same issue of one setting. */
  #report(issue: Issue): void {
    const text = `${issue.name}: ${issue.detail}`;
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#options.issues.push(issue);
  }
}

/** The charging station of a bundled EVSE profile. */
interface BundledEvseProfile {
  readonly name: string;
  readonly description: string | null;
  readonly bundled: true;
  readonly evse: EvseParameters;
}

/** Reads every bundled EVSE profile. @throws SimError INTERNAL when one has issues */
export function readEvseProfiles(): readonly BundledEvseProfile[] {
  const issues: Issue[] = [];
  const profiles = bundledEvseProfileNames.flatMap((name) => {
    const raw = readMapping(bundledProfilePath(name) ?? name, name, systemIo, issues);
    const input = deviceProfileSchema.parse(raw ?? {});
    const profile = resolveProfile(input, { ...deviceTypes.EVSE, longitudeDeg: 0 }, name, issues);
    return profile?.source.kind === 'evse'
      ? [{ name, description: profile.description, bundled: true as const, evse: profile.source.evse }]
      : [];
  });
  if (issues.length > 0) throw new SimError('INTERNAL', 'a bundled EVSE profile is not valid', issues);
  return profiles;
}
