/** Sets of faults in files, and the lists that name them. */
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { didYouMean } from '../../core/nearest.ts';
import { faultProfileSchema } from '../../fault-kinds/request.ts';
import type { FaultProfile, FlatFault } from '../../fault-kinds/request.ts';
import { bundledFaultProfileNames, bundledFaultProfilePath, profileNameOf } from './bundled.ts';
import type { FaultGroup } from './fault-list.ts';
import { refused, zodIssues } from '../issues/issues.ts';
import { readMapping, systemIo } from '../layers/files.ts';
import type { ConfigIo } from '../layers/files.ts';
import type { Gathered } from '../layers/gather.ts';

/** The place of a list of faults. */
interface Place {
  /** directory that relative paths start from */
  readonly base: string;
  /** the flag or key of an entry */
  readonly nameOf: (position: number) => string;
}

/** Built on demand: only issues need it. */
const profileJsonSchema = memo(() => z.toJSONSchema(faultProfileSchema, { io: 'input' }));

/** Reads a set of faults; null when it has issues. @param name the flag or key that names the file */
function readProfile(
  path: string,
  name: string,
  io: ConfigIo,
  issues: Issue[],
): z.infer<typeof faultProfileSchema> | null {
  const raw = readMapping(path, name, io, issues);
  const checked = raw && faultProfileSchema.safeParse(raw);
  if (checked?.success === false)
    issues.push(...zodIssues(checked.error.issues, { input: raw, schema: profileJsonSchema(), where: basename(path) }));
  return checked?.data ?? null;
}

/** The groups of a list; a group with issues is left out. */
export function faultGroups(
  list: readonly (string | FlatFault)[],
  place: Place,
  io: ConfigIo,
  issues: Issue[],
): FaultGroup[] {
  return list.flatMap((entry, position): FaultGroup[] => {
    const name = place.nameOf(position);
    if (typeof entry !== 'string') return [{ profile: null, faults: [entry], places: [name] }];
    const bundled = bundledFaultProfilePath(entry);
    const path = bundled ?? resolve(place.base, entry);
    if (bundled === undefined && !io.isFile(path)) {
      issues.push(
        refused(
          name,
          entry,
          'the path of a file that exists, or a bundled set of faults ' +
            `(${bundledFaultProfileNames.join(', ')})${didYouMean(basename(entry), bundledFaultProfileNames)}`,
        ),
      );
      return [];
    }
    const profile = readProfile(path, name, bundled === undefined ? io : systemIo, issues);
    if (profile === null) return [];
    return [
      {
        profile: profileNameOf(entry),
        faults: profile.faults,
        places: profile.faults.map((_fault, at) => `${basename(path)}: faults[${at}]`),
      },
    ];
  });
}

/**
 * The groups of a list in a device entry or profile. Its faults act on the devices of that owner, and so must not name
 * a device.
 * @param owner of the list, for issues
 */
export function ownFaultGroups(
  list: readonly (string | FlatFault)[],
  place: Place,
  owner: string,
  io: ConfigIo,
  issues: Issue[],
): FaultGroup[] {
  list.forEach((entry, position) => {
    if (typeof entry !== 'string' && entry.device !== undefined)
      issues.push({ name: `${place.nameOf(position)}.device`, detail: `given in ${owner}; allowed: no device here` });
  });
  return faultGroups(list, place, io, issues);
}

/** The faults of all devices as they are written, and the directory that relative paths start from. */
export interface CommonFaultList {
  readonly list: readonly (string | FlatFault)[];
  readonly base: string;
}

/** The list of the flag or the variable, otherwise that of the file. */
export function commonFaultList({ values, file, layers, io }: Gathered): CommonFaultList {
  if (layers.flags.has('faults') || layers.env.has('faults')) return { list: values.faults, base: io.cwd };
  return { list: file?.faults ?? [], base: file?.directory ?? io.cwd };
}

/** The faults of all devices. */
export function commonFaults(gathered: Gathered, issues: Issue[]): FaultGroup[] {
  const { values, file, originOf, io } = gathered;
  const { list, base } = commonFaultList(gathered);
  const isOfFile = list !== values.faults;
  const nameOf = (position: number) => (isOfFile ? `${file?.label ?? ''}: faults[${position}]` : originOf('faults'));
  return faultGroups(list, { base, nameOf }, io, issues);
}

/** Reads every bundled set of faults. @throws SimError INTERNAL when one has issues */
export function readFaultProfiles(): readonly FaultProfile[] {
  const issues: Issue[] = [];
  const profiles = bundledFaultProfileNames.flatMap((name): FaultProfile[] => {
    const profile = readProfile(bundledFaultProfilePath(name) ?? name, name, systemIo, issues);
    return profile === null ? [] : [{ name, ...profile }];
  });
  if (issues.length > 0) throw new SimError('INTERNAL', 'a bundled set of faults is not valid', issues);
  return profiles;
}
