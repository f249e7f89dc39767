/** Issues of a device that is added over the network, named by JSON pointers into the entry of the client. */
import { deviceProtocols } from '../../contract/device-protocols.ts';
import { pointerStep } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import type { DeviceEntry } from '../profile/device-entry.ts';
import { deviceProfileSchema } from '../profile/device-profile.ts';

const profileMembers: readonly string[] = Object.keys(deviceProfileSchema.shape);

/**
 * A JSON pointer from a key path such as `evse.connectors[1].type`; the name of a point is one key, even with dots or
 * brackets.
 */
export function pointerOf(path: string): string {
  const [, id, point] = /^models\.(\d+)\.(.+)$/.exec(path) ?? [];
  const steps =
    id !== undefined && point !== undefined
      ? ['models', id, point]
      : path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.map(pointerStep).join('');
}

/** JSON pointer of the member that chooses the profile of the device. */
function profileChoice({ profile, evse_profile: evse, device_type: type }: DeviceEntry): string {
  if (profile !== undefined) return '/profile';
  if (evse !== undefined) return '/evse_profile';
  return type === undefined ? '' : '/device_type';
}

/**
 * Issues with JSON pointers for names.
 * @param issues named by members of the entry; issues of an inline profile are named `profile: <key path>`
 */
export function entryIssues(issues: readonly Issue[], entry: DeviceEntry): Issue[] {
  return issues.map((issue) => {
    const { name, detail } = issue;
    if (Object.hasOwn(entry, name)) return { ...issue, name: pointerStep(name) };
    if (deviceProtocols.some((block) => name.startsWith(`${block}.`))) return { ...issue, name: pointerOf(name) };
    const path = name.startsWith('profile: ') ? name.slice('profile: '.length) : '';
    const inProfile = profileMembers.includes(path.split(/[.[]/)[0] ?? '');
    if (typeof entry.profile === 'object' && inProfile) return { ...issue, name: `/profile${pointerOf(path)}` };
    return { ...issue, name: profileChoice(entry), detail: `${path === '' ? name : path}: ${detail}` };
  });
}

/** As `entryIssues`, for issues that the device finds in its profile; they are named by key paths of the profile. */
export function profileIssues(issues: readonly Issue[], entry: DeviceEntry): Issue[] {
  return entryIssues(
    issues.map((issue) => ({ ...issue, name: `profile: ${issue.name}` })),
    entry,
  );
}
