/** Rules for masters of Modbus and SunSpec. */
import type { RuleTable } from '../core/findings/rule.ts';
import { commandRules } from './modbus/commands.ts';
import { connectionRules } from './modbus/connections.ts';
import { frameRules } from './modbus/frames.ts';
import { readRules } from './modbus/reads.ts';
import { writeRules } from './modbus/writes.ts';

export const modbusRules = {
  ...frameRules,
  ...connectionRules,
  ...readRules,
  ...writeRules,
  ...commandRules,
} as const satisfies RuleTable;
