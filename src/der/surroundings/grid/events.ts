/** The library of named grid events: their parameters, and the trajectories that they put over the grid. */
import type { SimTime } from '../../../core/time/clock.ts';
import type {
  GridEventArguments,
  GridEventKind,
  GridEventName,
  GridEventParameter,
} from '../../../contract/environment.ts';
import { gridEventNames } from '../../../contract/environment.ts';
import { SimError } from '../../../core/errors.ts';
import { checkedArguments, eventName } from './event-arguments.ts';
import type { EventArguments } from './event-arguments.ts';
import type { Tracks, GridQuantity, MeasuredQuantity } from './layers.ts';
import { constant, pathFrom, ramp, wave } from './trajectory.ts';
import type { Corner } from './trajectory.ts';

/** The grid at the start of an event. */
export interface EventStart {
  readonly now: SimTime;
  readonly nominalHz: number;
  /** value of a quantity without the event */
  readonly value: (name: MeasuredQuantity) => number;
}

export interface EventPlan {
  readonly tracks: Tracks<GridQuantity>;
  /** null: a permanent change, so that the event ends at once */
  readonly durationS: number | null;
}

interface EventDefinition {
  readonly description: string;
  readonly parameters: (nominalHz: number) => readonly GridEventParameter[];
  readonly plan: (args: EventArguments, start: EventStart) => EventPlan;
}

type Corners = readonly [Corner, ...Corner[]];

function number(
  name: string,
  unit: string | null,
  preset: number,
  minimum: number,
  maximum: number,
): GridEventParameter {
  return { name, unit, default: preset, minimum, maximum, allowed: null };
}

function word(name: string, allowed: readonly string[], preset: string): GridEventParameter {
  return { name, unit: null, default: preset, minimum: null, maximum: null, allowed };
}

/** A frequency parameter; default and range are distances from nominal. */
function frequency(
  name: string,
  nominalHz: number,
  presetHz: number,
  lowHz: number,
  highHz: number,
): GridEventParameter {
  const at = (offsetHz: number) => Math.round((nominalHz + offsetHz) * 1e6) / 1e6;
  return number(name, 'Hz', at(presetHz), at(lowHz), at(highHz));
}

const phases = word('phases', ['A', 'B', 'C', 'AB', 'BC', 'CA', 'ABC'], 'ABC');
const durationS = (preset: number) => number('duration_s', 's', preset, 0.001, 86_400);
const holdS = (preset: number) => number('hold_s', 's', preset, 0, 86_400);
const edgeS = number('edge_s', 's', 0, 0, 1);
const categories = ['CAT_1', 'CAT_2', 'CAT_3'] as const;
/** Rates of change of frequency that a device rides through, Hz/s (IEEE 1547-2018 6.5.2.5). */
const rocofHzS: Readonly<Record<string, number>> = { CAT_1: 0.5, CAT_2: 2, CAT_3: 3 };
const quantityOfPhase: Readonly<Record<string, MeasuredQuantity>> = { A: 'aPu', B: 'bPu', C: 'cPu' };

/** The voltages of the phases in the argument `phases`. */
function phaseQuantities(args: EventArguments): MeasuredQuantity[] {
  return Object.entries(quantityOfPhase)
    .filter(([letter]) => args.word('phases').includes(letter))
    .map(([, name]) => name);
}

/** Trajectories of the phases in the argument `phases`, each from its own present voltage. */
function onPhases(
  args: EventArguments,
  { now, value }: EventStart,
  corners: (presentPu: number) => Corners,
): Tracks<GridQuantity> {
  return Object.fromEntries(phaseQuantities(args).map((name) => [name, pathFrom(now, corners(value(name)))]));
}

/** To a level and back, each edge in `edge` seconds, `lastS` in total. */
function excursion(from: number, to: number, lastS: number, edge: number): Corners {
  return [
    [0, from],
    [edge, to],
    [lastS - edge, to],
    [lastS, from],
  ];
}

function levelEvent(level: GridEventParameter, description: string): EventDefinition {
  return {
    description,
    parameters: () => [level, durationS(0.5), phases, edgeS],
    plan(args, start) {
      const [lastS, edge] = [args.number('duration_s'), args.number('edge_s')];
      if (2 * edge > lastS) args.refuse('edge_s', `must be at most half of duration_s, ${lastS / 2} s`);
      return {
        tracks: onPhases(args, start, (from) => excursion(from, args.number(level.name), lastS, edge)),
        durationS: lastS,
      };
    },
  };
}

/** Levels one after another, in steps. */
type Pattern = readonly (readonly [levelPu: number, seconds: number])[];

function patternEvent(
  description: string,
  levelParameters: readonly GridEventParameter[],
  pattern: (args: EventArguments) => Pattern,
): EventDefinition {
  return {
    description,
    parameters: () => [...levelParameters, phases],
    plan(args, start) {
      let lastS = 0;
      const corners = pattern(args).flatMap(([level, seconds]): Corner[] => {
        const begin = lastS;
        lastS += seconds;
        return [
          [begin, level],
          [lastS, level],
        ];
      });
      const [first = [0, 1], ...others] = corners;
      return { tracks: onPhases(args, start, () => [first, ...others]), durationS: lastS };
    },
  };
}

