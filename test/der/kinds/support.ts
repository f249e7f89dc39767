/** Devices of any bundled profile behind their registers on a paused clock, driven as a Modbus master drives them. */
import { expect } from 'chai';
import { simTimeFromMs, systemClock } from '../../../src/core/time/clock.ts';
import type { DeviceDetail, InverterParameters, SourceCommand } from '../../../src/contract/device.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { EvseConnectorDetail, EvseParameters } from '../../../src/contract/kinds/evse.ts';
import type { FuelCellParameters } from '../../../src/contract/kinds/fuelcell.ts';
import type { SourceParameters } from '../../../src/contract/kinds/table.ts';
import type { PvParameters } from '../../../src/contract/kinds/pv.ts';
import type { WindParameters } from '../../../src/contract/kinds/wind.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { localDateMs, SimClock } from '../../../src/core/time/sim-clock.ts';
import { createPlant } from '../../../src/der/plant/create-plant.ts';
import type { DeviceSpec } from '../../../src/der/plant/create-plant.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { ProfileSpec } from '../../../src/der/device/template.ts';
import { parseVisits } from '../../../src/der/surroundings/visits.ts';
import type { MapView, WritableMapView } from '../../../src/sunspec/map/view.ts';
import { configuredDevices } from '../../support/configured.ts';
import { detailOf } from '../../support/detail.ts';

export const master: Origin = { source: 'modbus', peer: '192.0.2.1:1' };
export const operator: Origin = { source: 'rest', peer: 'test' };

type Models = Readonly<Record<string, Readonly<Record<string, number | string>>>>;

/** One device of a test plant: flags that choose its profile, and what differs from it. */
export interface KindSpec {
  readonly args: readonly string[];
  readonly models?: Models;
  readonly inverter?: Partial<InverterParameters>;
  readonly pv?: Partial<PvParameters>;
  readonly wind?: Partial<WindParameters>;
  readonly fuelCell?: Partial<FuelCellParameters>;
  readonly evse?: Partial<EvseParameters>;
  /** in the place of the bundled series */
  readonly weather?: NonNullable<DeviceSpec['series']>['dc'];
  /** CSV text of a vehicle table */
  readonly vehicles?: string;
  readonly vehiclesEnd?: 'hold' | 'loop';
}

export interface KindPlantOptions {
  readonly tickIntervalS?: number;
  readonly rate?: number;
  readonly seed?: number;
  readonly time?: string;
  readonly meter?: { readonly float: boolean };
}

const fleetTypes = {
  pv: 'PV-3Phase',
  battery: 'Batt-3Phase',
  windT3: 'Wind-T3-3Phase',
  windT4: 'Wind-T4-3Phase',
  fuelCell: 'Fuelcell-3Phase',
  hybrid: 'HybridDC-3Phase',
  evse: 'EVSE',
} as const;
export type FleetKind = keyof typeof fleetTypes;
export const fleetKinds = Object.keys(fleetTypes) as FleetKind[];

export const kindSpec = (kind: FleetKind): KindSpec => ({ args: ['-d', fleetTypes[kind]] });

function changedSource(source: SourceParameters, { pv, wind, fuelCell, evse }: KindSpec): SourceParameters {
  switch (source.kind) {
    case 'wind':
      return { ...source, wind: { ...source.wind, ...wind } };
    case 'fuelcell':
      return { ...source, fuelCell: { ...source.fuelCell, ...fuelCell } };
    case 'evse':
      return { ...source, evse: { ...source.evse, ...evse } };
    case 'pv':
      return { ...source, pv: { ...source.pv, ...pv } };
    case 'battery':
    case 'hybrid-dc':
      return source;
  }
}

function changedProfile(profile: ProfileSpec, spec: KindSpec): ProfileSpec {
  const merged = Object.entries(spec.models ?? {}).map(
    ([id, points]) => [id, { ...profile.models[id], ...points }] as const,
  );
  return {
    ...profile,
    models: { ...profile.models, ...Object.fromEntries(merged) },
    inverter: { ...profile.inverter, ...spec.inverter },
    source: changedSource(profile.source, spec),
  };
}

function deviceOf(spec: KindSpec, position: number): DeviceSpec {
  const [device] = configuredDevices(...spec.args);
  if (!device) throw new Error('no device');
  const visits =
    spec.vehicles === undefined
      ? device.series.visits
      : parseVisits(spec.vehicles, 'vehicles.csv', spec.vehiclesEnd ?? 'hold');
  return {
    ...device,
    name: `${device.name} ${position}`,
    profile: changedProfile(device.profile, spec),
    series: { ...device.series, dc: spec.weather ?? device.series.dc, visits },
  };
}

/** The real plant at noon of a summer day; nothing drives it but the test. */
export function kindPlant(specs: readonly KindSpec[], options: KindPlantOptions = {}): SimPlant {
  const { tickIntervalS = 0.1, rate = 1, seed = 1, time = '12:00:00', meter = null } = options;
  const clock = new SimClock(
    systemClock,
    { mode: 'paused', rate, timezone: 'UTC' },
    simTimeFromMs(localDateMs('2026-06-21', time, 'UTC')),
  );
  return createPlant({
    devices: specs.map(deviceOf),
    firstIndex: 0,
    clock,
    tickIntervalS,
    nominalHz: 60,
    seed,
    meter,
    version: '0.1.0',
    log: silentLogger,
    weatherSource: 'csv',
    clouds: 'clear',
    feeder: null,
    gridProfile: null,
    monotonicMs: () => systemClock.monotonicMs(),
  });
}

const baseTickS = 0.1;
const longestTickS = 360;

