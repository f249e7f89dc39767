/** The whole catalogue of rules, for operations that name rules of any protocol. */
import { SimError } from '../../core/errors.ts';
import { findingProtocols } from '../../core/findings/identity.ts';
import type { Rule } from '../../core/findings/registry.ts';
import { lazily } from '../../core/lazy.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';

/** Loaded at its first request: the registry has only the rules of protocols that run. */
const wholeCatalogue = lazily(() => import('../../finding-rules/all.ts'));

export async function allRules({ findings }: Pick<RouteContext, 'findings'>): Promise<readonly Rule[]> {
  const { catalogue } = await wholeCatalogue();
  for (const protocol of findingProtocols) findings.rules(protocol, catalogue[protocol]);
  return findings.list.toSorted(
    (a, b) => findingProtocols.indexOf(a.protocol) - findingProtocols.indexOf(b.protocol) || a.number - b.number,
  );
}

/** @throws SimError UNKNOWN_RESOURCE */
export async function ruleNamed(ctx: RouteContext, id: string): Promise<Rule> {
  const rule = (await allRules(ctx)).find((one) => one.id === id);
  if (rule === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no rule ${JSON.stringify(id)}`);
  return rule;
}

/** @param id in a query; undefined: none @throws HttpProblem validation for an id that no rule has */
export async function checkRule(ctx: RouteContext, id: string | undefined): Promise<void> {
  if (id === undefined || ctx.findings.ruleOf(id) !== undefined) return;
  if ((await allRules(ctx)).some((rule) => rule.id === id)) return;
  throw invalid('query', 'rule', `is ${JSON.stringify(id)}, which no rule is called; GET findings/rules lists them`);
}

/** @throws HttpProblem disabled */
export function checkEnabled({ findings }: Pick<RouteContext, 'findings'>): void {
  if (!findings.on) throw new HttpProblem('disabled', 'findings are switched off: start with --findings yes');
}
