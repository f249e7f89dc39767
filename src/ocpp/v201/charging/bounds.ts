/** Bounds of the charging profiles of a station of 2.x. */

/** Profiles that a station holds. */
export const maxProfiles = 100;
export const maxStackLevel = 100;
/** Periods of a schedule; the schema permits no more. */
export const maxPeriods = 1024;
/** The id of the profile that shows the external limit; MaxExternalConstraintsId. */
export const externalProfileId = -1;
