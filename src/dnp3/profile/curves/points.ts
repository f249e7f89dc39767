/**
 * The functions that follow curves (BO12, BO13, BO25, BO29, BO30), and the window on the curves (AO244 to AO448,
 * BI107).
 */
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { Origin } from '../../../core/origin.ts';
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { SettingWrite } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { computed, merged, pointInput, registerOutput, writing, bindings, success } from '../bind.ts';
import { delayed, modePoints } from '../commands/mode.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { MemberOutput, selectorOutput } from '../window.ts';
import { curveUses, curveCount, CurveStore, curveType, CurveSettings } from './curve.ts';
import type { CurveSetting, StoredCurve } from './curve.ts';
import { pointsPerCurve, windowStarts } from '../table/rows.ts';

const windowBinding = 'curve in the window';

type Field = 'type' | 'xUnit' | 'yUnit';

interface Member {
  readonly read: (draft: Readonly<StoredCurve>) => number;
  readonly write: (draft: StoredCurve, value: number) => void;
  /** status of a value for a curve that is not locked; absent: success */
  readonly statusOf?: (value: number) => ControlStatus;
  /** true if a write commits the draft */
  readonly commits?: boolean;
}

/** The points of a curve, X and Y in turn: one table for all outstations. */
const valueMembers = Array.from(
  { length: 2 * pointsPerCurve },
  (_, i): Member => ({
    read: ({ values }) => values[i] ?? 0,
    write: ({ values }, value) => {
      values[i] = value;
    },
  }),
);

/** Creates and carries out the outputs of the window. */
class Outputs {
  readonly #context: PartContext;
  readonly #store: CurveStore;
  readonly #curveSettings: CurveSettings;

  constructor(context: PartContext, store: CurveStore, curveSettings: CurveSettings) {
    this.#context = context;
    this.#store = store;
    this.#curveSettings = curveSettings;
  }

