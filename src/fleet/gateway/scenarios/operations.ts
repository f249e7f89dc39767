/** Operations on scenarios, as the gateway that leads carries them out. */
import type { ScenarioBook } from '../../../contract/scenarios.ts';
import type { Origin } from '../../../core/origin.ts';
import type { RouteContext } from '../../../api/http/context.ts';
import { replyContent } from '../../../api/http/dispatch.ts';
import { HttpProblem } from '../../../api/http/errors.ts';
import type { Route } from '../../../api/http/route.ts';
import { scenarioRunRoutes } from '../../../api/scenarios/runs.ts';
import { scenarioRoutes } from '../../../api/scenarios/routes.ts';
import type { ForwardedReply } from '../forward.ts';

/** A request whose form is not checked yet. */
export interface LeadRequest {
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly by: Origin;
}

/** The part of their interface that routes of scenarios use. */
type ScenarioContext = Pick<RouteContext, 'scenarios' | 'clockOwner'>;

const routes = new Map<string, Route>(
  [...scenarioRoutes, ...scenarioRunRoutes].map((route) => [route.operationId, route]),
);

/** True for an operation on scenarios. */
export const isOfScenarios = (operationId: string): boolean => routes.has(operationId);

export class ScenarioOperations {
  readonly #context: ScenarioContext;

  constructor(scenarios: ScenarioBook, clockOwner: ScenarioContext['clockOwner']) {
    this.#context = { scenarios, clockOwner };
  }

  /** @throws HttpProblem, SimError */
  async answer({ operationId, params, query, body, by }: LeadRequest): Promise<ForwardedReply> {
    const route = routes.get(operationId);
    if (route === undefined) throw new HttpProblem('fleet-unsupported', 'A gateway does not serve this operation.');
    const answered = await route.answer(this.#context as RouteContext, { params, query, body, by });
    const { type, bytes } = replyContent(route, answered, false);
    return { status: answered.status ?? route.status, type, headers: answered.headers, bytes };
  }
}
