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
export const rowsById = (tables: Readonly<Record<FindingProtocol, RuleTable>>): ReadonlyMap<string, RuleRow> =>
  new Map(
    Object.entries(tables).flatMap(([protocol, rows]) =>
      Object.entries(rows).map(([name, row]) => [`${protocol}.${name}`, row] as const),
    ),
  );

export const catalogueRows = rowsById(catalogue);

/** Faults, `protocol.kind`, with the ids of the rules whose situation they bring about; in the order of their names. */
export function rulesByFault(
  rows: ReadonlyMap<string, RuleRow> = catalogueRows,
): ReadonlyMap<string, readonly string[]> {
  const pairs = [...rows].flatMap(([id, { provokedBy = [] }]) => provokedBy.map((fault) => [fault, id] as const));
  const faults = [...new Set(pairs.map(([fault]) => fault))].toSorted();
  return new Map(faults.map((fault) => [fault, pairs.flatMap(([of, id]) => (of === fault ? [id] : []))]));
}
