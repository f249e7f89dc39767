/** Measured values and state: status (BI0 to BI24, BI52 to BI63), the system meter, nameplate and settings. */
import type { TripFunction } from '../../sunspec/map/grid-support/functions.ts';
import {
  batteryOf,
  bindings,
  computed,
  numberReader,
  pointInput,
  reservesPct,
  settingOutput,
  registerOutput,
  writing,
} from './bind.ts';
import type { InputOptions } from './bind.ts';
import type { InputSource, PartContext, PointBindings, PointName, OutputTarget } from './types.ts';
import type { PointPath } from '../../sunspec/map/point-path.ts';
import type { DevicePort } from '../device-port.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import { varReference, varReferences } from './commands/setpoints.ts';
import { scheduleCount } from './schedules/schedule.ts';

type Inputs = readonly (readonly [PointName, InputSource | null])[];

const live = { live: true } as const;

function alarms({ port }: PartContext): Inputs {
  const { device } = port;
  const hasSeverity = (severity: string) => device.alarms.some((alarm) => alarm.severity === severity);
  const hasCode = (...codes: readonly string[]) => device.alarms.some((alarm) => codes.includes(alarm.code));
  const storage = (...codes: readonly string[]) =>
    batteryOf(port) !== null ? computed(() => hasCode(...codes), 'alarms of the battery', live) : null;
  return [
    ['BI0', computed(() => device.alarms.some(({ source }) => source === 'comm'), 'alarms of communication', live)],
    ['BI1', computed(() => hasSeverity('error'), 'alarms of severity error', live)],
    ['BI2', computed(() => hasSeverity('warning'), 'alarms of severity warning', live)],
    ['BI3', computed(() => hasSeverity('info'), 'alarms of severity info', live)],
    ['BI5', storage('soc_high')],
    ['BI6', storage('soc_low')],
    ['BI8', storage('over_temp')],
  ];
}

/** State of charge at the limits of the usable range. */
function chargeEnds({ port }: PartContext): Inputs {
  const limits = () => batteryOf(port);
  if (limits() === null || !port.has('713.SoC')) return [];
  const socPct = numberReader(port, '713.SoC');
  const soc = () => socPct() ?? 0;
  return [
    ['BI4', computed(() => soc() >= (limits()?.socMaxPct ?? 100), '713.SoC', live)],
    ['BI7', computed(() => soc() <= (limits()?.socMinPct ?? 0), '713.SoC', live)],
  ];
}

function states({ port, settings }: PartContext): Inputs {
  const { device } = port;
  const inverterState = port.reader('701.InvSt');
  const operatingState = port.reader('701.St');
  const enterService = port.reader('703.ES');
  const activeW = numberReader(port, '701.W');
  const inverter = (state: string) => inverterState() === state;
  const isOn = () => operatingState() === 'ON';
  // while the inverter shuts down power still flows, whatever 701.St is
  const isConnected = () => isOn() || inverter('SHUTTING_DOWN');
  const isWaiting = () => !isOn() && device.enterService.state === 'waiting';
  const idleW = 0.002 * (port.number('702.WMaxRtg') ?? 0);
  const w = () => activeW() ?? 0;
  const mayStart = () => enterService() !== 'DISABLED' && device.startedTrips.length === 0 && !settings.flag('BO0');
  const state = (read: () => boolean, bound: string) => computed(read, bound, live);
  return [
    ['BI10', state(() => device.localControl, '715.LocRemCtl')],
    ['BI12', state(() => isWaiting() || (isOn() && inverter('STARTING')), '701.InvSt')],
    ['BI13', state(() => inverter('SHUTTING_DOWN'), '701.InvSt')],
    ['BI14', state(() => isOn() && !inverter('STARTING') && !inverter('SHUTTING_DOWN'), '701.St')],
    ['BI15', state(() => !isConnected() && !isWaiting(), '701.St, 701.InvSt')],
    ['BI18', state(() => isConnected() && Math.abs(w()) <= idleW, '701.St, 701.W')],
    ['BI19', state(() => isConnected() && w() > idleW, '701.St, 701.W')],
    ['BI20', state(() => isConnected() && w() < -idleW, '701.St, 701.W')],
    ['BI21', state(() => !isConnected() && mayStart(), '701.St, 703.ES')],
    ['BI22', state(() => !isConnected() && !mayStart(), '701.St, 703.ES')],
    ['BI23', state(() => device.switchClosed, 'disconnect switch')],
    // the switch of the simulator has no travel time
    ['BI24', computed(() => false, 'disconnect switch')],
  ];
}

interface Protection {
  readonly name: TripFunction;
  readonly alarm: string;
  /** blocked, started, operated */
  readonly inputs: readonly [PointName, PointName, PointName];
}

const protections: readonly Protection[] = [
  { name: 'hv_trip', alarm: 'ac_over_volt', inputs: ['BI52', 'BI53', 'BI54'] },
  { name: 'lv_trip', alarm: 'ac_under_volt', inputs: ['BI55', 'BI56', 'BI57'] },
  { name: 'hf_trip', alarm: 'over_frequency', inputs: ['BI58', 'BI59', 'BI60'] },
  { name: 'lf_trip', alarm: 'under_frequency', inputs: ['BI61', 'BI62', 'BI63'] },
];

