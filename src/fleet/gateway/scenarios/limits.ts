/** Parts of a scenario that cannot be carried out over shards, each with its reason. */
import { defaultApiLimits } from '../../../api/http/context.ts';
import { createRequestReader } from '../../../api/http/perform.ts';
import { allRoutes } from '../../../api/routes.ts';
import type { Issue } from '../../../core/errors.ts';
import { allExpectations, allSteps, placeText } from '../../../scenario/model.ts';
import type { Condition, Place, Scenario, ScenarioRequest, Signal, Subject } from '../../../scenario/model.ts';
import { ruleOf } from '../rules.ts';

const inOneProcess = 'run the scenario on one process, as derbench run does';

const ofSubject: Readonly<Partial<Record<Subject['kind'], string>>> = {
  messages: `counts messages, which a gateway does not follow: ${inOneProcess}`,
  answered: `compares commands with the messages that have answered them, which a gateway does not follow: ${inOneProcess}`,
  no_findings: `judges peers, whose findings stand in each shard: ${inOneProcess}`,
  finding: `judges peers, whose findings stand in each shard: ${inOneProcess}`,
  exercised: `judges peers, whose findings stand in each shard: ${inOneProcess}`,
};

const ofCondition: Readonly<Partial<Record<Condition['kind'], string>>> = {
  message: `waits for a message, which a gateway does not follow: ${inOneProcess}`,
  write: `waits for a write of a peer, which a gateway does not follow: ${inOneProcess}`,
  csip_event: `waits for an event of IEEE 2030.5, which a gateway does not follow: ${inOneProcess}`,
};

const read = createRequestReader(allRoutes, defaultApiLimits);

/** The operation of a request and its query; null: there is none, which other checks say. */
function operationOf(request: ScenarioRequest) {
  try {
    const { route, raw } = read(request);
    return { id: route.operationId, query: raw.query as Readonly<Record<string, unknown>>, body: raw.body };
  } catch {
    return null;
  }
}

/** Why a request has no place to go; null: it has one. */
export function requestRefusal(request: ScenarioRequest): string | null {
  const operation = operationOf(request);
  const rule = operation && ruleOf(operation.id);
  if (operation === null || rule === null) return null;
  const name = `${request.method} ${request.path}`;
  if (rule.name === 'unsupported') return `${name} is not served over shards. ${rule.detail}`;
  if (request.path.startsWith('/sunspec-client'))
    return `${name}: the SunSpec client is one of a single process: ${inOneProcess}`;
  const isForAll = (operation.body as { readonly device?: unknown } | null | undefined)?.device === 'all';
  if (operation.id === 'submit_command' && isForAll) return `${name} goes to one device over shards: name its index`;
  // the faults of a request are handed out to the shards of their devices
  if (rule.name !== 'chosen' || operation.id === 'set_faults' || operation.query['device'] !== undefined) return null;
  return `${name} acts on one shard alone: give it a device, or ${inOneProcess}`;
}

function* conditionsOf(condition: Condition): Generator<Condition> {
  yield condition;
  if (condition.kind === 'all' || condition.kind === 'any') yield* condition.conditions;
}

const signalRefusal = (signal: Signal) => (signal.kind === 'answer' ? requestRefusal(signal.request) : null);

function conditionRefusal(condition: Condition): string | null {
  return condition.kind === 'value' ? signalRefusal(condition.test.signal) : (ofCondition[condition.kind] ?? null);
}

function* refusals(scenario: Scenario): Generator<readonly [Place, string | null]> {
  for (const { place, subject } of allExpectations(scenario))
    yield [place, subject.kind === 'value' ? signalRefusal(subject.test.signal) : (ofSubject[subject.kind] ?? null)];
  for (const { place, trigger } of [...allSteps(scenario), ...scenario.rules])
    if (trigger.kind === 'when')
      for (const condition of conditionsOf(trigger.condition)) yield [place, conditionRefusal(condition)];
  for (const { actions } of allSteps(scenario))
    for (const { place, request } of actions) yield [place, requestRefusal(request)];
  for (const { place, signal } of scenario.plots) yield [place, signalRefusal(signal)];
}

/** Issues of all steps and assertions that a fleet cannot carry out. */
export function fleetIssues(scenario: Scenario): readonly Issue[] {
  return [...refusals(scenario)].flatMap(([place, detail]) =>
    detail === null ? [] : { name: placeText(place), detail },
  );
}
