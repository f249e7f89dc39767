/** Reads a scenario: includes files, resolves parameters and loops, and checks everything before the run. */
import type { z } from 'zod';
import type { Issue } from '../../core/errors.ts';
import { SimError } from '../../core/errors.ts';
import { didYouMean, givenText } from '../../core/nearest.ts';
import { factsOf, issueWords, withInput } from '../../core/zod-issues.ts';
import type { SchemaFacts } from '../../core/zod-issues.ts';
import type { Rule, Scenario, ScenarioRequest, Step } from '../model.ts';
import { placeText } from '../model.ts';
import { actionsOf, expectationOf, signalOf, stepOf, triggerOf } from './build.ts';
import type { Here, PlannedRequest } from './build.ts';
import { FilledBytes, ParameterError, withParameters } from './parameters.ts';
import type { Parameters } from './parameters.ts';
import {
  headSchema,
  includedSchema,
  includeSchema,
  maxParameters,
  repeatSchema,
  ruleSchema,
  stepSchema,
} from './schema.ts';
import type { RawStep } from './schema.ts';
import { invalidScenario } from './source.ts';
import type { Source } from './source.ts';
import { checkWhole } from './whole.ts';
import type { RequestCheck } from './whole.ts';

/** Maximum of steps, with those of loops and included files counted each time. */
export const maxSteps = 10_000;
/** Maximum of actions and assertions of all steps. */
const maxParts = 30_000;
/** Maximum of includes, with those of included files and loops counted each time. */
const maxIncludes = 10_000;
const maxRules = 1000;
const maxIssues = 50;
const defaultTimeoutS = 30 * 86_400;

/** Members of a scenario that are not in `headSchema`. */
const otherMembers = ['config', 'steps', 'rules', 'finally', '$schema'] as const;

/** Names of the parts of a step, rule or scenario, by their member. */
const parts: Readonly<Record<string, string>> = {
  expect: 'an assertion',
  always: 'an assertion',
  when: 'a condition',
  all: 'a condition',
  any: 'a condition',
  call: 'a call',
  message: 'a message',
  messages: 'a number of messages',
  sequence: 'a sequence',
  write: 'a write',
  plots: 'a signal',
};

/** Name of the innermost part on a path. */
function partName(path: readonly PropertyKey[]): string | undefined {
  return path.flatMap((step) => (Object.hasOwn(parts, step) ? (parts[String(step)] ?? []) : [])).at(-1);
}

/** Operations that would interfere with the run itself. */
const reserved: readonly { readonly form: RegExp; readonly words: string }[] = [
  {
    form: /^\/controls\/time(\/|$)/,
    words: 'the scenario has the clock: pass time with `after`, `time` or `cron`, and set time_rate in `config`',
  },
  {
    form: /^\/(scenario-runs(\/.*)?|scenarios\/[^/]+(\/st(art|op))?)$/,
    words: 'a scenario cannot start, stop or delete scenarios',
  },
  { form: /^\/state\/restore$/, words: 'a scenario cannot restore a state: it would end with the simulator' },
  { form: /^\/config$/, words: 'a scenario cannot load another lab: it would end with the simulator' },
];

/** A path without the prefix of the interface and slashes at its end, neither of which changes the operation. */
const barePath = (path: string): string => path.replace(/^\/api\/sim(?=\/)/, '').replace(/(?<=.)\/+$/, '');

/** Why a scenario must not make a request, whatever its body; null: it may. */
export function reservation({ method, path }: Pick<ScenarioRequest, 'method' | 'path'>): string | null {
  if (method === 'GET') return null;
  return reserved.find(({ form }) => form.test(barePath(path)))?.words ?? null;
}

/** Yielded after a part of the work, when other work may run. */
type Turn = undefined;

/** Reads lists of steps and expands them. */
class Reader {
  readonly #check: RequestCheck;
  readonly #filledBytes = new FilledBytes();
  /** issues by place and text: an include in a loop reports its issues once */
  readonly #issues = new Map<string, Issue>();
  #issuesNotKept = 0;
  #issueCount = 0;
  #steps = 0;
  #parts = 0;
  #includes = 0;

  constructor(check: RequestCheck) {
    this.#check = check;
  }

  get filledBytes(): number {
    return this.#filledBytes.used;
  }

