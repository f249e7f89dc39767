import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const startLimitMs = process.env['CI'] === undefined ? 20_000 : 50_000;

/** Program and first arguments; the flags of a test follow them. */
export type Command = readonly [program: string, ...args: string[]];

/** Flags of Node.js for sources: from version 24 on it strips types by itself, tsx does it below. */
export const sourceFlags: readonly string[] = Number(process.versions.node.split('.')[0]) >= 24 ? [] : ['--import=tsx'];

const built = process.env['TEST_PROGRAM'];

/** The simulator: from the build that `TEST_PROGRAM` names, which starts in a third of the time, or from its sources. */
export const programCommand: Command = [
  process.execPath,
  ...(built === undefined ? [...sourceFlags, 'src/main.ts'] : [built]),
];

/** A simulator in its own process. */
export interface RunningSimulator {
  readonly pid: number;
  readonly httpPort: number;
  readonly modbusPort: number;
  /** 0: DNP3 is off */
  readonly dnp3Port: number;
  /** from the start of the process until it was ready */
  readonly readyMs: number;
  /** everything printed so far */
  readonly output: string;
  /** the exit code when it has ended, whatever has ended it; null: a signal */
  readonly ended: Promise<number | null>;
  /** Ends it with SIGTERM unless it has ended already; answers the exit code, null when a signal ended it. */
  stop(): Promise<number | null>;
  /** Ends it at once, as a loss of power does. */
  kill(): Promise<void>;
}

type Ports = Pick<RunningSimulator, 'httpPort' | 'modbusPort' | 'dnp3Port'>;

/**
 * The environment without settings that would leak into the simulator. Named and empty, since Node hands it on otherwise:
 * the simulator writes no coverage data, which would not merge with that of the tests over the same sources. So it may
 * take its code from the cache also where the tests may not.
 */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('DERBENCH_'));
  return { NODE_COMPILE_CACHE: join(root, '.cache/node'), ...Object.fromEntries(own), NODE_V8_COVERAGE: '' };
}

function portAfter(word: string, output: string): number | undefined {
  const port = new RegExp(`^ *${word} .*?:(\\d+)[/ ]`, 'm').exec(output)?.[1];
  return port === undefined ? undefined : Number(port);
}

/** The ports in the lines after "derbench is ready". */
function portsIn(output: string): Ports | undefined {
  const lines = output.split('derbench is ready\n')[1];
  if (lines === undefined || !/nothing is kept|state in/.test(lines)) return undefined;
  const httpPort = portAfter('HTTP', lines);
  if (httpPort === undefined) return undefined;
  return { httpPort, modbusPort: portAfter('Modbus', lines) ?? 0, dnp3Port: portAfter('DNP3', lines) ?? 0 };
}

async function stopChild(child: ChildProcess, exited: Promise<unknown>): Promise<number | null> {
  child.kill('SIGTERM');
  await exited;
  return child.exitCode;
}

/** Flags for any free port, where the test names none. */
const freePortFlags = (flags: readonly string[]) =>
  ['-wp', '-p'].filter((name) => !flags.includes(name)).flatMap((name) => [name, '0']);

/**
 * Starts a simulator on free ports and waits until it is ready.
 * @param flags beyond the ports
 * @throws Error with its output when it ends before, or is not ready in time
 */
export async function startSimulator(
  flags: readonly string[] = [],
  command: Command = programCommand,
  cwd = root,
): Promise<RunningSimulator> {
  const [program, ...args] = command;
  const startMs = performance.now();
  const child = spawn(program, [...args, ...freePortFlags(flags), ...flags], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killWithUs = () => {
    child.kill('SIGKILL');
  };
  process.once('exit', killWithUs);
  let output = '';
  const exited = once(child, 'close').finally(() => process.removeListener('exit', killWithUs));
  const ports = await new Promise<Ports>((resolve, reject) => {
    const fail = (reason: string) => {
      child.kill('SIGKILL');
      reject(new Error(`the simulator ${reason}\n${output}`));
    };
    const limit = setTimeout(fail, startLimitMs, `was not ready in ${startLimitMs} ms`);
    const listen = (chunk: Buffer) => {
      output += chunk.toString();
      const found = portsIn(output);
      if (found) {
        clearTimeout(limit);
        resolve(found);
      }
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    exited.then(() => {
      clearTimeout(limit);
      fail(`ended before it was ready (exit code ${child.exitCode ?? 'none'})`);
    }, reject);
  });
  return {
    ...ports,
    readyMs: performance.now() - startMs,
    pid: child.pid ?? 0,
    ended: exited.then(() => child.exitCode),
    get output() {
      return output;
    },
    stop: () => stopChild(child, exited),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
