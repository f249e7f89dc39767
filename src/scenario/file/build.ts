/** Builds the model from checked members of a file. */
import { parse as parseQuery } from 'node:querystring';
import { createTask, validateDetailed } from 'node-cron';
import { errorText } from '../../core/errors.ts';
import type {
  Place,
  Action,
  Condition,
  Comparison,
  Expectation,
  FindingSubject,
  Signal,
  ScenarioRequest,
  Step,
  Subject,
  Trigger,
  ValueTest,
  Window,
} from '../model.ts';
import type { RawCall, RawCondition, RawExpectation, RawSignal, RawStep, RawWhen } from './schema.ts';
import { shortForms } from './short-forms.ts';
import { conditionText, subjectText, windowText } from './words.ts';

/** Default simulated time for which a step waits for its condition. */
const defaultTimeoutS = 3600;

/** A step, rule or assertion as the subject of a message, with the places of its keys. */
export interface Here {
  place(path: readonly PropertyKey[]): Place;
  /** Notes an issue without ending the check. */
  issue(path: readonly PropertyKey[], detail: string): void;
}

/** Values of a step that apply to its signals. */
interface Defaults {
  readonly device: number;
}

type Given = Readonly<Record<string, unknown>>;

/** The only member of `names` that is present; others are issues. */
function onlyMember(given: Given, names: readonly string[], here: Here, path: readonly PropertyKey[]): string | null {
  const present = names.filter((name) => given[name] !== undefined);
  if (present.length === 1) return present[0] ?? null;
  const list = names.join(', ');
  here.issue(
    path,
    present.length === 0 ? `needs one of ${list}` : `has ${present.join(' and ')}; allowed: one of ${list}`,
  );
  return null;
}

/** A request from a path with query, and a body. */
export function requestOf(method: ScenarioRequest['method'], target: string, body?: unknown): ScenarioRequest {
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  const query = cut < 0 ? {} : { query: parseQuery(target.slice(cut + 1)) as Record<string, string> };
  return { method, path: path.startsWith('/') ? path : `/${path}`, ...query, ...(body !== undefined && { body }) };
}

const signalNames = ['point', 'snapshot', 'get'];
/** names of conditions that an event meets */
const eventNames = ['message', 'write', 'csip_event'];

function signal(raw: RawSignal, { device: stepDevice }: Defaults): Signal {
  const device = raw.device ?? stepDevice;
  if (raw.point !== undefined) return { kind: 'point', device, point: raw.point };
  if (raw.snapshot !== undefined) return { kind: 'snapshot', device, member: raw.snapshot };
  const request = requestOf('GET', raw.get ?? '');
  const withDevice =
    raw.device === undefined ? request : { ...request, query: { ...request.query, device: raw.device } };
  return { kind: 'answer', request: withDevice, pointer: raw.pointer ?? '' };
}

/** A separate signal, such as one to plot. */
export function signalOf(raw: RawSignal, here: Here): Signal | null {
  return onlyMember(raw, signalNames, here, []) === null ? null : signal(raw, { device: 0 });
}

const comparisonNames = ['equals', 'not', 'above', 'below', 'at_least', 'at_most', 'between'] as const;

/** True if no number lies within the bounds. */
function isNever({
  equals,
  above,
  below,
  at_least: atLeast,
  at_most: atMost,
  between,
  tolerance = 0,
}: RawCondition): boolean {
  const exact = typeof equals === 'number' ? [equals] : [];
  const low = Math.max(...[above, atLeast, between?.[0]].filter((bound) => bound !== undefined), ...exact);
  const high = Math.min(...[below, atMost, between?.[1]].filter((bound) => bound !== undefined), ...exact);
  if (low - tolerance > high + tolerance) return true;
  return tolerance === 0 && low === high && (low === above || high === below);
}

