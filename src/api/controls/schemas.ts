import { memo } from '../../core/memo.ts';
import { functionNames } from '../../sunspec/map/functions.ts';
import { gridSources, irradianceSources } from '../../sunspec/map/source-words.ts';
import type { ControlFunction } from '../../contract/device.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, exampleTime, isoTime, quantity, sourceSchema } from '../common/schemas.ts';
import { exampleSlopes, slopesSchema } from './gradient-schemas.ts';
import { runningEventSchema } from '../surroundings/grid-event-schemas.ts';
import { exampleGridSupport } from '../grid-support/examples.ts';
import { decidedBySchema, rideThroughSchema } from '../grid-support/trace-schemas.ts';
import { exampleTimeReply, timeSchema } from '../time/schemas.ts';
import { siteCut } from '../site/members.ts';
import { asSetNow, exampleWriter, overrideSchema, sourceDetailSchema, writerSchema } from '../common/writer-schemas.ts';

const perUnit = z.number().min(0).max(2);
const timing = {
  ramp_s: z.number().min(0).max(3600).optional().openapi({
    description: 'Linear from the present values, of the quantities of this request only; 0 or absent = step.',
  }),
  // at most 1e8: added to any simulated instant it is still an exact number of microseconds
  duration_s: z
    .number()
    .gt(0)
    .max(1e8)
    .nullable()
    .optional()
    .openapi({
      description:
        'Seconds counted from the request, the ramp included; then the values beneath apply again. ' +
        'Null or absent = stays: the quantities of the request are taken out of every timed change and event, the others are left alone.',
    }),
};

/** A request with timing alone would change nothing: it must have at least one value. */
function withValue<S extends z.ZodObject>(schema: S): S {
  const values = Object.keys(schema.shape).filter((name) => !Object.hasOwn(timing, name));
  return schema.refine((body) => values.some((name) => body[name] !== undefined), {
    error: `at least one of ${values.join(', ')} is required`,
  });
}

const perUnitNames = ['voltage_pu', 'voltage_a_pu', 'voltage_b_pu', 'voltage_c_pu'] as const;
const unitsExclude = {
  path: ['voltage_ln_v'],
  error: `cannot be given together with ${perUnitNames.join(', ')}`,
};

export const gridBodySchema = memo(() =>
  withValue(
    z.strictObject({
      voltage_pu: perUnit.optional().openapi({ description: 'All phases, of nominal.' }),
      voltage_a_pu: perUnit.optional().openapi({ description: 'Wins over `voltage_pu`.' }),
      voltage_b_pu: perUnit.optional(),
      voltage_c_pu: perUnit.optional(),
      voltage_ln_v: z
        .number()
        .min(0)
        .optional()
        .openapi({ description: 'All phases in volts, up to twice the nominal; not together with the `_pu` members.' }),
      frequency_hz: z.number().min(40).max(70).optional(),
      phase_angle_deg: z.number().min(-180).max(180).optional().openapi({
        description:
          'Shift of the phase angle. It acts on nothing but a vector shift relay, where the profile fits one.',
      }),
      ...timing,
      source: z.enum(gridSources).optional().openapi({ description: '`csv` returns to the grid profile.' }),
      outage: z.boolean().optional().openapi({ description: 'Voltage 0 on all phases until false.' }),
      island: z.boolean().optional().openapi({
        description:
          'The mains are disconnected and local load keeps voltage and frequency as set: the case for anti-islanding.',
      }),
    }),
  )
    .refine(
      (body) => body.voltage_ln_v === undefined || perUnitNames.every((name) => body[name] === undefined),
      unitsExclude,
    )
    .openapi('GridRequest', { minProperties: 1 }),
);

/** Last writer of grid or surroundings. */
const lastWriter =
  'Last request or event in this scope; for a device the common one when it came later. ' +
  'Null: as started. After a reset of the device that of the common scope.';

