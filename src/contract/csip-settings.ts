/**
 * Settings of the client of IEEE 2030.5 (CSIP) as the process starts with them, and the check digit of its numbers
 * (8.3.2), which makes the sum of all digits a multiple of 10.
 */
import { join } from 'node:path';

export const csipAusVersions = ['1.2', '1.3'] as const;
export type CsipAusVersion = (typeof csipAusVersions)[number];

export const csipReadingsFlows = ['net', 'split'] as const;
export const csipReadingsSigns = ['import', 'export'] as const;
export const csipSupersededResponses = ['at_start', 'at_discovery'] as const;
export const csipWithoutRegistration = ['continue', 'stop'] as const;

/** PEM files of one connection identity; absolute paths. */
export interface CsipPemFiles {
  /** own certificate and its intermediates */
  readonly cert: string;
  /** null: plain HTTP in both directions, where the certificate only gives LFDI and SFDI */
  readonly tls: { readonly key: string; readonly rootCert: string } | null;
}

/** Source of the certificates; absolute paths. */
export type CsipCertificateSource =
  /** the same files for every connection: one device, an aggregator, or a site */
  | { readonly kind: 'files'; readonly cert: string; readonly key: string; readonly rootCert: string }
  /** `device<index>.pem` and `device<index>.key` */
  | { readonly kind: 'per_device'; readonly directory: string; readonly rootCert: string }
  /** made by `derbench pki`: also `root.pem`, `aggregator.pem`, and the chains of COMM-004 */
  | { readonly kind: 'test_pki'; readonly directory: string };

export interface CsipSettings {
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** path of the DeviceCapability, with its query */
    readonly dcap: string;
    /** false: plain HTTP */
    readonly tls: boolean;
    /** true: a request has set the address, and outbound rules apply */
    readonly guarded: boolean;
  };
  /** the server is searched for by DNS-SD; `server.host` and `server.port` are used only when none is found */
  readonly discover: boolean;
  /** hosts beside that of the server to which links and redirects may lead; lower case, without port */
  readonly allowedHosts: readonly string[];
  readonly strictCipher: boolean;
  readonly checkHostname: boolean;
  readonly identity: 'per_device' | 'aggregator' | 'site';
  readonly certificates: CsipCertificateSource;
  readonly revision: '2018' | '2023';
  /** null: no extensions of CSIP-AUS */
  readonly aus: CsipAusVersion | null;
  /** includes the check digit; null: not compared */
  readonly pin: number | null;
  /** in-band registration */
  readonly register: boolean;
  /** behaviour if the EndDevice has no RegistrationLink */
  readonly withoutRegistration: (typeof csipWithoutRegistration)[number];
  readonly notifications: {
    readonly subscribe: boolean;
    /** address of the listener */
    readonly host: string;
    /** 0: any free port */
    readonly port: number;
    readonly tls: boolean;
    /** URI at which the server reaches the listener, without a slash at the end; null: the address of the listener */
    readonly uri: string | null;
  };
  /** listener of the management page; null: none */
  readonly website: { readonly host: string; readonly port: number } | null;
  /** connectionPointId: none, one for all devices, or one for each of them in their order */
  readonly nmis: readonly string[];
  /** IANA private enterprise number in mRIDs of readings and in derived LFDIs */
  readonly pen: number;
  /** LFDIs of the devices behind an aggregator, in their order, upper case; those of further devices are derived */
  readonly lfdis: readonly string[];
  readonly readings: {
    /** `net`: one signed reading per quantity; `split`: one for each direction, never negative */
    readonly flow: (typeof csipReadingsFlows)[number];
    /** direction in which values of a net reading are positive */
    readonly positive: (typeof csipReadingsSigns)[number];
    /** true: the meter of the device reports, roleFlags 0x49 */
    readonly device: boolean;
    /** true: the meter of the connection point reports, roleFlags 0x03 */
    readonly site: boolean;
  };
  /** poll and post rates, s; null: those of the server */
  readonly rates: { readonly pollS: number | null; readonly postS: number | null };
  /** age from which the Time of an FSA or server counts as stale, s */
  readonly timeStaleS: number;
  readonly supersededResponse: (typeof csipSupersededResponses)[number];
  /** loss of communication */
  readonly lost: {
    /** s of failing requests after which communication counts as lost */
    readonly afterS: number;
    /** s of lost communication after which stored events end; null: they run to their end */
    readonly expiryS: number | null;
  };
}

/** The files for the connection of a device (of a site: its first device), or of the aggregator. */
export function csipPemFiles(
  {
    certificates: source,
    identity,
    server,
    notifications,
  }: Pick<CsipSettings, 'certificates' | 'identity' | 'server' | 'notifications'>,
  deviceIndex: number,
): CsipPemFiles {
  const hasTls = server.tls || (notifications.subscribe && notifications.tls);
  const of = (cert: string, key: string, rootCert: string): CsipPemFiles => ({
    cert,
    tls: hasTls ? { key, rootCert } : null,
  });
  if (source.kind === 'files') return of(source.cert, source.key, source.rootCert);
  const name = identity === 'aggregator' ? 'aggregator' : `device${deviceIndex}`;
  const path = join(source.directory, name);
  const rootCert = source.kind === 'test_pki' ? join(source.directory, 'root.pem') : source.rootCert;
  return of(`${path}.pem`, `${path}.key`, rootCert);
}

function digitSum(digits: number): number {
  let sum = 0;
  for (let rest = digits; rest > 0; rest = Math.floor(rest / 10)) sum += rest % 10;
  return sum;
}

/** A whole number from 0, followed by its check digit. */
export function withCheckDigit(digits: number): number {
  return digits * 10 + ((10 - (digitSum(digits) % 10)) % 10);
}

/** True if the last digit of a whole number from 0 is the check digit of the others. */
export function hasCheckDigit(digits: number): boolean {
  return digitSum(digits) % 10 === 0;
}

/** Identifier of a connection point (NMI), a String32. */
export const connectionPointIdPattern = /^[^\s,](?:[^,]{0,30}[^\s,])?$/;
export const connectionPointIdText = 'text of 1 to 32 characters without comma, and without blanks around it';