function comparison(raw: RawCondition, here: Here, path: readonly PropertyKey[]): Comparison {
  if (comparisonNames.every((name) => raw[name] === undefined))
    here.issue(path, `needs one of ${comparisonNames.join(', ')}`);
  const { between } = raw;
  if (between && between[0] > between[1]) here.issue([...path, 'between'], 'must have the lower bound first');
  else if (isNever(raw)) here.issue(path, 'no value can meet all of its comparisons');
  return {
    ...(raw.equals !== undefined && { equals: raw.equals }),
    ...(raw.not !== undefined && { not: raw.not }),
    ...(raw.above !== undefined && { above: raw.above }),
    ...(raw.below !== undefined && { below: raw.below }),
    ...(raw.at_least !== undefined && { atLeast: raw.at_least }),
    ...(raw.at_most !== undefined && { atMost: raw.at_most }),
    ...(between && { between }),
    ...(raw.tolerance !== undefined && { tolerance: raw.tolerance }),
  };
}

function valueTest(raw: RawCondition, defaults: Defaults, here: Here, path: readonly PropertyKey[]): ValueTest {
  return { signal: signal(raw, defaults), since: raw.since ?? null, comparison: comparison(raw, here, path) };
}

function leafCondition(
  raw: RawCondition,
  defaults: Defaults,
  here: Here,
  path: readonly PropertyKey[],
): Condition | null {
  const kind = onlyMember(raw, [...signalNames, ...eventNames], here, path);
  if (kind === null) return null;
  if (raw.message) {
    const { protocol, station = null, match = {} } = raw.message;
    return { kind: 'message', test: { protocol, station, match } };
  }
  if (raw.write) {
    const { point, model, device = null, source = null } = raw.write;
    const dot = point?.indexOf('.') ?? -1;
    const pointName = point === undefined ? null : point.slice(dot + 1);
    return { kind: 'write', test: { device, model: model ?? Number(point?.slice(0, dot)), point: pointName, source } };
  }
  if (raw.csip_event) {
    const { state, mrid = null, device = null, lfdi = null, program = null } = raw.csip_event;
    const test = { state, device, program, mrid: mrid?.toUpperCase() ?? null, lfdi: lfdi?.toUpperCase() ?? null };
    return { kind: 'csip_event', test };
  }
  return { kind: 'value', test: valueTest(raw, defaults, here, path), forS: raw.for ?? 0 };
}

/** The condition of a `when`. */
function conditionOf(raw: RawWhen, defaults: Defaults, here: Here, path: readonly PropertyKey[]): Condition | null {
  const kind = onlyMember(raw, [...signalNames, ...eventNames, 'all', 'any'], here, path);
  if (kind !== 'all' && kind !== 'any') return kind === null ? null : leafCondition(raw, defaults, here, path);
  const list = raw[kind] ?? [];
  const conditions = list.map((leaf, n) => leafCondition(leaf, defaults, here, [...path, kind, n]));
  return { kind, conditions: conditions.filter((condition) => condition !== null) };
}

