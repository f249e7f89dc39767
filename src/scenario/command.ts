/** The command lines `derbench run FILE` and `derbench check FILE`. */
import type { Issue } from '../core/errors.ts';
import { SimError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { runPaces } from '../contract/scenarios.ts';
import type { RunPace } from '../contract/scenarios.ts';
import { nameForm } from './file/parameters.ts';
import type { Parameters } from './file/parameters.ts';

/** A parsed command line. */
export interface ScenarioCommand {
  readonly files: readonly string[];
  readonly pace: RunPace | null;
  readonly parameters: Parameters;
  /** files for results; null: none */
  readonly junit: string | null;
  readonly json: string | null;
  readonly html: string | null;
  /** file for a recording of all messages; null: none */
  readonly record: string | null;
  readonly isQuiet: boolean;
  /** true: free ports replace the default ones */
  readonly usesFreePorts: boolean;
  /** flags of the simulator */
  readonly flags: readonly string[];
}

export const commandHelp = `derbench run FILE [FILE ...] [options] [flags of the simulator]
derbench check FILE [FILE ...]

Runs scenarios one after the other, each on a new simulator, or only checks them. FILE may be the name of a bundled
scenario, such as volt-watt.
  --pace fast|real     fast: as fast as possible on a paused clock (default); real: at the rate of the clock
  --set NAME=VALUE     a parameter of the scenario; may be repeated
  --junit FILE         results as JUnit XML
  --json FILE          results as JSON; for several scenarios a list
  --html FILE          results as one page with plots; only for one scenario
  --record FILE        all messages of the run: .jsonl for derbench replay, .pcap for tshark; only for one scenario
  --quiet              print only failures and the last line
SIGINT, SIGTERM or SIGHUP end the run; its steps of finally are carried out, unless a second signal comes.
Ports not set by a flag or by the scenario are any free ports. Exit codes: 0 all passed, 2 the command line or a file
is not valid, 4 a step or an assertion failed; others as in derbench --help.`;

/** Flags of `derbench run`, apart from those of the simulator. */
export const runFlags: readonly string[] = ['--pace', '--set', '--junit', '--json', '--html', '--record', '--quiet'];

/** A text such as 0034 is not a number. */
const plainNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d{1,3})?$/i;

function valueOfText(text: string): string | number | boolean | null {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  return plainNumber.test(text) ? Number(text) : text;
}

/** Parses the words of a command line in order. */
class Words {
  readonly files: string[] = [];
  readonly flags: string[] = [];
  readonly values = new Map<string, string>();
  readonly parameters: Record<string, string | number | boolean | null> = {};
  readonly issues: Issue[] = [];
  #rest: readonly string[];

  constructor(words: readonly string[]) {
    this.#rest = words;
  }

  read(): this {
    while (this.#rest.length > 0) this.#next();
    return this;
  }

  #take(): string | undefined {
    const [word, ...rest] = this.#rest;
    this.#rest = rest;
    return word;
  }

  #next(): void {
    const word = this.#take() ?? '';
    if (!word.startsWith('-')) {
      this.files.push(word);
      return;
    }
    const [name = '', inline] = word.split(/=(.*)/s);
    const flag = name.startsWith('--') ? `--${name.slice(2).replaceAll('-', '_')}` : name;
    if (!runFlags.includes(flag)) {
      // a flag of the simulator and its value
      this.flags.push(word);
      const [following] = this.#rest;
      if (inline === undefined && following !== undefined && !/^-\D/.test(following))
        this.flags.push(this.#take() ?? '');
      return;
    }
    if (flag === '--quiet') this.#switch(flag, inline);
    else this.#value(flag, inline ?? this.#take());
  }

  #switch(flag: string, value: string | undefined): void {
    if (value !== undefined) this.issues.push({ name: flag, detail: `given ${JSON.stringify(value)}; takes no value` });
    else this.values.set(flag, 'yes');
  }

  #value(flag: string, value: string | undefined): void {
    if (value === undefined || value === '') this.issues.push({ name: flag, detail: 'has no value' });
    else if (flag === '--set') this.#parameter(value);
    else if (this.values.has(flag)) this.issues.push({ name: flag, detail: 'given twice; allowed: once' });
    else this.values.set(flag, value);
  }

  #parameter(text: string): void {
    const [name = '', value] = text.split(/=(.*)/s);
    if (value === undefined || !nameForm.test(name))
      this.issues.push({ name: '--set', detail: `given ${JSON.stringify(text)}; allowed: NAME=VALUE` });
    else if (Object.hasOwn(this.parameters, name))
      this.issues.push({ name: '--set', detail: `sets ${name} twice; allowed: once` });
    else this.parameters[name] = valueOfText(value);
  }
}

/**
 * Parses the words after `run` or `check`.
 * @throws SimError CONFIG_INVALID
 */
export function scenarioCommand(words: readonly string[]): ScenarioCommand {
  const { files, flags, values, parameters, issues } = new Words(words).read();
  const pace = values.get('--pace') ?? null;
  if (pace !== null && !(runPaces as readonly string[]).includes(pace))
    issues.push({
      name: '--pace',
      detail: `given "${pace}"; allowed: ${runPaces.join(', ')}${didYouMean(pace, runPaces)}`,
    });
  if (files.length === 0) issues.push({ name: 'FILE', detail: 'is missing: the scenario to run' });
  for (const flag of ['--html', '--record'])
    if (files.length > 1 && values.has(flag))
      issues.push({ name: flag, detail: 'is for one scenario; several are given' });
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', 'The command line is not valid:', issues);
  return {
    files,
    pace: pace as RunPace | null,
    parameters,
    junit: values.get('--junit') ?? null,
    json: values.get('--json') ?? null,
    html: values.get('--html') ?? null,
    record: values.get('--record') ?? null,
    isQuiet: values.has('--quiet'),
    usesFreePorts: true,
    flags,
  };
}

const scenarioFlag = /^--scenario(?:=(.*))?$/s;

/**
 * The command for the flag `--scenario FILE` of the simulator: it runs the scenario at the rate of the clock, with the
 * other flags.
 * @param scenarioVariable value of the environment variable DERBENCH_SCENARIO
 * @returns null without the flag and the variable, or without a file
 * @throws SimError CONFIG_INVALID if it is repeated
 */
export function flaggedScenario(
  words: readonly string[],
  scenarioVariable: string | undefined,
): ScenarioCommand | null {
  const at = words.findIndex((word) => scenarioFlag.test(word));
  if (words.filter((word) => scenarioFlag.test(word)).length > 1)
    throw new SimError('CONFIG_INVALID', 'The command line is not valid:', [
      { name: '--scenario', detail: 'given twice; allowed: once; derbench run accepts several files' },
    ]);
  const inline = at < 0 ? scenarioVariable : scenarioFlag.exec(words[at] ?? '')?.[1];
  const file = inline ?? words[at + 1];
  // the parser of flags refuses a missing value
  if (file === undefined || file === '' || (at < 0 && scenarioVariable === undefined)) return null;
  const flags = words.filter((_, n) => n !== at && (inline !== undefined || at < 0 || n !== at + 1));
  return {
    files: [file],
    flags,
    parameters: {},
    junit: null,
    json: null,
    html: null,
    record: null,
    isQuiet: false,
    pace: 'real',
    usesFreePorts: false,
  };
}
