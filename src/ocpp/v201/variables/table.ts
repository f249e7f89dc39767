/** The rows of every block as one table for each version, made once and shared by all stations. */
import type { InstanceName, Place, TableEntry, Tier, VariableFacts, VariableRow } from './model.ts';
import type { Version2 } from '../../station/stack.ts';
import { authRows, chargingRows, derRows, displayRows, txRows, commRows, securityRows } from './rows/controllers.ts';
import { monitoringRows, stationRows } from './rows/components.ts';

export const variableRows: readonly VariableRow[] = [
  ...commRows,
  ...stationRows,
  ...authRows,
  ...txRows,
  ...chargingRows,
  ...monitoringRows,
  ...displayRows,
  ...securityRows,
  ...derRows,
];

interface VariableTable {
  readonly entries: readonly TableEntry[];
  /** The entry of a variable. Names have their instance in brackets; case does not count. */
  find(component: string, variable: string, tier: Tier): TableEntry | undefined;
  /** Entries of a component with its instance in brackets; case does not count. */
  component(component: string, tier: Tier): readonly TableEntry[];
}

export function tierOf({ evseId, connectorId }: Place): Tier {
  if (evseId === undefined) return 'station';
  return connectorId === undefined ? 'evse' : 'connector';
}

/** `MessageTimeout[Default]`; an absent instance gives the bare name. */
export function bracketed({ name, instance }: InstanceName): string {
  return instance === undefined ? name : `${name}[${instance}]`;
}

function splitName(text: string): InstanceName {
  const [, name = text, instance] = /^([^[]+)\[(.*)\]$/s.exec(text) ?? [];
  return instance === undefined ? { name } : { name, instance };
}

function entryOf(row: VariableRow, index: number): TableEntry {
  return {
    row,
    index,
    tier: row.tier ?? 'station',
    mutability: row.mutability,
    component: splitName(row.component),
    variable: splitName(row.variable),
  };
}

type ByTier = Partial<Record<Tier, TableEntry>>;
type Names = Map<string, Map<string, ByTier>>;

function add(names: Names, component: string, variable: string, entry: TableEntry): void {
  const variables = names.get(component) ?? new Map<string, ByTier>();
  const byTier = variables.get(variable) ?? {};
  names.set(component, variables.set(variable, { ...byTier, [entry.tier]: entry }));
}

function makeTable(rows: readonly VariableRow[], version: Version2): VariableTable {
  const entries = rows.filter(({ since }) => since === undefined || since === version).map(entryOf);
  // exact names first: parts look up variables for every message, and folding of case costs time
  const exact: Names = new Map();
  const folded: Names = new Map();
  const components = new Map<string, TableEntry[]>();
  for (const entry of entries) {
    const { component, variable } = entry.row;
    add(exact, component, variable, entry);
    add(folded, component.toLowerCase(), variable.toLowerCase(), entry);
    const key = `${component.toLowerCase()}/${entry.tier}`;
    components.set(key, [...(components.get(key) ?? []), entry]);
  }
  return {
    entries,
    find: (component, variable, tier) =>
      (exact.get(component)?.get(variable) ?? folded.get(component.toLowerCase())?.get(variable.toLowerCase()))?.[tier],
    component: (component, tier) => components.get(`${component.toLowerCase()}/${tier}`) ?? [],
  };
}

const tables = new WeakMap<readonly VariableRow[], Map<Version2, VariableTable>>();

/** The table of a version, made once for the same rows. */
export function tableOf(rows: readonly VariableRow[], version: Version2): VariableTable {
  const byVersion = tables.get(rows) ?? new Map<Version2, VariableTable>();
  tables.set(rows, byVersion);
  const table = byVersion.get(version) ?? makeTable(rows, version);
  byVersion.set(version, table);
  return table;
}

/** Every place of a tier. */
export function placesOf(tier: Tier, { evseIds }: Pick<VariableFacts, 'evseIds'>): readonly Place[] {
  if (tier === 'station') return [{}];
  return evseIds.map((evseId) => (tier === 'evse' ? { evseId } : { evseId, connectorId: 1 }));
}
