/** GetVariables (B06) and SetVariables (B05), with the rules of variables that their rows cannot express. */
import type { OcppConfiguration, OcppConfigurationChange, OcppVariableEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import { stamp } from '../parts.ts';
import type { Handler, Part, Replies, Requests, StationParts } from '../parts.ts';
import { clauseOf } from '../provisioning/registration.ts';
import type {
  PlacedVariable,
  Place,
  TableEntry,
  Tier,
  VariableFacts,
  VariableRow,
  VariableStore,
  Variables,
} from './model.ts';
import { deviceDataLimits } from './rows/controllers.ts';
import { bracketed, placesOf, tableOf, tierOf } from './table.ts';

// Local time at the station, by ClockCtrlr.TimeOffset.

const offsetPattern = /^([+-])(\d\d):(\d\d)$/;
/** Offsets of all time zones, minutes from UTC. */
const offsetRange = { min: -12 * 60, max: 14 * 60 } as const;

/** `+01:00` as minutes from UTC; null: not an offset. */
export function offsetMinutes(text: string): number | null {
  const [, sign, hours, minutes] = offsetPattern.exec(text) ?? [];
  if (hours === undefined || Number(minutes) >= 60) return null;
  const total = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return total >= offsetRange.min && total <= offsetRange.max ? total : null;
}

/** Local time minus UTC, ms; 0 where the station has no offset. */
export function localOffsetMs(variables: Pick<Variables, 'has' | 'text'>): number {
  if (!variables.has('ClockCtrlr', 'TimeOffset')) return 0;
  return (offsetMinutes(variables.text('ClockCtrlr', 'TimeOffset')) ?? 0) * 60_000;
}

/** Why a value is refused. */
export interface Refusal {
  /** of the standard's list of reason codes */
  readonly reasonCode: string;
  /** for people; never the value of a secret */
  readonly additionalInfo: string;
}

/** The refusal of a value; null: none. @param value in normal form */
export type VariableCheck = (value: string, placedVariable: PlacedVariable) => Refusal | null;

/** By component and variable as the rows spell them: `OCPPCommCtrlr.NetworkConfigurationPriority`. */
export type VariableChecks = Readonly<Record<string, VariableCheck>>;

function invalidValue(additionalInfo: string): Refusal {
  return { reasonCode: 'InvalidValue', additionalInfo };
}

/** A01.FR.02, 4.1.2 of the transport: text that a header can carry. */
const printable = /^[ -~]*$/;

const password: VariableCheck = (value) => (printable.test(value) ? null : invalidValue('only printable ASCII'));

const timeOffset: VariableCheck = (value) =>
  offsetMinutes(value) === null ? invalidValue('an offset from UTC, from -12:00 to +14:00') : null;

/** A code in capital letters: the currency of costs (ISO 4217), the country in certificates (ISO 3166-1). */
const capitals =
  (length: number): VariableCheck =>
  (value) =>
    value.length === length && /^[A-Z]+$/.test(value) ? null : invalidValue(`${length} capital letters`);

/** Checks that need no other part. */
export const generalChecks: VariableChecks = {
  'SecurityCtrlr.BasicAuthPassword': password,
  'ClockCtrlr.TimeOffset': timeOffset,
  'ISO15118Ctrlr.CountryName': capitals(2),
  'TariffCostCtrlr.Currency': capitals(3),
};

/** Variables whose change closes the connection, once the answer to it is sent (A01.FR.09). */
const reconnecting: ReadonlySet<string> = new Set(['SecurityCtrlr.BasicAuthPassword']);

function nameOf({ entry: { row } }: PlacedVariable): string {
  return `${row.component}.${row.variable}`;
}

function reconnectsAfter(changed: PlacedVariable): boolean {
  return reconnecting.has(nameOf(changed));
}

function refusalOf(checks: VariableChecks, target: PlacedVariable, value: string): Refusal | null {
  return checks[nameOf(target)]?.(value, target) ?? null;
}

// Look-up of variables by the names that parts and messages use.

export const tiers: readonly Tier[] = ['station', 'evse', 'connector'];

/** The initial value; null: the place has no such variable. */
export function initialOf({ row }: TableEntry, facts: VariableFacts, place: Place): string | null {
  return typeof row.initial === 'string' ? row.initial : row.initial(facts, place);
}

function placeName(component: string, variable: string, { evseId, connectorId }: Place): string {
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
  const find = (component: string, variable: string, place: Place = {}): PlacedVariable | undefined => {
    const entry = table.find(component, variable, tierOf(place));
    return entry !== undefined && isThere(entry, place) ? { entry, place } : undefined;
  };
  return {
    find,
    /** @throws SimError UNKNOWN_RESOURCE */
    need: (component: string, variable: string, place: Place = {}): PlacedVariable => {
      const target = find(component, variable, place);
      if (target === undefined)
        throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${placeName(component, variable, place)}`);
      return target;
    },
    lookUp: ({ component, variable }: Parameters<VariableStore['lookUp']>[0]): ReturnType<VariableStore['lookUp']> => {
      const { id: evseId, connectorId } = component.evse ?? {};
      const place: Place = {
        ...(evseId !== undefined && { evseId }),
        ...(connectorId !== undefined && { connectorId }),
      };
      const name = bracketed(component);
      const target = find(name, bracketed(variable), place);
      if (target !== undefined) return target;
      const hasComponent = table.component(name, tierOf(place)).some((entry) => isThere(entry, place));
      return hasComponent ? 'UnknownVariable' : 'UnknownComponent';
    },
    /** A variable at all places that have it. @throws SimError UNKNOWN_RESOURCE */
    everywhere: (component: string, variable: string): readonly PlacedVariable[] => {
      const all = tiers.flatMap((tier) =>
        placesOf(tier, facts).flatMap((place) => find(component, variable, place) ?? []),
      );
      if (all.length === 0)
        throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${placeName(component, variable, {})}`);
      return all;
    },
    *each(): Generator<PlacedVariable> {
      for (const entry of table.entries)
        for (const place of placesOf(entry.tier, facts)) if (isThere(entry, place)) yield { entry, place };
    },
  };
}

