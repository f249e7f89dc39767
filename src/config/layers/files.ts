import { statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { z } from 'zod';
import type { CertificateTexts } from '../../contract/certificate-choice.ts';
import { maxConfigBytes } from '../../contract/lab-config.ts';
import type { Issue } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { didYouMean } from '../../core/nearest.ts';
import { shortageOf } from '../../core/errors.ts';
import { fileReason, readTextFile } from '../../core/text-file.ts';
import { bareName, bundledExampleNames } from '../profile/bundled.ts';
import { deviceEntrySchema, maxDevices } from '../profile/device-entry.ts';
import type { DeviceEntry } from '../profile/device-entry.ts';
import { faultListSchema } from '../profile/fault-list.ts';
import type { FaultList } from '../profile/fault-list.ts';
import { whyNotSettable, nominalFrequencySchema } from '../profile/device-profile.ts';
import { refused, unknownName, zodIssues } from '../issues/issues.ts';
import { findingIssues, findingsSchema } from './findings-block.ts';
import type { FindingsBlock } from './findings-block.ts';
import { flagSpelled } from './flags.ts';
import { parseYaml } from '../../core/yaml.ts';
import { settingKeys, settingOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';

/** Access to files; tests replace it. */
export interface ConfigIo {
  /** relative paths of flags and variables start here */
  readonly cwd: string;
  /** Text of a file. @throws Error whose message is for the user */
  readonly readFile: (path: string, maxBytes: number) => string;
  readonly isFile: (path: string) => boolean;
  /** certificates of the simulator; absent: not open yet, so that a later check reads what settings choose of them */
  readonly certificates?: CertificateTexts;
}

const maxDepth = 16;

/** The real file system. */
export const systemIo: ConfigIo = {
  get cwd() {
    return process.cwd();
  },
  readFile: readTextFile,
  isFile(path) {
    try {
      return statSync(path).isFile();
    } catch {
      return false;
    }
  },
};

/** Files of the machine, and those that were there when the configuration asked for them. */
export interface RememberingIo extends ConfigIo {
  readonly files: ReadonlySet<string>;
}

export function rememberingIo(io: ConfigIo): RememberingIo {
  const files = new Set<string>();
  const remembered = <T>(path: string, value: T): T => {
    files.add(path);
    return value;
  };
  return {
    files,
    get cwd() {
      return io.cwd;
    },
    readFile: (path, maxBytes) => remembered(path, io.readFile(path, maxBytes)),
    isFile: (path) => io.isFile(path) && remembered(path, true),
  };
}

export const foreignFileText =
  'a path; a request names no file of this machine but those that the simulator was started with';

/** The files of an earlier configuration alone. */
export function limitedIo(io: ConfigIo, files: ReadonlySet<string>): ConfigIo {
  return {
    get cwd() {
      return io.cwd;
    },
    readFile(path, maxBytes) {
      if (!files.has(path)) throw new Error(foreignFileText);
      return io.readFile(path, maxBytes);
    },
    isFile: (path) => files.has(path) && io.isFile(path),
  };
}

function depthExceeds(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((inner) => depthExceeds(inner, limit - 1));
}

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  '.json': (text) => JSON.parse(text) as unknown,
  '.yaml': parseYaml,
  '.yml': parseYaml,
};

/** Hint for a missing path: the nearest bundled name, or all of them for a path without extension. */
function bundledHint(path: string, bundled: readonly string[]): string {
  const near = didYouMean(bareName(basename(path)), bundled);
  return near !== '' || bundled.length === 0 || extname(path) !== '' ? near : `; bundled: ${bundled.join(', ')}`;
}

/** A shortage says nothing about the file. @throws SimError SHORTAGE if the error comes from one */
function refuseShortage(error: unknown): void {
  const shortage = shortageOf(error);
  if (shortage !== null) throw shortage;
}

/**
 * Reads a YAML or JSON file that holds one mapping: at most 1 MiB and 16 levels deep.
 * @param name name of the issues: the flag or key that gives the path
 * @param bundled names that are allowed instead of a path
 * @returns null if there is an issue
 * @throws SimError SHORTAGE
 */
export function readMapping(
  path: string,
  name: string,
  io: ConfigIo,
  issues: Issue[],
  bundled: readonly string[] = [],
): Record<string, unknown> | null {
  const fail = (detail: string): null => {
    issues.push({ name, detail: `${path}: ${detail}` });
    return null;
  };
  const parse = parsers[extname(path).toLowerCase()];
  const refuseExtension = () => fail(`given extension "${extname(path)}"; allowed: .yaml, .yml, .json`);
  if (!parse && io.isFile(path)) return refuseExtension();
  let text: string;
  try {
    text = io.readFile(path, maxConfigBytes);
  } catch (error) {
    refuseShortage(error);
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return fail(`cannot be read: ${fileReason(error)}${isMissing ? bundledHint(path, bundled) : ''}`);
  }
  if (!parse) return refuseExtension();
  if (Buffer.byteLength(text) > maxConfigBytes)
    return fail(`cannot be read: it is larger than ${maxConfigBytes} bytes`);
  let value: unknown;
  try {
    value = parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    refuseShortage(error);
    // a RangeError is nesting beyond the stack
    return fail(`cannot be parsed: ${error instanceof RangeError ? 'nested too deeply' : fileReason(error)}`);
  }
  const reason = whyNoMapping(value);
  return reason === null ? (value as Record<string, unknown>) : fail(reason);
}

/** The reason why a value is no content of a configuration file; null: it may be one. */
export function whyNoMapping(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'given no mapping; allowed: a mapping of keys to values';
  return depthExceeds(value, maxDepth) ? `nested too deeply; allowed: ${maxDepth} levels` : null;
}

const feederSchema = z
  .strictObject({
    short_circuit_ratio: z
      .number()
      .min(1)
      .max(1e6)
      .nullable()
      .optional()
      .meta({
        description:
          'Short-circuit power divided by the rated apparent power of each device; null or absent: a stiff grid.',
        examples: [20],
      }),
    x_over_r: z
      .number()
      .min(0)
      .max(1000)
      .optional()
      .meta({ description: 'Reactance divided by resistance of the line; default 1.' }),
  })
  .meta({
    description:
      'The line between the grid and each device: power that flows through it changes the voltage at the device.',
  });

const gridSchema = z
  .strictObject({
    nominal_frequency_hz: nominalFrequencySchema.optional().meta({
      description: 'Nominal frequency, Hz; default that of the profiles that set it, else 60.',
      examples: [50, 60],
    }),
    profile: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .meta({ description: 'CSV series of the grid, like --grid_profile.' }),
    feeder: feederSchema.optional(),
  })
  .meta({ description: 'The grid that all devices are connected to.' });

const blocksSchema = z.strictObject({
  grid: gridSchema.optional(),
  faults: faultListSchema.optional().meta({
    description: 'Faults from the start: bundled sets, files, or faults; a fault that names no device acts on all.',
  }),
  findings: findingsSchema.optional(),
  devices: z
    .array(deviceEntrySchema)
    .min(1)
    .max(maxDevices)
    .optional()
    .meta({ description: 'One entry per device or group of equal devices, for mixed sites.' }),
  left_out: z
    .array(z.string().max(64))
    .optional()
    .meta({ description: 'Secrets that GET config has left out; without effect.' }),
  notes: z
    .array(z.string().max(4096))
    .optional()
    .meta({ description: 'Remarks of GET config for the reader; without effect.' }),
});

type ConfigBlocks = z.infer<typeof blocksSchema>;

const fileKeys = settingKeys.filter((key) => !settingOf(key).noFile);

/** A configuration file as a whole. */
export const configFileSchema = memo(() =>
  z
    .strictObject({
      ...Object.fromEntries(
        fileKeys.map((key) => {
          const { kind, doc, default: preset, changes } = settingOf(key);
          return [
            key,
            kind.schema.optional().meta({
              description: doc,
              ...(preset === null ? {} : { default: preset }),
              'x-changes': changes.by,
              ...(changes.by === 'adapter' && { 'x-adapter': changes.adapter }),
              ...(changes.by === 'start' && { 'x-why': changes.why }),
            }),
          ];
        }),
      ),
      ...blocksSchema.shape,
    })
    .meta({
      title: 'Configuration',
      description:
        'Settings of the simulator and its devices. In place of the file of a certificate or key, certificate:NAME ' +
        'chooses one that GET certificates lists.',
    }),
);

/** Built on demand: only issues need it. */
const blocksJsonSchema = memo(() => z.toJSONSchema(blocksSchema, { io: 'input' }));

export interface ConfigFile {
  readonly settings: ReadonlyMap<SettingKey, unknown>;
  readonly grid: NonNullable<ConfigBlocks['grid']>;
  /** null: not given, or not valid */
  readonly faults: FaultList | null;
  readonly findings: FindingsBlock;
  /** null in the list: an entry that is not valid */
  readonly devices: readonly (DeviceEntry | null)[] | null;
  /** relative paths in the file start here */
  readonly directory: string;
  /** base name, prefix of the names of its issues */
  readonly label: string;
}

function isFileKey(key: string): key is SettingKey {
  return (fileKeys as readonly string[]).includes(key);
}

/** The issue of an unknown key; for the spelling of a flag the issue names the key of that flag. */
function unknownKey(name: string, key: string): Issue {
  const allowed = [...fileKeys, ...Object.keys(blocksSchema.shape)];
  const flag = flagSpelled(key);
  if (flag === null || !isFileKey(flag.key)) return unknownName(name, 'key', key, allowed);
  return { name, detail: `unknown key; the key of the flag ${flag.spelling} is ${flag.key}`, allowed };
}

/** Reads and checks a configuration file. Invalid parts are left out, so that the rest can be checked too. */
export function readConfigFile(path: string, name: string, io: ConfigIo, issues: Issue[]): ConfigFile {
  const mapping = readMapping(path, name, io, issues, bundledExampleNames) ?? {};
  return configFileOf({ mapping, directory: dirname(path), label: basename(path) }, issues);
}

/** The content of a configuration file, or of the options of a script. */
export interface ConfigMapping {
  readonly mapping: Readonly<Record<string, unknown>>;
  /** relative paths in it start here */
  readonly directory: string;
  /** prefix of the names of its issues */
  readonly label: string;
}

/** Checks the content of a configuration file. Invalid parts are left out. */
export function configFileOf({ mapping, directory, label }: ConfigMapping, issues: Issue[]): ConfigFile {
  const settings = new Map<SettingKey, unknown>();
  const { grid, faults: faultList, findings, devices, left_out: leftOut, notes, ...rest } = mapping;
  for (const [key, raw] of Object.entries(rest)) {
    if (!isFileKey(key)) {
      issues.push(unknownKey(`${label}: ${key}`, key));
      continue;
    }
    const { kind, secret = false } = settingOf(key);
    const value = kind.read(raw, directory);
    if (value === undefined)
      issues.push(refused(`${label}: ${key}`, raw, kind.allowed, { secret, remark: kind.remark(raw) }));
    else settings.set(key, value);
  }
  const blocks = {
    ...(grid === undefined ? {} : { grid }),
    ...(faultList === undefined ? {} : { faults: faultList }),
    ...(findings === undefined ? {} : { findings }),
    ...(devices === undefined ? {} : { devices }),
    ...(leftOut === undefined ? {} : { left_out: leftOut }),
    ...(notes === undefined ? {} : { notes }),
  };
  const checked = blocksSchema.safeParse(blocks);
  if (!checked.success)
    issues.push(
      ...zodIssues(checked.error.issues, {
        input: blocks,
        schema: blocksJsonSchema(),
        where: label,
        absent: whyNotSettable,
      }),
    );
  const findingsBlock = findingsSchema.safeParse(findings).data ?? {};
  issues.push(...findingIssues(findingsBlock, label));
  const entries = Array.isArray(devices)
    ? devices.slice(0, maxDevices).map((entry) => deviceEntrySchema.safeParse(entry).data ?? null)
    : null;
  return {
    settings,
    grid: gridSchema.safeParse(grid).data ?? {},
    faults: faultListSchema.safeParse(faultList).data ?? null,
    findings: findingsBlock,
    devices: entries,
    directory,
    label,
  };
}