/** Frequency ramp to a value, a hold of `hold` seconds, and back at the same rate. */
function frequencyRamp({ now, value }: EventStart, toHz: number, rateHzS: number, hold: number): EventPlan {
  const from = value('hz');
  const wayS = Math.abs(toHz - from) / rateHzS;
  const lastS = 2 * wayS + hold;
  return { tracks: { hz: pathFrom(now, excursion(from, toHz, lastS, wayS)) }, durationS: lastS };
}

/** Continuous operation ends at this distance from nominal (IEEE 1547-2018 6.5.2). */
const continuousHz = 1.2;

/** `duration_s` is the time outside continuous operation, including the parts of the ramps that lie there. */
function frequencyRideThrough(description: string, presetHz: number, nearHz: number, farHz: number): EventDefinition {
  return {
    description,
    parameters: (nominalHz) => [
      frequency('to_hz', nominalHz, presetHz, Math.min(nearHz, farHz), Math.max(nearHz, farHz)),
      number('duration_s', 's', 299, 10, 86_400),
      word('category', categories, 'CAT_3'),
    ],
    plan(args, start) {
      const [toHz, rate] = [args.number('to_hz'), rocofHzS[args.word('category')] ?? 1];
      const beyondHz = Math.max(0, Math.abs(toHz - start.nominalHz) - continuousHz);
      return frequencyRamp(start, toHz, rate, args.number('duration_s') - (2 * beyondHz) / rate);
    },
  };
}

function rocofEvent(category: (typeof categories)[number]): EventDefinition {
  const rate = rocofHzS[category] ?? 1;
  return {
    description: `Frequency ramp at the ${rate} Hz/s that category ${category.slice(-1)} rides through, and back.`,
    parameters: (nominalHz) => [frequency('to_hz', nominalHz, -1, -3, 3), holdS(10)],
    plan: (args, start) => frequencyRamp(start, args.number('to_hz'), rate, args.number('hold_s')),
  };
}

function oscillation(args: EventArguments, { now, value }: EventStart): EventPlan {
  const [amplitude, lastS] = [args.number('amplitude'), args.number('duration_s')];
  const ofFrequency = args.word('quantity') === 'frequency';
  if (ofFrequency && args.word('phases') !== 'ABC') args.refuse('phases', 'must be ABC: the phases have one frequency');
  const names = ofFrequency ? ['hz' as const] : phaseQuantities(args);
  const minimum = Math.min(...names.map(value));
  if (amplitude > minimum)
    args.refuse('amplitude', `must be at most the present value, ${minimum}: it would swing below zero`);
  const tracks = names.map(
    (name) => [name, wave(value(name), amplitude, args.number('frequency_hz'), now, lastS)] as const,
  );
  return { tracks: Object.fromEntries(tracks), durationS: lastS };
}

/** An angle within half a turn of zero, degrees. */
function wrappedDeg(deg: number): number {
  const turned = ((((deg + 180) % 360) + 360) % 360) - 180;
  return turned === -180 && deg > 0 ? 180 : turned;
}

