/** The messages of the central system that set and clear monitors (N03 to N06). */
import { errorCode } from '../../rpc/errors.ts';
import { CallError } from '../../rpc/model.ts';
import type { After } from '../../rpc/model.ts';
import type { ClearMonitoringResult, SetMonitoringData, SetMonitoringResult } from '../messages.ts';
import type { Action, Handlers, StationParts } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import type { Streams } from '../streams/streams.ts';
import type { VariableStore } from '../variables/model.ts';
import type { Monitors } from './monitors.ts';
import { checked } from './rules.ts';
import type { Watch } from './watch.ts';

type Limited = Extract<Action, 'SetVariableMonitoring' | 'ClearVariableMonitoring'>;

/** @throws CallError for a message above the limits that the station tells (N04.FR.09, N06.FR.06 and FR.07) */
function checkSize(
  { version, variables, finding }: Pick<StationParts, 'version' | 'variables' | 'finding'>,
  action: Limited,
  payload: unknown,
  items: number,
): void {
  const clause = clauseOf(version, action === 'SetVariableMonitoring' ? 'N04.FR.09' : 'N06.FR.04');
  const maxItems = variables.integer('MonitoringCtrlr', `ItemsPerMessage[${action}]`);
  if (items > maxItems) {
    finding(clause, `${action} has ${items} elements; the station takes ${maxItems}`, action);
    throw new CallError(errorCode(version, 'occurrence'), `at most ${maxItems} elements`);
  }
  const maxBytes = variables.integer('MonitoringCtrlr', `BytesPerMessage[${action}]`);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= maxBytes) return;
  finding(clause, `${action} has ${bytes} bytes; the station takes ${maxBytes}`, action);
  throw new CallError(errorCode(version, 'structure'), `at most ${maxBytes} bytes`);
}

export interface SettingDeps {
  readonly variables: VariableStore;
  readonly streams: Pick<Streams, 'follow' | 'end'>;
  readonly monitors: Monitors;
  readonly watch: Watch;
}

function setOne(
  given: SetMonitoringData,
  { variables, monitors }: SettingDeps,
): { readonly result: SetMonitoringResult; readonly id: number | null } {
  const { component, variable, type, severity } = given;
  const named = { component, variable, type, severity };
  const outcome = checked(given, { variables, monitors });
  if ('status' in outcome)
    return { result: { ...named, ...outcome, ...(given.id !== undefined && { id: given.id }) }, id: null };
  const { id } = monitors.put(outcome);
  return { result: { ...named, status: 'Accepted', id }, id };
}

function clearOne(id: number, monitors: Monitors): ClearMonitoringResult {
  const monitor = monitors.byId(id);
  if (monitor === undefined) return { id, status: 'NotFound' };
  if (monitor.kind === 'HardWiredMonitor')
    return {
      id,
      status: 'Rejected',
      statusInfo: { reasonCode: 'ReadOnly', additionalInfo: 'the monitor is hard-wired' },
    };
  monitors.remove(id);
  return { id, status: 'Accepted' };
}

/** Monitors take effect, and streams open and end, once the answer is out. */
export function createSetting(parts: StationParts, deps: SettingDeps): Handlers {
  const { streams, monitors, watch } = deps;
  const begin = (id: number): void => {
    const monitor = monitors.byId(id);
    if (monitor === undefined) return;
    watch.changed(id);
    streams.follow(monitor);
  };
  const end = (id: number): void => {
    watch.changed(id);
    streams.end(id);
  };
  const restrict = (change: () => void, after: After): void => {
    const before = monitors.all;
    change();
    const now = new Set(monitors.all);
    after(() => {
      for (const monitor of before) if (!now.has(monitor)) end(monitor.id);
      watch.refresh();
    });
  };
  return {
    SetVariableMonitoring: (request, after) => {
      checkSize(parts, 'SetVariableMonitoring', request, request.setMonitoringData.length);
      const done = request.setMonitoringData.map((given) => setOne(given, deps));
      after(() => {
        for (const { id } of done) if (id !== null) begin(id);
      });
      return { setMonitoringResult: done.map(({ result }) => result) };
    },
    ClearVariableMonitoring: (request, after) => {
      checkSize(parts, 'ClearVariableMonitoring', request, request.id.length);
      const results = request.id.map((id) => clearOne(id, monitors));
      after(() => {
        for (const { id, status } of results) if (status === 'Accepted') end(id);
      });
      return { clearMonitoringResult: results };
    },
    SetMonitoringBase: ({ monitoringBase }, after) => {
      restrict(() => monitors.setBase(monitoringBase), after);
      return { status: 'Accepted' };
    },
    SetMonitoringLevel: ({ severity }, after) => {
      if (severity > 9) {
        parts.finding(clauseOf(parts.version, 'N05.FR.02'), `a monitoring level of ${severity}; the greatest is 9`);
        return { status: 'Rejected', statusInfo: { reasonCode: 'ValueOutOfRange' } };
      }
      restrict(() => monitors.setLevel(severity), after);
      return { status: 'Accepted' };
    },
  };
}
