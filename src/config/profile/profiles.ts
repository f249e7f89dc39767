import { basename, resolve } from 'node:path';
import { z } from 'zod';
import type { Issue } from '../../core/errors.ts';
import { bundledEvseProfileNames, bundledProfileNames, bundledProfilePath, profileNameOf } from './bundled.ts';
import { absentKey, deviceProfileSchema, resolveProfile } from './device-profile.ts';
import type { DeviceProfile, DeviceProfileInput } from './device-profile.ts';
import type { DeviceTypeInfo } from './device-types.ts';
import { zodIssues } from '../issues/issues.ts';
import { readMapping, systemIo } from '../layers/files.ts';
import type { ConfigIo } from '../layers/files.ts';
import { blockNames } from './kind-parameters.ts';
import { issueOfSetting, fuelCellProfile, withOverrides } from './kind-overrides.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

/** A profile and the name that telemetry shows for it. */
export interface FoundProfile {
  readonly profile: DeviceProfile;
  /** null when the user named none */
  readonly profileName: string | null;
}

/** Where a profile is named. */
interface Reference {
  /** bundled name or path */
  readonly text: string;
  /** directory that a relative path starts from */
  readonly base: string;
  /** the flag or key that the text stands in */
  readonly name: string;
}

/** Finds profiles; one file gives one object per kind and phases, however many devices use it. Faults go to the list given at creation. */
export interface ProfileStore {
  byReference(reference: Reference, type: DeviceTypeInfo): FoundProfile | null;
  inline(input: DeviceProfileInput, name: string, type: DeviceTypeInfo): FoundProfile | null;
  /** The bundled profile of a type. */
  ofType(type: DeviceTypeInfo): FoundProfile | null;
}

/** What was read without a fault; stores that share it give the same profile objects. */
export interface ProfileCache {
  readonly inputs: Map<string, DeviceProfileInput>;
  readonly resolved: Map<string, DeviceProfile>;
}

export function createProfileCache(): ProfileCache {
  return { inputs: new Map(), resolved: new Map() };
}

export interface StoreOptions {
  readonly io: ConfigIo;
  readonly longitudeDeg: number;
  /** what flags and keys say of a kind stands over the profiles */
  readonly values: Values;
  readonly originOf: (key: SettingKey) => string;
  readonly issues: Issue[];
  readonly cache: ProfileCache;
}

const profileJsonSchema = z.toJSONSchema(deviceProfileSchema, { io: 'input' });

/** A profile of an EVSE where another one is wanted, or the other way round. */
function roleFault(input: DeviceProfileInput, { text, name }: Reference, { assetType }: DeviceTypeInfo): Issue | null {
  const evse = input.evse !== undefined;
  const given = `given ${JSON.stringify(text)}`;
  if (assetType !== 'evse') {
    return evse
      ? {
          name,
          detail: `${given}, which is the profile of an EVSE; allowed: another profile here, this one with --evse_profile`,
          allowed: bundledProfileNames,
        }
      : null;
  }
  if (evse || !blockNames.some((block) => input[block] !== undefined)) return null;
  return {
    name,
    detail: `${given}, which is no profile of an EVSE; allowed: one of an EVSE (${bundledEvseProfileNames.join(', ')}), this one with -f`,
    allowed: bundledEvseProfileNames,
  };
}

function missingFault({ text, name }: Reference, { assetType }: DeviceTypeInfo): Issue {
  const allowed = assetType === 'evse' ? bundledEvseProfileNames : bundledProfileNames;
  return {
    name,
    detail: `given ${JSON.stringify(text)}, which is no file; allowed: a path or a bundled profile (${allowed.join(', ')})`,
    allowed,
  };
}

export function createProfileStore({
  io,
  longitudeDeg,
  values,
  originOf,
  issues: issues,
  cache,
}: StoreOptions): ProfileStore {
  /** files and profiles whose faults are told already */
  const faulty = new Set<string>();
  const told = new Set<string>();

  /** Several profiles may show the same fault of one setting. */
  function tell(issue: Issue): void {
    const text = `${issue.name}: ${issue.detail}`;
    if (told.has(text)) return;
    told.add(text);
    issues.push(issue);
  }

  function read(path: string, name: string, bundled: boolean): DeviceProfileInput | null {
    const known = cache.inputs.get(path);
    if (known) return known;
    if (faulty.has(path)) return null;
    const raw = readMapping(path, name, bundled ? systemIo : io, issues);
    const checked = raw && deviceProfileSchema.safeParse(raw);
    if (checked?.success === false) {
      issues.push(
        ...zodIssues(checked.error.issues, {
          input: raw,
          schema: profileJsonSchema,
          where: basename(path),
          absent: absentKey,
        }),
      );
    }
    const input = checked?.data;
    if (input) cache.inputs.set(path, input);
    else faulty.add(path);
    return input ?? null;
  }

  function complete(
    input: DeviceProfileInput,
    where: string,
    { assetType, phases, windType }: DeviceTypeInfo,
  ): DeviceProfile | null {
    const found: Issue[] = [];
    const target = { assetType, phases, longitudeDeg, ...(windType !== undefined && { windType }) };
    const profile = resolveProfile(withOverrides(input, assetType, values), target, where, found);
    for (const issue of found) tell(issueOfSetting(issue, where, values, originOf));
    return profile;
  }

  function load(path: string, reference: Reference, type: DeviceTypeInfo, bundled: boolean): DeviceProfile | null {
    const key = `${type.assetType} ${type.phases} ${type.windType ?? ''} ${path}`;
    const known = cache.resolved.get(key);
    if (known) return known;
    if (faulty.has(key)) return null;
    const input = read(path, reference.name, bundled);
    const issue = input && roleFault(input, reference, type);
    if (issue) tell(issue);
    const profile = input && !issue ? complete(input, basename(path), type) : null;
    if (profile) cache.resolved.set(key, profile);
    else faulty.add(key);
    return profile;
  }

  function byReference(reference: Reference, type: DeviceTypeInfo): FoundProfile | null {
    const bundled = bundledProfilePath(reference.text);
    const path = bundled ?? resolve(reference.base, reference.text);
    if (bundled === undefined && !io.isFile(path)) {
      // a file that is missing is named once, like one that is faulty
      if (!faulty.has(path)) issues.push(missingFault(reference, type));
      faulty.add(path);
      return null;
    }
    const profile = load(path, reference, type, bundled !== undefined);
    return profile && { profile, profileName: profileNameOf(reference.text) };
  }

  return {
    byReference,
    inline(input, name, type) {
      const profile = complete(input, name, type);
      return profile && { profile, profileName: null };
    },
    ofType(type) {
      const text = (type.assetType === 'fuelcell' ? fuelCellProfile(values) : null) ?? type.defaultProfile;
      const found = byReference({ text, base: io.cwd, name: 'device_type' }, type);
      return found && { ...found, profileName: null };
    },
  };
}
