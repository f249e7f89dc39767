/** Effect of the value of a schedule, by type. */
import type { FunctionName } from '../../../sunspec/map/grid-support/functions.ts';
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { DevicePort, PointWrite, Wanted } from '../../device-port.ts';
import { presentVarReference } from '../commands/var-reference.ts';
import { curveUses } from '../curves/convert.ts';
import type { CurveUse } from '../curves/convert.ts';
import type { Namings } from '../curves/naming.ts';
import { curveCount, curveType } from '../curves/store.ts';
import { scheduleType } from './store.ts';

/** Percent of the profile are tenths, power factors hundredths. */
const [perTenth, perHundredth] = [10, 100];

interface SetPoint {
  readonly type: number;
  /** functions that it enables; those that the device lacks are left out, all but the first */
  readonly names: readonly [FunctionName, ...FunctionName[]];
  readonly point: PointPath;
  /** wire units */
  readonly range: readonly [min: number, max: number];
  readonly writes: (port: DevicePort, value: number) => readonly PointWrite[];
}

function powerFactor(port: DevicePort, value: number): readonly PointWrite[] {
  const factor = value / perHundredth;
  return [
    { point: '704.PFWInj.PF', value: factor },
    ...(port.supports('pf_absorb') ? [{ point: '704.PFWAbs.PF' as const, value: factor }] : []),
  ];
}

function constantVar(port: DevicePort, value: number): readonly PointWrite[] {
  return [
    { point: '704.VarSetMod', value: presentVarReference(port) },
    { point: '704.VarSetPct', value: value / perTenth },
  ];
}

const setPoints: readonly SetPoint[] = [
  {
    type: scheduleType.generationLimit,
    names: ['max_power'],
    point: '704.WMaxLimPct',
    range: [0, 1000],
    writes: (_, value) => [{ point: '704.WMaxLimPct', value: value / perTenth }],
  },
  {
    type: scheduleType.setPoint,
    names: ['active_power'],
    point: '704.WSetPct',
    range: [-1000, 1000],
    writes: (_, value) => [
      { point: '704.WSetMod', value: 'W_MAX_PCT' },
      { point: '704.WSetPct', value: value / perTenth },
    ],
  },
  {
    type: scheduleType.constantVar,
    names: ['constant_var'],
    point: '704.VarSetPct',
    range: [-1000, 1000],
    writes: constantVar,
  },
  {
    type: scheduleType.powerFactor,
    names: ['pf_inject', 'pf_absorb'],
    point: '704.PFWInj.PF',
    range: [0, 100],
    writes: powerFactor,
  },
];

const curveTypes: Readonly<Record<number, number>> = {
  [scheduleType.voltWatt]: curveType.voltWatt,
  [scheduleType.voltVar]: curveType.voltVar,
  [scheduleType.wattVar]: curveType.wattVar,
};

/** The use of the curves that the values of a type name; undefined: its values are no curves. */
export function curveUseOf(type: number): CurveUse | undefined {
  return curveUses.find((use) => use.type === curveTypes[type]);
}

const enables = (port: DevicePort, names: readonly FunctionName[]): readonly Wanted[] =>
  names.filter((name) => port.supports(name)).map((name) => ({ name, on: true }));

/** True if the device carries out schedules of a type. */
export function isRunnable(port: DevicePort, type: number): boolean {
  const use = curveUseOf(type);
  if (use) return port.supports(use.name);
  const setPoint = setPoints.find((each) => each.type === type);
  return setPoint !== undefined && port.supports(setPoint.names[0]) && port.has(setPoint.point);
}

/** Settings that a value requests while in force; null: out of range, or no such curve. */
export function writesOf(port: DevicePort, namings: Namings, type: number, value: number): readonly Wanted[] | null {
  const use = curveUseOf(type);
  if (use) {
    if (value < 1 || value > curveCount) return null;
    const curve = namings.wanted({ number: value, use });
    return typeof curve === 'number' ? null : [...curve, ...enables(port, [use.name])];
  }
  const setPoint = setPoints.find((each) => each.type === type);
  if (setPoint === undefined || value < setPoint.range[0] || value > setPoint.range[1]) return null;
  return [...setPoint.writes(port, value), ...enables(port, setPoint.names)];
}
