/** Scenarios on the command line: a simulator for each, its run, its results. */
import { writeFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { createApp } from './app.ts';
import type { App } from './app.ts';
import { isBundledExample } from './config/profile/bundled.ts';
import { loadConfig } from './config/layers/load.ts';
import type { AppConfig } from './config/settings/app-config.ts';
import type { RunPace, RunReport } from './contract/scenarios.ts';
import { createLogBook } from './core/log/log.ts';
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
/** Flags that a headless run has unless they are given: any free port. */
const freePorts: readonly (readonly [flags: readonly string[], key: string, flag: string])[] = [
  [['-wp', '--website_port'], 'website_port', '--website_port'],
  [['-p', '--mb_port'], 'mb_port', '--mb_port'],
  [['-d3p', '--dnp3_port'], 'dnp3_port', '--dnp3_port'],
  [['--csip_website_port'], 'csip_website_port', '--csip_website_port'],
];

interface Prepared {
  readonly app: App;
  readonly config: AppConfig;
  readonly scenario: Scenario;
}

function flagsFor(
  { flags: given, usesFreePorts }: ScenarioCommand,
  source: Source,
  directory: string,
  pace: RunPace,
): readonly string[] {
  const config = configOfScenario(source);
  const isGiven = (spellings: readonly string[]) =>
    given.some((word) =>
      spellings.includes(
        word
          .split('=')[0]
          ?.replaceAll('-', '_')
          .replace(/^_+/, (dashes) => '-'.repeat(dashes.length)) ?? '',
      ),
    );
  const inFile = typeof config === 'object' && config !== null ? Object.keys(config) : [];
  const named =
    typeof config === 'string' && !isGiven(['--config'])
      ? ['--config', isBundledExample(config) ? config : resolve(directory, config)]
      : [];
  const ports = !usesFreePorts
    ? []
    : freePorts.flatMap(([spellings, key, flag]) => (isGiven(spellings) || inFile.includes(key) ? [] : [flag, '0']));
  return [
    ...named,
    ...ports,
    ...(pace === 'fast' && !isGiven(['--start_paused']) ? ['--start_paused', 'yes'] : []),
    ...given,
  ];
}

/** A simulator that is not started, and the scenario checked against it. @throws SimError CONFIG_INVALID */
function prepare(file: string, command: ScenarioCommand, env: CommandOutput['env']): Prepared {
  const source = sourceOfFile(file);
  const directory = dirname(resolve(file));
  const pace = command.pace ?? 'fast';
  const flags = flagsFor(command, source, directory, pace);
  const own = configOfScenario(source);
  const inline =
    typeof own === 'object' && own !== null ? { mapping: own, directory, label: `${basename(file)}: config` } : null;
  const loaded = loadConfig(flags, { ...env, DERBENCH_SCENARIO: undefined }, {}, inline);
  if (loaded.kind !== 'run') throw invalidScenario([{ name: '--help', detail: 'stands without a scenario' }]);
  const app = createApp(loaded.config, { logBook: createLogBook({ write: () => undefined }) });
  const name = basename(file, extname(file));
  const scenario = readScenario(source, name, command.parameters, app.api.checkRequest);
  const issues = layoutIssues(scenario, app.plant);
  if (issues.length > 0) throw invalidScenario(issues);
  return { app, config: loaded.config, scenario };
}

/** Checks the files of a command. @throws SimError CONFIG_INVALID */
export function checkScenarios(command: ScenarioCommand, { print, env }: CommandOutput): void {
  for (const file of command.files) {
    const { scenario } = prepare(file, command, env);
    const { steps, rules, finally: last } = scenario;
    print(`${file}: ${scenario.name} is valid: ${steps.length + last.length} steps, ${rules.length} rules`);
  }
}

interface Finished {
  readonly report: RunReport;
  readonly origin: ReportOrigin;
}

async function runOne(file: string, command: ScenarioCommand, output: CommandOutput): Promise<Finished> {
  const { app, config, scenario } = prepare(file, command, output.env);
  const { lines } = await app.start();
  if (!command.isQuiet && command.pace === 'real')
    output.print(['derbench is ready', ...lines.map((line) => `  ${line}`)].join('\n'));
  try {
    const pace = command.pace ?? 'fast';
    const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace, by: { source: 'default' } });
    const endInterrupt = output.onInterrupt(() => {
      run.stop();
    });
    const endProgress = showProgress(run, output, command.isQuiet);
    const report = await run.finished;
    endProgress();
    endInterrupt();
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
    writeFileSync(json, `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`);
  if (junit !== null) writeFileSync(junit, junitXml(finished.map(({ report }) => report)));
  const [first] = finished;
  if (html !== null && first) writeFileSync(html, htmlPage(first.report, first.origin));
}
