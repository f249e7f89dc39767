/** Network profiles (B09): what of one is kept, and what is wrong with one. */
import { isIP } from 'node:net';
import { isOcppUrl, isUrlOfProfile, ocppSecurityProfiles, ocppUrlOf } from '../../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import { isRefusedTarget } from '../../../core/net/outbound.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { Requests, StationParts } from '../parts.ts';
import type { Refusal } from '../variables/handlers.ts';
import { networkSlots } from '../variables/rows/controllers.ts';

type ConnectionData = Requests['SetNetworkProfile']['connectionData'];

/** One slot that the central system has filled. */
export interface NetworkProfile {
  readonly url: string;
  readonly securityProfile: OcppSecurityProfile;
  readonly messageTimeoutS: number;
  readonly ocppInterface: ConnectionData['ocppInterface'];
  /** of this profile alone; null: that of SecurityCtrlr */
  readonly password: string | null;
}

/** Facts for the checks of a profile. */
export interface ProfileContext {
  readonly version: StationParts['version'];
  readonly identity: string;
  readonly securityProfile: OcppSecurityProfile;
  /** AllowSecurityProfileDowngrade */
  readonly mayLower: boolean;
}

const maxTimeoutS = 3600;
const interfaces: ReadonlySet<ConnectionData['ocppInterface']> = new Set(['Wired0', 'Any']);
/** of 2.0.1; 2.1 ignores the member */
const versions: ReadonlySet<string> = new Set(['OCPP20', 'OCPP201']);
const passwordPattern = /^[ -~]{16,64}$/;

const invalid = (additionalInfo: string): Refusal => ({ reasonCode: 'InvalidNetworkConf', additionalInfo });

export function isSecurityProfile(value: unknown): value is OcppSecurityProfile {
  return (ocppSecurityProfiles as readonly unknown[]).includes(value);
}

export function isInterface(value: string): value is NetworkProfile['ocppInterface'] {
  return (interfaces as ReadonlySet<string>).has(value);
}

export function isPassword(text: string): boolean {
  return passwordPattern.test(text);
}

/** True if a connection may be made to it, whatever the security profile. */
export function isProfileUrl(url: string): boolean {
  if (!isOcppUrl(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || !isRefusedTarget(host);
}

/** A05, B09.FR.04, FR.31: never lower, but from 3 to 2 where the variable allows it. Null: it may be used. */
export function downgradeOf(
  profile: number,
  { securityProfile, mayLower }: Pick<ProfileContext, 'securityProfile' | 'mayLower'>,
): Refusal | null {
  if (profile >= securityProfile || (mayLower && profile >= 2)) return null;
  return {
    reasonCode: 'NoSecurityDowngrade',
    additionalInfo: `security profile ${profile} is lower than ${securityProfile}`,
  };
}

function addressIssue({ ocppCsmsUrl, securityProfile }: ConnectionData): string | null {
  if (!isSecurityProfile(securityProfile)) return 'securityProfile is 0 to 3';
  if (!isOcppUrl(ocppCsmsUrl)) return 'ocppCsmsUrl is no ws or wss URL without user name, query and fragment';
  return transportIssue({ url: ocppCsmsUrl, securityProfile });
}

/** Contradiction between address and security profile of a slot; null: none. */
export function transportIssue({
  url,
  securityProfile,
}: Pick<NetworkProfile, 'url' | 'securityProfile'>): string | null {
  if (!isUrlOfProfile(url, securityProfile))
    return `security profile ${securityProfile} needs ${securityProfile >= 2 ? 'wss' : 'ws'}`;
  return isProfileUrl(url) ? null : 'no connection is made to such an address';
}

/** Features that the station lacks. */
function supportIssue(data: ConnectionData, { version, identity }: ProfileContext): string | null {
  const { ocppTransport, ocppVersion = 'OCPP201', ocppInterface } = data;
  if (ocppTransport !== 'JSON') return 'ocppTransport is JSON';
  if (version === 'ocpp2.0.1' && !versions.has(ocppVersion)) return 'ocppVersion is that of 2.0.1';
  if (!interfaces.has(ocppInterface)) return 'ocppInterface is Wired0 or Any';
  if (data.apn !== undefined) return 'the station has no modem for an apn';
  if (data.vpn !== undefined) return 'the station has no vpn';
  return data.identity === undefined || data.identity === identity ? null : 'identity cannot be changed';
}

/** Null: the profile is right. */
export function profileIssue(slot: number, data: ConnectionData, context: ProfileContext): Refusal | null {
  if (!(networkSlots as readonly number[]).includes(slot))
    return { reasonCode: 'InvalidConfSlot', additionalInfo: `configurationSlot is one of ${networkSlots.join(', ')}` };
  const issue = addressIssue(data) ?? supportIssue(data, context);
  if (issue !== null) return invalid(issue);
  if (data.messageTimeout < 1 || data.messageTimeout > maxTimeoutS)
    return invalid(`messageTimeout is 1 to ${maxTimeoutS} s`);
  if (data.basicAuthPassword !== undefined && !isPassword(data.basicAuthPassword))
    return invalid('basicAuthPassword has 16 to 64 printable ASCII characters');
  return downgradeOf(data.securityProfile, context);
}

/** The profile from connection data without issues. */
export function profileOf(data: ConnectionData): NetworkProfile {
  return {
    url: ocppUrlOf(data.ocppCsmsUrl),
    securityProfile: isSecurityProfile(data.securityProfile) ? data.securityProfile : 0,
    messageTimeoutS: data.messageTimeout,
    ocppInterface: data.ocppInterface,
    password: data.basicAuthPassword ?? null,
  };
}

/** A slot as it stands in the store. Null: it is none. */
export function restoredProfile(value: JsonValue | undefined): NetworkProfile | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const kept = value as Readonly<Record<string, JsonValue>>;
  const { url, securityProfile, messageTimeoutS, ocppInterface, password: own } = kept;
  if (typeof url !== 'string' || !isSecurityProfile(securityProfile) || typeof messageTimeoutS !== 'number')
    return null;
  return {
    url,
    securityProfile,
    messageTimeoutS,
    ocppInterface: typeof ocppInterface === 'string' && isInterface(ocppInterface) ? ocppInterface : 'Any',
    password: typeof own === 'string' ? own : null,
  };
}
