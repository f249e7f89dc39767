/** Rules for masters of DNP3. */
import type { RuleTable } from '../core/findings/rule.ts';

export const dnp3Rules = {} as const satisfies RuleTable;
