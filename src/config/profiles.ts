import { basename, resolve } from 'node:path';
import { z } from 'zod';
import type { Fault } from '../core/errors.ts';
import { bundledProfileNames, bundledProfilePath, profileNameOf } from './bundled.ts';
import { deviceProfileSchema, resolveProfile } from './device-profile.ts';
import type { DeviceProfile, DeviceProfileInput } from './device-profile.ts';
import type { DeviceTypeInfo } from './device-types.ts';
import { zodFaults } from './faults.ts';
import { readMapping, systemIo } from './files.ts';
import type { ConfigIo } from './files.ts';

/** A profile and the name that telemetry shows for it. */
export interface FoundProfile {
  readonly profile: DeviceProfile;
  /** null when the user named none */
  readonly profileName: string | null;
}

/** Finds profiles; one file gives one object, however many devices use it. Faults go to the list given at creation. */
export interface ProfileStore {
  /**
   * @param reference bundled name or path
   * @param base directory that a relative path starts from
   * @param name the flag or key that the reference stands in
   */
  byReference(reference: string, base: string, name: string, type: DeviceTypeInfo): FoundProfile | null;
  inline(input: DeviceProfileInput, name: string, type: DeviceTypeInfo): FoundProfile | null;
  /** The bundled profile of a type. */
  ofType(type: DeviceTypeInfo): FoundProfile | null;
}

const profileJsonSchema = z.toJSONSchema(deviceProfileSchema, { io: 'input' });

export function createProfileStore(options: {
  readonly io: ConfigIo; readonly longitudeDeg: number; readonly faults: Fault[];
}): ProfileStore {
  const { io, longitudeDeg, faults } = options;
  const inputs = new Map<string, DeviceProfileInput | null>();
  const resolved = new Map<string, DeviceProfile | null>();

  function read(path: string, name: string, bundled: boolean): DeviceProfileInput | null {
    const known = inputs.get(path);
    if (known !== undefined) return known;
    const raw = readMapping(path, name, bundled ? systemIo : io, faults);
    const checked = raw && deviceProfileSchema.safeParse(raw);
    if (checked?.success === false) {
      faults.push(...zodFaults(checked.error.issues, { input: raw, schema: profileJsonSchema, where: basename(path) }));
    }
    const input = checked?.data ?? null;
    inputs.set(path, input);
    return input;
  }

  function load(path: string, name: string, type: DeviceTypeInfo, bundled: boolean): DeviceProfile | null {
    const key = `${type.phases} ${path}`;
    const known = resolved.get(key);
    if (known !== undefined) return known;
    const input = read(path, name, bundled);
    const profile = input && resolveProfile(input, { phases: type.phases, longitudeDeg }, basename(path), faults);
    resolved.set(key, profile);
    return profile;
  }

  function byReference(reference: string, base: string, name: string, type: DeviceTypeInfo): FoundProfile | null {
    const bundled = bundledProfilePath(reference);
    const path = bundled ?? resolve(base, reference);
    if (bundled === undefined && !io.isFile(path)) {
      // a file that is missing is named once, like one that is faulty
      if (!inputs.has(path)) {
        faults.push({
          name,
          detail: `given ${JSON.stringify(reference)}, which is no file; allowed: a path or a bundled profile (${bundledProfileNames.join(', ')})`,
          allowed: bundledProfileNames,
        });
      }
      inputs.set(path, null);
      return null;
    }
    const profile = load(path, name, type, bundled !== undefined);
    return profile && { profile, profileName: profileNameOf(reference) };
  }

  return {
    byReference,
    inline(input, name, type) {
      const profile = resolveProfile(input, { phases: type.phases, longitudeDeg }, name, faults);
      return profile && { profile, profileName: null };
    },
    ofType(type) {
      const found = byReference(type.defaultProfile, io.cwd, 'device_type', type);
      return found && { ...found, profileName: null };
    },
  };
}
