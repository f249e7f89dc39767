/** Rules for masters of DNP3. */
import type { RuleTable } from '../core/findings/rule.ts';
import { dnp3ControlRules } from './dnp3-controls.ts';
import { dnp3DialogueRules } from './dnp3-dialogue.ts';
import { dnp3SetpointRules } from './dnp3-setpoints.ts';

export const dnp3Rules = {
  ...dnp3DialogueRules,
  ...dnp3ControlRules,
  ...dnp3SetpointRules,
} as const satisfies RuleTable;