function cronIssue(pattern: string): string | null {
  const { valid, errors } = validateDetailed(pattern);
  if (!valid) return `is not a cron pattern of 5 or 6 fields: ${errors.map(({ message }) => message).join('; ')}`;
  try {
    // rejects days that no month has
    createTask(pattern, () => undefined);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** The members of a step or rule that decide when it runs. */
interface RawTrigger {
  readonly at?: number | undefined;
  readonly after?: number | undefined;
  readonly time?: number | undefined;
  readonly cron?: string | undefined;
  readonly when?: RawWhen | undefined;
}

export function triggerOf(raw: RawTrigger, device: number, here: Here): Trigger {
  const triggers = (['at', 'after', 'time', 'cron', 'when'] as const).filter((name) => raw[name] !== undefined);
  if (triggers.length > 1) here.issue([], `has ${triggers.join(' and ')}; allowed: one of them`);
  if (raw.at !== undefined) return { kind: 'at', offsetS: raw.at };
  if (raw.after !== undefined) return { kind: 'after', delayS: raw.after };
  if (raw.time !== undefined) return { kind: 'time', ofDayS: raw.time };
  if (raw.cron !== undefined) {
    const issue = cronIssue(raw.cron);
    if (issue !== null) here.issue(['cron'], issue);
    return { kind: 'cron', pattern: raw.cron };
  }
  const condition = raw.when && conditionOf(raw.when, { device }, here, ['when']);
  if (!raw.when || !condition) return { kind: 'now' };
  return {
    kind: 'when',
    condition,
    timeoutS: raw.when.timeout ?? defaultTimeoutS,
    realTimeoutS: raw.when.real_timeout ?? null,
  };
}

function windowOf(raw: RawExpectation, here: Here, path: readonly PropertyKey[], isAlways: boolean): Window {
  if (raw.within !== undefined && (raw.for !== undefined || isAlways))
    here.issue([...path, 'within'], isAlways ? 'is not allowed in `always`' : 'cannot be given together with `for`');
  if (raw.after !== undefined && raw.for === undefined && !isAlways)
    here.issue([...path, 'after'], 'is allowed only together with `for`');
  if (isAlways) return { kind: 'for', afterS: raw.after ?? 0, s: Infinity };
  if (raw.within !== undefined) return { kind: 'within', s: raw.within };
  if (raw.for !== undefined) return { kind: 'for', afterS: raw.after ?? 0, s: raw.for };
  return { kind: 'now' };
}

const subjectNames = [
  ...signalNames,
  'messages',
  'sequence',
  'no_alarm',
  'nothing_left',
  'consistent',
  'answered',
  'no_findings',
  'finding',
  'exercised',
];

function messagesOf(raw: NonNullable<RawExpectation['messages']>, here: Here, path: readonly PropertyKey[]): Subject {
  const { protocol, station = null, match = {}, at_most: atMost = Infinity } = raw;
  if ((raw.at_least ?? 0) > atMost)
    here.issue([...path, 'messages', 'at_most'], 'is below at_least; no number of messages can be both');
  const atLeast = raw.at_least ?? (raw.at_most === undefined ? 1 : 0);
  return { kind: 'messages', tests: [{ protocol, station, match }], count: { atLeast, atMost } };
}

function findingSubjectOf({ no_findings: none, finding, exercised }: RawExpectation): FindingSubject | null {
  if (none) {
    const { severity = 'violation', protocol = null, except = [] } = none === true ? {} : none;
    return { kind: 'no_findings', severity, protocol, except };
  }
  if (finding) return { kind: 'finding', rule: finding.rule, atLeast: finding.at_least ?? 1 };
  return exercised ? { kind: 'exercised', rules: exercised } : null;
}

function subjectOf(raw: RawExpectation, defaults: Defaults, here: Here, path: readonly PropertyKey[]): Subject | null {
  const kind = onlyMember(raw, subjectNames, here, path);
  if (kind === null) return null;
  if (raw.messages) return messagesOf(raw.messages, here, path);
  if (raw.sequence) {
    const { protocol, station = null, messages } = raw.sequence;
    return { kind: 'messages', tests: messages.map((match) => ({ protocol, station, match })), count: null };
  }
  if (raw.no_alarm || raw.nothing_left) {
    const scope = raw.no_alarm ?? raw.nothing_left;
    const { device, except = [] } = scope === true || scope === undefined ? {} : scope;
    return { kind: raw.no_alarm ? 'no_alarm' : 'nothing_left', device: device ?? null, except };
  }
  if (raw.consistent)
    return { kind: 'consistent', device: raw.consistent === true ? null : (raw.consistent.device ?? null) };
  if (raw.answered) {
    const { device, protocol, except = [] } = raw.answered === true ? {} : raw.answered;
    return { kind: 'answered', device: device ?? null, protocol: protocol ?? null, except };
  }
  return findingSubjectOf(raw) ?? { kind: 'value', test: valueTest(raw, defaults, here, path) };
}

/** @param step the step of the assertion; null: an assertion of `always` */
export function expectationOf(
  raw: RawExpectation,
  step: RawStep | null,
  here: Here,
  path: readonly PropertyKey[],
): Expectation | null {
  const window = windowOf(raw, here, path, step === null);
  const subject = subjectOf(raw, { device: step?.device ?? 0 }, here, path);
  if (subject === null) return null;
  // in a long report `it stays connected` alone does not identify the test
  const joined = (...names: readonly (string | undefined)[]) => names.filter((name) => name !== undefined).join(': ');
  const title = joined(step?.name, raw.name);
  return {
    place: here.place(path),
    name: joined(step?.name, raw.name ?? subjectText(subject) + windowText(window)),
    title: title === '' ? null : title,
    subject,
    window,
  };
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

/** A request; `keyOf` maps pointers into its body to keys of the file. */
export interface PlannedRequest extends Action {
  readonly keyOf: (pointer: readonly string[]) => readonly PropertyKey[];
}

function callAction(raw: RawCall, here: Here, path: readonly PropertyKey[]): PlannedRequest {
  const [method = '', target = ''] = raw.request.split(' ');
  if (method !== 'POST' && method !== 'PATCH' && raw.body !== undefined)
    here.issue([...path, 'body'], `is for POST and PATCH only; this is ${method}`);
  const request = requestOf(method as ScenarioRequest['method'], target, raw.body);
  return {
    place: here.place(path),
    name: `${request.method} ${request.path}`,
    request,
    status: raw.status ?? null,
    keyOf: (pointer) => (pointer.length === 0 ? path : [...path, 'body', ...pointer]),
  };
}

/** The requests of a step in the order of its members. */
export function actionsOf(raw: RawStep, here: Here): readonly PlannedRequest[] {
  const { device, connector = 1 } = raw;
  return Object.entries(raw).flatMap(([key, value]): PlannedRequest[] => {
    if (key === 'call') {
      const calls = listOf(raw.call);
      return calls.map((call, n) => callAction(call, here, Array.isArray(raw.call) ? ['call', n] : ['call']));
    }
    const form = Object.hasOwn(shortForms, key) ? shortForms[key] : undefined;
    if (form === undefined || value === undefined) return [];
    const requests = form.requests(value, { device, connector });
    if (requests === null) here.issue([key], `must be ${form.expects ?? 'another value'}`);
    return (requests ?? []).map((request) => ({
      place: here.place([key]),
      name: `${request.method} ${request.path}`,
      request,
      status: null,
      keyOf: (pointer) => [key, ...(form.keyOf?.(pointer) ?? pointer)],
    }));
  });
}

function stepName(raw: RawStep, trigger: Trigger, actions: readonly Action[]): string {
  if (raw.name !== undefined) return raw.name;
  const wait = trigger.kind === 'when' ? [`when ${conditionText(trigger.condition)}`] : [];
  const done = actions.map(({ name }) => name);
  const words = [...wait, ...(done.length > 0 ? [done.join(', ')] : [])];
  if (words.length > 0) return words.join(': ');
  return raw.expect === undefined ? (raw.mark === undefined ? 'wait' : `mark ${raw.mark}`) : 'assertions';
}

/** Members of a step that only modify other members. `name` is not among them: alone it is a note in the report. */
const scopeNames = ['device', 'connector'];

/** @param actions from `actionsOf` */
export function stepOf(raw: RawStep, actions: readonly PlannedRequest[], here: Here): Step {
  const trigger = triggerOf(raw, raw.device ?? 0, here);
  if (raw.mark === 'start')
    here.issue(['mark'], '`start` is the mark of the start of the scenario; allowed: another name');
  if (Object.keys(raw).every((key) => scopeNames.includes(key)))
    here.issue([], 'does nothing: it needs a trigger, an action, expect, mark or name');
  const expectations = listOf(raw.expect).map((expectation, n) =>
    expectationOf(expectation, raw, here, Array.isArray(raw.expect) ? ['expect', n] : ['expect']),
  );
  return {
    place: here.place([]),
    name: stepName(raw, trigger, actions),
    title: raw.name ?? null,
    trigger,
    actions: actions.map(({ place, name, request, status }) => ({ place, name, request, status })),
    expectations: expectations.filter((expectation) => expectation !== null),
    mark: raw.mark ?? null,
  };
}
