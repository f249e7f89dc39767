/** Runs stages side by side, each as soon as those that it needs have ended and a core is free for it. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {readonly string[]} command program and arguments
 * @property {readonly string[]} [needs] stages that end before; `name` alone asks for their success, `name?` for their end
 * @property {number} [cores] that it keeps busy; 0 for one that waits for the network
 * @property {number} budgetS it should take at most this long, and is ended after four times that: the machine may be busy
 * @property {Readonly<Record<string, string>>} [environment]
 * @property {readonly string[]} [reports] files of its tests, written by scripts/test/reporter.cjs; absent: it is one check
 * @property {boolean} [advisory] its failure is a notice
 *
 * @typedef {object} Ended
 * @property {string} name
 * @property {'passed' | 'failed' | 'skipped'} outcome
 * @property {number} s
 * @property {number} cpuS of all its processes
 * @property {string} log path of its output
 * @property {string} [reason] of a failure that the output does not show
 */

/** A stage that hangs ends after this share of its budget. */
const maxShareOfBudget = 4;
const endGraceMs = 10_000;
const interrupted = 'the run was interrupted';

const shellTimes = 'TIMEFORMAT="%U %S"; { time "$@" 2>&3; } 3>&2 2>"$CPU_FILE"';

/** CPU seconds that bash has written behind the output of a stage. */
function cpuSeconds(file) {
  try {
    const last = readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
    return last.split(' ').reduce((sum, text) => sum + (Number(text) || 0), 0);
  } catch {
    return 0;
  }
}

/** @returns {Promise<Ended>} */
function runStage(stage, { folder, cwd, environment, signal }) {
  const slug = stage.name.replaceAll(/[^a-z0-9]+/gi, '-');
  const log = join(folder, `${slug}.log`);
  const cpuFile = join(folder, `${slug}.cpu`);
  const output = openSync(log, 'w');
  const beginMs = Date.now();
  const child = spawn('bash', ['-c', shellTimes, 'stage', ...stage.command], {
    cwd,
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...environment, ...stage.environment, CPU_FILE: cpuFile },
  });
  closeSync(output);
  let reason;
  const end = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // all of its processes have ended
    }
  };
  const stop = (why) => {
    reason = why;
    end('SIGTERM');
    setTimeout(end, endGraceMs, 'SIGKILL').unref();
  };
  const limitS = stage.budgetS * maxShareOfBudget;
  const limit = setTimeout(stop, limitS * 1000, `ended after ${limitS} s, ${maxShareOfBudget} times its budget`);
  const interrupt = () => stop(interrupted);
  signal?.addEventListener('abort', interrupt);
  if (signal?.aborted) interrupt();
  return new Promise((resolve) => {
    const conclude = (code) => {
      clearTimeout(limit);
      signal?.removeEventListener('abort', interrupt);
      // a process that it left running would disturb the stages after it
      if (child.pid !== undefined) end('SIGKILL');
      const s = Math.round((Date.now() - beginMs) / 100) / 10;
      const outcome = code === 0 && reason === undefined ? 'passed' : 'failed';
      resolve({ name: stage.name, outcome, s, cpuS: Math.round(cpuSeconds(cpuFile)), log, ...(reason && { reason }) });
    };
    child.once('error', (error) => {
      reason = error.message;
      conclude(null);
    });
    // not `close`: a process outside the group may hold the output for ever
    child.once('exit', conclude);
  });
}

/**
 * @param {readonly Stage[]} stages in the order of their importance
 * @param {{ folder: string, cwd: string, environment: NodeJS.ProcessEnv, signal?: AbortSignal, onBegin: (stage: Stage) => void, onEnd: (stage: Stage, ended: Ended) => void }} options
 * @returns {Promise<readonly Ended[]>}
 */
export async function runStages(stages, options) {
  mkdirSync(options.folder, { recursive: true });
  /** @type {Map<string, Ended>} */
  const ended = new Map();
  const waiting = new Set(stages);
  const running = new Map();
  let freeCores = availableParallelism();
  const finish = (stage, result) => {
    ended.set(stage.name, result);
    options.onEnd(stage, result);
  };
  const stateOf = (stage) => {
    if (options.signal?.aborted) return 'void';
    for (const need of stage.needs ?? []) {
      const before = ended.get(need.replace(/\?$/, ''));
      if (before === undefined) return 'early';
      if (before.outcome !== 'passed' && !need.endsWith('?')) return 'void';
    }
    // a stage for more cores than there are waits for all of them
    const cores = Math.min(stage.cores ?? 1, availableParallelism());
    return cores <= freeCores ? 'ready' : 'early';
  };
  const begin = (stage) => {
    const cores = Math.min(stage.cores ?? 1, availableParallelism());
    freeCores -= cores;
    options.onBegin(stage);
    running.set(
      stage,
      runStage(stage, options).then((result) => {
        freeCores += cores;
        running.delete(stage);
        finish(stage, result);
      }),
    );
  };
  while (waiting.size > 0 || running.size > 0) {
    const before = waiting.size;
    for (const stage of waiting) {
      const state = stateOf(stage);
      if (state === 'early') continue;
      waiting.delete(stage);
      if (state === 'ready') begin(stage);
      else
        finish(stage, {
          name: stage.name,
          outcome: 'skipped',
          s: 0,
          cpuS: 0,
          log: '',
          reason: options.signal?.aborted ? interrupted : 'a stage that it needs failed',
        });
    }
    if (running.size > 0) await Promise.race(running.values());
    else if (waiting.size === before && before > 0)
      throw new Error(`stages wait for each other: ${[...waiting].map(({ name }) => name).join(', ')}`);
  }
  return stages.map(({ name }) => ended.get(name));
}
