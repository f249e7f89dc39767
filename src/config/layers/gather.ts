/** The values in force: flags override the environment, which overrides files and presets, which override defaults. */
import { isDeepStrictEqual } from 'node:util';
import convict from 'convict';
import type { CertificateTexts } from '../../contract/certificate-choice.ts';
import type { Issue } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { refused, unknownName } from '../issues/issues.ts';
import { bundledExamplePath, isBundledExample } from '../profile/bundled.ts';
import { configFileOf, readConfigFile, systemIo } from './files.ts';
import type { ConfigFile, ConfigIo, ConfigMapping } from './files.ts';
import type { GivenFlag } from './flags.ts';
import { withOrdinal } from './places.ts';
import type { SettingOrigin } from '../../contract/settings.ts';
import { isOpened, listeners } from '../settings/listeners.ts';
import { flagOf, settingKeys, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

/** Defaults that a calling program replaces. */
export interface Presets {
  readonly usesFreePorts: boolean;
  /** true: time passes only in steps, unless the settings choose the wall clock */
  readonly isPaused: boolean;
}

export const noPresets: Presets = { usesFreePorts: false, isPaused: false };

/** @param given settings from files, variables and flags */
export function presetLayer({ usesFreePorts, isPaused }: Presets, given: Layer): Layer {
  const valueOf = (key: SettingKey) => (given.has(key) ? given.get(key) : settingOf(key).default);
  const freeListeners = listeners.filter(
    (listener) =>
      usesFreePorts &&
      isOpened(listener, valueOf) &&
      (listener.publishedBy === undefined || !given.has(listener.publishedBy)),
  );
  const layer = new Map<SettingKey, unknown>(freeListeners.map(({ port }) => [port, 0]));
  if (isPaused && given.get('wall_clock') !== true) layer.set('start_paused', true);
  return layer;
}

/** Values from one origin, checked and normalised. */
type Layer = ReadonlyMap<SettingKey, unknown>;

function formatName(key: SettingKey): string {
  return `derbench:${key}`;
}

for (const key of settingKeys) {
  const { kind } = settingOf(key);
  convict.addFormat({
    name: formatName(key),
    validate(value: unknown) {
      if (kind.read(value, '/') === undefined) throw new Error(`allowed: ${String(kind.allowed)}`);
    },
  });
}

/** The convict schema, made from the table of settings. */
const convictSchema = Object.fromEntries(
  settingKeys.map((key) => {
    const { default: preset, doc, secret } = settingOf(key);
    return [
      key,
      { doc, default: preset, nullable: preset === null, format: formatName(key), sensitive: secret === true },
    ];
  }),
) as unknown as convict.Schema<Values>;

/** Values checked by the schema of their settings; convict compares each key of a schema with all others. */
function checkedValues(values: Partial<Values>, isChecked: (key: string) => boolean): Values {
  const schema = Object.fromEntries(Object.entries(convictSchema).filter(([key]) => isChecked(key)));
  // flags and variables come as layers too: convict's own reading of both turns 007 into 7
  const merged = convict(schema as convict.Schema<Values>, { args: [], env: {} });
  merged.load(values);
  return merged.validate({ allowed: 'strict' }).getProperties();
}

const defaultValues = memo(() => checkedValues({}, () => true));

/**
 * Merges layers over the defaults; later layers win.
 * @throws Error for a value that the check of its setting refuses, which is a fault of the program
 */
export function mergeLayers(layers: readonly Layer[]): Values {
  const values: Partial<Values> = Object.fromEntries(layers.flatMap((layer) => [...layer]));
  return { ...defaultValues(), ...checkedValues(values, (key) => key in values) };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The layers of a configuration, and the values in force. */
export interface Gathered {
  readonly values: Values;
  readonly file: ConfigFile | null;
  readonly layers: { readonly flags: Layer; readonly env: Layer; readonly file: Layer };
  /** settings to which requests have given another value */
  readonly requested: ReadonlySet<SettingKey>;
  /** true: a request has loaded the devices of the file */
  readonly hasRequestedDevices?: true;
  /** names of variables that a cluster sets for services, which have no effect */
  readonly ignoredVariables: readonly string[];
  /** flag, variable or key of a value in force */
  readonly originOf: (key: SettingKey) => string;
  /** where a setting without a value could be given */
  readonly nameOfMissing: (key: SettingKey) => string;
  /** false: issues hide which kinds of devices are meant */
  readonly kindsKnown: boolean;
  readonly io: ConfigIo;
}

const variablePrefix = 'DERBENCH_';
const keyOfVariable: ReadonlyMap<string, SettingKey> = new Map(settingKeys.map((key) => [variableOf(key), key]));

function readText(key: SettingKey, name: string, text: string, cwd: string, issues: Issue[]): unknown {
  const { kind, secret = false } = settingOf(key);
  const value = kind.read(kind.fromText(text), cwd);
  if (value === undefined) issues.push(refused(name, text, kind.allowed, { secret, remark: kind.remark(text) }));
  return value;
}

function flagLayer(flags: ReadonlyMap<SettingKey, GivenFlag>, cwd: string, issues: Issue[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [key, { spelling, text }] of flags) {
    const value = readText(key, spelling, text, cwd, issues);
    if (value !== undefined) layer.set(key, value);
  }
  return layer;
}

/**
 * True for the variables that Kubernetes sets in containers for each service, here for a service whose name
 * begins with `derbench`: NAME_SERVICE_HOST, NAME_SERVICE_PORT, NAME_SERVICE_PORT_HTTP, NAME_PORT=tcp://10.0.0.1:80,
 * NAME_PORT_80_TCP, NAME_PORT_80_TCP_ADDR.
 */
function isOfService(name: string, text: string): boolean {
  if (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(text)) return true;
  return /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/.test(
    name,
  );
}

const isVariable = ([name, text]: readonly [string, string | undefined]): boolean =>
  name.startsWith(variablePrefix) && text !== undefined;

const variablesOfServices = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, text = '']) =>
    isVariable([name, text]) && isOfService(name, text) ? [name] : [],
  );