  read({ read }: Member): number {
    return read(this.#store.draft);
  }

  check({ statusOf }: Member, value: number | boolean, by: Origin): ControlStatus {
    const { holder, selected } = this.#store;
    if (holder.isOther(by)) return controlStatus.blockedOtherMaster;
    if (this.#curveSettings.isLocked(selected)) return controlStatus.automationInhibit;
    if (!Number.isInteger(value)) return controlStatus.outOfRange;
    return statusOf?.(Number(value)) ?? success;
  }

  operate(member: Member, value: number | boolean, by: Origin): ControlStatus {
    const status = this.check(member, value, by);
    if (status !== success) return status;
    this.#store.edit((draft) => {
      member.write(draft, Number(value));
    });
    // IEEE 1815.2 writes the number of points before the points (6.1.3), so every write commits
    if (member.commits === true || this.#context.profile === 'ieee1815.2') this.#store.commit();
    this.#context.changed();
    return success;
  }

  field(name: Field, statusOf: Member['statusOf'] = () => success): OutputTarget {
    return new MemberOutput(windowBinding, this, {
      read: (draft) => draft[name],
      write: (draft, value) => {
        draft[name] = value;
      },
      statusOf,
    });
  }

  /** The type of the curve, which cannot change while a function or schedule names the curve. */
  type(): OutputTarget {
    return this.field('type', (value) => this.#statusOfType(value));
  }

  /** The number of points is written last in the procedure of AN2018, and commits. */
  count(): OutputTarget {
    const store = this.#store;
    return new MemberOutput(windowBinding, this, {
      read: ({ count }) => count,
      write: (draft, value) => {
        draft.count = value;
      },
      statusOf: (value) => (value > this.#capacity ? controlStatus.outOfRange : this.#statusOfType(store.draft.type)),
      commits: true,
    });
  }

  #statusOfType(type: number): ControlStatus {
    const { selected } = this.#store;
    const isSame = type === this.#store.curve(selected).type;
    return this.#curveSettings.isNamed(selected) && !isSame ? controlStatus.notSupported : success;
  }

  /** Maximum number of points for the function of the curve; without such a function that of the window. */
  get #capacity(): number {
    const use = curveUses.find(({ type }) => type === this.#store.draft.type);
    const capacity = use === undefined ? 0 : this.#context.port.capacity(use.name);
    return capacity > 0 ? capacity : pointsPerCurve;
  }
}

/** The points of the window. */
function curveWindow(context: PartContext, store: CurveStore, curveSettings: CurveSettings): PointBindings {
  const outputs = new Outputs(context, store, curveSettings);
  const values = valueMembers.map(
    (member, i) => [`AO${windowStarts.curve.output + i}`, new MemberOutput(windowBinding, outputs, member)] as const,
  );
  return bindings(
    [['BI107', computed(() => curveSettings.isNamed(store.selected), windowBinding)]],
    [
      ['AO244', selectorOutput(context, store, curveCount, windowBinding)],
      ['AO245', outputs.type()],
      ['AO246', outputs.count()],
      ['AO247', outputs.field('xUnit')],
      ['AO248', outputs.field('yUnit')],
      ...values,
    ],
  );
}

type ModeInputs = (
  context: PartContext,
  isIdle: () => boolean,
) => readonly (readonly [PointName, InputSource | null])[];

interface CurveMode {
  readonly enable: number;
  /** functions that the mode switches together */
  readonly names: readonly CurveFunction[];
  /** outputs that name a curve, with the type of the curve */
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

/** The reference voltage of volt-var, V, also where the device adjusts it autonomously. */
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
  curveSettings: CurveSettings,
  modeSettings: readonly CurveSetting[],
  on: boolean,
): readonly SettingWrite[] | ControlStatus {
  const writes: SettingWrite[] = names.flatMap((name) => [...port.switching(name, on)]);
  if (!on) return writes;
  for (const curveSetting of modeSettings) {
    const curve = curveSettings.wishesOf(curveSetting);
    if (typeof curve === 'number') return curve;
    writes.push(...curve);
  }
  return writes;
}

function curveModePoints(context: PartContext, mode: CurveMode, curveSettings: CurveSettings): PointBindings {
  const { port } = context;
  const names = mode.names.filter((name) => port.supports(name));
  const isEnabled = () => names.length > 0 && names.every((name) => port.isEnabled(name));
  const isIdle = () => !isEnabled();
  const wait = delayed(context, `BO${mode.enable}`);
  const modeSettings = mode.curves.flatMap(([output, type]): readonly CurveSetting[] => {
    const use = curveUses.find((each) => each.type === type);
    if (use === undefined || !names.includes(use.name)) return [];
    return port.hasCurve(use.name, use.region) ? [curveSettings.add(output, use, () => wait.isWaiting)] : [];
  });
  return modePoints(context, {
    enable: mode.enable,
    isSupported: names.length > 0,
    isEnabled,
    wait,
    writes: (on) => modeWrites(context, names, curveSettings, modeSettings, on),
    ...(mode.priority && { priority: mode.priority }),
    ...(mode.window && { window: mode.window }),
    bound: names.map((name) => port.enablePoint(name)).join(', ') || 'no function',
    inputs: mode.inputs?.(context, isIdle) ?? [],
    outputs: [
      ...modeSettings.map((curveSetting) => {
        // 0: the curve of the registers
        const output: OutputTarget = { ...curveSettings.target(curveSetting, isIdle), range: () => [0, curveCount] };
        return [curveSetting.output, output] as const;
      }),
      ...(mode.registers ?? []).map(([name, point]) => [name, registerOutput(port, { point, isIdle })] as const),
      ...(mode.outputs?.(context, isIdle) ?? []),
    ],
  });
}

/**
 * The points of curves, and the outputs that name them. A device without a function that follows curves has no window.
 */
export function curvePoints(context: PartContext): {
  readonly points: PointBindings;
  readonly curveSettings: CurveSettings;
} {
  const store = new CurveStore(context.keep);
  context.settings.onReset(() => store.clear());
  const curveSettings = new CurveSettings(context, store);
  const modeParts = modes.map((mode) => curveModePoints(context, mode, curveSettings));
  const hasCurves = modes.some(({ names }) => names.some((name) => context.port.supports(name)));
  const parts = hasCurves ? [...modeParts, curveWindow(context, store, curveSettings)] : modeParts;
  return { points: merged(parts), curveSettings };
}
