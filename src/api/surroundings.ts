/** The grid, its named events and the surroundings of devices: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { gridSources, irradianceSources } from '../sunspec/map/rules.ts';
import { gridEventNames, settableMembers } from '../contract/environment.ts';
import type {
  GridEventKind,
  GridEventNow,
  GridEventParameter,
  GridNow,
  SurroundingsNow,
} from '../contract/environment.ts';
import type { Plant } from '../contract/plant.ts';
import { flag, list, member, members, nested, number, text, word, camelCased } from './common/members.ts';
import { durationS, deviceIndex, deviceParam } from './common/schemas.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

/** @property deviceIndex undefined: the common grid or surroundings */
interface Scope {
  readonly plant: Plant;
  readonly deviceIndex: number | undefined;
}

/** Nine decimals: further ones are rounding errors of interpolation. */
const precise = nested({ schema: () => z.number(), reply: (value: number) => Math.round(value * 1e9) / 1e9 });
const roundedVolts = nested({ schema: () => z.number(), reply: (volts: number) => Math.round(volts * 1000) / 1000 });

/** Last writer of grid or surroundings. */
const lastWriter =
  'Last request or event in this scope; for a device the last one of the common scope if that was later. ' +
  'Null: as started. After a reset of the device the last one of the common scope.';

const runningEvent = members<GridEventNow>()('RunningGridEvent', () => ({
  name: text(),
  elapsed_s: number('Simulated seconds since the event began.'),
  remaining_s: number(),
}));

export const grid = members<GridNow, Scope>()('Grid', () => ({
  device_index: member(() => deviceIndex).orNull('Null: the common grid.', (_of, scope) => scope.deviceIndex),
  voltage_a_pu: precise(),
  voltage_b_pu: precise(),
  voltage_c_pu: precise(),
  voltage_ln_v: roundedVolts.orNull(
    'Mean of the phases; null on the common grid of devices that differ in nominal voltage.',
  ),
  voltage_ll_v: roundedVolts.orNull('Null on single phase, and where `voltage_ln_v` is null.'),
  frequency_hz: precise(),
  phase_angle_deg: precise(),
  source: word(gridSources)('`csv` while any quantity follows the grid profile.'),
  profile_loaded: flag('True if there is a grid profile, to which `source: "csv"` returns.'),
  outage: flag(),
  ramp_remaining_s: number('Remaining time of the requested ramp, s; events have a separate time.'),
  duration_remaining_s: number.orNull('Seconds until the topmost change with a duration ends; null: none.'),
  island: flag(),
  event: nested(runningEvent).orNull('The named event that runs; null: none.'),
  deviating_devices: list(member(() => deviceIndex)())(
    'Indexes of the devices that deviate from the common grid; for a device: itself if it does.',
  ),
  changed_by: writer.orNull(lastWriter),
}));

const environment = members<SurroundingsNow, Scope>()('Environment', () => ({
  device_index: member(() => deviceIndex).orNull('Null: the common surroundings.', (_of, scope) => scope.deviceIndex),
  irradiance_w_m2: number(({ irradianceWm2 }) => irradianceWm2),
  ambient_temperature_c: number(),
  cell_temperature_c: number.orNull('Null while the thermal model runs.'),
  load_kw: number(),
  source: word(irradianceSources)(),
  ramp_remaining_s: number(),
  duration_remaining_s: number.orNull(),
  overridden: list(word(settableMembers)())('Values that a request has set in place of those of their source.'),
  deviating_devices: list(member(() => deviceIndex)())(
    'Indexes of the devices that deviate from the common surroundings; for a device: itself if it does.',
  ),
  changed_by: writer.orNull(lastWriter),
}));

const parameter = members<GridEventParameter>()('GridEventParameter', () => ({
  name: text(),
  unit: text.orNull(),
  default: member(() => z.union([z.number(), z.string()]))(),
  minimum: number.orNull('Inclusive bound; null for a word.'),
  maximum: number.orNull('Inclusive bound; null for a word.'),
  allowed: list(text()).orNull('Allowed words; null for a number.'),
}));

const gridEvent = members<GridEventKind>()('GridEvent', () => ({
  name: word(gridEventNames)(),
  description: text(),
  parameters: list(parameter)(),
}));

const gridEvents = members<Pick<Plant, 'gridEvents'>>()('GridEvents', () => ({
  events: list(gridEvent)((of) => of.gridEvents),
}));

const scopeQuery = z.strictObject({
  device: deviceParam
    .optional()
    .openapi({ description: 'Device index, 0-based; default the common values of all devices.' }),
});

