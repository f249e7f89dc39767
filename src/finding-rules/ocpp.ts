/** Rules for central systems of OCPP. */
import type { RuleTable } from '../core/findings/rule.ts';

export const ocppRules = {} as const satisfies RuleTable;
