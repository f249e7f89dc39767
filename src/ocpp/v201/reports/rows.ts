/** What a report says of a variable, and which variables a report takes up (B07, B08). */
import type { Requests } from '../parts.ts';
import type { Found, VariableStore } from '../variables/model.ts';
import { deviceDataLimits } from '../variables/rows/comm.ts';

export type ReportData = NonNullable<Requests['NotifyReport']['reportData']>[number];
export type Criterion = NonNullable<Requests['GetReport']['componentCriteria']>[number];
export type Wanted = NonNullable<Requests['GetReport']['componentVariable']>[number];

/** Longest list of values that the schema takes. */
const maxValuesList = 1000;

function evseOf({ evseId, connectorId }: Found['place']) {
  return evseId === undefined ? {} : { evse: { id: evseId, ...(connectorId !== undefined && { connectorId }) } };
}

function characteristicsOf(store: VariableStore, found: Found): NonNullable<ReportData['variableCharacteristics']> {
  const { type, unit, monitored } = found.entry.row;
  const { min, max } = store.limitsOf(found);
  const isNumber = type === 'integer' || type === 'decimal';
  const values = store.valuesOf(found)?.join(',');
  return {
    dataType: type,
    supportsMonitoring: monitored === true,
    ...(unit !== undefined && { unit }),
    ...(isNumber && min !== undefined && { minLimit: min }),
    // of a text the longest length
    ...(max !== undefined && { maxLimit: max }),
    ...(values !== undefined && values !== '' && { valuesList: values.slice(0, maxValuesList) }),
  };
}

/** @param characteristics false: the attributes alone, for a summary */
export function reportOf(store: VariableStore, found: Found, characteristics = true): ReportData {
  const { component, variable, row } = found.entry;
  const mutability = store.mutabilityOf(found);
  const isShown = mutability !== 'WriteOnly' && row.secret !== true;
  return {
    component: { ...component, ...evseOf(found.place) },
    variable: { ...variable },
    variableAttribute: [
      {
        type: 'Actual',
        ...(isShown && { value: store.shown(found).slice(0, deviceDataLimits.reportedSize) }),
        mutability,
        persistent: mutability !== 'ReadOnly' || !store.isProvided(found),
        constant: false,
      },
    ],
    ...(characteristics && { variableCharacteristics: characteristicsOf(store, found) }),
  };
}

/** Whether ConfigurationInventory has it: what the central system can set (B07.FR.07). */
export function isConfiguration(store: VariableStore, found: Found): boolean {
  return store.mutabilityOf(found) !== 'ReadOnly';
}

const summaryComponents: ReadonlySet<string> = new Set(['ChargingStation', 'EVSE', 'Connector']);
const summaryVariables: ReadonlySet<string> = new Set(['Available', 'AvailabilityState', 'Enabled', 'Problem']);

/** Whether SummaryInventory has it: whether components are there and well (B07.FR.09). */
export function isSummary(_: VariableStore, { entry: { component, variable } }: Found): boolean {
  const { name } = variable;
  return name === 'Problem' || (summaryComponents.has(component.name) && summaryVariables.has(name));
}

function same(a: string | undefined, b: string | undefined): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}

/**
 * Whether an entry of GetReport means a variable: what it leaves out is any (B08.FR.20 to FR.23): the variable, its
 * instance, the EVSE of the component.
 */
export function isWanted({ component, variable }: Wanted, { entry, place }: Found): boolean {
  const { evse } = component;
  if (!same(component.name, entry.component.name)) return false;
  if (component.instance !== undefined && !same(component.instance, entry.component.instance)) return false;
  if (evse !== undefined && evse.id !== (place.evseId ?? 0)) return false;
  if (evse?.connectorId !== undefined && evse.connectorId !== place.connectorId) return false;
  if (variable === undefined) return true;
  if (!same(variable.name, entry.variable.name)) return false;
  return variable.instance === undefined || same(variable.instance, entry.variable.instance);
}

/** Components by a key of name, instance and place, with the criteria that they meet (B08.FR.08 to FR.11). */
export function meets(store: VariableStore, { entry, place }: Found, criteria: readonly Criterion[]): boolean {
  return criteria.some((criterion) => {
    const state = store.find(entry.row.component, criterion, place);
    // a component that says nothing of it is there and in operation
    if (state === undefined) return criterion === 'Available' || criterion === 'Enabled';
    return store.valueOf(state) === 'true';
  });
}
