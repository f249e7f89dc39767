/** Kinds of values of settings: allowed texts, schema in files, and normal form. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { chosenCertificate, isPemSource } from '../../contract/certificate-choice.ts';
import { dnp3AllowedPeer, dnp3AllowedPeerText, maxDnp3Address, maxDnp3Masters } from '../../contract/dnp3-settings.ts';
import {
  isOcppId,
  isOcppUrl,
  ocppIdText,
  ocppPasswordOctets,
  ocppPasswordText,
  ocppUrlOf,
  ocppUrlText,
  ocppVersions,
  ocppVersionsOf,
  ocppVersionsSchema,
  repeatedOcppVersion,
} from '../../contract/ocpp-settings.ts';
import type { OcppVersions } from '../../contract/ocpp-settings.ts';
import { connectionPointIdPattern, connectionPointIdText, hasCheckDigit } from '../../contract/csip-settings.ts';
import { tlsVersions } from '../../core/tls/material.ts';
import type { TlsVersion } from '../../core/tls/material.ts';
import { isTimeZone } from '../../core/time/zone.ts';

/** Notation, check and normal form of the values of a setting. */
export interface Kind<T> {
  /** schema of the value in a configuration file */
  readonly schema: z.ZodType;
  /** allowed values: in words, or a list of all */
  readonly allowed: string | readonly string[];
  /** word for a value in the help text */
  readonly placeholder: string;
  /** true: several values, as repeated flags or separated in one text */
  readonly list: boolean;
  /** true: a text may be the path of a file or folder of this machine */
  readonly isFile?: true;
  /** of a number; absent: no number */
  readonly range?: { readonly low: number; readonly high: number; readonly isWhole: boolean };
  /** separator of the values of a list in one text */
  readonly separator: ',' | ';';
  /** description of a refused value, if the allowed values do not explain the refusal; null: they do */
  readonly remark: (raw: unknown) => string | null;
  /** Converts a text of the command line or of the environment to the form in files. */
  fromText(text: string): unknown;
  /**
   * Checks and normalises a value. @returns undefined: not allowed
   * @param base directory of relative paths
   */
  read(raw: unknown, base: string): T | undefined;
}

interface KindSpec<In, T> {
  readonly allowed: string | readonly string[];
  readonly placeholder: string;
  readonly list?: boolean;
  readonly isFile?: true;
  readonly range?: Kind<T>['range'];
  readonly separator?: ',' | ';';
  readonly remark?: (raw: unknown) => string | null;
  readonly fromText?: (text: string) => unknown;
  readonly normalise: (value: In, base: string) => T;
}

function kind<In, T>(schema: z.ZodType<In>, spec: KindSpec<In, T>): Kind<T> {
  return {
    schema,
    allowed: spec.allowed,
    placeholder: spec.placeholder,
    list: spec.list ?? false,
    ...(spec.isFile && { isFile: true }),
    ...(spec.range && { range: spec.range }),
    separator: spec.separator ?? ',',
    remark: spec.remark ?? (() => null),
    fromText: spec.fromText ?? ((text) => text),
    read(raw, base) {
      const parsed = schema.safeParse(raw);
      return parsed.success ? spec.normalise(parsed.data, base) : undefined;
    },
  };
}

// decimal only: Number() alone would accept '', '0x10' and 'Infinity'
const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const numberFromText = (text: string): unknown => (decimal.test(text) ? Number(text) : text);
const identity = <T>(value: T): T => value;

/** A number within a closed range. */
export function number(low: number, high: number): Kind<number> {
  return kind(z.number().min(low).max(high), {
    allowed: `a number from ${low} to ${high}`,
    range: { low, high, isWhole: false },
    placeholder: 'NUMBER',
    fromText: numberFromText,
    normalise: identity,
  });
}

/** A whole number within a closed range; a fraction is refused, never cut off. */
export function integer(low: number, high: number): Kind<number> {
  return kind(z.int().min(low).max(high), {
    allowed: `a whole number from ${low} to ${high}`,
    range: { low, high, isWhole: true },
    placeholder: 'INTEGER',
    fromText: numberFromText,
    normalise: identity,
  });
}

/** A TCP port; 0: a free port of the system. */
export const port: Kind<number> = { ...integer(0, 65535), placeholder: 'PORT' };

/** One of a fixed list of words. */
export function choice<const W extends string>(words: readonly W[], placeholder: string): Kind<W> {
  return kind<W, W>(z.enum(words), { allowed: words, placeholder, normalise: identity });
}

const partsOf = (text: string): readonly string[] => text.split(',').map((part) => part.trim());