export const gridSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex.nullable().openapi({ description: 'Null: the common grid.' }),
      voltage_a_pu: z.number(),
      voltage_b_pu: z.number(),
      voltage_c_pu: z.number(),
      voltage_ln_v: quantity('Mean of the phases; null on the common grid of devices that differ in nominal voltage.'),
      voltage_ll_v: quantity('Null on single phase, and as `voltage_ln_v`.'),
      frequency_hz: z.number(),
      phase_angle_deg: z.number(),
      source: z.enum(gridSources).openapi({ description: '`csv` while any quantity follows the grid profile.' }),
      profile_loaded: z
        .boolean()
        .openapi({ description: 'Whether there is a grid profile, to which `source: "csv"` returns.' }),
      outage: z.boolean(),
      ramp_remaining_s: z
        .number()
        .openapi({ description: 'Of the ramp that was asked for; an event has its own time.' }),
      duration_remaining_s: z
        .number()
        .nullable()
        .openapi({ description: 'Until the topmost change with a duration gives way; null while there is none.' }),
      island: z.boolean(),
      event: runningEventSchema().nullable().openapi({ description: 'The named event under way.' }),
      changed_by: writerSchema.nullable().openapi({ description: lastWriter }),
    })
    .openapi('Grid'),
);

const temperature = z.number().min(-50).max(90).nullable();
export const environmentBodySchema = memo(() =>
  withValue(
    z.strictObject({
      irradiance_w_m2: z
        .number()
        .min(0)
        .max(1500)
        .nullable()
        .optional()
        .openapi({ description: 'Constant irradiance in the plane of the array; null returns to the source.' }),
      ambient_temperature_c: temperature.optional(),
      cell_temperature_c: temperature
        .optional()
        .openapi({ description: 'A fixed value switches the thermal model off.' }),
      load_kw: z
        .number()
        .min(0)
        .max(1e6)
        .nullable()
        .optional()
        .openapi({
          description:
            'Local AC load beside the device. It takes its power off the feeder, and so lowers the voltage; on a ' +
            'stiff grid nothing reacts to it.',
        }),
      source: z.enum(irradianceSources).optional().openapi({ description: 'Where the irradiance comes from.' }),
      ...timing,
    }),
  ).openapi('EnvironmentRequest', { minProperties: 1 }),
);

export const environmentSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex.nullable().openapi({ description: 'Null: the common surroundings.' }),
      irradiance_w_m2: z.number(),
      ambient_temperature_c: z.number(),
      cell_temperature_c: quantity('Null while the thermal model runs.'),
      load_kw: z.number(),
      source: z.enum(irradianceSources),
      ramp_remaining_s: z.number(),
      duration_remaining_s: z.number().nullable(),
      changed_by: writerSchema.nullable().openapi({ description: lastWriter }),
    })
    .openapi('Environment'),
);

const modeSchema = memo(() =>
  z
    .strictObject({
      supported: z.boolean().openapi({ description: '702.CtrlModes, or the point exists.' }),
      enabled: z.boolean(),
      active: z.boolean().openapi({ description: 'Limits or sets the output in this tick.' }),
      source: sourceSchema.openapi({ description: 'Last writer of the enable point.' }),
      source_detail: sourceDetailSchema,
      changed_at: isoTime.nullable().openapi({
        description: `Simulated time of that write, of the start for a value of the profile; null: default. ${asSetNow}`,
      }),
      reversion_remaining_s: z.number().nullable().openapi({ description: 'Null while no reversion time is set.' }),
    })
    .openapi('ControlMode'),
);

const modeShape = Object.fromEntries(functionNames.map((name) => [name, modeSchema()])) as Record<
  ControlFunction,
  ReturnType<typeof modeSchema>
>;