const perUnit = z.number().min(0).max(2);
const timing = {
  ramp_s: z.number().min(0).max(3600).optional().openapi({
    description: 'Linear from the present values, of the quantities of this request only; 0 or absent = step.',
  }),
  duration_s: durationS.openapi({
    description:
      'Seconds counted from the request, the ramp included; then the values beneath apply again. ' +
      'Null or absent = permanent: the quantities of the request are removed from every timed change and event, others are not.',
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

const gridBodySchema = memo(() =>
  withValue(
    z.strictObject({
      voltage_pu: perUnit.optional().openapi({ description: 'All phases, per unit of nominal.' }),
      voltage_a_pu: perUnit.optional().openapi({ description: 'Overrides `voltage_pu`.' }),
      voltage_b_pu: perUnit.optional(),
      voltage_c_pu: perUnit.optional(),
      voltage_ln_v: z
        .number()
        .min(0)
        .optional()
        .openapi({ description: 'All phases in volts, up to twice the nominal; not together with the `_pu` members.' }),
      frequency_hz: z.number().min(40).max(70).optional(),
      phase_angle_deg: z.number().min(-180).max(180).optional().openapi({
        description: 'Shift of the phase angle. It acts only on a vector shift relay, if the profile has one.',
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

const temperature = z.number().min(-50).max(90).nullable();
const environmentBodySchema = memo(() =>
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
            'Local AC load beside the device. Its power comes through the feeder, which lowers the voltage; on a ' +
            'stiff grid nothing reacts to it.',
        }),
      source: z.enum(irradianceSources).optional().openapi({ description: 'Source of the irradiance.' }),
      ...timing,
    }),
  ).openapi('EnvironmentRequest', { minProperties: 1 }),
);

const gridEventBodySchema = memo(() =>
  z
    .strictObject({
      event: z
        .enum(gridEventNames)
        .nullable()
        .openapi({ description: 'Name of an event of `grid-events`; null stops the event that runs.' }),
      parameters: z
        .record(z.string(), z.union([z.number(), z.string()], { error: 'must be a number or text' }))
        .optional()
        .openapi({ description: 'By name, as `grid-events` lists them; absent parameters have their defaults.' }),
    })
    .refine((body) => body.event !== null || body.parameters === undefined, {
      path: ['parameters'],
      error: 'go with the start of an event, not with its end',
    })
    .openapi('GridEventRequest'),
);

const scope =
  'Without `device` the request changes the common values of all devices, with `device` those of one device, which then ' +
  'deviates. A deviation ends by `source: "csv"` (which then is the only value), by `duration_s`, or by the next request ' +
  'without `device`. `ramp_s` and `duration_s` time the values of the same request: alone they are refused.';

/** The index of a request, after a check that the device exists. @throws SimError UNKNOWN_DEVICE */
function checkedIndex(plant: Plant, index: number | undefined): number | undefined {
  return index === undefined ? undefined : plant.device(index).index;
}

const gridReply = (plant: Plant, deviceIndex: number | undefined) =>
  grid.reply(plant.grid(deviceIndex), { plant, deviceIndex });

const environmentReply = (plant: Plant, deviceIndex: number | undefined) =>
  environment.reply(plant.surroundings(deviceIndex), { plant, deviceIndex });

export const surroundingsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/controls/grid',
    tag: 'Controls',
    operationId: 'get_grid',
    summary: 'Grid conditions in force',
    query: scopeQuery,
    reply: grid.schema,
    handle: ({ plant }, { query }) => gridReply(plant, checkedIndex(plant, query.device)),
  }),
  route({
    method: 'post',
    path: '/controls/grid',
    tag: 'Controls',
    operationId: 'set_grid',
    summary: 'Sets grid voltage, frequency, outage, island',
    description: scope,
    query: scopeQuery,
    body: gridBodySchema,
    reply: grid.schema,
    problems: ['conflict'],
    handle({ plant }, { query, body, by }) {
      const index = checkedIndex(plant, query.device);
      plant.setGrid(camelCased(body), index, by);
      return gridReply(plant, index);
    },
  }),
  route({
    method: 'get',
    path: '/grid-events',
    tag: 'Controls',
    operationId: 'list_grid_events',
    summary: 'Library of named grid events and their parameters',
    description: 'Frequencies are those of this site: ranges and defaults follow its nominal frequency.',
    reply: gridEvents.schema,
    handle: ({ plant }) => gridEvents.reply(plant),
  }),
  route({
    method: 'post',
    path: '/controls/grid/event',
    tag: 'Controls',
    operationId: 'set_grid_event',
    summary: 'Starts a named grid event, or stops the one under way',
    description:
      'The event overrides its quantities until it ends; then the values beneath apply again. ' +
      'Another event replaces it; `controls/grid` without `duration_s` removes the quantities of the request from the event. ' +
      'Scope as `controls/grid`: without `device` the common grid, and every deviation of a device ends.',
    query: scopeQuery,
    body: gridEventBodySchema,
    reply: grid.schema,
    handle({ plant }, { query, body, by }) {
      const index = checkedIndex(plant, query.device);
      if (body.event === null) plant.stopGridEvent(index, by);
      else plant.startGridEvent(body.event, body.parameters ?? {}, index, by);
      return gridReply(plant, index);
    },
  }),
  route({
    method: 'get',
    path: '/controls/environment',
    tag: 'Controls',
    operationId: 'get_environment',
    summary: 'Irradiance, temperatures and load in force',
    query: scopeQuery,
    reply: environment.schema,
    handle: ({ plant }, { query }) => environmentReply(plant, checkedIndex(plant, query.device)),
  }),
  route({
    method: 'post',
    path: '/controls/environment',
    tag: 'Controls',
    operationId: 'set_environment',
    summary: 'Sets irradiance, temperatures, load',
    description: scope,
    query: scopeQuery,
    body: environmentBodySchema,
    reply: environment.schema,
    problems: ['conflict'],
    handle({ plant }, { query, body, by }) {
      const index = checkedIndex(plant, query.device);
      const { irradiance_w_m2: irradianceWm2, ...patch } = body;
      plant.setSurroundings({ ...camelCased(patch), ...(irradianceWm2 !== undefined && { irradianceWm2 }) }, index, by);
      return environmentReply(plant, index);
    },
  }),
];
