/** GetChargingProfiles and the ReportChargingProfiles that follow (K09): a message by EVSE and source, in parts. */
import type { StoredProfile } from '../../charging/control.ts';
import type { Handler, Requests, StationParts } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import type { ExternalLimits } from './external.ts';
import { sentOf } from './installed.ts';
import type { InstalledProfiles } from './installed.ts';
import type { SentProfile } from './rules/issue.ts';

/** Profiles of one message: each may have thousands of periods. */
const profilesPerReport = 5;

type Query = Requests['GetChargingProfiles'];
type Report = Requests['ReportChargingProfiles'];

interface Found {
  readonly evseId: number;
  readonly source: string;
  readonly profile: SentProfile;
}

/** An id names its profile alone; without ids all given criteria must match (K09.FR.03). */
function isAsked({ evseId, profile, source }: Found, { evseId: askedEvse, chargingProfile: criteria }: Query): boolean {
  const { chargingProfileId, chargingProfilePurpose, stackLevel, chargingLimitSource } = criteria;
  if (askedEvse !== undefined && askedEvse !== evseId) return false;
  if (chargingProfileId !== undefined) return chargingProfileId.includes(profile.id);
  return (
    (chargingProfilePurpose === undefined || chargingProfilePurpose === profile.chargingProfilePurpose) &&
    (stackLevel === undefined || stackLevel === profile.stackLevel) &&
    (chargingLimitSource === undefined || chargingLimitSource.includes(source))
  );
}

function reportsOf(requestId: number, found: readonly Found[]): readonly Report[] {
  const groups = new Map<string, Found[]>();
  for (const each of found) {
    const key = `${each.evseId} ${each.source}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const parts: Omit<Report, 'tbc'>[] = [];
  for (const group of groups.values())
    for (let i = 0; i < group.length; i += profilesPerReport) {
      const [first] = group;
      if (first === undefined) continue;
      parts.push({
        requestId,
        evseId: first.evseId,
        chargingLimitSource: first.source,
        chargingProfile: group.slice(i, i + profilesPerReport).map(({ profile }) => profile),
      });
    }
  return parts.map((part, i) => ({ ...part, tbc: i < parts.length - 1 }));
}

interface ReportDeps {
  readonly parts: Pick<StationParts, 'calls' | 'finding' | 'version'>;
  readonly installed: Pick<InstalledProfiles, 'all'>;
  readonly external: Pick<ExternalLimits, 'reported'>;
}

function allOf({ installed, external }: ReportDeps): readonly Found[] {
  const ofCentral = installed.all.map((entry: StoredProfile) => ({
    evseId: entry.profile.connectorId,
    source: 'CSO',
    profile: sentOf(entry),
  }));
  return [...ofCentral, ...external.reported()];
}

export function getChargingProfiles(deps: ReportDeps): Handler<'GetChargingProfiles'> {
  const { calls, finding, version } = deps.parts;
  return (request, after) => {
    if (request.evseId === undefined && Object.keys(request.chargingProfile).length === 0) {
      const text = 'chargingProfile names nothing to look for; all profiles are reported';
      finding(clauseOf(version, 'K09.FR.03'), text, 'GetChargingProfiles');
    }
    const found = allOf(deps).filter((each) => isAsked(each, request));
    if (found.length === 0) return { status: 'NoProfiles', statusInfo: { reasonCode: 'NotFound' } };
    after(() => {
      for (const report of reportsOf(request.requestId, found))
        void calls.send('ReportChargingProfiles', report, { triggered: true });
    });
    return { status: 'Accepted' };
  };
}
