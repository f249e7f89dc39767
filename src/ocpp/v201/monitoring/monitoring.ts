/** Monitors of variables and their events (N02 to N08): the messages of the central system, and notices of other parts. */
import type { EventTriggerEnum } from '../messages.ts';
import type { Part, StationParts, Transactions } from '../parts.ts';
import type { Streams } from '../streams/streams.ts';
import type { Place, VariableStore } from '../variables/model.ts';
import { createEventReports } from './events.ts';
import { provideMeasured } from './measured.ts';
import { namesOf } from './model.ts';
import { createMonitors } from './monitors.ts';
import { createMonitoringReport } from './report.ts';
import { createSetting } from './setting.ts';
import { createWatch } from './watch.ts';

export interface MonitoringDeps {
  /** the device model of this station, which is also `parts.variables` */
  readonly variables: VariableStore;
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onEnded'>;
  readonly streams: Pick<Streams, 'follow' | 'end' | 'record' | 'onAdjusted'>;
}

/** What the station tells without a monitor. */
export interface HardWiredNotice {
  /** names as in `VariableRow` */
  readonly component: string;
  readonly variable: string;
  readonly place?: Place;
  /** `Alerting`: something is the matter; `Delta`: a value has changed */
  readonly trigger: EventTriggerEnum;
  readonly actualValue: string;
  /** 0 to 9; default 8, informational. Decides whether it waits while the station is offline */
  readonly severity?: number;
  /** time of the central system, ms since the epoch; default now */
  readonly atMs?: number;
  readonly cleared?: boolean;
  /** id of the event that has brought it */
  readonly cause?: number;
  readonly techCode?: string;
  readonly techInfo?: string;
  readonly transactionId?: string;
}

/** Informational: a regular event of the operation. */
const noticeSeverity = 8;

export interface Monitoring extends Required<Pick<Part, 'handlers' | 'load' | 'stop'>> {
  /**
   * Sends a hard-wired notification, together with the other events of this turn.
   * @returns the id of its event, for `cause`; null: the station is offline and it does not wait
   * @throws SimError UNKNOWN_RESOURCE for a variable that the station does not have
   */
  notify(notice: HardWiredNotice): number | null;
  /** events that the central system has not confirmed */
  readonly waiting: number;
}

/** Measured variables become readable with it, so that it is made before the first report of the device model. */
export function createMonitoring(parts: StationParts, deps: MonitoringDeps): Monitoring {
  const { clock } = parts;
  const { variables, streams } = deps;
  provideMeasured({ device: parts.device, variables });
  const monitors = createMonitors(parts, { variables });
  const reports = createEventReports(parts);
  const watch = createWatch(parts, {
    ...deps,
    monitors,
    reports,
    record: (monitor, value, atMs) => streams.record(monitor, { value, atMs }),
  });
  const endAdjusted = streams.onAdjusted(({ monitorId, params }) => {
    const monitor = monitors.byId(monitorId);
    if (monitor !== undefined) monitors.put({ ...monitor, stream: params });
  });
  return {
    handlers: {
      ...createSetting(parts, { variables, streams, monitors, watch }),
      GetMonitoringReport: createMonitoringReport(parts, monitors),
    },
    notify({ component, variable, place = {}, severity = noticeSeverity, atMs = clock.nowMs(), ...told }) {
      // the refusal of a variable that does not exist
      variables.text(component, variable, place);
      const found = variables.find(component, variable, place);
      if (found === undefined) return null;
      return reports.report({ ...told, ...namesOf(found), kind: 'HardWiredNotification', severity, atMs });
    },
    get waiting() {
      return reports.waiting;
    },
    async load() {
      await Promise.all([monitors.load(), reports.load()]);
      watch.refresh();
      for (const monitor of monitors.all) streams.follow(monitor);
    },
    stop() {
      endAdjusted();
      watch.stop();
      reports.stop();
    },
  };
}