// The variables of a station as REST shows and changes them, also where the central system may not set them.

interface VariableView {
  /**
   * @param key a component, or component and variable with a dot between them; absent: all
   * @throws SimError UNKNOWN_RESOURCE
   */
  configuration(key?: string): OcppConfiguration;
  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setConfiguration(change: OcppConfigurationChange): OcppConfiguration;
}

function entryOf(store: VariableStore, target: PlacedVariable): OcppVariableEntry {
  const { entry, place } = target;
  const mutability = store.mutabilityOf(target);
  const isSecret = mutability === 'WriteOnly' || entry.row.secret === true;
  return {
    component: entry.row.component,
    variable: entry.variable.name,
    attribute: 'Actual',
    value: isSecret ? null : store.shown(target),
    mutability,
    evseId: place.evseId ?? null,
    connectorId: place.connectorId ?? null,
    instance: entry.variable.instance ?? null,
    rebootRequired: entry.row.reboot === true,
  };
}

/** True if a key names a variable or its component; each name may have its instance or not. */
function matchesKey(key: string, { entry: { row, component, variable } }: PlacedVariable): boolean {
  const lowerKey = key.toLowerCase();
  return [row.component, component.name].some((componentName) => {
    const prefix = componentName.toLowerCase();
    const keys = [row.variable, variable.name].map((variableName) => `${prefix}.${variableName.toLowerCase()}`);
    return lowerKey === prefix || keys.includes(lowerKey);
  });
}

function targetOf(store: VariableStore, change: OcppConfigurationChange): PlacedVariable {
  const { component = '', name, instance, evseId, connectorId, attribute = 'Actual' } = change;
  const place: Place = {
    ...(evseId !== undefined && { evseId }),
    ...(connectorId !== undefined && { connectorId }),
  };
  const variable = bracketed({ name, ...(instance !== undefined && { instance }) });
  const target = store.find(component, variable, place);
  if (target === undefined)
    throw new SimError('UNKNOWN_RESOURCE', `there is no variable ${component.slice(0, 50)}.${variable.slice(0, 102)}`);
  if (attribute !== 'Actual') throw new SimError('COMMAND_BAD_VALUE', 'attribute: a variable has Actual only');
  return target;
}

