/** The whole catalogue of findings, by protocol. Judges import the table of their protocol alone. */
import type { FindingProtocol } from '../core/findings/identity.ts';
import type { RuleRow, RuleTable } from '../core/findings/rule.ts';
import { commonRules } from './common.ts';
import { csipRules } from './csip.ts';
import { dnp3Rules } from './dnp3.ts';
import { modbusRules } from './modbus.ts';
import { ocppRules } from './ocpp.ts';

export const catalogue = {
  modbus: modbusRules,
  csip: csipRules,
  ocpp: ocppRules,
  dnp3: dnp3Rules,
  common: commonRules,
} as const satisfies Readonly<Record<FindingProtocol, RuleTable>>;

/** The rows of all protocols by id, such as `modbus.poll_fast`. */
export const catalogueRows: ReadonlyMap<string, RuleRow> = new Map(
  Object.entries<RuleTable>(catalogue).flatMap(([protocol, rows]) =>
    Object.entries(rows).map(([name, row]) => [`${protocol}.${name}`, row] as const),
  ),
);
