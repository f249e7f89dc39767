/** The command line of `derbench replay`. */
import { parseArgs } from 'node:util';
import { errorText, SimError } from '../../core/errors.ts';
import { defaultReplayOptions, paces } from './options.ts';
import type { ReplayOptions } from './options.ts';
import type { ReplayTarget } from './replay.ts';
import type { DeviceTargets, Target } from './targets.ts';

export interface ReplayArguments {
  readonly file: string;
  readonly target: ReplayTarget;
  readonly options: ReplayOptions;
  /** differences to print */
  readonly shown: number;
}

export const replayHelp = `Usage: derbench replay FILE [--modbus [INDEX=]HOST:PORT]... [--dnp3 [INDEX=]HOST:PORT]... [options]

Replays a recording (GET recorder/download) against a build that runs already, and lists where its answers differ.

  --modbus HOST:PORT        the Modbus masters of the recording ask this address
  --modbus INDEX=HOST:PORT  those that asked the device of this index ask this one; may be given several times
  --modbus proxy=HOST:PORT  those that asked the map of another maker; meter=HOST:PORT: those that asked no device
  --dnp3 [INDEX=]HOST:PORT  the same for DNP3 masters
  --ocpp [HOST:]PORT        plays the central system of the recording; the stations of the build connect to it
  --csip [HOST:]PORT        plays the IEEE 2030.5 server of the recording over plain HTTP (--csip_enc no at the build)
  --csip-pin PIN            PIN of the Registration, which a recording does not have (default 111115)
  --pace fast|wall|sim      fast: as fast as answers come (default); wall, sim: at the recorded offsets of either time
  --rate N                  with --pace sim: simulated seconds per second of the target (default 1)
  --tolerance PERCENT       values that move may differ by so much of the recorded value (default: they may differ)
  --exact                   values that move must be the same
  --ignore NAME,...         points that are not compared: 701.W, 701 (the whole model), W (in any model), AI 536
  --timeout SECONDS         wait for an answer, or the next message of a client (default 5)
  --limit N                 differences to print (default 100)

Values that move are measurements, counters and rests of times. Exit code: 0 no difference, 4 differences, 2 wrong use,
1 the other end cannot be reached.`;

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

/** Where a server listens: on loopback unless another address is given. */
function listenerOf(flag: string, text: string): Target {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return { host: '127.0.0.1', port: Number(text) };
  return targetOf(flag, text);
}

function deviceTargets(flag: 'modbus' | 'dnp3', given: readonly string[]): DeviceTargets {
  const byDevice = new Map<number, Target>();
  const named: Record<'all' | 'proxy' | 'meter', Target | null> = { all: null, proxy: null, meter: null };
  for (const text of given) {
    const [, word, address = text] = /^(\d{1,9}|proxy|meter)=(.*)$/.exec(text) ?? [];
    const target = targetOf(flag, address);
    if (word === 'proxy' || word === 'meter') named[word] = target;
    else if (word === undefined) named.all = target;
    else byDevice.set(Number(word), target);
  }
  return { ...named, byDevice };
}

function optionsOf(values: Readonly<Partial<Record<keyof typeof options, unknown>>>): ReplayOptions {
  const text = (name: keyof typeof options) => values[name] as string | undefined;
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
    moving:
      values.exact === true ? 'all' : tolerance === undefined ? null : numberOf('tolerance', tolerance, 0, 0, 1000),
    ignore: ((values.ignore as string[] | undefined) ?? []).flatMap((list) => list.split(',')),
    pin: String(numberOf('csip-pin', text('csip-pin'), Number(defaultReplayOptions.pin), 0, 999_999)),
    timeoutMs: 1000 * numberOf('timeout', text('timeout'), defaultReplayOptions.timeoutMs / 1000, 0.01, 3600),
  };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    throw wrong(errorText(error));
  }
}

/** @returns null: help is asked for. @throws SimError CONFIG_INVALID */
export function parseReplayArguments(argv: readonly string[]): ReplayArguments | null {
  const { values, positionals } = parsed(argv);
  if (values.help === true) return null;
  const [file, ...more] = positionals;
  if (file === undefined) throw wrong('the file of the recording is missing');
  if (more.length > 0)
    throw wrong(`there is one file; given also ${more.map((each) => JSON.stringify(each)).join(', ')}`);
  const target: ReplayTarget = {
    ...(values.modbus && { modbus: deviceTargets('modbus', values.modbus) }),
    ...(values.dnp3 && { dnp3: deviceTargets('dnp3', values.dnp3) }),
    ...(values.ocpp !== undefined && { ocpp: listenerOf('ocpp', values.ocpp) }),
    ...(values.csip !== undefined && { csip: listenerOf('csip', values.csip) }),
  };
  if (Object.keys(target).length === 0)
    throw wrong('nothing to replay: none of --modbus, --dnp3, --ocpp, --csip is given');
  return { file, target, options: optionsOf(values), shown: numberOf('limit', values.limit, 100, 0, 10_000) };
}
