/** Rules for servers of IEEE 2030.5 and CSIP. */
import type { RuleTable } from '../core/findings/rule.ts';

export const csipRules = {} as const satisfies RuleTable;
