/** The system meter: AI533 to AI568, AI43 to AI48, BI94 to BI105 and the counters. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { DevicePort } from '../../device-port.ts';
import { batteryOf, bindings, computed, numberReader, pointInput, reservesPct, settingOutput } from '../bind.ts';
import type { InputOptions } from '../bind.ts';
import type { InputSource, PartContext, PointBindings, PointName } from '../types.ts';

/** Changes that make an event, per unit of the rating. */
const powerDeadband = 0.01;
const voltageDeadband = 0.005;
const frequencyDeadbandHz = 0.01;
const powerFactorDeadband = 0.02;
const socDeadbandPct = 0.5;

const circuitPhases: Readonly<Record<string, number>> = { SINGLE_PHASE: 1, SPLIT_PHASE: 2, THREE_PHASE: 5 };
/** A DER at its local grid; vector method of apparent power. */
const [connectionPointType, vectorMethod] = [1, 1];
/** Degrees of the phase voltages of a turning field to the right. */
const phaseAnglesDeg = [0, 240, 120] as const;

function measured(context: PartContext): readonly (readonly [PointName, InputSource | null])[] {
  const { port } = context;
  const ratedW = port.number('702.WMaxRtg') ?? 0;
  const nominalV = port.number('702.VNomRtg') ?? 0;
  const of = (point: PointPath, deadband: number, more: InputOptions = {}) =>
    pointInput(port, point, { measured: true, deadband, ...more });
  const power = (point: PointPath) => of(point, ratedW * powerDeadband);
  const volts = (point: PointPath) => of(point, nominalV * voltageDeadband);
  const ratedA = port.number('702.AMaxRtg') ?? 0;
  const amperes = (point: PointPath) => of(point, ratedA * powerDeadband);
  const phases = (['L1', 'L2', 'L3'] as const).flatMap(
    (phase, i): readonly (readonly [PointName, InputSource | null])[] => {
      const angle = phaseAnglesDeg[i];
      return [
        [`AI${538 + i}`, power(`701.W${phase}`)],
        [`AI${542 + i}`, power(`701.Var${phase}`)],
        [`AI${547 + 2 * i}`, volts(`701.V${phase}`)],
        [`AI${548 + 2 * i}`, port.has(`701.V${phase}`) ? computed(() => angle ?? 0, 'turning field') : null],
        [`AI${554 + i}`, amperes(`701.A${phase}`)],
      ];
    },
  );
  return [
    ['AI533', computed(() => connectionPointType, 'constant')],
    ['AI534', computed(() => circuitPhases[String(port.value('701.ACType'))] ?? null, '701.ACType')],
    ['AI535', computed(() => vectorMethod, 'constant')],
    ['AI536', of('701.Hz', frequencyDeadbandHz)],
    ['AI537', power('701.W')],
    ['AI541', power('701.Var')],
    ['AI545', of('701.PF', powerFactorDeadband)],
    ['AI546', power('701.VA')],
    ['AI553', volts('701.LLV')],
    ...phases,
  ];
}

function available({ port }: PartContext): readonly (readonly [PointName, InputSource | null])[] {
  const ratedW = port.number('702.WMaxRtg') ?? 0;
  const absorbs = (port.number('702.WChaRteMaxRtg') ?? 0) > 0;
  const of = (read: () => number, name: string) =>
    computed(read, `device: ${name}`, { measured: true, deadband: ratedW * powerDeadband });
  const { device } = port;
  return [
    ['AI43', of(() => device.available.injectW, 'available injectW')],
    ['AI44', absorbs ? of(() => 0 - device.available.absorbW, 'available absorbW') : null],
    ['AI45', of(() => device.available.injectVar, 'available injectVar')],
    ['AI46', of(() => 0 - device.available.absorbVar, 'available absorbVar')],
    ...chargeLevels(port),
  ];
}

/** State of charge, of the whole battery and between its limits of normal dispatch. */
function chargeLevels(port: DevicePort): readonly (readonly [PointName, InputSource | null])[] {
  // model 713 shows 0 % without a storage
  if (batteryOf(port) === null) return [];
  const more = { measured: true, deadband: socDeadbandPct };
  const usable = () => {
    const [min, max] = reservesPct(port);
    const soc = port.number('713.SoC');
    return soc === null || max <= min ? null : Math.min(100, Math.max(0, (100 * (soc - min)) / (max - min)));
  };
  return [
    ['AI47', pointInput(port, '713.SoC', more)],
    ['AI48', port.has('713.SoC') ? computed(usable, '713.SoC between 802.SoCRsvMin and 802.SocRsvMax', more) : null],
  ];
}

/** A quantity with a high and a low threshold; the alarms are inputs of their own. */
interface Threshold {
  readonly point: PointPath;
  /** outputs of the thresholds, high and low */
  readonly outputs: readonly [PointName, PointName];
  readonly inputs: readonly [PointName, PointName];
  /** so far away that nothing is beyond it */
  readonly far: readonly [high: number, low: number];
}

const farPower = 2 ** 31 - 1;
const thresholds: readonly Threshold[] = [
  { point: '701.W', outputs: ['AO449', 'AO450'], inputs: ['BI94', 'BI95'], far: [farPower, 0] },
  { point: '701.Var', outputs: ['AO451', 'AO452'], inputs: ['BI96', 'BI97'], far: [farPower, 0] },
  { point: '701.PF', outputs: ['AO453', 'AO454'], inputs: ['BI98', 'BI99'], far: [1, -1] },
  ...(['L1', 'L2', 'L3'] as const).map(
    (phase, i): Threshold => ({
      point: `701.V${phase}`,
      outputs: [`AO${455 + 2 * i}`, `AO${456 + 2 * i}`],
      inputs: [`BI${100 + 2 * i}`, `BI${101 + 2 * i}`],
      far: [farPower / 10, 0],
    }),
  ),
];

/** Powers are compared by their magnitude: the thresholds of the profile have no sign. */
const magnitudes: ReadonlySet<PointPath> = new Set<PointPath>(['701.W', '701.Var']);

function thresholdPoints(context: PartContext): PointBindings {
  const { port, settings } = context;
  const present = thresholds.filter(({ point }) => port.has(point));
  return bindings(
    present.flatMap(({ point, outputs: [high, low], inputs }) => {
      const number = numberReader(port, point);
      const value = magnitudes.has(point) ? () => Math.abs(number() ?? 0) : () => number() ?? 0;
      return [
        [inputs[0], computed(() => value() > settings.number(high), point, { live: true })],
        [inputs[1], computed(() => value() < settings.number(low), point, { live: true })],
      ] as const;
    }),
    present.flatMap(({ outputs: [high, low], far }) => [
      [high, settingOutput(context, high, far[0])] as const,
      [low, settingOutput(context, low, far[1])] as const,
    ]),
  );
}

const counterPoints: readonly PointPath[] = ['701.TotWhInj', '701.TotWhAbs', '701.TotVarhInj', '701.TotVarhAbs'];

/** The part of the meter. */
export function meterPart(context: PartContext): PointBindings {
  const { inputs, outputs } = thresholdPoints(context);
  const counters = counterPoints.map(
    (point, i) => [`CTR${i}` as const, pointInput(context.port, point, { measured: true })] as const,
  );
  const ownPoints = bindings([...measured(context), ...available(context), ...counters]);
  return { inputs: new Map([...ownPoints.inputs, ...inputs]), outputs };
}
