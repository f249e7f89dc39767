/** Monitors of variables (N02 to N08), as the files of this folder share them. */
import type {
  Component,
  EventNotificationEnum,
  MonitorEnum,
  PeriodicEventStreamParams,
  Variable,
} from '../messages.ts';
import type { Found } from '../variables/model.ts';

/** `CustomMonitor`: of the central system. The others are of the station; those that are hard-wired stay for ever. */
export type MonitorKind = Exclude<EventNotificationEnum, 'HardWiredNotification'>;

export interface Monitor {
  readonly id: number;
  readonly kind: MonitorKind;
  readonly found: Found;
  readonly type: MonitorEnum;
  /** a threshold or a difference in the unit of the variable, or an interval in s */
  readonly value: number;
  /** 0, the most severe, to 9 */
  readonly severity: number;
  /** acts only while a transaction runs at its EVSE, or at any of the station */
  readonly transaction: boolean;
  /** 2.1: its values go out as a stream; null: as events */
  readonly stream: PeriodicEventStreamParams | null;
}

/** How messages name a variable and its component. */
export interface Named {
  readonly component: Component;
  readonly variable: Variable;
}

export function namesOf({ entry, place: { evseId, connectorId } }: Found): Named {
  return {
    component: {
      ...entry.component,
      ...(evseId !== undefined && { evse: { id: evseId, ...(connectorId !== undefined && { connectorId }) } }),
    },
    variable: entry.variable,
  };
}

/** Whether both are the same variable at the same place. */
export function isSame(a: Found, b: Found): boolean {
  return a.entry === b.entry && a.place.evseId === b.place.evseId && a.place.connectorId === b.place.connectorId;
}

export function isNumeric({ entry: { row } }: Found): boolean {
  return row.type === 'decimal' || row.type === 'integer';
}

/** Its value is never told (N07.FR.10). */
export function isWriteOnly({ entry: { row } }: Found): boolean {
  return row.mutability === 'WriteOnly' || row.secret === true;
}

export const periodicTypes: ReadonlySet<MonitorEnum> = new Set(['Periodic', 'PeriodicClockAligned']);
