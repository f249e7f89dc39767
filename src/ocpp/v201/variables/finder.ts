/** How names, of the parts and of messages, lead to the variables of a station. */
import { SimError } from '../../../core/errors.ts';
import type { Found, Place, TableEntry, Tier, VariableFacts, VariableRow, VariableStore } from './model.ts';
import { bracketed, placesOf, tableOf, tierOf } from './table.ts';

export const tiers: readonly Tier[] = ['station', 'evse', 'connector'];

/** Null: the place has no such variable. */
export function initialOf({ row }: TableEntry, facts: VariableFacts, place: Place): string | null {
  return typeof row.initial === 'string' ? row.initial : row.initial(facts, place);
}

function nameOf(component: string, variable: string, { evseId, connectorId }: Place): string {
  const at = evseId === undefined ? '' : ` of EVSE ${evseId}${connectorId === undefined ? '' : `.${connectorId}`}`;
  return `${component.slice(0, 50)}.${variable.slice(0, 50)}${at}`;
}

export type Finder = ReturnType<typeof createFinder>;

export function createFinder({
  facts,
  rows,
}: {
  readonly facts: VariableFacts;
  readonly rows: readonly VariableRow[];
}) {
  const table = tableOf(rows, facts.version);
  const isThere = (entry: TableEntry, place: Place): boolean => {
    const { evseId, connectorId = 1 } = place;
    if (evseId !== undefined && (!facts.evseIds.includes(evseId) || connectorId !== 1)) return false;
    return typeof entry.row.initial === 'string' || initialOf(entry, facts, place) !== null;
  };
  const find = (component: string, variable: string, place: Place = {}): Found | undefined => {
    const entry = table.find(component, variable, tierOf(place));
    return entry !== undefined && isThere(entry, place) ? { entry, place } : undefined;
  };
  return {
    find,
    /** @throws SimError UNKNOWN_RESOURCE */
    need: (component: string, variable: string, place: Place = {}): Found => {
      const found = find(component, variable, place);
      if (found === undefined)
        throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${nameOf(component, variable, place)}`);
      return found;
    },
    lookUp: ({ component, variable }: Parameters<VariableStore['lookUp']>[0]): ReturnType<VariableStore['lookUp']> => {
      const { id: evseId, connectorId } = component.evse ?? {};
      const place: Place = {
        ...(evseId !== undefined && { evseId }),
        ...(connectorId !== undefined && { connectorId }),
      };
      const name = bracketed(component);
      const found = find(name, bracketed(variable), place);
      if (found !== undefined) return found;
      const isKnown = table.component(name, tierOf(place)).some((entry) => isThere(entry, place));
      return isKnown ? 'UnknownVariable' : 'UnknownComponent';
    },
    /** Everywhere where it is. @throws SimError UNKNOWN_RESOURCE */
    everywhere: (component: string, variable: string): readonly Found[] => {
      const all = tiers.flatMap((tier) =>
        placesOf(tier, facts).flatMap((place) => find(component, variable, place) ?? []),
      );
      if (all.length === 0)
        throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${nameOf(component, variable, {})}`);
      return all;
    },
    *each(): Generator<Found> {
      for (const entry of table.entries)
        for (const place of placesOf(entry.tier, facts)) if (isThere(entry, place)) yield { entry, place };
    },
  };
}