export const controlsSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      service: z.strictObject({
        es_enabled: z.boolean(),
        es_delay_remaining_s: z.number(),
        trip_active: z.array(z.string()),
        es_state: z.enum(['in_service', 'waiting', 'out_of_service']),
        switch_closed: z.boolean().openapi({
          description: 'Position of the disconnect switch; 701.ConnSt also reads DISCONNECTED after a trip.',
        }),
      }),
      modes: z.strictObject(modeShape),
      decided_by: decidedBySchema.extend({
        site_limit: siteCut.schema().nullable().openapi({
          description:
            'The limit behind `active: site`. Null: another function decided, or power returns after a limit.',
        }),
      }),
      ride_through: rideThroughSchema,
      throttle: z.strictObject({
        active: z.boolean(),
        pct: quantity('701.ThrotPct'),
        sources: z.array(z.string()).openapi({ description: '701.ThrotSrc' }),
      }),
      gradient: slopesSchema.openapi({ description: 'Slopes of commands in force.' }),
      grid: gridSchema(),
      time: timeSchema(),
      overrides: z.array(overrideSchema()).openapi({
        description:
          'Last writers of settings without a register, newest first; a setting that was not written since the ' +
          'start, or since a reset of the device, is absent.',
      }),
    })
    .openapi('Controls'),
);

export type GridReply = z.output<ReturnType<typeof gridSchema>>;
export type ModeReply = z.output<ReturnType<typeof modeSchema>>;

export const exampleGrid = {
  device_index: null,
  voltage_a_pu: 1,
  voltage_b_pu: 1,
  voltage_c_pu: 1,
  voltage_ln_v: 277.128,
  voltage_ll_v: 480,
  frequency_hz: 60,
  phase_angle_deg: 0,
  source: 'const',
  profile_loaded: false,
  outage: false,
  ramp_remaining_s: 0,
  duration_remaining_s: null,
  island: false,
  event: null,
  changed_by: null,
};
/** The answer to a ramp of 2 s that holds for 10 s, before it has moved. */
export const exampleGridRamp = {
  ...exampleGrid,
  ramp_remaining_s: 2,
  duration_remaining_s: 10,
  changed_by: exampleWriter,
};
/** The answer to the start of a sag to half the voltage for 2 s. */
export const exampleGridEvent = {
  ...exampleGrid,
  voltage_a_pu: 0.5,
  voltage_b_pu: 0.5,
  voltage_c_pu: 0.5,
  voltage_ln_v: 138.564,
  voltage_ll_v: 240,
  event: { name: 'sag', elapsed_s: 0, remaining_s: 2 },
  changed_by: exampleWriter,
};
export const exampleEnvironment = {
  device_index: null,
  irradiance_w_m2: 800,
  ambient_temperature_c: 25,
  cell_temperature_c: null,
  load_kw: 0,
  source: 'const',
  ramp_remaining_s: 0,
  duration_remaining_s: null,
  changed_by: exampleWriter,
};
const exampleMode = {
  supported: false,
  enabled: false,
  active: false,
  source: 'default',
  source_detail: null,
  changed_at: null,
  reversion_remaining_s: null,
};
/** The functions as the example of `grid-support` has them: the same device. */
const { pf, ...exampleFunctions } = exampleGridSupport;
const exampleStates: Readonly<Record<ControlFunction, { readonly supported: boolean; readonly enabled?: boolean }>> = {
  ...exampleFunctions,
  pf_inject: pf.inject,
  pf_absorb: pf.absorb,
};
const exampleModes = Object.fromEntries(
  functionNames.map((name) => {
    const { supported, enabled = false } = exampleStates[name];
    return [name, { ...exampleMode, supported, enabled }];
  }),
);
export const exampleControls = {
  device_index: 0,
  service: { es_enabled: true, es_delay_remaining_s: 0, trip_active: [], es_state: 'in_service', switch_closed: true },
  modes: {
    ...exampleModes,
    max_power: {
      ...exampleMode,
      supported: true,
      enabled: true,
      active: true,
      source: 'modbus',
      source_detail: '127.0.0.1:50122',
      changed_at: exampleTime,
      reversion_remaining_s: 52,
    },
  },
  decided_by: { active: 'max_power', reactive: 'none', site_limit: null },
  ride_through: 'continuous_operation',
  throttle: { active: true, pct: 50, sources: ['max_w'] },
  gradient: exampleSlopes,
  grid: { ...exampleGrid, device_index: 0 },
  time: exampleTimeReply,
  overrides: [{ name: 'pv_shading', connector_id: null, ...exampleWriter }],
};
