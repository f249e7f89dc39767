import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import type { EvseParameters } from '../../contract/kinds/evse.ts';
import { bundledEvseProfileNames, bundledProfilePath } from './bundled.ts';
import { deviceProfileSchema, resolveProfile } from './device-profile.ts';
import { deviceTypes } from './device-types.ts';
import { readMapping, systemIo } from '../layers/files.ts';

/** A charging station that comes with the program. */
export interface BundledEvseProfile {
  readonly name: string;
  readonly description: string | null;
  readonly bundled: true;
  readonly evse: EvseParameters;
}

/** Reads every bundled EVSE profile. @throws SimError INTERNAL when one is faulty */
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
  if (issues.length > 0) throw new SimError('INTERNAL', 'a bundled EVSE profile is faulty', issues);
  return profiles;
}