function protection({ port }: PartContext): Inputs {
  const { device } = port;
  return protections
    .filter(({ name }) => port.supports(name))
    .flatMap(({ name, alarm, inputs: [blocked, started, operated] }) => [
      [blocked, computed(() => !port.isEnabled(name), port.enablePoint(name), live)] as const,
      [started, computed(() => device.startedTrips.includes(name), 'timers of the function', live)] as const,
      [operated, computed(() => device.alarms.some(({ code }) => code === alarm), '701.Alrm', live)] as const,
    ]);
}

/** The part of alarms and states. */
export function statusPart(context: PartContext): PointBindings {
  return bindings([...alarms(context), ...chargeEnds(context), ...states(context), ...protection(context)]);
}

/** Deadbands of events; those of power, current and voltage are per unit of the rating. */
const powerDeadband = 0.01;
const voltageDeadband = 0.005;
const frequencyDeadbandHz = 0.01;
const powerFactorDeadband = 0.02;
const socDeadbandPct = 0.5;

const circuitPhases: Readonly<Record<string, number>> = { SINGLE_PHASE: 1, SPLIT_PHASE: 2, THREE_PHASE: 5 };
/** Codes of AI533, a DER at its local grid, and AI535, the vector method of apparent power. */
const [connectionPointType, vectorMethod] = [1, 1];
/** Angles of the phase voltages A, B and C in positive sequence. */
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
  const socOptions = { measured: true, deadband: socDeadbandPct };
  const usable = () => {
    const [min, max] = reservesPct(port);
    const soc = port.number('713.SoC');
    return soc === null || max <= min ? null : Math.min(100, Math.max(0, (100 * (soc - min)) / (max - min)));
  };
  return [
    ['AI47', pointInput(port, '713.SoC', socOptions)],
    [
      'AI48',
      port.has('713.SoC') ? computed(usable, '713.SoC between 802.SoCRsvMin and 802.SocRsvMax', socOptions) : null,
    ],
  ];
}

/** A quantity with a high and a low threshold, and the inputs of their alarms. */
interface Threshold {
  readonly point: PointPath;
  /** outputs of the thresholds, high and low */
  readonly outputs: readonly [PointName, PointName];
  readonly inputs: readonly [PointName, PointName];
  /** start values, which no measurement passes */
  readonly starts: readonly [high: number, low: number];
}

const maxWireValue = 2 ** 31 - 1;
const thresholds: readonly Threshold[] = [
  { point: '701.W', outputs: ['AO449', 'AO450'], inputs: ['BI94', 'BI95'], starts: [maxWireValue, 0] },
  { point: '701.Var', outputs: ['AO451', 'AO452'], inputs: ['BI96', 'BI97'], starts: [maxWireValue, 0] },
  { point: '701.PF', outputs: ['AO453', 'AO454'], inputs: ['BI98', 'BI99'], starts: [1, -1] },
  ...(['L1', 'L2', 'L3'] as const).map(
    (phase, i): Threshold => ({
      point: `701.V${phase}`,
      outputs: [`AO${455 + 2 * i}`, `AO${456 + 2 * i}`],
      inputs: [`BI${100 + 2 * i}`, `BI${101 + 2 * i}`],
      starts: [maxWireValue / 10, 0],
    }),
  ),
];

/** Powers are compared by their magnitude: the thresholds of the profile have no sign. */
const magnitudes: ReadonlySet<PointPath> = new Set<PointPath>(['701.W', '701.Var']);

function thresholdPoints(context: PartContext): PointBindings {
  const { port, settings } = context;
  const deviceThresholds = thresholds.filter(({ point }) => port.has(point));
  return bindings(
    deviceThresholds.flatMap(({ point, outputs: [high, low], inputs }) => {
      const number = numberReader(port, point);
      const value = magnitudes.has(point) ? () => Math.abs(number() ?? 0) : () => number() ?? 0;
      return [
        [inputs[0], computed(() => value() > settings.number(high), point, { live: true })],
        [inputs[1], computed(() => value() < settings.number(low), point, { live: true })],
      ] as const;
    }),
    deviceThresholds.flatMap(({ outputs: [high, low], starts }) => [
      [high, settingOutput(context, high, starts[0])] as const,
      [low, settingOutput(context, low, starts[1])] as const,
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
  const meterPoints = bindings([...measured(context), ...available(context), ...counters]);
  return { inputs: new Map([...meterPoints.inputs, ...inputs]), outputs };
}

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
    // true: capacities are in Wh
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
      const reference = varReference(port);
      return reference === null ? 0 : varReferences.indexOf(reference) + 1;
    },
    writes: (value) => {
      const mode = varReferences[Number(value) - 1];
      return mode === undefined ? controlStatus.outOfRange : [{ point: '704.VarSetMod', value: mode }];
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
    ...settingOutput(context, name, value, { allows: (requested) => Math.abs(requested - value) < 1e-9 }),
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
