import { memo } from '../../core/memo.ts';
import { rideThroughModes } from '../../contract/grid-trace.ts';
import type { ActiveDecider, FunctionStep, ReactiveDecider } from '../../contract/grid-trace.ts';
import {
  activePowerFunctions,
  functionTable,
  isReactivePowerFunction,
  reactivePowerFunctions,
  tracedFunctions,
  traceInput,
  tripFunctions,
} from '../../sunspec/map/grid-support/functions.ts';
import type { TracedFunction, TraceInput } from '../../sunspec/map/grid-support/functions.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceQuery, exampleTime, integerParam, isoTime, quantity } from '../common/schemas.ts';

/** Max sub-steps that one device records. */
export const maxTraceRows = 100_000;
/** Max sub-steps that all devices record together: at nearly 1 KB each, half a gigabyte. */
export const maxTraceRowsOfAll = 500_000;
export const defaultTraceLimit = 1000;
/** Longer answers would delay the ticks. */
const maxTraceAnswer = 5_000;

/** Units of a function's input and of its target and output, as suffixes of names. */
interface StepUnits {
  readonly input: 'pct' | 'hz' | 'kw';
  readonly output: 'kw' | 'kvar';
}

/** Unit and description of each quantity that a function can follow, as a trace shows it. */
const inputs: Readonly<Record<TraceInput, { readonly unit: StepUnits['input']; readonly text: string }>> = {
  voltage: { unit: 'pct', text: 'Voltage, percent of 702.VNom.' },
  frequency: { unit: 'hz', text: 'Frequency, Hz.' },
  active_power: { unit: 'kw', text: 'Active power, kW.' },
  available_power: { unit: 'kw', text: 'Available power, kW.' },
};

export function stepUnits(name: TracedFunction): StepUnits {
  return { input: inputs[traceInput(name)].unit, output: isReactivePowerFunction(name) ? 'kvar' : 'kw' };
}

const words = { kw: 'kW', kvar: 'kvar' } as const;

/** Descriptions for functions of which a trace shows only a part. */
const stepTitles: Partial<Readonly<Record<TracedFunction, string>>> = {
  enter_service: 'Ramp after a return to service.',
};

function stepTitle(name: TracedFunction): string {
  const { label } = functionTable[name];
  return stepTitles[name] ?? `${label.charAt(0).toUpperCase()}${label.slice(1)}.`;
}

function stepSchema(name: TracedFunction) {
  const unit = words[stepUnits(name).output];
  const step = z.strictObject({
    input: quantity(inputs[traceInput(name)].text),
    target: quantity(`What the function asks for now, ${unit}.`),
    output: quantity(`Output of the function after its filter or ramp, ${unit}.`),
  });
  return step.openapi({ description: stepTitle(name) });
}

function ofEach<K extends string, T>(names: readonly K[], make: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>;
}

export const rideThroughSchema = z.enum(rideThroughModes).openapi('RideThrough', {
  description: 'Region of IEEE 1547-2018 6.4.2 and 6.5.2 for voltage and frequency at the terminals.',
});

// the order is that of the released description
const activeDeciders: readonly ActiveDecider[] = [
  'source',
  'w_max',
  'charge_limit',
  ...activePowerFunctions,
  'second_limiter',
  'enter_service',
  'ramp',
  'site',
  'idle',
  'apparent_power',
  'cessation',
  'out_of_service',
  'discharge_limit',
];
const reactiveDeciders: readonly ReactiveDecider[] = [
  ...reactivePowerFunctions,
  'none',
  'capability',
  'low_power',
  'apparent_power',
  'cessation',
  'out_of_service',
];
export const activeDeciderSchema = z
  .enum(activeDeciders)
  .openapi({ description: 'What decided active power in the last sub-step: the lowest limit, or what overruled it.' });
export const reactiveDeciderSchema = z
  .enum(reactiveDeciders)
  .openapi({ description: 'What decided reactive power in the last sub-step.' });
/** What decided both powers; on `controls` and in the overview. */
export const decidedBySchema = z.strictObject({ active: activeDeciderSchema, reactive: reactiveDeciderSchema });

const secondsText =
  'The instant in simulated seconds with six decimals, exact to the microsecond. It does not jump when ' +
  '`controls/time` sets the clock, so differences are true durations; until then it is the Unix time of `sim_time`.';
const seconds = z.number().openapi({ description: secondsText });
const service = z.string().openapi({
  description:
    '`in_service`, `momentary_cessation`, `ramping` (after entering service), `waiting` (for the grid or the delay), ' +
    '`ceased`, `shutting_down`, `off` or `tripped`.',
});

const timeToTrip = memo(() => z.number().nullable().openapi({ description: 'Unit: s; null: its timer does not run.' }));

