/** Rules for masters of Modbus and SunSpec. */
import type { RuleTable } from '../core/findings/rule.ts';

export const modbusRules = {} as const satisfies RuleTable;
