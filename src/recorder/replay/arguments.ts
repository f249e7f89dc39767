/** The command line of `derbench replay`. */
import { parseArgs } from 'node:util';
import { SimError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { defaultReplayOptions, paces } from './options.ts';
import type { ReplayOptions } from './options.ts';
import type { ReplayTarget } from './replay.ts';
import type { DeviceTargets, Target } from './targets.ts';

export interface ReplayArguments {
  readonly file: string;
  readonly target: ReplayTarget;
  readonly options: ReplayOptions;
  /** maximum number of printed differences */
  readonly maxShown: number;
}

export const replayHelp = `Usage: derbench replay FILE [--modbus [INDEX=]HOST:PORT]... [--dnp3 [INDEX=]HOST:PORT]... [options]

Replays a recording (GET recorder/download) against a build that runs already, and lists where its answers differ.

  --modbus HOST:PORT        address for the requests of the recorded Modbus masters
  --modbus INDEX=HOST:PORT  address for the requests to the device of this index; may be given several times
  --modbus proxy=HOST:PORT  address for the map of another maker; meter=HOST:PORT: for requests to no device
  --dnp3 [INDEX=]HOST:PORT  the same for DNP3 masters
  --ocpp [HOST:]PORT        plays the central system of the recording; the stations of the build connect to it
  --csip [HOST:]PORT        plays the IEEE 2030.5 server of the recording over plain HTTP (--csip_enc no at the build)
  --csip-pin PIN            PIN of the Registration, which a recording does not have (default 111115)
  --pace fast|wall|sim      fast: as fast as answers arrive (default); wall, sim: at the recorded offsets of that time
  --rate N                  with --pace sim: simulated seconds per second of the target (default 1)
  --tolerance PERCENT       values that move may differ by this part of the recorded value (default: by any amount)
  --exact                   values that move must be the same
  --ignore NAME,...         points that are not compared: 701.W, 701 (the whole model), W (in any model), AI 536
  --timeout SECONDS         wait for an answer, or the next message of a client (default 5)
  --limit N                 differences to print (default 100)

Values that move are measurements, counters and remaining times. Exit code: 0 no difference, 4 differences, 2 wrong use,
no recording, or nothing that could be compared, 3 the port cannot be opened, 1 the other end cannot be reached.`;

const options = {
  modbus: { type: 'string', multiple: true },
  dnp3: { type: 'string', multiple: true },
  ocpp: { type: 'string' },
  csip: { type: 'string' },
  'csip-pin': { type: 'string' },
  pace: { type: 'string' },
  rate: { type: 'string' },
  tolerance: { type: 'string' },
  exact: { type: 'boolean' },
  ignore: { type: 'string', multiple: true },
  timeout: { type: 'string' },
  limit: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function wrong(detail: string): SimError {
  return new SimError('CONFIG_INVALID', `${detail}; derbench replay --help explains the arguments`);
}

function numberOf(flag: string, text: string | undefined, byDefault: number, min: number, max: number): number {
  if (text === undefined) return byDefault;
  const value = Number(text);
  if (text.trim() === '' || !(value >= min && value <= max))
    throw wrong(`--${flag} must be a number from ${min} to ${max}; given ${JSON.stringify(text)}`);
  return value;
}

function targetOf(flag: string, text: string): Target {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw wrong(`--${flag} takes HOST:PORT, such as 127.0.0.1:8502; given ${JSON.stringify(text)}`);
  return { host, port: Number(port) };
}

/** Address on which a server listens; default loopback. */
function listenerOf(flag: string, text: string): Target {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return { host: '127.0.0.1', port: Number(text) };
  return targetOf(flag, text);
}

function deviceTargets(flag: 'modbus' | 'dnp3', texts: readonly string[]): DeviceTargets {
  const byDevice = new Map<number, Target>();
  const named: Record<'all' | 'proxy' | 'meter', Target | null> = { all: null, proxy: null, meter: null };
  for (const text of texts) {
    const [, word, address = text] = /^([^=]*)=(.*)$/.exec(text) ?? [];
    if (word !== undefined && !/^(?:\d{1,9}|proxy|meter)$/.test(word))
      throw wrong(`--${flag} takes [INDEX=]HOST:PORT; ${JSON.stringify(word)} is no index of a device, proxy or meter`);
    const target = targetOf(flag, address);
    if (word === 'proxy' || word === 'meter') named[word] = target;
    else if (word === undefined) named.all = target;
    else byDevice.set(Number(word), target);
  }
  return { ...named, byDevice };
}

function optionsOf(values: Words['values']): ReplayOptions {
  const text = (name: Name) => values[name] as string | undefined;
  const pace = paces.find((each) => each === (text('pace') ?? defaultReplayOptions.pace));
  if (pace === undefined)
    throw wrong(`--pace must be one of ${paces.join(', ')}; given ${JSON.stringify(values.pace)}`);
  if (values.exact === true && values.tolerance !== undefined)
    throw wrong('--exact and --tolerance exclude each other');
  const tolerance = text('tolerance');
  return {
    ...defaultReplayOptions,
    pace,
    rate: numberOf('rate', text('rate'), defaultReplayOptions.rate, 0.001, 100_000),
    measurementTolerance:
      values.exact === true ? 'exact' : tolerance === undefined ? 'any' : numberOf('tolerance', tolerance, 0, 0, 1000),
    ignore: ((values.ignore as string[] | undefined) ?? []).flatMap((list) => list.split(',')),
    pin: String(numberOf('csip-pin', text('csip-pin'), Number(defaultReplayOptions.pin), 0, 999_999)),
    timeoutMs: 1000 * numberOf('timeout', text('timeout'), defaultReplayOptions.timeoutMs / 1000, 0.01, 3600),
  };
}

type Name = keyof typeof options;

interface Words {
  readonly values: Readonly<Partial<Record<Name, string | boolean | readonly string[]>>>;
  readonly positionals: readonly string[];
}

const isName = (name: string): name is Name => Object.hasOwn(options, name);

function checkOption(name: string, rawName: string, value: string | undefined, isRepeated: boolean): void {
  if (!isName(name)) {
    const near = didYouMean(
      rawName,
      Object.keys(options).map((option) => `--${option}`),
    );
    throw wrong(`${rawName} is no option${near}`);
  }
  const { type, multiple = false } = options[name] as { readonly type: string; readonly multiple?: boolean };
  if (type === 'string' && value === undefined) throw wrong(`${rawName} lacks its value`);
  if (type === 'boolean' && value !== undefined)
    throw wrong(`${rawName} takes no value; given ${JSON.stringify(value)}`);
  if (isRepeated && !multiple) throw wrong(`${rawName} is given twice`);
}

/** Parses the arguments. Node's own checks are off, since their messages differ in style. */
function parsed(argv: readonly string[]): Words {
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const names = new Set<string>();
  for (const token of tokens)
    if (token.kind === 'option') {
      checkOption(token.name, token.rawName, token.value, names.has(token.name));
      names.add(token.name);
    }
  return { values: values as Words['values'], positionals };
}

/** @returns null: help was requested. @throws SimError CONFIG_INVALID */
export function parseReplayArguments(argv: readonly string[]): ReplayArguments | null {
  const { values, positionals } = parsed(argv);
  if (values.help === true) return null;
  const [file, ...more] = positionals;
  if (file === undefined) throw wrong('the file of the recording is missing');
  if (more.length > 0)
    throw wrong(`there is one file; given also ${more.map((word) => JSON.stringify(word)).join(', ')}`);
  const { modbus, dnp3, ocpp, csip, limit } = values;
  const target: ReplayTarget = {
    ...(Array.isArray(modbus) && { modbus: deviceTargets('modbus', modbus) }),
    ...(Array.isArray(dnp3) && { dnp3: deviceTargets('dnp3', dnp3) }),
    ...(typeof ocpp === 'string' && { ocpp: listenerOf('ocpp', ocpp) }),
    ...(typeof csip === 'string' && { csip: listenerOf('csip', csip) }),
  };
  if (Object.keys(target).length === 0)
    throw wrong('nothing to replay: none of --modbus, --dnp3, --ocpp, --csip is given');
  return {
    file,
    target,
    options: optionsOf(values),
    maxShown: numberOf('limit', limit as string | undefined, 100, 0, 10_000),
  };
}
