/** The variables of a station as REST shows and changes them, without the rights of the central system. */
import type { OcppConfiguration, OcppConfigurationChange, OcppVariableEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';
import { stamp } from '../parts.ts';
import { nameOf, ownChecks, reconnectsAfter, refusalOf } from './checks.ts';
import type { VariableChecks } from './checks.ts';
import type { Found, Place, VariableStore } from './model.ts';
import { bracketed } from './table.ts';

export interface VariableView {
  /**
   * @param key a component, or component and variable with a dot between them; absent: all
   * @throws SimError UNKNOWN_RESOURCE
   */
  configuration(key?: string): OcppConfiguration;
  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setConfiguration(change: OcppConfigurationChange): OcppConfiguration;
}

function entryOf(store: VariableStore, found: Found): OcppVariableEntry {
  const { entry, place } = found;
  const mutability = store.mutabilityOf(found);
  const isSecret = mutability === 'WriteOnly' || entry.row.secret === true;
  return {
    component: entry.row.component,
    variable: entry.variable.name,
    attribute: 'Actual',
    value: isSecret ? null : store.shown(found),
    mutability,
    evseId: place.evseId ?? null,
    connectorId: place.connectorId ?? null,
    instance: entry.variable.instance ?? null,
    rebootRequired: entry.row.reboot === true,
  };
}

/** Whether a key means a variable: the names of component and variable, each with or without its instance. */
function means(key: string, { entry: { row, component, variable } }: Found): boolean {
  const wanted = key.toLowerCase();
  return [row.component, component.name].some((first) => {
    const name = first.toLowerCase();
    const names = [row.variable, variable.name].map((second) => `${name}.${second.toLowerCase()}`);
    return wanted === name || names.includes(wanted);
  });
}

function foundBy(store: VariableStore, change: OcppConfigurationChange): Found {
  const { component = '', name, instance, evseId, connectorId, attribute = 'Actual' } = change;
  const place: Place = {
    ...(evseId !== undefined && { evseId }),
    ...(connectorId !== undefined && { connectorId }),
  };
  const variable = bracketed({ name, ...(instance !== undefined && { instance }) });
  const found = store.find(component, variable, place);
  if (found === undefined)
    throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${component.slice(0, 50)}.${variable.slice(0, 102)}`);
  if (attribute !== 'Actual') throw new SimError('COMMAND_BAD_VALUE', 'attribute: a variable has Actual only');
  return found;
}

/** @param others checks beside those of `checks.ts` */
export function createVariableView(
  { connection, clock }: Pick<StationParts, 'connection' | 'clock'>,
  store: VariableStore,
  others: VariableChecks,
): VariableView {
  const checks = { ...ownChecks, ...others };
  return {
    configuration: (key) => {
      const found = [...store.each()].filter((each) => key === undefined || means(key, each));
      if (key !== undefined && found.length === 0)
        throw new SimError('UNKNOWN_RESOURCE', `there is no component or variable ${key.slice(0, 101)}`);
      return { kind: 'variables', variables: found.map((each) => entryOf(store, each)) };
    },
    setConfiguration: (change) => {
      const found = foundBy(store, change);
      const name = nameOf(found);
      if (store.isProvided(found) && store.mutabilityOf(found) === 'ReadOnly')
        throw new SimError('COMMAND_BAD_VALUE', `${name} is what the station finds, not set`);
      const value = store.accepted(found, change.value);
      if (value === null)
        throw new SimError('COMMAND_BAD_VALUE', `${name} does not take this value (${found.entry.row.type})`);
      const refusal = refusalOf(checks, found, value);
      if (refusal !== null) throw new SimError('COMMAND_BAD_VALUE', `${name}: ${refusal.additionalInfo}`);
      store.change(found, value);
      if (store.has('OCPPCommCtrlr', 'ExternalConfigChangeDate'))
        store.set('OCPPCommCtrlr', 'ExternalConfigChangeDate', stamp(clock.nowMs()));
      if (reconnectsAfter(found)) connection.reconnect(`${name} was changed`);
      return { kind: 'variables', variables: [entryOf(store, found)] };
    },
  };
}