/**
 * Variables of commands that ask a running simulator, of the Python client, and of a gateway and its workers: a start
 * ignores them.
 */
const variablesOfClients: ReadonlySet<string> = new Set([
  'DERBENCH_URL',
  'DERBENCH_COMMAND',
  'DERBENCH_NATS_SERVER',
  'DERBENCH_WORKERS',
  'DERBENCH_WORKER',
]);

function environmentLayer(env: Environment, cwd: string, issues: Issue[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [name, text = ''] of Object.entries(env).filter(isVariable)) {
    if (isOfService(name, text) || variablesOfClients.has(name)) continue;
    const key = keyOfVariable.get(name);
    if (key === undefined) {
      issues.push(unknownName(name, 'environment variable', name, [...keyOfVariable.keys()]));
      continue;
    }
    const value = readText(key, name, text, cwd, issues);
    if (value !== undefined) layer.set(key, value);
  }
  return layer;
}

/** True if a setting is given by some layer. */
export function isGiven({ layers }: Pick<Gathered, 'layers'>, key: SettingKey): boolean {
  return layers.flags.has(key) || layers.env.has(key) || layers.file.has(key);
}

/** Name of an issue of a setting. */
export function issueNameOf({ values, originOf, nameOfMissing }: Gathered, key: SettingKey): string {
  return values[key] === null ? nameOfMissing(key) : originOf(key);
}

/** Where the value of a setting comes from. */
export function originWordOf({ layers, values }: Pick<Gathered, 'layers' | 'values'>, key: SettingKey): GivenOrigin {
  if (layers.flags.has(key)) return 'flag';
  if (layers.env.has(key)) return 'environment';
  if (layers.file.has(key)) return 'file';
  return values[key] === null && settingOf(key).member !== undefined ? 'profile' : 'default';
}

type GivenOrigin = Exclude<SettingOrigin, 'rest'>;

/** The same with one more layer on top, whose issues are named by JSON pointers, and with certificates by name. */
export function gatheredWith(gathered: Gathered, over: Layer, certificates: CertificateTexts): Gathered {
  return {
    ...gathered,
    io: { ...gathered.io, certificates },
    values: { ...gathered.values, ...Object.fromEntries(over) },
    requested: new Set([
      ...gathered.requested,
      ...[...over.keys()].filter((key) => !isDeepStrictEqual(over.get(key), gathered.values[key])),
    ]),
    layers: { ...gathered.layers, file: new Map([...gathered.layers.file, ...over]) },
    originOf: (key) => (over.has(key) ? `/${key}` : gathered.originOf(key)),
  };
}

/** Configuration given by a calling program besides flags and variables. */
export interface Inline {
  /** content of the configuration if no file is named */
  readonly mapping: ConfigMapping | null;
  /** override a named file, and nothing else */
  readonly presets: Presets;
}

export const nothingInline: Inline = { mapping: null, presets: noPresets };

/** Merges all layers. Invalid values are left out, so that one run finds the issues of every layer. */
export function gather(
  flags: ReadonlyMap<SettingKey, GivenFlag>,
  env: Environment,
  io: ConfigIo,
  issues: Issue[],
  inline: Inline = nothingInline,
): Gathered {
  const fromFlags = flagLayer(flags, io.cwd, issues);
  const fromEnv = environmentLayer(env, io.cwd, issues);
  const originOf = (key: SettingKey) => {
    if (fromFlags.has(key)) return flags.get(key)?.spelling ?? key;
    return fromEnv.has(key) ? variableOf(key) : key;
  };
  const path = fromFlags.get('config') ?? fromEnv.get('config');
  const issuesBefore = issues.length;
  const file =
    typeof path === 'string'
      ? readConfigFile(
          bundledExamplePath(path) ?? path,
          originOf('config'),
          isBundledExample(path) ? systemIo : io,
          issues,
        )
      : inline.mapping && configFileOf(inline.mapping, issues);
  const isTypeInvalid =
    (flags.has('device_type') && !fromFlags.has('device_type')) ||
    (env[variableOf('device_type')] !== undefined && !fromEnv.has('device_type'));
  const layers = { flags: fromFlags, env: fromEnv, file: file?.settings ?? new Map<SettingKey, unknown>() };
  const presets = presetLayer(inline.presets, new Map([...layers.file, ...fromEnv, ...fromFlags]));
  const lowerLayers = typeof path === 'string' ? [layers.file, presets] : [presets, layers.file];
  const inFile = (key: SettingKey) => (layers.file.has(key) && file ? `${file.label}: ${key}` : key);
  return {
    values: withOrdinal(mergeLayers([...lowerLayers, layers.env, layers.flags]), file),
    file,
    layers,
    requested: new Set(),
    ignoredVariables: variablesOfServices(env),
    io,
    kindsKnown: issues.length === issuesBefore && !isTypeInvalid,
    nameOfMissing: flagOf,
    originOf: (key) => (originOf(key) === key ? inFile(key) : originOf(key)),
  };
}
