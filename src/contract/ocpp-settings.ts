/** Settings of the OCPP charge points as the process starts with them. */
import { z } from 'zod';

/** Spellings of `--ocpp_version` and of REST. */
export const ocppVersions = ['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1'] as const;
export type OcppVersion = (typeof ocppVersions)[number];

/** Versions that a station offers, in the order of its preference; none stands twice. */
export type OcppVersions = readonly [OcppVersion, ...OcppVersion[]];

/** The first version that a list names again; null: none. */
export function repeatedOcppVersion(versions: readonly OcppVersion[]): OcppVersion | null {
  return versions.find((version, at) => versions.indexOf(version) !== at) ?? null;
}

/** Schema of one version, or of several in the order of preference, in files and in requests. */
export const ocppVersionsSchema = z.union([
  z.enum(ocppVersions),
  z
    .array(z.enum(ocppVersions))
    .min(1)
    .max(ocppVersions.length)
    .refine((versions) => repeatedOcppVersion(versions) === null, { error: 'must name each version once' })
    .meta({ uniqueItems: true }),
]);

/** The list of versions of a setting or request, which may give one version alone. */
export function ocppVersionsOf(given: OcppVersion | readonly OcppVersion[]): OcppVersions {
  const [first = 'ocpp1.6j', ...others] = typeof given === 'string' ? [given] : given;
  return [first, ...others];
}

/** 0: no security (`ws`); 1: basic authentication; 2: TLS and basic authentication; 3: TLS with client certificate. */
export const ocppSecurityProfiles = [0, 1, 2, 3] as const;
export type OcppSecurityProfile = (typeof ocppSecurityProfiles)[number];

/** Certificate files of a station; absolute paths. */
export interface OcppPemFiles {
  /** the certificate of the central system is checked against it */
  readonly rootCert: string;
  /** null: no client certificate */
  readonly own: { readonly cert: string; readonly key: string } | null;
}

/** Settings of a station in its entry of `devices`; absent members follow the flags. */
export interface OcppStationSettings {
  readonly id?: string;
  /** offered in this order */
  readonly versions?: OcppVersions;
  /** no credentials, no query, no slash at its end */
  readonly url?: string;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize?: boolean;
  /** true: the URL came over REST, and the addresses of its name must pass the outbound rules */
  readonly guarded?: true;
}

export interface OcppSettings extends Required<Omit<OcppStationSettings, 'guarded'>> {
  /** true: a request has set the URL */
  readonly guarded: boolean;
  /** 0 to 3; 1.6 may raise it by the key SecurityProfile, 2.x may change it by network connection profiles */
  readonly securityProfile: OcppSecurityProfile;
  /** octets that basic authentication sends in profiles 1 and 2, kept for them in the others; null: none */
  readonly password: Buffer | null;
  /** certificate files, also for a security profile that is raised later; null: none */
  readonly pem: OcppPemFiles | null;
}

/** Segments of `evse/` that are paths of their own: no identity may be one of them. */
export const reservedChargePointIds: readonly string[] = ['profiles', 'sessions', 'der-controls', 'session-generator'];
/** Identities that a station cannot have; a URL would resolve `.` and `..`. */
const reservedIds: ReadonlySet<string> = new Set([...reservedChargePointIds, '.', '..']);
const maxIdLength = 48;
// identifiers go into paths and logs: printable ASCII, blanks inside at most
const idPattern = new RegExp(`^(?=.{1,${maxIdLength}}$)[!-~](?:[ -~]*[!-~])?$`);

export const ocppIdText =
  `text of 1 to ${maxIdLength} printable ASCII characters, without blanks around it, and none of ` +
  ['.', '..', ...reservedChargePointIds].join(', ');

/**
 * True if a text can be a charge point identity. Wider than identifierString of 2.x (OCPP-J 2.0.1 3.1.1), which has no
 * blanks and few signs; `versionWithoutId` has its rule on colons.
 */
export function isOcppId(text: string): boolean {
  return idPattern.test(text) && !reservedIds.has(text);
}

/**
 * The first of the versions that forbids an identity: 2.x has none with a colon. Null: all allow it. OCPP-J 2.0.1 3.1.1
 */
export function versionWithoutId(id: string, versions: readonly OcppVersion[]): OcppVersion | null {
  return id.includes(':') ? (versions.find((version) => version !== 'ocpp1.6j') ?? null) : null;
}

const maxUrlLength = 1000;

export const ocppUrlText =
  `a ws or wss URL of up to ${maxUrlLength} characters without user name, password, query and fragment, for example ` +
  'ws://csms.example:8180/steve/websocket/CentralSystemService';

/** True if a text can be the endpoint of a central system; `/` and the identity are added to it. OCPP-J 1.6 3.1.1 */
export function isOcppUrl(text: string): boolean {
  if (!/^wss?:\/\/[!-~]+$/i.test(text) || text.length > maxUrlLength || !URL.canParse(text)) return false;
  const { username, password, search, hash, hostname } = new URL(text);
  return username + password + search + hash === '' && !/[?#]/.test(text) && hostname !== '';
}

/** An endpoint in the form that settings keep. */
export function ocppUrlOf(text: string): string {
  return text.replace(/\/+$/, '');
}

/** True if an endpoint has the transport of a security profile: `ws` for 0 and 1, `wss` for 2 and 3. White paper 2 */
export function isUrlOfProfile(url: string, profile: OcppSecurityProfile): boolean {
  return /^wss:/i.test(url) === profile >= 2;
}

/**
 * An endpoint with the transport of a security profile: raising the profile from 0 or 1 to 2 or 3 turns `ws` into
 * `wss`.
 */
export function urlOfProfile(url: string, profile: OcppSecurityProfile): string {
  return url.replace(/^wss?:/i, profile >= 2 ? 'wss:' : 'ws:');
}

/** True if basic authentication sends a password in this profile. */
export function needsPassword(profile: OcppSecurityProfile): boolean {
  return profile === 1 || profile === 2;
}

const minPasswordBytes = 16;
const maxPasswordBytes = 64;
/**
 * AuthorizationKey of 1.6: 16 to 20 octets as 32 to 40 hexadecimal digits. A text password that consists of 32 to 40
 * such digits is therefore taken as a key.
 */
const hexKey = /^(?:[0-9a-f]{2}){16,20}$/i;

export const ocppPasswordText =
  `${minPasswordBytes} to ${maxPasswordBytes} octets without control characters, or 32 to 40 ` +
  'hexadecimal digits, which 1.6 decodes';

/**
 * The octets that basic authentication sends for a password, or null when it cannot be one. With 1.6, 32 to 40
 * hexadecimal digits are an AuthorizationKey and are decoded; everything else is sent as UTF-8 text.
 * @param version the first that is offered, which decides: the password is sent before a version is chosen
 */
export function ocppPasswordOctets(text: string, [version]: OcppVersions): Buffer | null {
  if (version === 'ocpp1.6j' && hexKey.test(text)) return Buffer.from(text, 'hex');
  const octets = Buffer.from(text, 'utf8');
  const isText = !/\p{Cc}/u.test(text) && octets.length >= minPasswordBytes && octets.length <= maxPasswordBytes;
  return isText ? octets : null;
}