/** One device alone, run over any span of simulated time. */
export class KindRig {
  readonly plant: SimPlant;
  readonly device: SimDevice;
  readonly map: MapView;

  constructor(spec: KindSpec, options: KindPlantOptions = {}) {
    this.plant = kindPlant([spec], { tickIntervalS: baseTickS, ...options });
    this.device = this.plant.device(0);
    this.map = this.device.bank.map;
  }

  /** Passes simulated seconds in as few ticks as can be. */
  async run(seconds: number): Promise<void> {
    for (let left = seconds; left > 1e-9; ) {
      const next = Math.min(left, longestTickS);
      this.plant.setTime({ rate: next / baseTickS });
      await this.plant.step(1);
      left -= next;
    }
  }

  /** Passes simulated seconds in ticks of `tickS`, calling back after each. */
  async watch(seconds: number, tickS: number, seen: () => void): Promise<void> {
    this.plant.setTime({ rate: tickS / baseTickS });
    for (let i = 0; i < Math.round(seconds / tickS); i += 1) {
      await this.plant.step(1);
      seen();
    }
  }

  /** Runs in ticks of `tickS` until it holds. @returns seconds that it took */
  async until(holds: () => boolean, tickS: number, mostS: number): Promise<number> {
    this.plant.setTime({ rate: tickS / baseTickS });
    for (let passedS = 0; passedS <= mostS; passedS += tickS) {
      if (holds()) return passedS;
      await this.plant.step(1);
    }
    return expect.fail(`has not come in ${mostS} s`);
  }

  write(change: (tx: WritableMapView) => void): void {
    this.device.bank.transact(master, change);
  }

  /** 704 set-point in W, negative takes from the grid; null: none. */
  demand(watts: number | null): void {
    this.write(({ m704 }) => {
      if (watts === null) m704.WSetEna = 'DISABLED';
      else Object.assign(m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
    });
  }

  /** Limit of the injected power in percent of 702.WMax; null: none. */
  limit(pct: number | null): void {
    this.write(({ m704 }) => {
      if (pct === null) m704.WMaxLimPctEna = 'DISABLED';
      else Object.assign(m704, { WMaxLimPct: pct, WMaxLimPctEna: 'ENABLED' });
    });
  }

  /** A volt-var or volt-watt curve through set 2, with half a second of response. */
  useCurve(id: 705 | 706, pairs: readonly (readonly [number, number])[]): void {
    this.write((tx) => {
      const [model, y] = id === 705 ? ([tx.m705, 'Var'] as const) : ([tx.m706, 'W'] as const);
      const staged = model.Crv[1];
      if (!staged) throw new Error(`model ${id} has no second set`);
      Object.assign(staged, { ActPt: pairs.length, RspTms: 0.5, DeptRef: id === 705 ? 'VA_MAX_PCT' : 'W_MAX_PCT' });
      pairs.forEach(([at, value], i) => Object.assign(staged.Pt[i] ?? {}, { V: at, [y]: value }));
      model.AdptCrvReq = 2;
      model.Ena = 'ENABLED';
    });
  }

  /** Enter service with neither random delay nor, unless given, delay or ramp. */
  quickEntry(delayS = 0, rampS = 0): void {
    this.write((tx) => {
      Object.assign(tx.m703, { ESDlyTms: delayS, ESRndTms: 0, ESRmpTms: rampS });
    });
  }

  /** What has no register. */
  command(command: SourceCommand): void {
    this.device.command(command, operator);
  }

  /** Code of the error that a command is refused with; null when it is taken. */
  refusalOf(command: SourceCommand): string | null {
    try {
      this.command(command);
      return null;
    } catch (error) {
      if (error instanceof SimError) return error.code;
      throw error;
    }
  }

  detail<K extends DeviceDetail['kind']>(kind: K) {
    return detailOf(this.device, kind);
  }

  /** A connector of a station. */
  connector(id = 1): EvseConnectorDetail {
    const found = this.detail('evse').connectors.find(({ connectorId }) => connectorId === id);
    return found ?? expect.fail(`there is no connector ${id}`);
  }

  get w(): number {
    return this.map.m701.W ?? NaN;
  }

  /** Active power of the snapshot, kW. */
  get snapshotKw(): number {
    return this.plant.latest.published[0]?.snapshot.metrics.power_kw ?? NaN;
  }

  get q(): number {
    return this.map.m701.Var ?? NaN;
  }

  get state(): string {
    return `${this.map.m701.St ?? ''} ${this.map.m701.InvSt ?? ''} ${this.map.m701.ConnSt ?? ''}`.toLowerCase();
  }

  get alarms(): string[] {
    return this.device.alarms.map(({ code }) => code);
  }

  get active(): string {
    return [...this.device.activeFunctions].sort().join(' ');
  }

  /** Lifetime counters, Wh and varh. */
  get counters(): readonly number[] {
    return countersOf(this.device);
  }
}

export function countersOf({
  bank: {
    map: { m701, m714 },
  },
}: Pick<SimDevice, 'bank'>): readonly number[] {
  return [m701.TotWhInj, m701.TotWhAbs, m701.TotVarhInj, m701.TotVarhAbs, m714.DCWhInj, m714.DCWhAbs].map(
    (value) => value ?? 0,
  );
}

/** Registers of one device, as a copy. */
export function dumpOf({ bank }: Pick<SimDevice, 'bank'>): Buffer {
  return Buffer.from(bank.read(bank.layout.base, bank.layout.size));
}

/** Path of the first number in `value` that is not finite; null: none. */
export function firstNonFinite(value: unknown, path = ''): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${path} is ${value}`;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = firstNonFinite(member, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}
