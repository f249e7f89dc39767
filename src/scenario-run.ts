/** Scenarios on the command line: a simulator for each, its run, its results. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { createApp } from './app.ts';
import type { App } from './app.ts';
import { isBundledExample } from './config/profile/bundled.ts';
import { parseFlags } from './config/layers/flags.ts';
import { loadConfig } from './config/layers/load.ts';
import type { Presets } from './config/layers/presets.ts';
import type { AppConfig } from './config/settings/app-config.ts';
import type { Recorder } from './contract/recorder.ts';
import type { RunReport } from './contract/scenarios.ts';
import { SimError } from './core/errors.ts';
import { createLogBook } from './core/log/log.ts';
import type { Origin } from './core/origin.ts';
import { fileReason } from './core/text-file.ts';
import { callLater } from './core/time/timers.ts';
import type { ScenarioCommand } from './scenario/command.ts';
import { layoutIssues } from './scenario/file/layout.ts';
import { configOfScenario, readScenario } from './scenario/file/read.ts';
import { invalidScenario, sourceOfFile } from './scenario/file/source.ts';
import type { Source } from './scenario/file/source.ts';
import type { Scenario } from './scenario/model.ts';
import { reportDocument } from './scenario/report/document.ts';
import type { ReportOrigin } from './scenario/report/document.ts';
import { htmlPage } from './scenario/report/html.ts';
import { junitXml } from './scenario/report/junit.ts';
import { progressLine } from './scenario/report/progress.ts';
import { reportLines } from './scenario/report/text.ts';
import { ScenarioRun } from './scenario/run/run.ts';

/** Where a command prints. */
export interface CommandOutput {
  readonly print: (line: string) => void;
  /** Shows a line in place of the one shown before; null: there is no terminal */
  readonly show: ((line: string) => void) | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls back when the user wants an end; the returned function ends it. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

const progressMs = 200;
/** of what the command line asks for */
const commandOrigin: Origin = { source: 'default' };

interface Prepared {
  readonly app: App;
  readonly config: AppConfig;
  readonly scenario: Scenario;
}

/** Flags of the simulator, and the configuration that the scenario brings along. @throws SimError CONFIG_INVALID */
function layersOf({ flags, parameters, pace, usesFreePorts }: ScenarioCommand, file: string, source: Source) {
  const directory = dirname(resolve(file));
  const presets: Presets = { usesFreePorts, isPaused: pace !== 'real' };
  const own = configOfScenario(source, parameters);
  if (typeof own !== 'string') {
    const mapping = own && { mapping: own, directory, label: `${basename(file)}: config` };
    return { flags, inline: { mapping, presets } };
  }
  const isNamed = parseFlags(flags).values.has('config');
  const named = isNamed ? [] : ['--config', isBundledExample(own) ? own : resolve(directory, own)];
  return { flags: [...named, ...flags], inline: { mapping: null, presets } };
}

/** A simulator that is not started, and the scenario checked against it. @throws SimError CONFIG_INVALID */
function prepare(file: string, command: ScenarioCommand, env: CommandOutput['env']): Prepared {
  const source = sourceOfFile(file);
  const { flags, inline } = layersOf(command, file, source);
  const loaded = loadConfig(flags, { ...env, DERBENCH_SCENARIO: undefined }, {}, inline);
  if (loaded.kind !== 'run') throw invalidScenario([{ name: `--${loaded.kind}`, detail: 'stands without a scenario' }]);
  const app = createApp(loaded.config, { logBook: createLogBook({ write: () => undefined }) });
  const name = basename(file, extname(file));
  const scenario = readScenario(source, name, command.parameters, app.api.checkRequest);
  const issues = layoutIssues(scenario, app.plant, loaded.config.csip !== null);
  if (issues.length > 0) throw invalidScenario(issues);
  return { app, config: loaded.config, scenario };
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Checks the files of a command. @throws SimError CONFIG_INVALID */
export function checkScenarios(command: ScenarioCommand, { print, env }: CommandOutput): void {
  for (const file of command.files) {
    const { scenario } = prepare(file, command, env);
    const { name, steps, rules, finally: last } = scenario;
    const counts = [counted(steps.length + last.length, 'step'), counted(rules.length, 'rule')];
    print(`${file}: ${name} is valid: ${counts.join(', ')}`);
  }
}

interface Finished {
  readonly report: RunReport;
  readonly origin: ReportOrigin;
}

async function runOne(file: string, command: ScenarioCommand, output: CommandOutput): Promise<Finished> {
  const { app, config, scenario } = prepare(file, command, output.env);
  if (command.record !== null) app.recorder.set({ enabled: true }, commandOrigin);
  const { lines } = await app.start();
  if (!command.isQuiet && command.pace === 'real')
    output.print(['derbench is ready', ...lines.map((line) => `  ${line}`)].join('\n'));
  try {
    const pace = command.pace ?? 'fast';
    const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace, by: commandOrigin });
    const endInterrupt = output.onInterrupt(() => {
      run.stop();
    });
    const endProgress = showProgress(run, output, command.isQuiet);
    const report = await run.finished;
    endProgress();
    endInterrupt();
    if (command.record !== null) await writeRecording(app.recorder, command.record);
    const { version, buildId } = app;
    return { report, origin: { version, buildId, seed: config.seed } };
  } finally {
    await app.stop();
  }
}

