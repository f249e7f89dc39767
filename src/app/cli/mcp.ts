/** `derbench mcp`: the MCP server, for a running simulator or for one of its own. */
import { UsageError } from '../../client-commands/call.ts';
import type { Arguments } from '../../client-commands/call.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { settingGroups } from '../../config/settings/settings.ts';
import type { SettingKey } from '../../config/settings/settings.ts';
import { bundledScenarioNames, bundledScenarioPath } from '../../config/profile/bundled.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { createLogBook } from '../../core/log/log.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Origin } from '../../core/origin.ts';
import { systemClock } from '../../core/time/clock.ts';
import { callLater } from '../../core/time/timers.ts';
import { checkedAddress } from '../../library/checks.ts';
import { DerbenchError } from '../../library/error.ts';
import { serve } from '../../mcp/server.ts';
import type { RunScenario } from '../../mcp/tool.ts';
import { readingSource, sourceOfFile } from '../../scenario/file/source.ts';
import type { Source } from '../../scenario/file/source.ts';
import { reportDocument } from '../../scenario/report/document.ts';
import { reportLines } from '../../scenario/report/text.ts';
import { createApp } from '../build.ts';
import { membersBeside, startBeside } from '../scenarios/beside.ts';
import { parseArguments } from './arguments.ts';
import { commandOf } from './table/commands.ts';

/** A client ends the process when it does not end within 1 s of its input. */
const endLimitMs = 700;

/** Real time for the steps of `finally` of a cancelled run, ms. */
const finallyMs = 2000;

const by: Origin = { source: 'default' };

/** @throws SimError CONFIG_INVALID */
function fileOf(name: string): string {
  const path = bundledScenarioPath(name);
  if (path !== undefined && bundledScenarioNames.includes(name)) return path;
  const detail = `is no bundled scenario${didYouMean(name, bundledScenarioNames)}`;
  throw new SimError('CONFIG_INVALID', 'The scenario is not valid.', [
    { name: 'bundled', detail, allowed: bundledScenarioNames },
  ]);
}

/** @throws SimError CONFIG_INVALID */
function sourceOfText(text: string): Source {
  const reading = readingSource(text, 'text');
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

export const runScenario: RunScenario = async ({ bundled, text, parameters }, signal) => {
  const file = bundled === null ? null : fileOf(bundled);
  const source = file === null ? sourceOfText(text) : sourceOfFile(file);
  let origin = { version: '', buildId: '', seed: 0 };
  const run = await startBeside(
    {
      source,
      name: bundled ?? 'scenario',
      file,
      start: { parameters },
      by,
      clocks: { wall: systemClock, later: callLater },
    },
    (config, options) => {
      const app = createApp(config, options);
      origin = { version: app.version, buildId: app.buildId, seed: config.seed };
      return app;
    },
  );
  const end = () => {
    run.stop();
    callLater(finallyMs, () => {
      run.stop();
    });
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  const report = await run.finished;
  const { name, state, failures, error } = report;
  return {
    name,
    state,
    failures,
    error,
    summary: reportLines(report).at(-1) ?? '',
    report: reportDocument(report, origin),
  };
};

/** Settings beyond a run beside that reach nothing but what the person who started the simulator has named. */
const harmless = /_(enable|version|subscribe|unsolicited|auto_authorize|rate_s|after_s|expiry_s|stale_s)$/;
/** Settings that share their name with blocks of bodies. */
const blocks: readonly SettingKey[] = ['config', 'scenario', 'captures'];

/** Settings that reach other machines, open ports or name files. */
export function outwardSettings(): ReadonlySet<string> {
  const inward: readonly string[] = [...membersBeside(), ...blocks];
  const keys = settingGroups.flatMap(({ settings }) => settings);
  return new Set(keys.filter((key) => !inward.includes(key) && !harmless.test(key)));
}

interface Simulator {
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

/**
 * A simulator in this process, with a paused clock and free ports where the flags say nothing else. Its log goes to
 * standard error.
 */
async function ownSimulator(flags: readonly string[]): Promise<Simulator> {
  const presets = { usesFreePorts: true, isPaused: true };
  // listeners and folders of variables belong to another simulator of this machine
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DERBENCH_')));
  const loaded = loadConfig(flags, env, {}, { mapping: null, presets });
  if (loaded.kind !== 'run')
    throw new SimError('CONFIG_INVALID', `derbench mcp --own takes flags of the simulator, not --${loaded.kind}.`);
  const { config } = loaded;
  let stop: () => Promise<unknown> = () => Promise.resolve();
  const app = createApp(config, {
    logBook: createLogBook({ ...config.log, clock: systemClock }),
    onStopRequest: () => void stop(),
  });
  stop = () => app.stop();
  const { http } = await app.start();
  const host = http.host === '0.0.0.0' || http.host === '::' ? '127.0.0.1' : http.host;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${http.port}`, stop };
}

/** @throws SimError CONFIG_INVALID for an address of another form */
function runningSimulator(option: string | undefined): Simulator {
  const address = option ?? (process.env['DERBENCH_URL'] || 'http://127.0.0.1:8111');
  try {
    return { url: checkedAddress(address), stop: () => Promise.resolve() };
  } catch (error) {
    if (!(error instanceof DerbenchError)) throw error;
    const name = option === undefined ? 'DERBENCH_URL' : '--url';
    throw new SimError('CONFIG_INVALID', `derbench mcp: ${name}: ${error.detail}`);
  }
}

/** Options of the server; behind `--own` all others are flags of the simulator. @throws SimError CONFIG_INVALID */
function splitWords(words: readonly string[]): { readonly given: Arguments; readonly flags: readonly string[] } {
  const command = commandOf('mcp');
  if (command === null) throw new Error('mcp is not in the table of commands');
  const switches = (command.options ?? []).filter(({ value }) => value === undefined).map(({ flag }) => flag);
  const isOwn = words.includes('--own');
  const flags = isOwn ? words.filter((word) => !switches.includes(word)) : [];
  try {
    const given = parseArguments(command, isOwn ? words.filter((word) => switches.includes(word)) : words);
    if (given.words.length > 0) throw new UsageError(`${given.words.join(' ')} is too much.`);
    return { given, flags };
  } catch (error) {
    throw error instanceof UsageError ? new SimError('CONFIG_INVALID', `derbench mcp: ${error.message}`) : error;
  }
}

/** @returns the exit code when standard input has ended @throws SimError CONFIG_INVALID, LISTEN_FAILED */
export async function mcp(words: readonly string[], warn: (line: string) => void): Promise<number> {
  const { given, flags } = splitWords(words);
  const { options } = given;
  const simulator = options.has('--own') ? await ownSimulator(flags) : runningSimulator(options.get('--url')?.[0]);
  await serve(
    {
      url: simulator.url,
      isReadOnly: options.has('--read-only'),
      outwardSettings: options.has('--allow-outbound') ? null : outwardSettings(),
      runScenario,
    },
    warn,
  );
  await Promise.race([simulator.stop(), new Promise((resolve) => callLater(endLimitMs, () => resolve(null)))]);
  return exitCodes.ok;
}
