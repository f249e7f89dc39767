/** `derbench doctor`: checks of the machine, and of a simulator at an address, each a line with its remedy. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import { fetchByHttp } from '../../client-commands/fetch.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { checkFreeDescriptors, SimError } from '../../core/errors.ts';
import { packageFile, runsFromBuild } from '../../core/package-files.ts';
import { systemClock } from '../../core/time/clock.ts';
import { apiVersion } from '../../api/http/context.ts';
import { clockOffsetMs, machineClockCheck, simulatorClockChecks, timeKeeperCheck } from './doctor-clock.ts';
import type { RemoteTime } from './doctor-clock.ts';

type Grade = 'ok' | 'note' | 'bad';

/** Result of a check, as `--json` prints it. */
export interface Check {
  readonly grade: Grade;
  readonly name: string;
  /** with the remedy */
  readonly text: string;
}

const check = (grade: Grade, name: string, text: string): Check => ({ grade, name, text });

/** The day after which a version of Node.js gets no security fixes (github.com/nodejs/release). */
const endOfLife: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};
const minVersion = [20, 19] as const;

/** @param version such as 24.21.0 @param today such as 2026-12-01 */
export function nodeCheck(version: string, today: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1]))
    return check('bad', 'Node.js', `${version} is too old. Install 24.`);
  const end = endOfLife[major];
  if (end === undefined) return check('note', 'Node.js', `${version} is not one of the tested versions. Install 24.`);
  return end < today
    ? check('note', 'Node.js', `${version} gets no fixes since ${end}. Install 24.`)
    : check('ok', 'Node.js', `${version}, with fixes until ${end}`);
}

/** Descriptors that a simulator with some tens of devices and clients uses. */
const neededDescriptors = 200;

export function descriptorCheck(count = neededDescriptors): Check {
  try {
    checkFreeDescriptors(count);
    return check('ok', 'descriptors', `${count} files and connections can be open`);
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return check('note', 'descriptors', `less than ${count} can be open. Raise the limit with ulimit -n 4096.`);
  }
}

interface BuiltCheck {
  readonly isBuilt: (root: string) => boolean;
}

/** In a checkout alone: a package has no sources. */
async function buildCheck(): Promise<readonly Check[]> {
  const file = packageFile('scripts/built.mjs');
  if (!runsFromBuild || !existsSync(file) || !existsSync(packageFile('src'))) return [];
  const { isBuilt } = (await import(file)) as BuiltCheck;
  return [
    isBuilt(packageFile('.'))
      ? check('ok', 'build', 'newer than the sources')
      : check('note', 'build', 'older than the sources. Run npm run build.'),
  ];
}

/** Code of the error of a listener; null: the port is free. */
const listenFailure = (port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(null);
      });
    });
  });

interface Answer {
  readonly status: number;
  /** null: no JSON */
  readonly body: Readonly<Record<string, unknown>> | null;
}

const answerLimitMs = 2000;

/** The answer of a path of the interface; null: none came. */
async function ask(url: string, path: string): Promise<Answer | null> {
  try {
    const init = { method: 'GET', headers: {}, signal: AbortSignal.timeout(answerLimitMs) };
    const answer = await fetchByHttp(`${url}/api/sim/${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : null };
  } catch {
    return null;
  }
}

export async function portCheck(port: number, flag: string): Promise<Check> {
  const name = `port ${port}`;
  const failure = await listenFailure(port);
  if (failure === null) return check('ok', name, 'free');
  const answer = await ask(`http://127.0.0.1:${port}`, 'server-info');
  const owner = answer?.body?.['name'] === 'derbench' ? 'a derbench answers there' : `it cannot be opened (${failure})`;
  return check('note', name, `${owner}. Start with ${flag} 0 for any free port.`);
}

export function folderCheck(folder: string): Check {
  try {
    accessSync(folder, constants.W_OK);
    return check('ok', 'folder', 'results and recordings can be written here');
  } catch {
    return check('note', 'folder', `${folder} cannot be written. Give --record and results a path elsewhere.`);
  }
}

/** Serial lines of USB adapters that this user cannot open. */
function serialChecks(): readonly Check[] {
  if (!existsSync('/dev')) return [];
  const lines = readdirSync('/dev').filter((name) => /^tty(USB|ACM)\d+$/.test(name));
  return lines.map((name) => {
    try {
      accessSync(`/dev/${name}`, constants.R_OK | constants.W_OK);
      return check('ok', `/dev/${name}`, 'can be opened');
    } catch {
      return check('note', `/dev/${name}`, 'is not for this user. Join its group, as by usermod -aG dialout USER.');
    }
  });
}

function cipherCheck(): Check {
  try {
    createSecureContext({ ciphers: 'ECDHE-ECDSA-AES128-CCM8:@SECLEVEL=0' });
    return check('ok', 'CCM8', 'the cipher of IEEE 2030.5 can be used');
  } catch {
    return check(
      'note',
      'CCM8',
      'OpenSSL of this Node.js lacks the cipher of IEEE 2030.5. Install Node.js from nodejs.org.',
    );
  }
}

function zoneCheck(): Check {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: 'Australia/Sydney' });
    return check('ok', 'time zones', 'known');
  } catch {
    return check('bad', 'time zones', 'this Node.js has none. Install one with full ICU data.');
  }
}

