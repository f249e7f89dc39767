/** Faults of a device that is added over the network, as places in the entry that the client gave. */
import type { Fault } from '../../core/errors.ts';
import { pointerStep } from '../../core/json-pointer.ts';
import type { DeviceEntry } from '../profile/device-entry.ts';
import { deviceProfileSchema } from '../profile/device-profile.ts';

const profileMembers: readonly string[] = Object.keys(deviceProfileSchema.shape);

/** A JSON pointer from a key path such as `evse.connectors[1].type`; the name of a point is one key, whatever is in it. */
function pointerOf(path: string): string {
  const [, id, point] = /^models\.(\d+)\.(.+)$/.exec(path) ?? [];
  const steps =
    id !== undefined && point !== undefined
      ? ['models', id, point]
      : path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.map(pointerStep).join('');
}

/** The member that decides which profile the device has. */
function deciding({ profile, evse_profile: evse, device_type: type }: DeviceEntry): string {
  if (profile !== undefined) return '/profile';
  if (evse !== undefined) return '/evse_profile';
  return type === undefined ? '' : '/device_type';
}

/**
 * Faults with JSON pointers for names.
 * @param faults named by members of the entry; those of an inline profile `profile: <key path>`
 */
export function entryFaults(faults: readonly Fault[], entry: DeviceEntry): Fault[] {
  return faults.map((fault) => {
    const { name, detail } = fault;
    if (Object.hasOwn(entry, name)) return { ...fault, name: pointerStep(name) };
    const path = name.startsWith('profile: ') ? name.slice('profile: '.length) : '';
    const inProfile = profileMembers.includes(path.split(/[.[]/)[0] ?? '');
    if (typeof entry.profile === 'object' && inProfile) return { ...fault, name: `/profile${pointerOf(path)}` };
    return { ...fault, name: deciding(entry), detail: `${path === '' ? name : path}: ${detail}` };
  });
}

/** The same, for faults that a device finds in its profile, named from the root of the profile. */
export function profileFaults(faults: readonly Fault[], entry: DeviceEntry): Fault[] {
  return entryFaults(
    faults.map((fault) => ({ ...fault, name: `profile: ${fault.name}` })),
    entry,
  );
}