/** One version of OCPP, or several in the order of preference, each once. */
export const ocppVersionList: Kind<OcppVersions> = kind(ocppVersionsSchema, {
  allowed: `${ocppVersions.join(', ')}; several in the order of preference, each once`,
  placeholder: 'VERSION',
  list: true,
  fromText: partsOf,
  normalise: ocppVersionsOf,
  remark: (raw) => {
    const parsed = z.array(z.enum(ocppVersions)).safeParse(typeof raw === 'string' ? partsOf(raw) : raw);
    const repeated = parsed.success ? repeatedOcppVersion(parsed.data) : null;
    return repeated === null ? null : `in which ${repeated} stands twice`;
  },
});

const yes = ['yes', 'true', 'on', '1'];
const no = ['no', 'false', 'off', '0'];
const lowerCase = (text: string) => text.toLowerCase();

const switchSchema = z.union([
  z.boolean(),
  z.enum(['yes', 'no', 'true', 'false', 'on', 'off', '1', '0']),
  z.literal([0, 1]),
]);
const ofSwitch: Kind<boolean> = kind(switchSchema, {
  allowed: [...yes, ...no],
  placeholder: 'yes|no',
  fromText: lowerCase,
  normalise: (value) => yes.includes(String(value)),
});

/**
 * A switch. Files may hold the words too, in upper or lower case: in YAML 1.2 an unquoted `yes` is text, and `No` is a
 * boolean in YAML 1.1 only.
 */
export const onOff: Kind<boolean> = {
  ...ofSwitch,
  read: (raw, base) => ofSwitch.read(typeof raw === 'string' ? lowerCase(raw) : raw, base),
};

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;
const numericLabel = /^(\d+|0x[0-9a-f]*)$/i;

function isHost(text: string): boolean {
  if (isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0) return true;
  // a name whose last label is a number is a mistyped address (300.1.1.1)
  return hostName.test(text) && !numericLabel.test(text.replace(/\.$/, '').split('.').at(-1) ?? '');
}

const bareHost = (text: string) => text.replace(/^\[(.*)\]$/, '$1').toLowerCase();
const hostSchema = z.string().refine(isHost, 'an IP address or a host name');

/** IP address or host name, in lower case and without the brackets of IPv6. */
export const host: Kind<string> = kind(hostSchema, {
  allowed: 'an IP address or a host name',
  placeholder: 'HOST',
  normalise: bareHost,
});

const maxListLength = 64;
const pathText = z.string().min(1).max(4096);

function list(
  item: z.ZodType<string>,
  allowed: string,
  placeholder: string,
  normalise: (text: string) => string,
  { repeats = false } = {},
): Kind<readonly string[]> {
  return kind(z.union([item, z.array(item).max(maxListLength)]), {
    allowed: `${allowed}; several as a list, at most ${maxListLength}`,
    placeholder,
    list: true,
    fromText: (text) => text.split(',').map((part) => part.trim()),
    normalise(value) {
      const items = [value].flat().map(normalise);
      return repeats ? items : [...new Set(items)];
    },
  });
}

/** A file or a name; a text that `isName` accepts is a name, and is kept unchanged. */
export function pathOrName(isName: (text: string) => boolean, allowed: string): Kind<string> {
  return kind(pathText, {
    allowed,
    placeholder: 'FILE',
    isFile: true,
    normalise: (text, base) => (isName(text) ? text : resolve(base, text)),
  });
}

/** Files or names; a text that `isName` accepts is a name, and is kept unchanged. */
export function pathsOrNames(isName: (text: string) => boolean, allowed: string): Kind<readonly string[]> {
  return {
    ...list(pathText, allowed, 'FILE', identity),
    read(raw, base) {
      const parsed = z.union([pathText, z.array(pathText).max(maxListLength)]).safeParse(raw);
      return parsed.success
        ? [...new Set([parsed.data].flat().map((text) => (isName(text) ? text : resolve(base, text))))]
        : undefined;
    },
  };
}

const reportExtension = /\.(html|xml|json|txt)$/i;
const reportFile = pathText.regex(reportExtension);

/** Files for reports, whose format follows from their extension. */
export const reportFiles: Kind<readonly string[]> = {
  ...list(reportFile, 'a path that ends in .html, .xml (JUnit), .json or .txt', 'FILE', identity),
  isFile: true,
  read(raw, base) {
    const parsed = z.union([reportFile, z.array(reportFile).max(maxListLength)]).safeParse(raw);
    return parsed.success ? [...new Set([parsed.data].flat().map((text) => resolve(base, text)))] : undefined;
  },
};

