/** Rules for central systems of OCPP. */
import type { RuleTable } from '../core/findings/rule.ts';
import { ocppConnectionRules } from './ocpp-connection.ts';
import { ocppMessageRules } from './ocpp-messages.ts';
import { ocppRequestRules } from './ocpp-requests.ts';
import { ocppUpkeepRules } from './ocpp-upkeep.ts';

export const ocppRules = {
  ...ocppConnectionRules,
  ...ocppMessageRules,
  ...ocppRequestRules,
  ...ocppUpkeepRules,
} as const satisfies RuleTable;

export type OcppRule = keyof typeof ocppRules;
