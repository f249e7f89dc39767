/** The command line of a gateway that starts its own server, or workers too: flags of the gateway and of the workers. */
import { availableParallelism } from 'node:os';
import { parseFlags } from '../../config/layers/flags.ts';
import type { GivenFlag } from '../../config/layers/flags.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { settingsOfGateway } from '../../config/settings/gateway.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import { variableOf } from '../../config/settings/settings.ts';
import type { SettingKey } from '../../config/settings/settings.ts';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { workerVariable } from '../../fleet/workers/life.ts';
import type { WorkerCommand } from '../../fleet/workers/pool.ts';
import { firstPortOf, lastPortOf, rangesOf } from '../../fleet/workers/ranges.ts';
import type { PortUse, WorkerRange } from '../../fleet/workers/ranges.ts';

type Env = Readonly<Record<string, string | undefined>>;

const maxWorkers = 256;
const maxPort = 65_535;

/** Settings that each worker gets from the gateway. */
const givenToWorkers: ReadonlySet<SettingKey> = new Set<SettingKey>(['N', 'first_device']);
/** Settings of shards that a gateway decides. */
const decided: readonly SettingKey[] = ['shard', 'shard_ordinal', 'fleet_room', 'port_base'];
/** Settings of things that one process alone can have. */
const ofOneProcess: readonly SettingKey[] = ['scenario', 'rtu_enable', 'proxy', 'meter_port', 'findings_report'];
/** Settings of the gateway that its workers have too. */
const ofBoth: ReadonlySet<SettingKey> = new Set<SettingKey>([
  'log_level',
  'log_format',
  'fleet_prefix',
  'fleet_wait_s',
]);

export const invalidGateway = (issues: readonly Issue[]): SimError =>
  new SimError('CONFIG_INVALID', 'The command line of the gateway is not valid:', issues);

/** Where the server of a local fleet is, and how to log in. */
export interface LocalAccess {
  readonly url: string;
  readonly user: string;
  readonly passwordFile: string;
}

export interface LocalPlan {
  /** program of the server; null: that of the path */
  readonly natsServer: string | null;
  /** null: none, shards are started by hand */
  readonly workers: {
    readonly env: Record<string, string | undefined>;
    commands(access: LocalAccess | null): readonly WorkerCommand[];
  } | null;
}

export interface GatewayPlan {
  /** flags of the gateway itself */
  readonly words: readonly string[];
  /** the server that it starts; null: a fleet is given */
  readonly local: LocalPlan | null;
}

/** Flags for the server of a local fleet. */
export const accessWords = ({ url, user, passwordFile }: LocalAccess): readonly string[] => [
  `--fleet=${url}`,
  `--fleet_user=${user}`,
  `--fleet_password_file=${passwordFile}`,
];

interface OwnFlags {
  /** as given; '': without a number; null: not given */
  readonly workers: string | null;
  readonly natsServer: string | null;
  readonly rest: readonly string[];
}

/** Takes the two flags out that no simulator has. */
function ownFlags(words: readonly string[], env: Env): OwnFlags {
  let workers = env['DERBENCH_WORKERS'] ?? null;
  let natsServer = env['DERBENCH_NATS_SERVER'] ?? null;
  const rest: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [flag = '', inline] = (words[at] ?? '').split(/=(.*)/s);
    const next = words[at + 1];
    const value = inline ?? (next === undefined || next.startsWith('-') ? null : next);
    if (flag === '--workers') workers = value ?? '';
    else if (flag === '--nats_server' || flag === '--nats-server') natsServer = value ?? '';
    else {
      rest.push(words[at] ?? '');
      continue;
    }
    if (inline === undefined && value !== null) at += 1;
  }
  return { workers, natsServer, rest };
}

/** Number of workers. @throws SimError CONFIG_INVALID */
function workersOf(text: string): number {
  if (text === '') return Math.max(1, availableParallelism() - 1);
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > maxWorkers)
    throw invalidGateway([{ name: '--workers', detail: `given "${text}"; allowed: 1 to ${maxWorkers}, or nothing` }]);
  return count;
}

const wordOf = ([, { spelling, text }]: readonly [SettingKey, GivenFlag]) => `${spelling}=${text}`;

/** @throws SimError CONFIG_INVALID */
export function planOf(words: readonly string[], env: Env): GatewayPlan {
  const { workers, natsServer, rest } = ownFlags(words, env);
  const { values, issues } = parseFlags(rest);
  if (values.has('fleet') || (env['DERBENCH_FLEET'] !== undefined && workers === null)) {
    const localFlag = words.find((word) => /^--(workers|nats[_-]server)(=|$)/.test(word));
    if (localFlag === undefined) return { words: rest, local: null };
    throw invalidGateway([
      {
        name: localFlag,
        detail: 'given together with --fleet; allowed: one of the two, as a fleet has its server already',
      },
    ]);
  }
  if (workers === null) return { words: rest, local: { natsServer, workers: null } };
  if (issues.length > 0) throw invalidGateway(issues);
  const ofGateway = [...values].filter(([key]) => settingsOfGateway.has(key));
  const ofWorkers = [...values].filter(([key]) => !settingsOfGateway.has(key) || ofBoth.has(key));
  const plan = new WorkerPlan(new Map(ofWorkers), workersOf(workers), env);
  return { words: ofGateway.map(wordOf), local: { natsServer, workers: plan } };
}

/** The workers of one machine: the devices and the ports of each. */
class WorkerPlan {
  readonly env: Record<string, string | undefined>;
  readonly #given: readonly string[];
  readonly #config: AppConfig;
  readonly #ranges: readonly WorkerRange[];
  readonly #modbus: PortUse;
  readonly #dnp3: PortUse;