const definitions: Readonly<Record<GridEventName, EventDefinition>> = {
  sag: levelEvent(number('residual_pu', 'pu', 0.5, 0, 1), 'Voltage dip to a residual voltage.'),
  swell: levelEvent(number('level_pu', 'pu', 1.15, 1, 2), 'Voltage rise to a level.'),
  voltage_step: {
    description: 'Voltage step to a level, and back.',
    parameters: () => [number('to_pu', 'pu', 0.95, 0, 2), durationS(10), phases],
    plan(args, start) {
      const lastS = args.number('duration_s');
      return {
        tracks: onPhases(args, start, (from) => excursion(from, args.number('to_pu'), lastS, 0)),
        durationS: lastS,
      };
    },
  },
  voltage_ramp: {
    description: 'Voltage ramp to a level, a hold there, and back at the same rate.',
    parameters: () => [
      number('to_pu', 'pu', 0.9, 0, 2),
      number('rate_pu_s', 'pu/s', 0.01, 0.0001, 100),
      holdS(10),
      phases,
    ],
    plan(args, start) {
      const [to, rate, hold] = [args.number('to_pu'), args.number('rate_pu_s'), args.number('hold_s')];
      let maxS = hold;
      const tracks = onPhases(args, start, (from) => {
        const wayS = Math.abs(to - from) / rate;
        maxS = Math.max(maxS, 2 * wayS + hold);
        return excursion(from, to, 2 * wayS + hold, wayS);
      });
      return { tracks, durationS: maxS };
    },
  },
  frequency_step: {
    description: 'Frequency step, and back.',
    parameters: (nominalHz) => [frequency('to_hz', nominalHz, -0.5, -10, 10), durationS(10)],
    plan({ number: arg }, { now, value }) {
      return {
        tracks: { hz: pathFrom(now, excursion(value('hz'), arg('to_hz'), arg('duration_s'), 0)) },
        durationS: arg('duration_s'),
      };
    },
  },
  frequency_ramp: {
    description: 'Frequency ramp, a hold at its end, and back at the same rate.',
    parameters: (nominalHz) => [
      frequency('to_hz', nominalHz, -1, -10, 10),
      number('rate_hz_s', 'Hz/s', 0.5, 0.001, 100),
      holdS(10),
    ],
    plan: (args, start) => frequencyRamp(start, args.number('to_hz'), args.number('rate_hz_s'), args.number('hold_s')),
  },
  oscillation: {
    description: 'Sinusoidal swing of voltage or frequency about its present value; the amplitude is in pu or Hz.',
    parameters: () => [
      word('quantity', ['voltage', 'frequency'], 'voltage'),
      number('amplitude', 'pu or Hz', 0.02, 0, 2),
      number('frequency_hz', 'Hz', 0.5, 0.001, 10),
      durationS(30),
      phases,
    ],
    plan: oscillation,
  },
  phase_jump: {
    description: 'Jump of the phase angle. It stays until the angle is set or jumps again.',
    parameters: () => [number('deg', 'deg', 20, -180, 180)],
    plan(args, { now, value }) {
      const from = value('angleDeg');
      return { tracks: { angleDeg: ramp(from, wrappedDeg(from + args.number('deg')), now, 0) }, durationS: null };
    },
  },
  outage: {
    description: 'No voltage, on any phase or on some.',
    parameters: () => [durationS(10), phases],
    plan(args, start) {
      const lastS = args.number('duration_s');
      const isComplete = args.word('phases') === 'ABC';
      return {
        tracks: isComplete
          ? { outage: constant(1) }
          : onPhases(args, start, () => [
              [0, 0],
              [lastS, 0],
            ]),
        durationS: lastS,
      };
    },
  },
  island: {
    description: 'The mains are disconnected, and local load keeps voltage and frequency.',
    parameters: () => [durationS(10)],
    plan: (args) => ({ tracks: { island: constant(1) }, durationS: args.number('duration_s') }),
  },
  lvrt_cat_2: patternEvent('Low-voltage ride-through of category II (IEEE 1547.1).', [], () => [
    [0.94, 10],
    [0.28, 0.16],
    [0.43, 0.16],
    [0.65, 2.68],
    [0.88, 2],
    [0.94, 120],
  ]),
  lvrt_cat_3: patternEvent(
    'Low-voltage ride-through of category III (IEEE 1547.1). 10 s below 50 %: a device rides through it ' +
      'only with trip times longer than the default.',
    [
      number('level_1_pu', 'pu', 0.025, 0, 0.049),
      number('level_2_pu', 'pu', 0.25, 0, 0.499),
      number('level_3_pu', 'pu', 0.61, 0.52, 0.7),
    ],
    (args) => [
      [0.94, 5],
      [args.number('level_1_pu'), 1],
      [args.number('level_2_pu'), 9],
      [args.number('level_3_pu'), 10],
      [0.94, 120],
    ],
  ),
  hvrt_cat_2: patternEvent('High-voltage ride-through of category II (IEEE 1547.1).', [], () => [
    [1, 10],
    [1.18, 0.2],
    [1.175, 0.3],
    [1.15, 0.5],
    [1, 120],
  ]),
  hvrt_cat_3: patternEvent('High-voltage ride-through of category III (IEEE 1547.1).', [], () => [
    [1.05, 5],
    [1.18, 12],
    [1.05, 120],
  ]),
  lfrt: frequencyRideThrough(
    'Low-frequency ride-through: 299 s below the range of continuous operation.',
    -2.1,
    -1.2,
    -3,
  ),
  hfrt: frequencyRideThrough(
    'High-frequency ride-through: 299 s above the range of continuous operation.',
    1.5,
    1.2,
    1.8,
  ),
  rocof_cat_1: rocofEvent('CAT_1'),
  rocof_cat_2: rocofEvent('CAT_2'),
  rocof_cat_3: rocofEvent('CAT_3'),
};

/** All named events, with ranges for a site of that nominal frequency. */
export function gridEventLibrary(nominalHz: number): readonly GridEventKind[] {
  return gridEventNames.map((name) => {
    const { description, parameters } = definitions[name];
    return { name, description, parameters: parameters(nominalHz) };
  });
}

/**
 * The trajectories of a named event.
 * @throws SimError COMMAND_BAD_VALUE with an issue for every wrong name, parameter or value, and the allowed ones
 */
export function planEvent(name: string, given: GridEventArguments, start: EventStart): EventPlan {
  const { parameters, plan } = definitions[eventName(name)];
  const eventPlan = plan(checkedArguments(name, parameters(start.nominalHz), given), start);
  if (Object.keys(eventPlan.tracks).length === 0) throw new SimError('INTERNAL', `the event ${name} changes nothing`);
  return eventPlan;
}
