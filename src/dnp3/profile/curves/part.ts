/** The functions that follow curves: BO12, BO13, BO25, BO29, BO30, and the window on the curves. */
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { Wanted } from '../../device-port.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { computed, merged, pointInput, registerOutput, writing } from '../bind.ts';
import { delayed } from '../commands/delayed.ts';
import { modePoints } from '../commands/mode.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { curveUses } from './convert.ts';
import { Namings } from './naming.ts';
import type { Naming } from './naming.ts';
import { curveCount, CurveStore, curveType } from './store.ts';
import { curveWindow } from './window.ts';

type ModeInputs = (
  context: PartContext,
  isIdle: () => boolean,
) => readonly (readonly [PointName, InputSource | null])[];

interface CurveMode {
  readonly enable: number;
  /** functions that it switches together */
  readonly names: readonly CurveFunction[];
  /** settings that name a curve, and the type of it */
  readonly curves: readonly (readonly [PointName, number])[];
  readonly priority?: PointName;
  readonly window?: PointName;
  readonly registers?: readonly (readonly [PointName, PointPath])[];
  readonly inputs?: ModeInputs;
  readonly outputs?: (
    context: PartContext,
    isIdle: () => boolean,
  ) => readonly (readonly [PointName, OutputTarget | null])[];
}

/** The voltage that a function acts on: a single-phase device has no line-to-line voltage. */
const voltage = (name: PointName): ModeInputs => {
  const inputs: ModeInputs = ({ port }, isIdle) => {
    const deadband = 0.005 * (port.number('702.VNom') ?? 0);
    return [
      [name, pointInput(port, port.has('701.LLV') ? '701.LLV' : '701.LNV', { measured: true, deadband, isIdle })],
    ];
  };
  return inputs;
};

/** The reference voltage of volt-var in volts; it moves by itself where that is on. */
function adjustedReference({ port }: PartContext, isIdle: () => boolean): InputSource | null {
  if (!port.has('705.Crv.VRef')) return null;
  const read = () => {
    const vRefPct = port.number('705.Crv.VRefAuto') ?? port.number('705.Crv.VRef');
    return vRefPct === null ? null : ((vRefPct === 0 ? 100 : vRefPct) / 100) * (port.number('702.VNom') ?? 0);
  };
  return computed(read, '705.Crv.VRef', { isIdle });
}

function autonomousReference({ port }: PartContext, isIdle: () => boolean): OutputTarget | null {
  const point: PointPath = '705.Crv.VRefAutoEna';
  if (!port.has(point)) return null;
  return writing(port, {
    read: () => port.value(point) === 'ENABLED',
    writes: (on) => [{ point, value: on === true ? 'ENABLED' : 'DISABLED' }],
    isIdle,
    bound: point,
  });
}

const modes: readonly CurveMode[] = [
  {
    enable: 12,
    names: ['hv_trip', 'lv_trip'],
    curves: [
      ['AO23', curveType.hvMustTrip],
      ['AO24', curveType.lvMustTrip],
      ['AO25', curveType.hvMomentary],
      ['AO26', curveType.lvMomentary],
    ],
    inputs: voltage('AI72'),
  },
  {
    enable: 13,
    names: ['hf_trip', 'lf_trip'],
    curves: [
      ['AO28', curveType.hfMustTrip],
      ['AO29', curveType.lfMustTrip],
      ['AO30', curveType.hfMomentary],
      ['AO31', curveType.lfMomentary],
    ],
  },
  {
    enable: 25,
    names: ['volt_watt'],
    curves: [['AO173', curveType.voltWatt]],
    priority: 'AO168',
    window: 'AO169',
    registers: [
      ['AO171', '706.RvrtTms'],
      ['AO175', '706.Crv.RspTms'],
      ['AO176', '706.Crv.RspTms'],
    ],
    inputs: voltage('AI247'),
  },
  {
    enable: 29,
    names: ['volt_var'],
    curves: [['AO217', curveType.voltVar]],
    priority: 'AO212',
    window: 'AO213',
    registers: [
      ['AO215', '705.RvrtTms'],
      ['AO218', '705.Crv.RspTms'],
      ['AO219', '705.Crv.RspTms'],
      ['AO220', '705.Crv.VRefAutoTms'],
    ],
    inputs: (context, isIdle) => [...voltage('AI295')(context, isIdle), ['AI296', adjustedReference(context, isIdle)]],
    outputs: (context, isIdle) => [['BO41', autonomousReference(context, isIdle)]],
  },
  {
    enable: 30,
    names: ['watt_var'],
    curves: [['AO226', curveType.wattVar]],
    priority: 'AO221',
    window: 'AO222',
    registers: [['AO224', '712.RvrtTms']],
    inputs: ({ port }, isIdle) => [
      [
        'AI307',
        pointInput(port, '701.W', { measured: true, deadband: 0.01 * (port.number('702.WMaxRtg') ?? 0), isIdle }),
      ],
    ],
  },
];

/** Writes that switch the functions of a mode, with the curves that it names. */
function modeWrites(
  { port }: PartContext,
  names: readonly CurveFunction[],
  namings: Namings,
  modeNamings: readonly Naming[],
  on: boolean,
): readonly Wanted[] | ControlStatus {
  const writes: Wanted[] = names.flatMap((name) => [...port.switching(name, on)]);
  if (!on) return writes;
  for (const naming of modeNamings) {
    const curve = namings.wanted(naming);
    if (typeof curve === 'number') return curve;
    writes.push(...curve);
  }
  return writes;
}

function curveModePoints(context: PartContext, mode: CurveMode, namings: Namings): PointBindings {
  const { port } = context;
  const names = mode.names.filter((name) => port.supports(name));
  const isEnabled = () => names.length > 0 && names.every((name) => port.isEnabled(name));
  const isIdle = () => !isEnabled();
  const wait = delayed(context, `BO${mode.enable}`);
  const modeNamings = mode.curves.flatMap(([output, type]): readonly Naming[] => {
    const use = curveUses.find((each) => each.type === type);
    if (use === undefined || !names.includes(use.name)) return [];
    return port.hasCurve(use.name, use.region) ? [namings.add(output, use, () => wait.isWaiting)] : [];
  });
  return modePoints(context, {
    enable: mode.enable,
    isSupported: names.length > 0,
    isEnabled,
    wait,
    writes: (on) => modeWrites(context, names, namings, modeNamings, on),
    ...(mode.priority && { priority: mode.priority }),
    ...(mode.window && { window: mode.window }),
    bound: names.map((name) => port.enablePoint(name)).join(', ') || 'no function',
    inputs: mode.inputs?.(context, isIdle) ?? [],
    outputs: [
      ...modeNamings.map((naming) => {
        // 0: the curve of the registers
        const output: OutputTarget = { ...namings.target(naming, isIdle), range: () => [0, curveCount] };
        return [naming.output, output] as const;
      }),
      ...(mode.registers ?? []).map(([name, point]) => [name, registerOutput(port, { point, isIdle })] as const),
      ...(mode.outputs?.(context, isIdle) ?? []),
    ],
  });
}

/** The points of curves, and the outputs that name them. A device without a function that follows curves has no window. */
export function curvePoints(context: PartContext): { readonly points: PointBindings; readonly namings: Namings } {
  const store = new CurveStore();
  context.settings.onReset(() => store.clear());
  const namings = new Namings(context, store);
  const all = modes.map((mode) => curveModePoints(context, mode, namings));
  const isThere = modes.some(({ names }) => names.some((name) => context.port.supports(name)));
  const parts = isThere ? [...all, curveWindow(context, store, namings)] : all;
  return { points: merged(parts), namings };
}