/** Host names in lower case; comparisons are of whole names and ignore case. */
export const hostList = list(hostSchema, 'a host name or IP address without port', 'NAME', bareHost);

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}

/** Web origins, exactly as a browser sends them. */
export const originList = list(
  z.string().refine(isOrigin, 'an origin'),
  'an origin as a browser sends it, for example http://localhost:3000 (lower case, no path, no default port)',
  'ORIGIN',
  identity,
);

const fleetUrl = /^(nats|tls):\/\/[^\s/@?#]+$/;
/** Servers of one NATS cluster. */
export const fleetServers = list(
  z
    .string()
    .max(300)
    .refine((text) => fleetUrl.test(text) && URL.canParse(text), 'a URL'),
  'a URL nats://HOST:PORT or tls://HOST:PORT, without user and password',
  'URL',
  identity,
);

export const fleetName: Kind<string> = kind(z.string().regex(/^[\w-]{1,32}$/), {
  allowed: '1 to 32 of the characters A-Z, a-z, 0-9, _ and -',
  placeholder: 'NAME',
  normalise: identity,
});

export const fleetPrefix: Kind<string> = { ...fleetName, placeholder: 'PREFIX' };

export const natsUser: Kind<string> = kind(z.string().min(1).max(200), {
  allowed: 'a name of 1 to 200 characters',
  placeholder: 'NAME',
  normalise: identity,
});

export const timeZone: Kind<string> = kind(z.string().refine(isTimeZone), {
  allowed: 'an IANA time zone name, for example Europe/Berlin',
  placeholder: 'ZONE',
  normalise: identity,
});

export const clockTime: Kind<string> = kind(z.string().regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/), {
  allowed: 'a time of day HH:MM:SS',
  placeholder: 'HH:MM:SS',
  normalise: identity,
});

// simulated time is microseconds in a double: exact to the year 2255
const [firstDate, lastDate] = ['1970-01-02', '2199-12-31'];

const isoDate = z.iso.date();
const isDay = (text: string) => isoDate.safeParse(text).success;
const dateShape = /^\d{4}-\d{2}-\d{2}$/;

export const date: Kind<string> = kind(
  isoDate.refine((text) => text >= firstDate && text <= lastDate),
  {
    allowed: `a calendar date YYYY-MM-DD from ${firstDate} to ${lastDate}`,
    placeholder: 'YYYY-MM-DD',
    normalise: identity,
    remark: (raw) =>
      dateShape.test(String(raw)) && !isDay(String(raw)) ? 'a day that the calendar does not have' : null,
  },
);

/** Names of cipher suites, which OpenSSL checks. */
export const cipherList: Kind<string> = kind(z.string().min(1).max(4096), {
  allowed: 'OpenSSL names of cipher suites, separated by colons',
  placeholder: 'SUITES',
  normalise: identity,
});

/** One of a fixed list of versions; a version without quotes in a file may be a number. */
export function version<const W extends string>(words: readonly W[], placeholder: string): Kind<W> {
  const numbers = words.map(Number).filter((value) => !Number.isNaN(value));
  return kind(z.union([z.enum(words), z.literal(numbers)]), {
    allowed: words,
    placeholder,
    normalise: (value) => String(value) as W,
  });
}

export const tlsVersion: Kind<TlsVersion> = version(tlsVersions, 'VERSION');

/** Device file or name of a serial port. */
export const serialDevice: Kind<string> = kind(z.string().min(1).max(4096), {
  allowed: 'a serial device, for example /dev/ttyUSB0 or COM10',
  placeholder: 'DEVICE',
  normalise: identity,
});

const parities = { N: 'none', E: 'even', O: 'odd', none: 'none', even: 'even', odd: 'odd' } as const;
type ParityWord = keyof typeof parities;
const parityWords = Object.keys(parities) as ParityWord[];

/** Parity bit of a character on a serial line, by letter or word. */
export const parity: Kind<(typeof parities)[ParityWord]> = kind(z.enum(parityWords), {
  allowed: parityWords,
  placeholder: 'PARITY',
  normalise: (word) => parities[word],
  fromText: (text) => (text.length === 1 ? text.toUpperCase() : text.toLowerCase()),
});

/** A file; a relative path starts from the directory of the configuration file, or from the working directory. */
export const path: Kind<string> = kind(pathText, {
  allowed: 'a path',
  placeholder: 'FILE',
  isFile: true,
  normalise: (text, base) => resolve(base, text),
});

export const pemSourceText = 'the path of a PEM file, or certificate:NAME (GET certificates)';

