/** Roles of a Secure SunSpec certificate. */

export const roles = [
  'ReadOnlySunSpec',
  'GridServiceSunSpec',
  'NetworkAdministratorSunSpec',
  'SuperAdministratorSunSpec',
] as const;

export type Role = (typeof roles)[number];

/** The published tables of rights shorten the last role. */
const otherSpellings: Readonly<Record<string, Role>> = { SuperAdministratorSpec: 'SuperAdministratorSunSpec' };

/** The role of a name, exactly as it is written in certificates; undefined when there is none. */
export function roleOfName(name: string): Role | undefined {
  return (
    roles.find((role) => role === name) ?? (Object.hasOwn(otherSpellings, name) ? otherSpellings[name] : undefined)
  );
}
