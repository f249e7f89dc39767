/** Nameplate and settings: AI0 to AI42 with AO0 to AO5, and the ramp limits AI62 to AI65. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import {
  batteryOf,
  bindings,
  computed,
  pointInput,
  registerOutput,
  reservesPct,
  settingOutput,
  writing,
} from '../bind.ts';
import { varReference, varReferences } from '../commands/var-reference.ts';
import { scheduleCount } from '../schedules/store.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';

/** Version 1.00 of the profile, level 2. */
const [profileVersion, profileLevel] = [1, 2];

/** Inputs that are points of the map; a negative factor: the profile counts charging and absorption below zero. */
const points: readonly (readonly [PointName, PointPath, number?])[] = [
  ['AI2', '702.VMinRtg'],
  ['AI3', '702.VMaxRtg'],
  ['AI4', '702.WMaxRtg'],
  ['AI5', '702.WChaRteMaxRtg', -1],
  ['AI6', '702.WOvrExtRtg'],
  ['AI8', '702.WOvrExtRtgPF'],
  ['AI9', '702.WUndExtRtg'],
  ['AI11', '702.WUndExtRtgPF'],
  ['AI12', '702.VarMaxInjRtg'],
  ['AI13', '702.VarMaxAbsRtg', -1],
  ['AI14', '702.VAMaxRtg'],
  ['AI15', '702.VAChaRteMaxRtg', -1],
  ['AI16', '713.WHRtg'],
  ['AI19', '702.AMaxRtg'],
  ['AI21', '702.ReactSusceptRtg'],
  ['AI32', '702.WMax'],
  ['AI33', '702.WChaRteMax', -1],
  ['AI34', '702.VarMaxInj'],
  ['AI35', '702.VarMaxAbs', -1],
  ['AI36', '702.VAMax'],
  ['AI37', '702.VAChaRteMax', -1],
  ['AI38', '702.VMin'],
  ['AI39', '702.VMax'],
];

/** Categories of IEEE 1547: SunSpec counts from 0, the profile from 1. */
const normalCategories: Readonly<Record<string, number>> = { CAT_A: 1, CAT_B: 2 };
const abnormalCategories: Readonly<Record<string, number>> = { CAT_I: 1, CAT_II: 2, CAT_III: 3 };

function categories({ port }: PartContext): readonly (readonly [PointName, InputSource | null])[] {
  const of = (point: PointPath, codes: Readonly<Record<string, number>>) =>
    port.has(point)
      ? computed(() => {
          const value = port.value(point);
          return typeof value === 'number' ? value + 1 : (codes[String(value)] ?? 0);
        }, point)
      : null;
  return [
    ['AI22', of('702.NorOpCatRtg', normalCategories)],
    ['AI23', of('702.AbnOpCatRtg', abnormalCategories)],
  ];
}

function storage({ port }: PartContext): readonly (readonly [PointName, InputSource | null])[] {
  if (!port.has('713.WHRtg')) return [];
  const effective = () => ((port.number('713.WHRtg') ?? 0) * (port.number('713.SoH') ?? 100)) / 100;
  const span = () => {
    const [min, max] = reservesPct(port);
    return (max - min) / 100;
  };
  return [
    ['AI17', computed(effective, '713.WHRtg x 713.SoH', { live: true })],
    [
      'AI18',
      computed(() => effective() * span(), '713.WHRtg x 713.SoH x span of 802.SoCRsvMin and 802.SocRsvMax', {
        live: true,
      }),
    ],
    // the capacity is counted in Wh
    ['BI27', computed(() => true, 'constant')],
  ];
}

function unitCounts({ port, profile }: PartContext): readonly (readonly [PointName, InputSource | null])[] {
  const count = (value: number) => computed(() => value, 'configuration');
  return [
    ['AI24', count(profile === 'an2018' ? scheduleCount : 0)],
    ['AI25', count(1)],
    ['AI26', count(1)],
    ['AI27', count(batteryOf(port) === null ? 0 : 1)],
    ['AI28', count(1)],
  ];
}

function reactiveReference({ port }: PartContext): OutputTarget | null {
  if (!port.has('704.VarSetMod')) return null;
  const output = writing(port, {
    read() {
      const present = varReference(port);
      return present === null ? 0 : varReferences.indexOf(present) + 1;
    },
    writes: (value) => {
      const mode = varReferences[Number(value) - 1];
      return mode === undefined ? 12 : [{ point: '704.VarSetMod', value: mode }];
    },
    bound: '704.VarSetMod',
  });
  return { ...output, range: () => [1, varReferences.length] };
}

/** Open-loop response times of the map are times to 90 %. */
const responsePct = 90;
/** Sign of the power factor by IEC: that of the active power. */
const iecSign = 1;

/** The part of nameplate and settings. */
export function nameplatePart(context: PartContext): PointBindings {
  const { port } = context;
  const nominalHz = port.device.trace.nominalHz;
  const fixed = (name: PointName, value: number): OutputTarget => ({
    ...settingOutput(context, name, value, { allows: (asked) => Math.abs(asked - value) < 1e-9 }),
    range: () => [value, value],
  });
  const ramp = port.has('704.WRmp')
    ? computed(() => port.device.gradient.w.pctPerS, '704.WRmp or the gradient in its place', { live: true })
    : null;
  const absorbs = (port.number('702.WChaRteMaxRtg') ?? 0) > 0;
  return bindings(
    [
      ['AI0', computed(() => profileVersion, 'constant')],
      ['AI1', computed(() => profileLevel, 'constant')],
      ...points.map(([name, point, factor = 1]) => [name, pointInput(port, point, { factor })] as const),
      ...categories(context),
      ...storage(context),
      ...unitCounts(context),
      ['AI20', absorbs ? pointInput(port, '702.AMaxRtg', { factor: -1 }) : null],
      ...(['AI62', 'AI63'] as const).map((name) => [name, ramp] as const),
      ...(['AI64', 'AI65'] as const).map((name) => [name, absorbs ? ramp : null] as const),
    ],
    [
      ['AO0', registerOutput(port, { point: '702.VNom' })],
      ['AO1', fixed('AO1', 0)],
      ['AO2', fixed('AO2', nominalHz)],
      ['AO3', fixed('AO3', responsePct)],
      ['AO4', fixed('AO4', iecSign)],
      ['AO5', reactiveReference(context)],
    ],
  );
}
