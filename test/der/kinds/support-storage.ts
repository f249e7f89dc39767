/** Battery and hybrid devices behind their registers, driven as a Modbus master drives them. */
import { expect } from 'chai';
import type { SourceCommand } from '../../../src/contract/device.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { BatteryDetail } from '../../../src/contract/kinds/battery.ts';
import type { BatteryPort } from '../../../src/der/source/battery/battery-port.ts';
import type { ProfileSpec } from '../../../src/der/device/template.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { configuredDevices } from '../../support/configured.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { Rig } from '../../support/rig.ts';

export const master: Origin = { source: 'modbus', peer: '192.0.2.1:1' };
const operator: Origin = { source: 'rest', peer: 'test' };

type Pairs = readonly (readonly [number, number])[];

export class StorageRig extends Rig {
  static battery(options: TestPlantOptions = {}): StorageRig {
    return new StorageRig({ types: ['Batt-3Phase'], ...options });
  }

  static hybrid(options: TestPlantOptions = {}): StorageRig {
    return new StorageRig({ types: ['HybridDC-3Phase'], ...options });
  }

  /** Registers, as a master writes them. */
  write(change: (tx: WritableMapView) => void): void {
    this.device.bank.transact(master, change);
  }

  /** What a write is refused with; null when it is taken. */
  refusalOf(change: (tx: WritableMapView) => void): string | null {
    try {
      this.write(change);
      return null;
    } catch (error) {
      if (error instanceof SimError) return error.code;
      throw error;
    }
  }

  /** 704 set-point in W, negative charges; null: none. */
  demand(watts: number | null): void {
    this.write(({ m704 }) => {
      if (watts === null) m704.WSetEna = 'DISABLED';
      else Object.assign(m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
    });
  }

  /** Limit of the injected power in percent of 702.WMax. */
  limit(pct: number): void {
    this.write(({ m704 }) => {
      Object.assign(m704, { WMaxLimPct: pct, WMaxLimPctEna: 'ENABLED' });
    });
  }

  /** What has no register. */
  command(command: SourceCommand): void {
    this.device.command(command, operator);
  }

  fill(socPct: number): void {
    this.command({ kind: 'battery.control', socPct });
  }

  /** A volt-var or volt-watt curve through set 2, without a response time worth mentioning. */
  useCurve(id: 705 | 706, pairs: Pairs): void {
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

  get battery(): BatteryDetail {
    const { detail } = this.device;
    if (detail.kind === 'battery') return detail;
    if (detail.kind === 'hybrid-dc') return detail.battery;
    expect.fail(`the device is a ${detail.kind}, which has no battery`);
  }

  get m802(): NonNullable<Rig['map']['m802']> {
    const { m802 } = this.map;
    if (!m802) expect.fail('the device has no model 802');
    return m802;
  }

  /** Functions that act, by name. */
  get active(): string {
    return [...this.device.activeFunctions].sort().join(' ');
  }
}

/** The counters of energy, Wh; AC and DC, given and taken. */
export function counters({ map: { m701, m714 } }: Pick<Rig, 'map'>): readonly number[] {
  return [m701.TotWhInj, m701.TotWhAbs, m714.DCWhInj, m714.DCWhAbs].map((value) => value ?? NaN);
}

/** Energy in equal cells, Wh: the integral of their open-circuit voltage over the charge. */
export function chemicalWh({ bank }: BatteryPort): number {
  const { ocv, meanSoc, nominalAh, cells } = bank;
  let [sum, left] = [0, meanSoc * 100];
  for (let at = 0; left > 0; at += 1, left -= 1) {
    const part = Math.min(1, left);
    const [low = 0, high = 0] = [ocv[at], ocv[at + 1]];
    sum += part * (low + (part * (high - low)) / 2);
  }
  return (sum / 100) * nominalAh * cells.series;
}

/** The profile that a device type has by default. */
export function profileOf(type: string): ProfileSpec {
  const [device] = configuredDevices('--device_type', type);
  if (!device) throw new Error(`no configuration of a ${type}`);
  return device.profile;
}