  get issues(): readonly Issue[] {
    const more = this.#issuesNotKept;
    const kept = [...this.#issues.values()];
    return more === 0 ? kept : [...kept, { name: 'and more', detail: `${more} further issues are not listed` }];
  }

  note(issue: Issue): void {
    this.#issueCount += 1;
    const key = JSON.stringify([issue.name, issue.detail]);
    if (this.#issues.has(key)) return;
    if (this.#issues.size < maxIssues) this.#issues.set(key, issue);
    else this.#issuesNotKept += 1;
  }

  /** Notes the first excess over a limit. @returns true if the limit is exceeded */
  #exceeds(count: number, before: number, limit: number, here: Here, noun: string): boolean {
    if (count > limit && before <= limit) here.issue([], `a scenario has at most ${limit} ${noun}`);
    return count > limit;
  }

  here(source: Source, base: readonly PropertyKey[]): Here {
    const place = (path: readonly PropertyKey[]) => source.place([...base, ...path]);
    return {
      place,
      issue: (path, detail) => {
        this.note({ name: placeText(place(path)), detail });
      },
    };
  }

  /**
   * The value parsed by a schema; null after an issue.
   * @param whole name of the value in issues: `a step`
   * @param more further members, for hints
   */
  parsed<S extends z.ZodType>(
    schema: S,
    value: unknown,
    here: Here,
    whole: string,
    more: readonly string[] = [],
  ): z.output<S> | null {
    const result = schema.safeParse(value, withInput);
    if (result.success) return result.data;
    const schemaFacts = factsOf(schema);
    const facts: SchemaFacts = {
      ranges: (path) => schemaFacts.ranges(path),
      members: (path) => [...(schemaFacts.members(path) ?? []), ...(path.length === 0 ? more : [])],
    };
    for (const issue of result.error.issues)
      for (const { path, detail } of issueWords(issue, `a member of ${partName(issue.path) ?? whole}`, facts))
        here.issue(path, detail);
    return null;
  }

  /** The value with parameters substituted. undefined: a `${...}` has no value, or the scenario is too large. */
  filled(value: unknown, parameters: Parameters, here: Here): unknown {
    // only the first excess is an issue
    if (this.#filledBytes.exceeded) return undefined;
    try {
      return withParameters(value, parameters, this.#filledBytes);
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      here.issue(error.path, error.message);
      return undefined;
    }
  }

  /** @param list the value at `base` of the source */
  *steps(list: unknown, source: Source, base: readonly PropertyKey[], parameters: Parameters): Generator<Turn, Step[]> {
    const here = this.here(source, base);
    if (!Array.isArray(list)) {
      here.issue([], 'must be a list of steps');
      return [];
    }
    if (list.length === 0) here.issue([], 'must have at least 1 step');
    const steps: Step[] = [];
    for (const [n, entry] of (list as unknown[]).entries()) {
      yield;
      for (const step of yield* this.#entry(entry, source, [...base, n], parameters)) steps.push(step);
    }
    return steps;
  }

  *#entry(
    entry: unknown,
    source: Source,
    base: readonly PropertyKey[],
    parameters: Parameters,
  ): Generator<Turn, readonly Step[]> {
    if (typeof entry === 'object' && entry !== null) {
      if ('repeat' in entry) return yield* this.#repeated(entry, source, base, parameters);
      if ('include' in entry) return yield* this.#included(entry, source, base, parameters);
    }
    return this.#step(entry, source, base, parameters);
  }

  #step(entry: unknown, source: Source, base: readonly PropertyKey[], parameters: Parameters): readonly Step[] {
    const here = this.here(source, base);
    this.#steps += 1;
    if (this.#steps > maxSteps) {
      if (this.#steps === maxSteps + 1)
        here.issue([], `is step ${maxSteps + 1}; a scenario has at most ${maxSteps} steps`);
      return [];
    }
    const filled = this.filled(entry, parameters, here);
    if (filled === undefined) return [];
    const raw = this.parsed(stepSchema(), filled, here, 'a step') as RawStep | null;
    if (raw === null) return [];
    // in the order of the file, which the schema does not keep
    const inOrder = { ...Object.fromEntries(Object.keys(filled as object).map((key) => [key, raw[key]])) } as RawStep;
    const actions = actionsOf(inOrder, here);
    const step = stepOf(raw, actions, here);
    const before = this.#parts;
    this.#parts += actions.length + step.expectations.length;
    if (this.#exceeds(this.#parts, before, maxParts, here, 'actions and assertions')) return [];
    for (const action of actions) this.#checkRequest(action, here);
    return [step];
  }

  #checkRequest({ request, keyOf, status }: PlannedRequest, here: Here): void {
    const reservedWords = reservation(request);
    if (reservedWords !== null) {
      here.issue(keyOf([]), reservedWords);
      return;
    }
    // a refusal is expected
    if (status !== null && status >= 400) return;
    const refusal = this.#check(request);
    if (refusal === null) return;
    const { errors = [], detail } = refusal;
    if (errors.length === 0) here.issue(keyOf([]), detail);
    for (const error of errors) {
      const pointer = error.name
        .split('/')
        .slice(1)
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
      const prefix = error.in === 'body' ? '' : `${error.in} ${error.name}: `;
      here.issue(error.in === 'body' ? keyOf(pointer) : keyOf([]), prefix + error.detail);
    }
  }

  *#repeated(
    entry: object,
    source: Source,
    base: readonly PropertyKey[],
    parameters: Parameters,
  ): Generator<Turn, readonly Step[]> {
    const here = this.here(source, base);
    const { steps, ...head } = entry as { readonly steps?: unknown };
    const filled = this.filled(head, parameters, here);
    if (filled === undefined) return [];
    const raw = this.parsed(repeatSchema(), { ...(filled as object), steps }, here, 'a loop');
    if (raw === null) return [];
    const [[name, values] = ['', []]] =
      typeof raw.repeat === 'number'
        ? [['round', Array.from({ length: raw.repeat }, (_, n) => n + 1)] as const]
        : Object.entries(raw.repeat);
    const repeatedSteps: Step[] = [];
    const issuesBefore = this.#issueCount;
    for (const value of values) {
      // the first faulty round ends the loop, so that its issues are not repeated
      if (this.#issueCount > issuesBefore || this.#steps > maxSteps || this.#parts > maxParts) break;
      const inRound = { ...parameters, [name]: value };
      for (const step of yield* this.steps(raw.steps, source, [...base, 'steps'], inRound)) repeatedSteps.push(step);
    }
    return repeatedSteps;
  }

  *#included(
    entry: object,
    source: Source,
    base: readonly PropertyKey[],
    parameters: Parameters,
  ): Generator<Turn, readonly Step[]> {
    const here = this.here(source, base);
    const filled = this.filled(entry, parameters, here);
    if (filled === undefined) return [];
    const raw = this.parsed(includeSchema(), filled, here, 'an include');
    if (raw === null) return [];
    this.#includes += 1;
    if (this.#exceeds(this.#includes, this.#includes - 1, maxIncludes, here, 'includes')) return [];
    try {
      const file = source.include(raw.include, [...base, 'include']);
      const inner = this.parsed(includedSchema(), file.value, this.here(file, []), 'an included file');
      if (inner === null) return [];
      const names = Object.keys(inner.parameters ?? {});
      for (const name of Object.keys(raw.with ?? {}))
        if (!names.includes(name))
          here.issue(['with', name], `${raw.include} has no parameter of this name${didYouMean(name, names)}`);
      return yield* this.steps(inner.steps, file, ['steps'], { ...parameters, ...inner.parameters, ...raw.with });
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      error.issues.forEach((issue) => {
        this.note(issue);
      });
      return [];
    }
  }

  *rules(list: unknown, source: Source, parameters: Parameters): Generator<Turn, Rule[]> {
    if (list === undefined) return [];
    if (!Array.isArray(list)) {
      this.here(source, ['rules']).issue([], 'must be a list of rules');
      return [];
    }
    if (list.length > maxRules) {
      this.here(source, ['rules']).issue([], `a scenario has at most ${maxRules} rules`);
      return [];
    }
    const rules: Rule[] = [];
    for (const [n, entry] of (list as unknown[]).entries()) {
      yield;
      rules.push(...(yield* this.#rule(entry, source, ['rules', n], parameters)));
    }
    return rules;
  }

  *#rule(
    entry: unknown,
    source: Source,
    base: readonly PropertyKey[],
    parameters: Parameters,
  ): Generator<Turn, Rule[]> {
    const here = this.here(source, base);
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      here.issue([], `must be an object; given ${givenText(entry)}`);
      return [];
    }
    const { steps, ...head } = entry as { readonly steps?: unknown };
    const filled = this.filled(head, parameters, here);
    if (filled === undefined) return [];
    const raw = this.parsed(ruleSchema(), { ...(filled as object), steps }, here, 'a rule');
    if (raw === null) return [];
    const { every } = raw;
    for (const name of ['timeout', 'real_timeout'] as const)
      if (raw.when?.[name] !== undefined)
        here.issue(['when', name], 'is for steps only: a rule waits until the end of the scenario');
    const trigger = every === undefined ? triggerOf(raw, 0, here) : { kind: 'every' as const, s: every };
    if (trigger.kind !== 'every' && trigger.kind !== 'cron' && trigger.kind !== 'when') return [];
    const inner = yield* this.steps(raw.steps, source, [...base, 'steps'], parameters);
    for (const step of inner) {
      if (step.trigger.kind === 'at')
        this.note({
          name: placeText(step.place),
          detail: '`at` counts from the start of the scenario; use `after` in a rule',
        });
    }
    return [{ place: here.place([]), name: raw.name ?? `rule ${(base.at(-1) as number) + 1}`, trigger, steps: inner }];
  }
}

interface Loose extends Readonly<Record<string, unknown>> {
  readonly steps?: unknown;
  readonly rules?: unknown;
  readonly finally?: unknown;
}

/** Details of issues of parameters that the scenario does not declare. */
function unknownParameters(source: Source, callerParameters: Parameters): readonly string[] {
  const names = new Set(Object.keys(source.value['parameters'] ?? {}));
  return Object.keys(callerParameters)
    .filter((key) => !names.has(key))
    .slice(0, maxIssues)
    .map((key) => `has no parameter named "${key}"${didYouMean(key, [...names])}`);
}

/** The parameters in force; an unknown one is an issue. @throws SimError CONFIG_INVALID for too many */
function parametersOf(source: Source, callerParameters: Parameters, here: Here): Parameters {
  const defaults = (source.value['parameters'] ?? {}) as Parameters;
  for (const parameters of [defaults, callerParameters])
    if (Object.keys(parameters).length > maxParameters)
      throw invalidScenario([
        { name: placeText(source.place(['parameters'])), detail: `has at most ${maxParameters} parameters` },
      ]);
  for (const detail of unknownParameters(source, callerParameters)) here.issue(['parameters'], detail);
  return { ...defaults, ...callerParameters };
}

/**
 * Reads the scenario of a source; yields before each step and rule, when other work may run.
 * @param name for a scenario without a name
 * @param callerParameters parameters that override those of the file
 * @param more finds additional issues; null: other work may run
 * @throws SimError CONFIG_INVALID with every issue and its place
 */
export function* readingScenario(
  source: Source,
  name: string,
  callerParameters: Parameters,
  check: RequestCheck,
  more: (scenario: Scenario) => Iterable<Issue | null> = () => [],
): Generator<undefined, Scenario> {
  const reader = new Reader(check);
  const value: Loose = source.value;
  const here = reader.here(source, []);
  const parameters = parametersOf(source, callerParameters, here);
  const others: readonly string[] = otherMembers;
  const headMembers = Object.fromEntries(Object.entries(value).filter(([key]) => !others.includes(key)));
  const filled = reader.filled(headMembers, parameters, here);
  const head = filled === undefined ? null : reader.parsed(headSchema(), filled, here, 'a scenario', otherMembers);
  const always = (head?.always ?? []).map((raw, n) => expectationOf(raw, null, reader.here(source, ['always', n]), []));
  const plots = (head?.plots ?? []).map((raw, n) => {
    const plot = reader.here(source, ['plots', n]);
    return { place: plot.place([]), signal: signalOf(raw, plot) };
  });
  const scenario: Scenario = {
    name: head?.name ?? name,
    description: head?.description ?? '',
    parameters,
    steps: yield* reader.steps(value.steps, source, ['steps'], parameters),
    rules: yield* reader.rules(value.rules, source, parameters),
    always: always.filter((expectation) => expectation !== null),
    finally: value.finally === undefined ? [] : yield* reader.steps(value.finally, source, ['finally'], parameters),
    plots: plots.flatMap(({ place, signal }) => (signal === null ? [] : { place, signal })),
    durationS: head?.duration ?? 0,
    timeoutS: head?.timeout ?? defaultTimeoutS,
    onFailure: head?.on_failure ?? 'continue',
    filledBytes: reader.filledBytes,
  };
  for (const issues of [checkWhole(scenario, check), more(scenario)])
    for (const issue of issues)
      if (issue === null) yield;
      else reader.note(issue);
  if (reader.issues.length > 0) throw invalidScenario(reader.issues);
  return scenario;
}

/** Reads a scenario at once, as {@link readingScenario} does. */
export function readScenario(
  source: Source,
  name: string,
  callerParameters: Parameters,
  check: RequestCheck,
  more?: (scenario: Scenario) => Iterable<Issue | null>,
): Scenario {
  const reading = readingScenario(source, name, callerParameters, check, more);
  for (;;) {
    const turn = reading.next();
    if (turn.done === true) return turn.value;
  }
}

/**
 * The configuration of a scenario with parameters substituted: a mapping, or the name of a file or bundled example;
 * null: none.
 * @param callerParameters parameters that override those of the file
 * @throws SimError CONFIG_INVALID
 */
export function configOfScenario(
  source: Source,
  callerParameters: Parameters,
): string | Readonly<Record<string, unknown>> | null {
  const { config, parameters = {} } = source.value;
  if (config === undefined) return null;
  const refuse = (path: readonly PropertyKey[], detail: string) =>
    invalidScenario([{ name: placeText(source.place(['config', ...path])), detail }]);
  try {
    const filled = withParameters(config, { ...(parameters as Parameters), ...callerParameters });
    if (typeof filled === 'string' && filled !== '') return filled;
    if (typeof filled === 'object' && filled !== null && !Array.isArray(filled))
      return filled as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw refuse(error.path, error.message);
  }
  throw refuse([], 'must be a mapping of settings, or the name of a configuration');
}
