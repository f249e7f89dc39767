/** Network profiles (B09): their stored members, and the checks of a request. */
import { isIP } from 'node:net';
import { isOcppUrl, isUrlOfProfile, ocppSecurityProfiles, ocppUrlOf } from '../../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../../contract/ocpp-settings.ts';
import { isRefusedTarget } from '../../../core/net/outbound.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { Requests, StationParts } from '../parts.ts';
import type { Refusal } from '../variables/handlers.ts';
import { networkSlots } from '../variables/rows/controllers.ts';

type ConnectionData = Requests['SetNetworkProfile']['connectionData'];

/** The contents of a slot. */
export interface NetworkProfile {
  readonly url: string;
  readonly securityProfile: OcppSecurityProfile;
  readonly messageTimeoutS: number;
  readonly ocppInterface: ConnectionData['ocppInterface'];
  /** BasicAuthPassword of this profile; null: the one of SecurityCtrlr */
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
/** values of `ocppVersion` in 2.0.1; 2.1 ignores the member */
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

/** True if the station may connect to a URL, regardless of the security profile. */
export function isProfileUrl(url: string): boolean {
  if (!isOcppUrl(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || !isRefusedTarget(host);
}

/** Refusal of a lower security profile; only 3 to 2 can be permitted (A05, B09.FR.04, FR.31). Null: not refused. */
export function downgradeRefusal(
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
  if (!isSecurityProfile(securityProfile)) return 'securityProfile must be 0 to 3';
  if (!isOcppUrl(ocppCsmsUrl))
    return 'ocppCsmsUrl must be a ws or wss URL of up to 1000 characters without user name, password, query and fragment';
  return transportIssue({ url: ocppCsmsUrl, securityProfile });
}

/** Why no connection can be made to a slot: its address contradicts the security profile, or is refused; null: none. */
export function transportIssue({
  url,
  securityProfile,
}: Pick<NetworkProfile, 'url' | 'securityProfile'>): string | null {
  if (!isUrlOfProfile(url, securityProfile))
    return `security profile ${securityProfile} needs ${securityProfile >= 2 ? 'wss' : 'ws'}`;
  return isProfileUrl(url) ? null : 'the station does not connect to this address';
}

/** A feature in a profile that the station does not support; null: none. */
function supportIssue(data: ConnectionData, { version, identity }: ProfileContext): string | null {
  const { ocppTransport, ocppVersion = 'OCPP201', ocppInterface } = data;
  if (ocppTransport !== 'JSON') return 'ocppTransport must be JSON';
  if (version === 'ocpp2.0.1' && !versions.has(ocppVersion)) return 'ocppVersion must be OCPP20 or OCPP201';
  if (!interfaces.has(ocppInterface)) return 'ocppInterface must be Wired0 or Any';
  if (data.apn !== undefined) return 'the station has no modem for an apn';
  if (data.vpn !== undefined) return 'the station has no vpn';
  return data.identity === undefined || data.identity === identity ? null : 'identity cannot be changed';
}

/** The refusal of a profile; null: none. */
export function profileIssue(slot: number, data: ConnectionData, context: ProfileContext): Refusal | null {
  if (!(networkSlots as readonly number[]).includes(slot))
    return {
      reasonCode: 'InvalidConfSlot',
      additionalInfo: `configurationSlot must be one of ${networkSlots.join(', ')}`,
    };
  const issue = addressIssue(data) ?? supportIssue(data, context);
  if (issue !== null) return invalid(issue);
  if (data.messageTimeout < 1 || data.messageTimeout > maxTimeoutS)
    return invalid(`messageTimeout must be 1 to ${maxTimeoutS} s`);
  if (data.basicAuthPassword !== undefined && !isPassword(data.basicAuthPassword))
    return invalid('basicAuthPassword must have 16 to 64 printable ASCII characters');
  return downgradeRefusal(data.securityProfile, context);
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

/** The profile in a stored value; null: the value is not a profile. */
export function restoredProfile(value: JsonValue | undefined): NetworkProfile | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const stored = value as Readonly<Record<string, JsonValue>>;
  const { url, securityProfile, messageTimeoutS, ocppInterface, password } = stored;
  if (typeof url !== 'string' || !isSecurityProfile(securityProfile) || typeof messageTimeoutS !== 'number')
    return null;
  // NetworkConfiguration may have begun to fill the slot without an address
  if (url !== '' && !isOcppUrl(url)) return null;
  return {
    url,
    securityProfile,
    messageTimeoutS,
    ocppInterface: typeof ocppInterface === 'string' && isInterface(ocppInterface) ? ocppInterface : 'Any',
    password: typeof password === 'string' ? password : null,
  };
}