export const traceRowSchema = z
  .strictObject({
    sim_time: isoTime.openapi({ description: 'End of the sub-step, cut to milliseconds; `t_s` is exact.' }),
    t_s: seconds,
    service,
    ride_through: rideThroughSchema,
    active_power_kw: quantity('Not rounded to the resolution of 701.W.'),
    reactive_power_kvar: quantity('Not rounded to the resolution of 701.Var.'),
    available_kw: quantity('AC power that the source could give.'),
    voltage_pct: quantity('Voltage of the curves, percent of 702.VNom.'),
    lowest_voltage_pct: quantity('Of the phases, percent of 702.VNom: what under-voltage trip sees.'),
    highest_voltage_pct: quantity('Of the phases, percent of 702.VNom: what over-voltage trip sees.'),
    frequency_hz: quantity('At the terminals.'),
    active_decided_by: activeDeciderSchema,
    reactive_decided_by: reactiveDeciderSchema,
    functions: z.strictObject(ofEach(tracedFunctions, stepSchema)).openapi({
      description:
        'By function; null while it is off or the device out of service. Of the reactive functions only the one that acts ' +
        'has an `output`; within its dead band droop has only its `input`.',
    }),
    time_to_trip_s: z.strictObject(ofEach(tripFunctions, () => timeToTrip())).openapi({
      description:
        'Seconds to the trip if nothing changes; null: the timer does not run; 0: tripped, and the limit is still exceeded.',
    }),
    time_to_enter_service_s: z
      .number()
      .nullable()
      .openapi({ description: 'Seconds of the enter-service delay that are left; null: it does not run.' }),
  })
  .openapi('GridTraceRow', { description: 'One sub-step of the control functions. Quantities have six decimals.' });

const transition = z
  .strictObject({
    at: isoTime,
    t_s: seconds,
    from: service,
    to: service,
    cause: z.string().nullable().openapi({
      description: 'The trip: a key of `time_to_trip_s`, `rocof` or `vector_shift`; null: not a trip.',
    }),
  })
  .openapi('ServiceTransition');

const state = {
  device_index: deviceIndex,
  recording: z.strictObject({
    capacity: z.int().openapi({ description: 'Latest sub-steps that are kept; 0: recording is off.' }),
    rows: z.int().openapi({ description: 'Sub-steps recorded so far.' }),
  }),
  now: traceRowSchema.openapi({ description: 'The last sub-step.' }),
  transitions: z.array(transition).openapi({
    description: 'The latest 64 changes of `service`, oldest first, recorded or not. The instants are exact.',
  }),
};

export const traceStateSchema = z.strictObject(state).openapi('GridTraceState');
export const traceSchema = memo(() =>
  z
    .strictObject({
      ...state,
      rows: z.array(traceRowSchema).openapi({ description: 'The latest recorded sub-steps, oldest first.' }),
    })
    .openapi('GridTrace'),
);

export const traceQuery = deviceQuery.extend({
  format: z.enum(['json', 'csv']).optional().openapi({ description: 'Default json.' }),
  limit: integerParam(
    'limit',
    0,
    maxTraceAnswer,
    `Recorded sub-steps to answer with, the latest; default ${defaultTraceLimit}.`,
  ).optional(),
  after: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,6})?$/, { error: 'must be seconds' })
    .transform(Number)
    .optional()
    .openapi({
      param: { name: 'after' },
      type: 'number',
      minimum: 0,
      maximum: 999_999_999_999,
      description: 'Instead the earliest sub-steps with a greater `t_s`: for going through a long recording.',
    }),
});

export const traceBodySchema = memo(() =>
  z
    .strictObject({
      rows: z.int().min(0).max(maxTraceRows).openapi({
        description: 'Latest sub-steps to keep, from now on; what was recorded is dropped. 0 ends the recording.',
      }),
    })
    .openapi('GridTraceRequest'),
);

export type TraceRowReply = z.output<typeof traceRowSchema>;
export type TraceStateReply = z.output<typeof traceStateSchema>;
export type TraceReply = z.output<ReturnType<typeof traceSchema>>;

const nothing: FunctionStep = { input: null, target: null, output: null };
const exampleStart: TraceRowReply = {
  sim_time: exampleTime,
  t_s: 1782043200,
  service: 'in_service',
  ride_through: 'continuous_operation',
  active_power_kw: 9.436443,
  reactive_power_kvar: 0,
  available_kw: 9.436443,
  voltage_pct: 100,
  lowest_voltage_pct: 100,
  highest_voltage_pct: 100,
  frequency_hz: 60,
  active_decided_by: 'source',
  reactive_decided_by: 'none',
  // droop is on, and its frequency inside the dead band
  functions: { ...ofEach(tracedFunctions, () => nothing), freq_droop: { ...nothing, input: 60 } },
  time_to_trip_s: ofEach(tripFunctions, () => null),
  time_to_enter_service_s: null,
};
/** 1.5 s after the voltage has fallen to 40 %. */
export const exampleTraceRow: TraceRowReply = {
  ...exampleStart,
  sim_time: '2026-06-21T12:00:01.500Z',
  t_s: 1782043201.5,
  service: 'momentary_cessation',
  ride_through: 'momentary_cessation',
  active_power_kw: 0,
  voltage_pct: 40,
  lowest_voltage_pct: 40,
  highest_voltage_pct: 40,
  active_decided_by: 'cessation',
  reactive_decided_by: 'cessation',
  time_to_trip_s: { ...exampleStart.time_to_trip_s, lv_trip: 0.5 },
};
export const exampleTrace: TraceReply = {
  device_index: 0,
  recording: { capacity: 1, rows: 1 },
  now: exampleTraceRow,
  transitions: [
    {
      at: '2026-06-21T12:00:00.083Z',
      t_s: 1782043200.083,
      from: 'in_service',
      to: 'momentary_cessation',
      cause: null,
    },
  ],
  rows: [exampleTraceRow],
};
export const exampleTraceState: TraceStateReply = {
  device_index: 0,
  recording: { capacity: 5000, rows: 0 },
  now: exampleStart,
  transitions: [],
};
