import type { Issue } from '../../core/errors.ts';
import { refused, unknownName } from '../issues/issues.ts';
import { bundledExamplePath, isBundledExample } from '../profile/bundled.ts';
import { configFileOf, readConfigFile, systemIo } from './files.ts';
import type { ConfigFile, ConfigIo, ConfigMapping } from './files.ts';
import type { GivenFlag } from './flags.ts';
import { noPresets, presetLayer } from './presets.ts';
import type { Presets } from './presets.ts';
import { mergeLayers } from './schema.ts';
import type { Layer } from './schema.ts';
import { settingKeys, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that was given, layer by layer, and the values in force. */
export interface Gathered {
  readonly values: Values;
  readonly file: ConfigFile | null;
  readonly layers: { readonly flags: Layer; readonly env: Layer; readonly file: Layer };
  /** names of the variables of a cluster, which have no effect */
  readonly ignoredVariables: readonly string[];
  /** the flag, variable or key that a value in force came from */
  readonly originOf: (key: SettingKey) => string;
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

function flagLayer(given: ReadonlyMap<SettingKey, GivenFlag>, cwd: string, issues: Issue[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [key, { spelling, text }] of given) {
    const value = readText(key, spelling, text, cwd, issues);
    if (value !== undefined) layer.set(key, value);
  }
  return layer;
}

/**
 * True for the variables that Kubernetes and Docker links set in every container beside a service, here one whose name
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

function environmentLayer(env: Environment, cwd: string, issues: Issue[]): Layer {
  const layer = new Map<SettingKey, unknown>();
  for (const [name, text = ''] of Object.entries(env).filter(isVariable)) {
    if (isOfService(name, text)) continue;
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

/** Configuration given by a calling program besides flags and variables. */
export interface Inline {
  /** content in place of a file, where none is named */
  readonly mapping: ConfigMapping | null;
  /** hold over a file that is named, and under everything else */
  readonly presets: Presets;
}

export const nothingInline: Inline = { mapping: null, presets: noPresets };

/** Brings all layers together. What is not valid is left out, so that one run finds the issues of every layer. */
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
  const before = issues.length;
  const file =
    typeof path === 'string'
      ? readConfigFile(
          bundledExamplePath(path) ?? path,
          originOf('config'),
          isBundledExample(path) ? systemIo : io,
          issues,
        )
      : inline.mapping && configFileOf(inline.mapping, issues);
  const typeLost =
    (flags.has('device_type') && !fromFlags.has('device_type')) ||
    (env[variableOf('device_type')] !== undefined && !fromEnv.has('device_type'));
  const layers = { flags: fromFlags, env: fromEnv, file: file?.settings ?? new Map<SettingKey, unknown>() };
  const presets = presetLayer(inline.presets, new Map([...layers.file, ...fromEnv, ...fromFlags]));
  const beneath = typeof path === 'string' ? [layers.file, presets] : [presets, layers.file];
  const inFile = (key: SettingKey) => (layers.file.has(key) && file ? `${file.label}: ${key}` : key);
  return {
    values: mergeLayers([...beneath, layers.env, layers.flags]),
    file,
    layers,
    ignoredVariables: variablesOfServices(env),
    io,
    kindsKnown: issues.length === before && !typeLost,
    originOf: (key) => (originOf(key) === key ? inFile(key) : originOf(key)),
  };
}
