/** Rules for peers of several protocols. */
import type { RuleTable } from '../core/findings/rule.ts';

export const commonRules = {} as const satisfies RuleTable;
