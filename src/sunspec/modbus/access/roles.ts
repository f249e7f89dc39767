/** Roles of a Secure SunSpec certificate. */

export const roles = [
  'ReadOnlySunSpec',
  'GridServiceSunSpec',
  'NetworkAdministratorSunSpec',
  'SuperAdministratorSunSpec',
] as const;

export type Role = (typeof roles)[number];

/** Shorter spelling of the last role in the published tables of rights. */
const otherSpellings: Readonly<Record<string, Role>> = { SuperAdministratorSpec: 'SuperAdministratorSunSpec' };

/** The role of a name, exactly as written in certificates; undefined: no such role. */
export function roleOfName(name: string): Role | undefined {
  return (
    roles.find((role) => role === name) ?? (Object.hasOwn(otherSpellings, name) ? otherSpellings[name] : undefined)
  );
}
