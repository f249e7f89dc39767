/** The end of a simulator whose place a new one takes. */
import { HttpProblem } from '../http/errors.ts';
import type { RouteContext } from '../http/context.ts';

/** @throws HttpProblem `conflict` while a scenario runs */
export function checkNoScenario({ clockOwner: { name } }: Pick<RouteContext, 'clockOwner'>): void {
  if (name === null) return;
  throw new HttpProblem('conflict', `the scenario ${JSON.stringify(name)} runs; POST scenarios/{id}/stop ends it`);
}

/** From here on requests are refused. @throws HttpProblem `conflict` while a scenario runs, `stopping` */
export function beginRestart(ctx: RouteContext): void {
  checkNoScenario(ctx);
  if (ctx.stopDelayS !== null) throw new HttpProblem('stopping', 'The simulator is stopping.');
  ctx.beginStop(0);
}