function showProgress(run: ScenarioRun, { show }: CommandOutput, isQuiet: boolean): () => void {
  if (show === null || isQuiet) return () => undefined;
  let cancel = callLater(progressMs, again);
  function again(): void {
    show?.(progressLine(run.report));
    cancel = callLater(progressMs, again);
  }
  return () => {
    cancel();
    show('');
  };
}

/**
 * Runs the scenarios of a command one after the other.
 * @returns whether all have passed
 * @throws SimError CONFIG_INVALID before the first runs, LISTEN_FAILED
 */
export async function runScenarios(command: ScenarioCommand, output: CommandOutput): Promise<boolean> {
  checkResultFiles(command);
  const finished: Finished[] = [];
  for (const file of command.files) {
    const one = await runOne(file, command, output);
    finished.push(one);
    for (const line of reportLines(one.report)) output.print(line);
  }
  writeResults(command, finished);
  return finished.every(({ report }) => report.state === 'passed');
}

function writeResults({ junit, json, html }: ScenarioCommand, finished: readonly Finished[]): void {
  const documents = finished.map(({ report, origin }) => reportDocument(report, origin));
  if (json !== null)
    writeResult('--json', json, `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`);
  if (junit !== null) writeResult('--junit', junit, junitXml(finished.map(({ report }) => report)));
  const [first] = finished;
  if (html !== null && first) writeResult('--html', html, htmlPage(first.report, first.origin));
}

async function writeRecording(recorder: Recorder, path: string): Promise<void> {
  const isCapture = extname(path).toLowerCase() === '.pcap';
  writeResult('--record', path, await (isCapture ? recorder.packets() : recorder.lines()));
}

function refuseFile(flag: string, path: string, error: unknown): never {
  const issue = { name: flag, detail: `${path} cannot be written: ${fileReason(error)}` };
  throw new SimError('CONFIG_INVALID', 'A result cannot be written:', [issue]);
}

/** @throws SimError CONFIG_INVALID */
function writeResult(flag: string, path: string, content: string | Iterable<string | Buffer>): void {
  try {
    const file = openSync(path, 'w');
    try {
      for (const part of typeof content === 'string' ? [content] : content) writeFileSync(file, part);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    refuseFile(flag, path, error);
  }
}

/** Results that could not be written are refused before hours of a run. @throws SimError CONFIG_INVALID */
function checkResultFiles({ junit, json, html, record }: ScenarioCommand): void {
  for (const [flag, path] of Object.entries({ '--junit': junit, '--json': json, '--html': html, '--record': record })) {
    if (path === null) continue;
    try {
      // what stands in it stays until there is a result
      closeSync(openSync(path, 'a'));
    } catch (error) {
      refuseFile(flag, path, error);
    }
  }
}
