/** Scenarios on the command line: each has its own simulator, run and results. */
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { failingPeers, writeFindings } from '../finding-reports.ts';
import type { EndedFindings } from '../finding-reports.ts';
import { createApp } from '../build.ts';
import { refusalOf, unwritable } from '../result-files.ts';
import type { App } from '../start-stop.ts';
import { bundledScenarioNames, bundledScenarioPath } from '../../config/profile/bundled.ts';
import type { Recorder } from '../../contract/recorder.ts';
import type { RunReport } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Origin } from '../../core/origin.ts';
import { callLater } from '../../core/time/timers.ts';
import type { ScenarioCommand } from '../../scenario/command.ts';
import { sourceOfFile } from '../../scenario/file/source.ts';
import type { Scenario } from '../../scenario/model.ts';
import { reportDocument } from '../../scenario/report/document.ts';
import type { ReportOrigin } from '../../scenario/report/document.ts';
import { htmlPage } from '../../scenario/report/html.ts';
import { junitXml } from '../../scenario/report/junit.ts';
import { progressLine, reportLines } from '../../scenario/report/text.ts';
import { ScenarioRun } from '../../scenario/run/run.ts';
import { prepare } from './simulator.ts';
import type { Prepared } from './simulator.ts';

/** Where a command prints. */
export interface CommandOutput {
  readonly print: (line: string) => void;
  /** Shows a line in place of the one shown before; null: there is no terminal */
  readonly show: ((line: string) => void) | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls `listener` at each signal that ends a run; the returned function removes the listener. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

const progressMs = 200;
/** Origin of the run and of the recording that the command line starts. */
const commandOrigin: Origin = { source: 'default' };

/** The file of a path, or of the name of a bundled scenario. @throws SimError CONFIG_INVALID for an unknown name */
function fileOf(pathOrName: string): string {
  if (existsSync(pathOrName)) return pathOrName;
  const bundled = bundledScenarioPath(pathOrName);
  // a word without folder and extension is meant as a name
  if (bundled !== undefined || basename(pathOrName, extname(pathOrName)) !== pathOrName) return bundled ?? pathOrName;
  const near = didYouMean(pathOrName, bundledScenarioNames);
  const detail = `is neither a file nor a bundled scenario${near}; bundled: ${bundledScenarioNames.join(', ')}`;
  throw new SimError('CONFIG_INVALID', 'The scenario is not valid, 1 issue:', [{ name: pathOrName, detail }]);
}

/** A simulator for a file of the command line. @throws SimError CONFIG_INVALID */
function prepareFile(pathOrName: string, command: ScenarioCommand, env: CommandOutput['env']): Prepared<App> {
  const file = fileOf(pathOrName);
  const order = {
    ...command,
    env,
    source: sourceOfFile(file),
    name: basename(file, extname(file)),
    label: basename(file),
    directory: dirname(resolve(file)),
  };
  return prepare(order, createApp);
}

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Issues of one of several files, with the path of the command line. */
function issuesOf(file: string, { message, issues }: SimError): readonly Issue[] {
  const label = basename(file);
  if (issues.length === 0) return [{ name: file, detail: message }];
  return issues.map((issue) => ({
    ...issue,
    name: issue.name.startsWith(label) ? file + issue.name.slice(label.length) : `${file}: ${issue.name}`,
  }));
}

/**
 * Checks every file of a command, and reports all issues at once.
 * @param onValid called with each valid file
 * @throws SimError CONFIG_INVALID
 */
function checkEach(
  command: ScenarioCommand,
  env: CommandOutput['env'],
  onValid: (file: string, scenario: Scenario) => void,
) {
  const { files } = command;
  const refused: { readonly file: string; readonly error: SimError }[] = [];
  for (const file of files) {
    try {
      onValid(file, prepareFile(file, command, env).scenario);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID' || files.length === 1) throw error;
      refused.push({ file, error });
    }
  }
  if (refused.length > 0)
    throw new SimError(
      'CONFIG_INVALID',
      `${refused.length} of ${countText(files.length, 'scenario')} ${refused.length === 1 ? 'is' : 'are'} not valid:`,
      refused.flatMap(({ file, error }) => issuesOf(file, error)),
    );
}

/** Checks the files of a command. @throws SimError CONFIG_INVALID */
export function checkScenarios(command: ScenarioCommand, { print, env }: CommandOutput): void {
  const { json, junit, html, record } = command;
  const resultPaths = Object.entries({ '--json': json, '--junit': junit, '--html': html, '--record': record });
  const issues = resultPaths.flatMap(([name, path]) =>
    path === null ? [] : { name, detail: 'is for derbench run; check has no results' },
  );
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', 'The command line is not valid:', issues);
  checkEach(command, env, (file, { name, steps, rules, finally: last }) => {
    const counts = [countText(steps.length + last.length, 'step'), countText(rules.length, 'rule')];
    print(`${file}: ${name} is valid: ${counts.join(', ')}`);
  });
}

interface Finished {
  readonly report: RunReport;
  readonly origin: ReportOrigin;
  /** a signal ended the run */
  readonly isInterrupted: boolean;
  /** issue of a recording that could not be written; null: none */
  readonly refusal: Issue | null;
  /** null: the settings ask for nothing about them */
  readonly findings: EndedFindings | null;
}

const failuresOfPeers = ({ findings }: Finished) => (findings === null ? [] : failingPeers(findings));

async function runOne(file: string, command: ScenarioCommand, output: CommandOutput): Promise<Finished> {
  const { app, config, scenario, whenStopped } = prepareFile(file, command, output.env);
  if (command.record !== null) app.recorder.set({ enabled: true }, commandOrigin);
  const { lines } = await app.start();
  if (!command.isQuiet && command.pace === 'real')
    output.print(['derbench is ready', ...lines.map((line) => `  ${line}`)].join('\n'));
  try {
    const pace = command.pace ?? 'fast';
    const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace, by: commandOrigin });
    let isInterrupted = false;
    whenStopped(() => {
      run.stop();
    });
    const endInterrupt = output.onInterrupt(() => {
      isInterrupted = true;
      run.stop();
    });
    const endProgress = showProgress(run, output, command.isQuiet);
    const report = await run.finished;
    endProgress();
    endInterrupt();
    const findings = await app.endedFindings(scenario.name);
    const refusal = command.record === null ? null : await writeRecording(app.recorder, command.record);
    const { version, buildId } = app;
    return { report, origin: { version, buildId, seed: config.seed }, isInterrupted, refusal, findings };
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
 * @returns true if all have passed
 * @throws SimError CONFIG_INVALID before the first run, or for results that cannot be written; LISTEN_FAILED after the
 *   results of earlier runs are written
 */
export async function runScenarios(command: ScenarioCommand, output: CommandOutput): Promise<boolean> {
  checkResultFiles(command);
  // an invalid file must not be found only after hours of earlier runs
  if (command.files.length > 1) checkEach(command, output.env, () => undefined);
  const finished: Finished[] = [];
  try {
    for (const file of command.files) {
      const result = await runOne(file, command, output);
      finished.push(result);
      for (const line of [...reportLines(result.report), ...failuresOfPeers(result)]) output.print(line);
      if (result.isInterrupted) break;
    }
  } finally {
    writeResults(command, finished);
  }
  const left = command.files.slice(finished.length);
  if (left.length > 0) output.print(`not run: ${left.join(', ')}`);
  const hasPassed = (run: Finished) => run.report.state === 'passed' && failuresOfPeers(run).length === 0;
  if (command.files.length > 1) output.print(sumLine(command.files.length, finished, hasPassed));
  return left.length === 0 && finished.every(hasPassed);
}

/** `20 of 20 scenarios passed (1,027 assertions)`. */
function sumLine(count: number, finished: readonly Finished[], hasPassed: (run: Finished) => boolean): string {
  const sum = (of: (report: RunReport) => number) => finished.reduce((total, { report }) => total + of(report), 0);
  const [passed, all] = [sum((report) => report.assertionsPassed), sum((report) => report.assertionsInAll)];
  const assertions = [...new Set([passed, all])].map((number) => number.toLocaleString('en-US')).join(' of ');
  return `${finished.filter(hasPassed).length} of ${count} scenarios passed (${assertions} assertions)`;
}

function writeResults({ junit, json, html }: ScenarioCommand, finished: readonly Finished[]): void {
  const [first] = finished;
  if (first === undefined) return;
  const documents = finished.map(({ report, origin }) => reportDocument(report, origin));
  const results: readonly (readonly [flag: string, path: string | null, content: () => string])[] = [
    ['--json', json, () => `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`],
    ['--junit', junit, () => junitXml(finished.map(({ report }) => report))],
    ['--html', html, () => htmlPage(first.report, first.origin)],
  ];
  // a result that cannot be written does not prevent the others
  const refusals = [
    ...finished.flatMap(({ refusal }) => refusal ?? []),
    ...writeFindings(finished.flatMap(({ findings }) => findings ?? [])),
    ...results.flatMap(([flag, path, content]) =>
      path === null ? [] : (refusalOf(flag, path, () => writeParts(path, [content()])) ?? []),
    ),
  ];
  if (refusals.length > 0) throw new SimError('CONFIG_INVALID', 'A result cannot be written:', refusals);
}

/** @returns the issue of a recording that cannot be written; null: it was written */
async function writeRecording(recorder: Recorder, path: string): Promise<Issue | null> {
  const isCapture = extname(path).toLowerCase() === '.pcap';
  const parts = await (isCapture ? recorder.packets() : recorder.lines());
  return refusalOf('--record', path, () => writeParts(path, parts));
}

function writeParts(path: string, parts: Iterable<string | Buffer>): void {
  const file = openSync(path, 'w');
  try {
    for (const part of parts) writeFileSync(file, part);
  } finally {
    closeSync(file);
  }
}

/** Refuses files for results that could not be written, before anything runs. @throws SimError CONFIG_INVALID */
function checkResultFiles({ files, junit, json, html, record }: ScenarioCommand): void {
  const taken = new Map(files.map((file) => [resolve(file), 'is a scenario of this command']));
  const issues: Issue[] = [];
  for (const [flag, path] of Object.entries({ '--json': json, '--junit': junit, '--html': html, '--record': record })) {
    if (path === null) continue;
    const use = taken.get(resolve(path));
    if (use !== undefined) issues.push({ name: flag, detail: `${path} ${use}` });
    taken.set(resolve(path), `is already the file of ${flag}`);
    const refusal = unwritable(flag, path);
    if (refusal !== null) issues.push(refusal);
  }
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', 'The command line is not valid:', issues);
}
