/** Variables whose values are those of the device now: meters and problems. `variables/live.ts` has powers and states. */
import type { RemoteClock } from '../../../core/time/remote-clock.ts';
import type { MeterSample } from '../../station/port.ts';
import type { StationParts } from '../parts.ts';
import type { Found, Place } from '../variables/model.ts';
import { hasProblem } from './monitors.ts';
import type { Monitor } from './monitors.ts';

// When periodic monitors are due (N08), on the clock of the central system.

const dayMs = 86_400_000;

/** The first instant after `nowMs` that is a multiple of the interval from midnight; midnight always is (N08.FR.07). */
function nextAligned(nowMs: number, intervalS: number): number {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  const passed = Math.floor((nowMs - midnightMs) / (intervalS * 1000) + 1e-9);
  return Math.min(midnightMs + (passed + 1) * intervalS * 1000, midnightMs + dayMs);
}

/** @param sinceMs when it was set, or was due last */
export function nextDue({ type, value }: Pick<Monitor, 'type' | 'value'>, sinceMs: number, nowMs: number): number {
  if (type === 'PeriodicClockAligned') return nextAligned(nowMs, value);
  const intervalMs = value * 1000;
  // the clock has been set back
  if (sinceMs > nowMs) return nowMs + intervalMs;
  const passed = Math.floor((nowMs - sinceMs) / intervalMs + 1e-9);
  return sinceMs + (passed + 1) * intervalMs;
}

interface Alarm {
  /** Plans the next instant anew. */
  plan(): void;
  stop(): void;
}

/**
 * One act at the earliest of many instants.
 * @param next the next instant of all; Infinity: none
 * @param act plans the next one by itself
 */
export function createAlarm(clock: Pick<RemoteClock, 'at'>, next: () => number, act: (dueMs: number) => void): Alarm {
  let cancel: (() => void) | null = null;
  let plannedMs = Infinity;
  const stop = (): void => {
    cancel?.();
    cancel = null;
    plannedMs = Infinity;
  };
  return {
    plan() {
      const dueMs = next();
      if (dueMs === plannedMs && cancel !== null) return;
      stop();
      if (dueMs === Infinity) return;
      plannedMs = dueMs;
      cancel = clock.at(dueMs, () => {
        cancel = null;
        act(dueMs);
      });
    },
    stop,
  };
}

/** Calls `act` once after everything that runs now, however often it is asked to. */
export function atEndOfTurn(act: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      act();
    });
  };
}

type Read = (sample: MeterSample) => number;

interface MeterRow {
  readonly variable: string;
  readonly digits: number;
  readonly read: Read;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;

/** The value of a phase; 0 where it is not wired. */
const ofPhase =
  (values: (sample: MeterSample) => readonly number[], phase: number): Read =>
  (sample) =>
    values(sample)[sample.phases.indexOf(phase)] ?? 0;

function byPhase(variable: string, digits: number, values: (sample: MeterSample) => readonly number[]): MeterRow[] {
  return [
    { variable, digits, read: (sample) => mean(values(sample)) },
    ...[1, 2, 3].map((phase) => ({ variable: `${variable}[L${phase}]`, digits, read: ofPhase(values, phase) })),
  ];
}

const volts = ({ voltageV }: MeterSample) => voltageV;
const amperes = ({ currentA }: MeterSample) => currentA;

const rows: Readonly<Record<string, readonly MeterRow[]>> = {
  ElectricalFeed: [
    { variable: 'Frequency', digits: 3, read: ({ frequencyHz }) => frequencyHz },
    ...byPhase('ACVoltage', 1, volts),
    ...byPhase('ACCurrent', 2, amperes),
  ],
  EVSE: [
    ...byPhase('ACVoltage', 1, volts),
    ...byPhase('ACCurrent', 2, amperes),
    { variable: 'DCVoltage', digits: 1, read: (sample) => mean(volts(sample)) },
    { variable: 'DCCurrent', digits: 2, read: (sample) => mean(amperes(sample)) },
  ],
  FiscalMetering: [
    { variable: 'EnergyImportRegister', digits: 0, read: ({ energyImportWh }) => energyImportWh },
    { variable: 'EnergyExportRegister', digits: 0, read: ({ energyExportWh }) => energyExportWh },
  ],
};

/** As a decimal of 2.x; what the device does not know is 0. */
function shown(value: number, digits: number): string {
  // + 0: there is no negative zero
  return Number.isFinite(value) ? String(Number(value.toFixed(digits)) + 0) : '0';
}

/** Makes the meters and problems of the device readable where the station has such a variable. */
export function provideMeasured({ device, variables }: Pick<StationParts, 'device' | 'variables'>): void {
  const provide = (component: string, variable: string, place: Place, read: () => string): void => {
    if (variables.has(component, variable, place)) variables.provide(component, variable, read, place);
  };
  const places: readonly Place[] = [{}, ...device.connectorIds.map((evseId) => ({ evseId }))];
  for (const place of places) {
    for (const [component, meters] of Object.entries(rows))
      for (const { variable, digits, read } of meters)
        provide(component, variable, place, () => shown(read(device.sample(place.evseId ?? 0)), digits));
    const problem = (): string => String(hasProblem(device, place));
    provide('ChargingStation', 'Problem', place, problem);
    if (place.evseId === undefined) continue;
    provide('EVSE', 'Problem', place, problem);
    provide('Connector', 'Problem', { ...place, connectorId: 1 }, problem);
    const { evseId } = place;
    provide('ConnectedEV', 'Available', place, () => String(device.connector(evseId).ev !== null));
    provide('ConnectedEV', 'StateOfCharge', place, () => {
      const { socPct } = device.sample(evseId);
      return socPct === null ? '' : shown(socPct, 1);
    });
  }
}

/** True if a variable has a value that it should have. */
export function hasTarget({ entry }: Found): boolean {
  const { component, variable } = entry.row;
  return component === 'EVSE' && (variable === 'Power' || variable === 'DischargePower');
}

/** Target of a value now: an EVSE delivers what it allots to the vehicle. Null: it has no target. */
export function targetOf({ device }: Pick<StationParts, 'device'>, target: Found): number | null {
  const { evseId } = target.place;
  if (evseId === undefined || !hasTarget(target)) return null;
  const { allocatedW } = device.connector(evseId);
  return Math.max(0, target.entry.row.variable === 'Power' ? allocatedW : -allocatedW);
}
