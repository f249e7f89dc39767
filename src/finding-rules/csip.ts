/** Rules for servers of IEEE 2030.5 and CSIP. */
import type { RuleTable } from '../core/findings/rule.ts';
import { documentRules } from './csip/documents.ts';
import { eventRules } from './csip/events.ts';
import { messageRules } from './csip/messages.ts';
import { resourceRules } from './csip/resources.ts';

export const csipRules = {
  ...documentRules,
  ...resourceRules,
  ...messageRules,
  ...eventRules,
} as const satisfies RuleTable;
