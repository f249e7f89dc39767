/** The cases of the group `kinds`: one device of each kind, at rest and at work. */
import type { SourceCommand } from '../../src/contract/device.ts';
import { inCheckout } from './processes.ts';

export interface KindCase {
  readonly name: string;
  readonly flags: readonly string[];
  /** once, before anything is measured */
  readonly begin?: readonly SourceCommand[];
  /** repeated, so that the store never gets full or empty */
  readonly again?: readonly SourceCommand[];
  /** 704.WSetPct, percent of the rating: each holds for `everyS`, one after the other */
  readonly setPointsPct?: readonly number[];
  readonly everyS?: number;
  /** maximum cost of a tick, us */
  readonly aimUs: number;
}

const series = (name: string) => inCheckout(`bench/series/${name}.csv`);
const sun = ['--dc_profile', series('constant-sun')];
const wind = (type: string, name: string) => ['-d', type, '--dc_profile', series(name)];
const half: SourceCommand = { kind: 'battery.control', socPct: 50 };
const refill: SourceCommand = { kind: 'fuelcell.tank', levelPct: 50 };
const charge = (connectorId: number): SourceCommand => ({
  kind: 'evse.plug',
  connectorId,
  ev: { batteryCapacityWh: 200_000, socPct: 20, targetSocPct: 80 },
});
const drained = (connectorId: number): SourceCommand => ({ kind: 'evse.ev', connectorId, ev: { socPct: 20 } });

export const kindCases: readonly KindCase[] = [
  { name: 'PV', flags: sun, aimUs: 15 },
  { name: 'battery, resting', flags: ['-d', 'Batt-3Phase'], aimUs: 20 },
  { name: 'battery, charging', flags: ['-d', 'Batt-3Phase'], again: [half], setPointsPct: [-10], aimUs: 20 },
  { name: 'wind T3, running', flags: wind('Wind-T3-3Phase', 'constant-wind'), aimUs: 25 },
  { name: 'wind T4, running', flags: wind('Wind-T4-3Phase', 'constant-wind'), aimUs: 25 },
  { name: 'wind T4, parked', flags: wind('Wind-T4-3Phase', 'calm'), aimUs: 20 },
  { name: 'fuel cell, at rated power', flags: ['-d', 'Fuelcell-3Phase'], again: [refill], aimUs: 20 },
  {
    name: 'PEM fuel cell, 20 to 100 % every 6 s',
    flags: ['-f', 'Fuelcell-PEM-5kW-reversible-3Phase', '-d', 'Fuelcell-3Phase'],
    again: [refill],
    setPointsPct: [20, 100],
    everyS: 6,
    aimUs: Infinity,
  },
  {
    name: 'SOFC, on its ramp',
    flags: ['-f', 'Fuelcell-SOFC-200kW-reversible-3Phase', '-d', 'Fuelcell-3Phase'],
    again: [refill],
    setPointsPct: [100, 10],
    everyS: 270,
    aimUs: 20,
  },
  {
    name: 'hybrid, self-consumption',
    flags: ['-d', 'HybridDC-3Phase', ...sun, '--load_profile', series('constant-load')],
    again: [half],
    aimUs: 20,
  },
  { name: 'EVSE, idle', flags: ['-d', 'EVSE'], aimUs: 20 },
  { name: 'EVSE, charging with AC', flags: ['-d', 'EVSE'], begin: [charge(1)], again: [drained(1)], aimUs: 20 },
  {
    name: 'EVSE, 2 x DC that share',
    flags: ['-d', 'EVSE', '--evse_profile', 'EVSE-DC-350kW-CCS-2port'],
    begin: [charge(1), charge(2)],
    again: [drained(1), drained(2)],
    aimUs: 20,
  },
];
