/** GetVariables (B06) and SetVariables (B05). */
import { errorCode } from '../../rpc/errors.ts';
import { CallError } from '../../rpc/model.ts';
import type { Handler, Part, Replies, Requests, StationParts } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import { nameOf, ownChecks, reconnectsAfter, refusalOf } from './checks.ts';
import type { Refusal, VariableChecks } from './checks.ts';
import type { Found, VariableStore } from './model.ts';
import { deviceDataLimits } from './rows/comm.ts';

type GetData = Requests['GetVariables']['getVariableData'][number];
type GetResult = Replies['GetVariables']['getVariableResult'][number];
type SetData = Requests['SetVariables']['setVariableData'][number];
type SetResult = Replies['SetVariables']['setVariableResult'][number];

export interface VariableHandlersDeps {
  readonly store: VariableStore;
  /** beside those of `checks.ts` */
  readonly checks?: VariableChecks;
}

export interface VariableHandlersPart extends Part {
  readonly handlers: {
    readonly GetVariables: Handler<'GetVariables'>;
    readonly SetVariables: Handler<'SetVariables'>;
  };
}

/** Members of the request that its answer repeats. */
function asked({ component, variable, attributeType }: GetData) {
  return { component, variable, ...(attributeType !== undefined && { attributeType }) };
}

/** @throws CallError for more items or octets than DeviceDataCtrlr allows (B05.FR.11, FR.12, B06.FR.16, FR.17) */
export function checkSize(
  { version, finding, variables }: Pick<StationParts, 'version' | 'finding' | 'variables'>,
  action: 'GetVariables' | 'SetVariables' | 'GetReport',
  items: number,
  request: Requests[typeof action],
): void {
  const maxItems = variables.integer('DeviceDataCtrlr', `ItemsPerMessage[${action}]`);
  if (items > maxItems) {
    finding(clauseOf(version, clauses[action].items), `${items} items, ItemsPerMessage is ${maxItems}`, action);
    throw new CallError(errorCode(version, 'occurrence'), `at most ${maxItems} items, see ItemsPerMessage`);
  }
  const maxBytes = variables.integer('DeviceDataCtrlr', `BytesPerMessage[${action}]`);
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes <= maxBytes) return;
  finding(clauseOf(version, clauses[action].bytes), `${bytes} octets, BytesPerMessage is ${maxBytes}`, action);
  throw new CallError(errorCode(version, 'structure'), `at most ${maxBytes} octets, see BytesPerMessage`);
}

const clauses = {
  GetVariables: { items: 'B06.FR.16', bytes: 'B06.FR.17' },
  SetVariables: { items: 'B05.FR.11', bytes: 'B05.FR.12' },
  GetReport: { items: 'B08.FR.17', bytes: 'B08.FR.18' },
} as const;

function got(store: VariableStore, data: GetData): GetResult {
  const same = asked(data);
  const found = store.lookUp(data);
  if (typeof found === 'string') return { ...same, attributeStatus: found };
  if ((data.attributeType ?? 'Actual') !== 'Actual') return { ...same, attributeStatus: 'NotSupportedAttributeType' };
  const { row } = found.entry;
  if (row.mutability === 'WriteOnly' || row.secret === true)
    return { ...same, attributeStatus: 'Rejected', attributeStatusInfo: { reasonCode: 'WriteOnly' } };
  return {
    ...same,
    attributeStatus: 'Accepted',
    attributeValue: store.shown(found).slice(0, deviceDataLimits.reportedSize),
  };
}

/** Why a value does not fit its row. */
function unfit(store: VariableStore, found: Found): Refusal {
  const { row } = found.entry;
  const { min, max } = store.limitsOf(found);
  const range = [min !== undefined && `from ${min}`, max !== undefined && `to ${max}`].filter(Boolean).join(' ');
  const isLength = row.type !== 'integer' && row.type !== 'decimal';
  const values = store.valuesOf(found)?.join(',') ?? '';
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
): { result: SetResult; changed: Found | null } {
  const same = asked(data);
  const ended = (attributeStatus: SetResult['attributeStatus'], attributeStatusInfo?: Refusal) => ({
    result: { ...same, attributeStatus, ...(attributeStatusInfo !== undefined && { attributeStatusInfo }) },
    changed: null,
  });
  const found = store.lookUp(data);
  if (typeof found === 'string') return ended(found);
  if ((data.attributeType ?? 'Actual') !== 'Actual') return ended('NotSupportedAttributeType');
  if (store.mutabilityOf(found) === 'ReadOnly')
    return ended('Rejected', { reasonCode: 'ReadOnly', additionalInfo: `${nameOf(found)} cannot be set` });
  const { attributeValue } = data;
  const value = attributeValue.length > deviceDataLimits.valueSize ? null : store.accepted(found, attributeValue);
  if (value === null) return ended('Rejected', unfit(store, found));
  const refusal = refusalOf(checks, found, value);
  if (refusal !== null) return ended('Rejected', refusal);
  store.change(found, value);
  const attributeStatus = found.entry.row.reboot === true ? 'RebootRequired' : 'Accepted';
  return { result: { ...same, attributeStatus }, changed: found };
}

const keyOf = ({ component, variable, attributeType = 'Actual' }: GetData): string =>
  JSON.stringify([component, variable, attributeType]).toLowerCase();

export function createVariableHandlers(
  parts: Pick<StationParts, 'version' | 'finding' | 'variables' | 'connection'>,
  { store, checks: others = {} }: VariableHandlersDeps,
): VariableHandlersPart {
  const { version, finding, connection } = parts;
  const checks = { ...ownChecks, ...others };
  return {
    handlers: {
      GetVariables: (request) => {
        const { getVariableData } = request;
        checkSize(parts, 'GetVariables', getVariableData.length, request);
        return { getVariableResult: getVariableData.map((data) => got(store, data)) };
      },
      SetVariables: (request, after) => {
        const { setVariableData } = request;
        checkSize(parts, 'SetVariables', setVariableData.length, request);
        if (new Set(setVariableData.map(keyOf)).size < setVariableData.length)
          finding(clauseOf(version, 'B05.FR.13'), 'one attribute of a variable stands twice', 'SetVariables');
        const done = setVariableData.map((data) => set(store, checks, data));
        const found = done.find(({ changed }) => changed !== null && reconnectsAfter(changed))?.changed ?? null;
        if (found !== null)
          after(() => {
            connection.reconnect(`${nameOf(found)} was changed`);
          });
        return { setVariableResult: done.map(({ result }) => result) };
      },
    },
  };
}
