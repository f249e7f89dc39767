/** Rules for masters of DNP3. */
import type { RuleTable } from '../core/findings/rule.ts';
import { dnp3ControlRules } from './dnp3-controls.ts';
import { dnp3DialogueRules } from './dnp3-dialogue.ts';

export const dnp3Rules = { ...dnp3DialogueRules, ...dnp3ControlRules } as const satisfies RuleTable;
