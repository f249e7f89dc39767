/** GetMonitoringReport and NotifyMonitoringReport (N02). */
import type {
  ComponentVariable,
  MonitorEnum,
  MonitoringCriterionEnum,
  MonitoringData,
  VariableMonitoring,
} from '../messages.ts';
import { stamp } from '../parts.ts';
import type { Handler, Requests, StationParts } from '../parts.ts';
import type { Version2 } from '../version.ts';
import { namesOf } from './model.ts';
import type { Monitor, Named } from './model.ts';
import type { Monitors } from './monitors.ts';

type Filter = Pick<Requests['GetMonitoringReport'], 'monitoringCriteria' | 'componentVariable'>;

/** variables of one message */
const perMessage = 20;

/** N02.FR.12 to FR.14; the differences from a target came with 2.1. */
const criterionOf: Readonly<Record<MonitorEnum, MonitoringCriterionEnum>> = {
  UpperThreshold: 'ThresholdMonitoring',
  LowerThreshold: 'ThresholdMonitoring',
  Delta: 'DeltaMonitoring',
  TargetDelta: 'DeltaMonitoring',
  TargetDeltaRelative: 'DeltaMonitoring',
  Periodic: 'PeriodicMonitoring',
  PeriodicClockAligned: 'PeriodicMonitoring',
};

/** Names are the same in any capitals; one that is not given fits every one (N02.FR.15 to FR.17). */
function fits(given: string | undefined, name: string | undefined): boolean {
  return given === undefined || given.toLowerCase() === name?.toLowerCase();
}

function isNamed({ component, variable }: ComponentVariable, names: Named): boolean {
  const { evse } = component;
  const of = names.component;
  return (
    fits(component.name, of.name) &&
    fits(component.instance, of.instance) &&
    (evse === undefined || evse.id === (of.evse?.id ?? 0)) &&
    (evse?.connectorId === undefined || evse.connectorId === of.evse?.connectorId) &&
    fits(variable?.name, names.variable.name) &&
    fits(variable?.instance, names.variable.instance)
  );
}

/** The monitors that a request asks for. */
export function selected(
  monitors: readonly Monitor[],
  { monitoringCriteria, componentVariable }: Filter,
): readonly Monitor[] {
  return monitors.filter(
    ({ type, found }) =>
      (monitoringCriteria === undefined || monitoringCriteria.includes(criterionOf[type])) &&
      (componentVariable === undefined || componentVariable.some((each) => isNamed(each, namesOf(found)))),
  );
}

function monitoringOf(
  { id, transaction, value, type, severity, kind }: Monitor,
  version: Version2,
): VariableMonitoring {
  const common = { id, transaction, value, type, severity };
  // 2.0.1 does not have the kind, which 2.1 demands
  return (version === 'ocpp2.1' ? { ...common, eventNotificationType: kind } : common) as VariableMonitoring;
}

/** By variable, in the order of the monitors. */
function dataOf(monitors: readonly Monitor[], version: Version2): readonly MonitoringData[] {
  const byVariable = new Map<string, { readonly names: Named; readonly of: VariableMonitoring[] }>();
  for (const monitor of monitors) {
    const names = namesOf(monitor.found);
    const key = JSON.stringify(names);
    const group = byVariable.get(key) ?? { names, of: [] };
    group.of.push(monitoringOf(monitor, version));
    byVariable.set(key, group);
  }
  return [...byVariable.values()].map(({ names, of }) => ({ ...names, variableMonitoring: of }));
}

export function createMonitoringReport(
  { calls, clock, version, log, device }: Pick<StationParts, 'calls' | 'clock' | 'version' | 'log' | 'device'>,
  monitors: Pick<Monitors, 'all'>,
): Handler<'GetMonitoringReport'> {
  const send = async (requestId: number, data: readonly MonitoringData[]): Promise<void> => {
    const generatedAt = stamp(clock.nowMs());
    for (let from = 0; from < data.length; from += perMessage) {
      const tbc = from + perMessage < data.length;
      const { kind } = await calls.send(
        'NotifyMonitoringReport',
        {
          requestId,
          seqNo: from / perMessage,
          generatedAt,
          ...(tbc && { tbc }),
          monitor: data.slice(from, from + perMessage),
        },
        { triggered: true },
      );
      if (kind === 'lost' || kind === 'unsent') {
        log.info(`the monitoring report ${requestId} has ended with the connection`, device.deviceIndex);
        return;
      }
    }
  };
  return ({ requestId, ...filter }, after) => {
    const data = dataOf(selected(monitors.all, filter), version);
    if (data.length === 0) return { status: 'EmptyResultSet' };
    after(() => void send(requestId, data));
    return { status: 'Accepted' };
  };
}