/** @param others checks beside `generalChecks` */
export function createVariableView(
  { connection, clock }: Pick<StationParts, 'connection' | 'clock'>,
  store: VariableStore,
  others: VariableChecks,
): VariableView {
  const checks = { ...generalChecks, ...others };
  return {
    configuration: (key) => {
      const targets = [...store.each()].filter((each) => key === undefined || matchesKey(key, each));
      if (key !== undefined && targets.length === 0)
        throw new SimError('UNKNOWN_RESOURCE', `there is no component or variable ${key.slice(0, 101)}`);
      return { kind: 'variables', variables: targets.map((each) => entryOf(store, each)) };
    },
    setConfiguration: (change) => {
      const target = targetOf(store, change);
      const name = nameOf(target);
      if (store.isProvided(target) && store.mutabilityOf(target) === 'ReadOnly')
        throw new SimError('COMMAND_BAD_VALUE', `${name} is determined by the station and cannot be set`);
      const value = store.accepted(target, change.value);
      if (value === null)
        throw new SimError('COMMAND_BAD_VALUE', `${name} does not accept this value (${target.entry.row.type})`);
      const refusal = refusalOf(checks, target, value);
      if (refusal !== null) throw new SimError('COMMAND_BAD_VALUE', `${name}: ${refusal.additionalInfo}`);
      store.change(target, value);
      if (store.has('OCPPCommCtrlr', 'ExternalConfigChangeDate'))
        store.set('OCPPCommCtrlr', 'ExternalConfigChangeDate', stamp(clock.nowMs()));
      if (reconnectsAfter(target)) connection.reconnect(`${name} was changed`);
      return { kind: 'variables', variables: [entryOf(store, target)] };
    },
  };
}

type GetData = Requests['GetVariables']['getVariableData'][number];
type GetResult = Replies['GetVariables']['getVariableResult'][number];
type SetData = Requests['SetVariables']['setVariableData'][number];
type SetResult = Replies['SetVariables']['setVariableResult'][number];

interface VariableHandlersDeps {
  readonly store: VariableStore;
  /** beside `generalChecks` */
  readonly checks?: VariableChecks;
}

interface VariableHandlersPart extends Part {
  readonly handlers: {
    readonly GetVariables: Handler<'GetVariables'>;
    readonly SetVariables: Handler<'SetVariables'>;
  };
}

/** Members of the request that its answer repeats. */
function repeatedMembers({ component, variable, attributeType }: GetData) {
  return { component, variable, ...(attributeType !== undefined && { attributeType }) };
}

/** @throws CallError for more items or octets than DeviceDataCtrlr allows (`clauses`) */
export function checkSize(
  { version, finding, variables }: Pick<StationParts, 'version' | 'finding' | 'variables'>,
  action: 'GetVariables' | 'SetVariables' | 'GetReport',
  items: number,
  request: Requests[typeof action],
): void {
  const maxItems = variables.integer('DeviceDataCtrlr', `ItemsPerMessage[${action}]`);
  if (items > maxItems) {
    const text = `${items} items, ItemsPerMessage is ${maxItems}`;
    finding(clauseOf(version, clauses[action].items), text, action, 'config_limits');
    throw new CallError(errorCode(version, 'occurrence'), `at most ${maxItems} items, see ItemsPerMessage`);
  }
  const maxBytes = variables.integer('DeviceDataCtrlr', `BytesPerMessage[${action}]`);
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes <= maxBytes) return;
  const text = `${bytes} octets, BytesPerMessage is ${maxBytes}`;
  finding(clauseOf(version, clauses[action].bytes), text, action, 'config_limits');
  throw new CallError(errorCode(version, 'structure'), `at most ${maxBytes} octets, see BytesPerMessage`);
}

const clauses = {
  GetVariables: { items: 'B06.FR.16', bytes: 'B06.FR.17' },
  SetVariables: { items: 'B05.FR.11', bytes: 'B05.FR.12' },
  GetReport: { items: 'B08.FR.17', bytes: 'B08.FR.18' },
} as const;