/** A PEM file, or a certificate that the simulator keeps. */
export const pemSource: Kind<string> = kind(pathText.refine(isPemSource), {
  allowed: pemSourceText,
  placeholder: 'FILE',
  isFile: true,
  normalise: (text, base) => (chosenCertificate(text) === null ? resolve(base, text) : text),
});

export const folderPath: Kind<string> = kind(pathText, {
  allowed: 'a path of a folder',
  placeholder: 'DIR',
  isFile: true,
  normalise: (text, base) => resolve(base, text),
});

/** Path and query of an absolute URI. */
export const uriPath: Kind<string> = kind(z.string().regex(/^\/[\w\-.~:/?[\]@!$&'()*+,;=%]{0,999}$/), {
  allowed: 'a path of a URI that begins with /, up to 1000 characters',
  placeholder: 'PATH',
  normalise: identity,
});

function isUriBase(text: string): boolean {
  if (!/^https?:\/\//.test(text) || text.length > 1000 || !URL.canParse(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return search + hash + username + password === '';
}

/** A URI to which paths are added. */
export const uriBase: Kind<string> = kind(z.string().refine(isUriBase, 'a URI'), {
  allowed:
    'an http or https URI of up to 1000 characters without user name, password, query and fragment, for example ' +
    'https://client.example:9443',
  placeholder: 'URI',
  normalise: (text) => text.replace(/\/+$/, ''),
});

const pinSchema = z.union([z.string().regex(/^\d{6}$/), z.int().min(0).max(999_999)]);

/** PIN of IEEE 2030.5 8.3.2 with its check digit; a file may have it as a number. */
export const csipPin: Kind<number> = kind(
  pinSchema.refine((value) => hasCheckDigit(Number(value)), 'a PIN'),
  {
    allowed: '5 digits and their check digit, for example 111115',
    placeholder: 'PIN',
    normalise: Number,
  },
);

/** Identifiers of connection points, String32 of IEEE 2030.5; several devices may share one. */
export const connectionPointIds = list(
  z.string().regex(connectionPointIdPattern),
  connectionPointIdText,
  'ID',
  identity,
  { repeats: true },
);

/** LFDIs of devices, in upper case. Duplicates are kept: the conflicts of settings report them. */
export const lfdiList = list(
  z.string().regex(/^[0-9A-Fa-f]{40}$/),
  '40 hexadecimal digits',
  'LFDI',
  (text) => text.toUpperCase(),
  { repeats: true },
);

/** Endpoint of a central system of OCPP. */
export const ocppUrl: Kind<string> = kind(z.string().refine(isOcppUrl, ocppUrlText), {
  allowed: ocppUrlText,
  placeholder: 'URL',
  normalise: ocppUrlOf,
});

/** Identity of a charge point. */
export const ocppId: Kind<string> = kind(z.string().refine(isOcppId, ocppIdText), {
  allowed: ocppIdText,
  placeholder: 'ID',
  normalise: identity,
});

/** Password of a charge point; how it becomes octets depends on the OCPP version. */
export const ocppPassword: Kind<string> = kind(
  z.string().refine((text) => ocppPasswordOctets(text, ['ocpp1.6j']) !== null, ocppPasswordText),
  { allowed: ocppPasswordText, placeholder: 'PASSWORD', normalise: identity },
);

const dnp3Address = z.int().min(0).max(maxDnp3Address);

/** Address of a station of DNP3. */
export const dnp3Station: Kind<number> = { ...integer(0, maxDnp3Address), placeholder: 'ADDRESS' };

/** Addresses of the masters of an outstation. */
export const dnp3Masters: Kind<readonly number[]> = kind(
  z.union([dnp3Address, z.array(dnp3Address).min(1).max(maxDnp3Masters)]),
  {
    allowed: `1 to ${maxDnp3Masters} whole numbers from 0 to ${maxDnp3Address}, with commas between them`,
    placeholder: 'ADDRESS',
    list: true,
    fromText: (text) => text.split(',').map((part) => numberFromText(part.trim())),
    normalise: (value) => [...new Set([value].flat())],
  },
);

const dnp3Peer = z.string().refine((text) => dnp3AllowedPeer(text) !== null, dnp3AllowedPeerText);

/** Certificates that masters may present, separated by semicolons: subjects contain commas. */
export const dnp3Peers: Kind<readonly string[]> = kind(
  z.union([dnp3Peer, z.array(dnp3Peer).min(1).max(maxListLength)]),
  {
    allowed: `${dnp3AllowedPeerText}; several with semicolons between them, at most ${maxListLength}`,
    placeholder: 'PEER',
    list: true,
    separator: ';',
    fromText: (text) => text.split(';').map((part) => part.trim()),
    normalise: (value) => [...new Set([value].flat())],
  },
);
