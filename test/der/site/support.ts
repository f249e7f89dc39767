/** Sites of several devices behind one connection point. */
import type { SiteLimitName } from '../../../src/contract/site.ts';
import type { RandomStream } from '../../../src/core/random.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { kindPlant, kindSpec, master } from '../kinds/support.ts';
import type { KindPlantOptions, KindSpec } from '../kinds/support.ts';

export const [pv, battery, hybrid, fuelCell] = [
  kindSpec('pv'),
  kindSpec('battery'),
  kindSpec('hybrid'),
  kindSpec('fuelCell'),
];
export const evse: KindSpec = { args: ['--evse_profile', 'EVSE-AC-22kW-1port'] };
export const reversible: KindSpec = { args: ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'] };
export const by = { source: 'rest' } as const;
/** least power of a vehicle on three phases with 6 A, with the station */
export const leastEvseW = 4102;

/** In full sun, a vehicle of 11 kW at each station, with everything that ramps at its end. */
export async function siteOf(specs: readonly KindSpec[], options: KindPlantOptions = {}): Promise<SimPlant> {
  const plant = kindPlant(specs, { tickIntervalS: 1.5, ...options });
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  for (const device of plant.devices)
    if (device.assetType === 'evse') device.command({ kind: 'evse.plug', connectorId: 1 }, by);
  await plant.step(30);
  return plant;
}

export const powersOf = (plant: SimPlant): number[] =>
  plant.devices.map(({ siteShare }) => Math.round(siteShare.powerW));
export const decidersOf = (plant: SimPlant): string[] => plant.devices.map(({ trace }) => trace.now.activeDecidedBy);

/** Power that sleeping devices take. @param indexes null: all */
export const sleepOf = (plant: SimPlant, indexes: readonly number[] | null): number =>
  plant.devices
    .filter(({ index }) => indexes?.includes(index) ?? true)
    .reduce((sum, { siteShare }) => sum + siteShare.sleepW, 0);

export function binding({ site: { limits } }: SimPlant): SiteLimitName[] {
  return (Object.keys(limits) as SiteLimitName[]).filter((name) => limits[name].binding);
}

export function exceeded({ site: { limits } }: SimPlant): SiteLimitName[] {
  return (Object.keys(limits) as SiteLimitName[]).filter((name) => limits[name].exceeded);
}

export function demand(plant: SimPlant, index: number, watts: number | null): void {
  plant.device(index).bank.transact(master, ({ m704 }) => {
    if (watts === null) m704.WSetEna = 'DISABLED';
    else Object.assign(m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
  });
}

/** Rooms that are nested or disjoint: parts of parts, inner ones first. */
export function randomSets(random: RandomStream, members: readonly number[]): number[][] {
  const sets: number[][] = [];
  let rest = [...members];
  while (rest.length > 0) {
    const size = 1 + Math.floor(random.next() * rest.length);
    const part = rest.slice(0, size);
    rest = rest.slice(size);
    if (part.length < members.length && part.length > 1 && random.next() < 0.6) sets.push(...randomSets(random, part));
    if (random.next() < 0.6) sets.push(part);
  }
  return sets.sort((a, b) => a.length - b.length);
}