  /** @throws SimError CONFIG_INVALID: also for what a worker would refuse */
  constructor(flags: ReadonlyMap<SettingKey, GivenFlag>, workers: number, env: Env) {
    refuseForeign((key) =>
      flags.has(key) ? flags.get(key)?.spelling : env[variableOf(key)] === undefined ? undefined : variableOf(key),
    );
    this.#given = [...flags].filter(([key]) => !givenToWorkers.has(key)).map(wordOf);
    const taken = [...settingsOfGateway, ...decided, ...givenToWorkers].filter((key) => !ofBoth.has(key));
    this.env = { ...env, ...Object.fromEntries(taken.map((key) => [variableOf(key), undefined])) };
    this.env[workerVariable] = '1';
    const textOf = (key: SettingKey) => flags.get(key)?.text ?? env[variableOf(key)];
    const first = textOf('first_device');
    const counted = textOf('N');
    if (counted !== undefined) devicesOf(counted, workers);
    this.#config = this.#load([...this.#given, ...(first === undefined ? [] : [`--first_device=${first}`])]);
    const { file } = this.#config.settings;
    refuseForeign((key) => (file?.settings.has(key) === true ? `${key} of the configuration file` : undefined));
    const inFile = file?.settings.get('N');
    const devices = devicesOf(counted ?? (typeof inFile === 'number' ? String(inFile) : undefined), workers);
    if (file?.devices)
      throw invalidGateway([
        {
          name: '--workers',
          detail: 'cannot split the list of devices of a configuration file; allowed: -N and a kind',
        },
      ]);
    this.#ranges = rangesOf(devices, workers, this.#config.firstDevice);
    const { modbus, dnp3 } = this.#config;
    this.#modbus = { base: modbus.enabled ? modbus.port : 0, isShared: modbus.sharedPort };
    this.#dnp3 = { base: dnp3?.port ?? 0, isShared: dnp3?.sharedPort ?? false };
    this.#checkPorts();
    // the first worker has the most devices, and the last one the highest indexes
    const all = this.commands(null);
    for (const { words } of new Set([all[0], all.at(-1)].filter((command) => command !== undefined))) this.#load(words);
  }

  commands(access: LocalAccess | null): readonly WorkerCommand[] {
    const { stateDir, csip } = this.#config;
    return this.#ranges.map(({ name, first, count }, at) => ({
      name,
      words: [
        ...this.#given,
        ...(access === null ? ['--fleet=nats://127.0.0.1:1'] : accessWords(access)),
        `--shard=${name}`,
        `--first_device=${first}`,
        `-N=${count}`,
        '--port_base=shard',
        '--website_ip=127.0.0.1',
        '--website_port=0',
        ...(this.#modbus.base === 0 ? [] : [`--mb_port=${firstPortOf(this.#modbus, this.#ranges, at)}`]),
        ...(this.#dnp3.base === 0 ? [] : [`--dnp3_port=${firstPortOf(this.#dnp3, this.#ranges, at)}`]),
        ...(csip === null ? [] : ['--csip_website_port=0']),
        ...(stateDir === null ? [] : [`--state_dir=${stateDir}/${name}`]),
      ].filter(
        (word, place, words) => place >= this.#given.length || !isReplaced(word, words.slice(this.#given.length)),
      ),
    }));
  }

  #load(words: readonly string[]): AppConfig {
    const loaded = loadConfig(words, { ...this.env, [workerVariable]: undefined });
    if (loaded.kind !== 'run') throw invalidGateway([{ name: '--version', detail: 'is asked of derbench itself' }]);
    return loaded.config;
  }

  #checkPorts(): void {
    const rows = [
      ['--mb_port', '--mb_host', '--mb_enable no', this.#modbus],
      ['--dnp3_port', '--dnp3_host', '--dnp3_enable no', this.#dnp3],
    ] as const;
    const issues = rows.flatMap(([name, host, off, use]): Issue[] => {
      const last = lastPortOf(use, this.#ranges);
      if (last <= maxPort) return [];
      const detail =
        `given ${use.base}, so that the last device would be on port ${last}, the highest is ${maxPort}; ` +
        `allowed: ${off}; shards started one by one, each on its own loopback address (${host} 127.0.0.11); ` +
        'or several machines';
      return [{ name, detail }];
    });
    if (issues.length > 0) throw invalidGateway(issues);
  }
}

/**
 * Refuses settings that workers do not have.
 *
 * @param nameOf how a setting was given, for messages; undefined: it was not
 * @throws SimError CONFIG_INVALID
 */
function refuseForeign(nameOf: (key: SettingKey) => string | undefined): void {
  const issues = [...decided, ...ofOneProcess].flatMap((key): Issue[] => {
    const name = nameOf(key);
    if (name === undefined) return [];
    const detail = decided.includes(key)
      ? 'is what the gateway gives to each of its workers'
      : 'is for one process, and not for several workers: start this shard by itself';
    return [{ name, detail }];
  });
  if (issues.length > 0) throw invalidGateway(issues);
}

const keyOf = (word: string) => [...parseFlags([word]).values.keys()][0];

/** True if a later word gives the same setting. */
function isReplaced(word: string, later: readonly string[]): boolean {
  const key = keyOf(word);
  return later.some((other) => keyOf(other) === key);
}

/** Number of all devices. @throws SimError CONFIG_INVALID */
function devicesOf(text: string | undefined, workers: number): number {
  const count = Number(text);
  if (text !== undefined && /^\d+$/.test(text) && count >= workers && count <= workers * 10_000) return count;
  const given = text === undefined ? 'is missing' : `given "${text}"`;
  throw invalidGateway([
    {
      name: '-N',
      detail: `${given}; allowed with ${workers} workers: ${workers} to ${workers * 10_000} devices in all`,
    },
  ]);
}