function getResultOf(store: VariableStore, data: GetData): GetResult {
  const repeated = repeatedMembers(data);
  const target = store.lookUp(data);
  if (typeof target === 'string') return { ...repeated, attributeStatus: target };
  if ((data.attributeType ?? 'Actual') !== 'Actual')
    return { ...repeated, attributeStatus: 'NotSupportedAttributeType' };
  const { row } = target.entry;
  if (row.mutability === 'WriteOnly' || row.secret === true)
    return { ...repeated, attributeStatus: 'Rejected', attributeStatusInfo: { reasonCode: 'WriteOnly' } };
  return {
    ...repeated,
    attributeStatus: 'Accepted',
    attributeValue: store.shown(target).slice(0, deviceDataLimits.reportedSize),
  };
}

/** The refusal of a value that its row does not allow. */
function unfit(store: VariableStore, target: PlacedVariable): Refusal {
  const { row } = target.entry;
  const { min, max } = store.limitsOf(target);
  const range = [min !== undefined && `from ${min}`, max !== undefined && `to ${max}`].filter(Boolean).join(' ');
  const isLength = row.type !== 'integer' && row.type !== 'decimal';
  const values = store.valuesOf(target)?.join(',') ?? '';
  const words = [row.type, range === '' ? '' : isLength ? `of ${range} characters` : range, values];
  return {
    reasonCode: 'InvalidValue',
    additionalInfo: words
      .filter((each) => each !== '')
      .join(', ')
      .slice(0, 512),
  };
}

function set(
  store: VariableStore,
  checks: VariableChecks,
  data: SetData,
): { result: SetResult; changed: PlacedVariable | null } {
  const repeated = repeatedMembers(data);
  const unchanged = (attributeStatus: SetResult['attributeStatus'], attributeStatusInfo?: Refusal) => ({
    result: { ...repeated, attributeStatus, ...(attributeStatusInfo !== undefined && { attributeStatusInfo }) },
    changed: null,
  });
  const target = store.lookUp(data);
  if (typeof target === 'string') return unchanged(target);
  if ((data.attributeType ?? 'Actual') !== 'Actual') return unchanged('NotSupportedAttributeType');
  if (store.mutabilityOf(target) === 'ReadOnly')
    return unchanged('Rejected', { reasonCode: 'ReadOnly', additionalInfo: `${nameOf(target)} cannot be set` });
  const { attributeValue } = data;
  const value = attributeValue.length > deviceDataLimits.valueSize ? null : store.accepted(target, attributeValue);
  if (value === null) return unchanged('Rejected', unfit(store, target));
  const refusal = refusalOf(checks, target, value);
  if (refusal !== null) return unchanged('Rejected', refusal);
  store.change(target, value);
  const attributeStatus = target.entry.row.reboot === true ? 'RebootRequired' : 'Accepted';
  return { result: { ...repeated, attributeStatus }, changed: target };
}

const keyOf = ({ component, variable, attributeType = 'Actual' }: GetData): string =>
  JSON.stringify([component, variable, attributeType]).toLowerCase();

export function createVariableHandlers(
  parts: Pick<StationParts, 'version' | 'finding' | 'variables' | 'connection'>,
  { store, checks: others = {} }: VariableHandlersDeps,
): VariableHandlersPart {
  const { version, finding, connection } = parts;
  const checks = { ...generalChecks, ...others };
  return {
    handlers: {
      GetVariables: (request) => {
        const { getVariableData } = request;
        checkSize(parts, 'GetVariables', getVariableData.length, request);
        return { getVariableResult: getVariableData.map((data) => getResultOf(store, data)) };
      },
      SetVariables: (request, after) => {
        const { setVariableData } = request;
        checkSize(parts, 'SetVariables', setVariableData.length, request);
        if (new Set(setVariableData.map(keyOf)).size < setVariableData.length)
          finding(
            clauseOf(version, 'B05.FR.13'),
            'an attribute of a variable stands twice',
            'SetVariables',
            'request_rule',
          );
        const outcomes = setVariableData.map((data) => set(store, checks, data));
        const changedTarget =
          outcomes.find(({ changed }) => changed !== null && reconnectsAfter(changed))?.changed ?? null;
        if (changedTarget !== null)
          after(() => {
            connection.reconnect(`${nameOf(changedTarget)} was changed`);
          });
        return { setVariableResult: outcomes.map(({ result }) => result) };
      },
    },
  };
}
