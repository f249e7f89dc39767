/** Orders that write schedules, and what registers show of them. */
import { expect } from 'chai';
import type { PointName } from '../../../src/dnp3/profile/types.ts';
import type { PointRig } from '../rig/points.ts';

export type Orders = readonly (readonly [PointName, number | boolean])[];
export type Points = readonly (readonly [offsetS: number, value: number])[];

const dayMs = 86_400_000;
export interface SettingWrite {
  readonly type?: number;
  readonly priority?: number;
  /** seconds from now */
  readonly inS?: number;
  readonly interval?: number;
  readonly unit?: number;
  readonly points: Points;
}

/** The orders of the procedure of AN2018: selector, members, points, and their number last. */
export function schedule(rig: PointRig, number: number, wanted: SettingWrite): Orders {
  const { type = 13, priority = 1, inS = 0, interval = 0, unit = 0, points } = wanted;
  const startMs = Math.round(rig.plant.dateMs(rig.plant.time.sim)) + 1000 * inS;
  return [
    ['AO461', number],
    ['AO462', 100 + number],
    ['AO463', priority],
    ['AO464', type],
    ['AO465', Math.floor(startMs / dayMs)],
    ['AO466', startMs % dayMs],
    ['AO467', interval],
    ['AO468', unit],
    ...points.flatMap(
      ([offset, value], i): Orders => [
        [`AO${470 + 2 * i}`, offset],
        [`AO${471 + 2 * i}`, value],
      ],
    ),
    ['AO469', points.length],
  ];
}

/** Writes a schedule, which has to be valid, and makes it ready. */
export function begin(rig: PointRig, number: number, wanted: SettingWrite): void {
  rig.done(...schedule(rig, number, wanted));
  expect(rig.value('AI578'), `validation of ${number}`).to.equal(1);
  rig.done(['BO42', true]);
}

/** Every register of the functions, except for the rest of their timers. */
export const registers = (rig: PointRig): readonly string[] =>
  rig.device.bank.layout.slots
    .filter(({ modelId, path }) => modelId >= 703 && modelId <= 712 && !/Rem(Tms)?$/.test(path))
    .map((slot) => `${slot.modelId}.${slot.path} ${JSON.stringify(rig.device.bank.value(slot))}`);

/** The limit of generation, as register 704 has it. */
export const limitOf = (rig: PointRig) => [rig.register(704, 'WMaxLimPctEna'), rig.register(704, 'WMaxLimPct')];
/** What it is without a schedule. */
export const off = ['DISABLED', 100];

/** Reactive power, var. */
export const varOf = (rig: PointRig) => Number(rig.register(701, 'Var'));

/** Each change of the limit of generation from now on: date and percent. */
export function limitsSeen(rig: PointRig): readonly string[] {
  const seen: string[] = [];
  rig.device.bank.onChange(({ at, points }) => {
    if (!points.some(({ path }) => path === 'WMaxLimPctEna' || path === 'WMaxLimPct')) return;
    const [enabled, percent] = limitOf(rig);
    const date = new Date(rig.plant.dateMs(at)).toISOString().slice(0, 19).replace('T', ' ');
    seen.push(`${date} ${enabled === 'ENABLED' ? String(percent) : 'off'}`);
  });
  return seen;
}

/** The orders that write a curve of the store: selector, type, units, points, and their number last. */
export function curve(
  number: number,
  [type, xUnit, yUnit]: readonly [type: number, xUnit: number, yUnit: number],
  points: readonly (readonly [x: number, y: number])[],
): Orders {
  return [
    ['AO244', number],
    ['AO245', type],
    ['AO247', xUnit],
    ['AO248', yUnit],
    ...points.flatMap(
      ([x, y], i): Orders => [
        [`AO${249 + 2 * i}`, x],
        [`AO${250 + 2 * i}`, y],
      ],
    ),
    ['AO246', points.length],
  ];
}