/** Variables that a start would refuse. */
export function variableChecks(env: Readonly<Record<string, string | undefined>>): readonly Check[] {
  try {
    loadConfig([], env);
    return [check('ok', 'variables', 'a start accepts all that begin with DERBENCH_')];
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return error.issues.map(({ name, detail }) => check('bad', name, `${detail}. Unset or correct it.`));
  }
}

async function remoteTime(url: string): Promise<RemoteTime> {
  const askedMs = systemClock.nowMs();
  const answer = await ask(url, 'controls/time');
  return { askedMs, answeredMs: systemClock.nowMs(), body: answer?.body ?? null };
}

const major = (version: unknown) => String(version).split('.')[0];

/** Checks of the simulator at an address. */
export async function simulatorChecks(url: string): Promise<readonly Check[]> {
  const info = await ask(url, 'server-info');
  if (info === null) return [check('bad', url, 'nothing answers. Start derbench there, or give another --url.')];
  if (info.status === 421)
    return [check('bad', url, 'refuses the name of the host. Start it with --allowed_host and this name.')];
  if (info.body?.['name'] !== 'derbench') return [check('bad', url, 'another program answers. Give another --url.')];
  const { version, api_version: api, device_count: devices } = info.body;
  const isSame = major(api) === major(apiVersion);
  const health = await ask(url, 'health');
  const { status, tick_age_s: age } = health?.body ?? {};
  return [
    check('ok', url, `derbench ${String(version)} with ${String(devices)} ${devices === 1 ? 'device' : 'devices'}`),
    isSame
      ? check('ok', 'interface', `version ${String(api)}`)
      : check('bad', 'interface', `version ${String(api)} is not ${major(apiVersion)}. Use commands of its release.`),
    status === 'ok'
      ? check('ok', 'health', `the last tick ended ${String(age)} s ago`)
      : check('bad', 'health', `${String(status)}. GET health and the log have the reason.`),
    ...simulatorClockChecks(await remoteTime(url)),
  ];
}

/** @param url address of `--url`; null: none @param today such as 2026-12-01 */
export async function allChecks(url: string | null, today: string): Promise<readonly Check[]> {
  const startOffsetMs = clockOffsetMs(systemClock);
  return [
    nodeCheck(process.versions.node, today),
    descriptorCheck(),
    ...(await buildCheck()),
    await portCheck(8111, '-wp'),
    await portCheck(8502, '-p'),
    folderCheck(process.cwd()),
    ...serialChecks(),
    cipherCheck(),
    zoneCheck(),
    ...variableChecks(process.env),
    ...(url === null ? [] : await simulatorChecks(url)),
    machineClockCheck(systemClock, startOffsetMs),
    ...(process.platform === 'linux' ? [timeKeeperCheck(existsSync)] : []),
  ];
}

export const checkLines = (checks: readonly Check[]): readonly string[] =>
  checks.map(({ grade, name, text }) => `${grade.padEnd(6)}${name}: ${text}`);
