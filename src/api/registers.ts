/** Models and points of the map of a device, or of the meter of the connection point. */
import { memo } from '../core/lazy.ts';
import type { Device } from '../contract/device.ts';
import type { Plant, SiteMeter } from '../contract/plant.ts';
import type { PointBank } from '../sunspec/map/bank.ts';
import type { ModelPlace, PointSlot } from '../sunspec/map/layout.ts';
import type { AnyPointValue } from '../sunspec/map/types.ts';
import { pointName } from '../sunspec/map/view.ts';
import { count, flag, integer, list, member, members, text, time, word } from './common/members.ts';
import { enumNumber } from './common/points.ts';
import {
  deviceIndex,
  deviceParam,
  flagParam,
  namesParam,
  sourceSchema,
  deviceQuery,
  emptyName,
} from './common/schemas.ts';
import { isShownWriter, writer, asSetNow, sourceDetailSchema } from './common/writers.ts';
import { z } from './description/zod.ts';
import { SimError } from '../core/errors.ts';
import type { ProblemIssue } from '../core/http/problem.ts';
import { givenText, suggestions } from '../core/nearest.ts';
import { selectedDevice } from './common/device-replies.ts';
import { HttpProblem, invalidAll, problemOf } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

/** The name of a further place of a model. */
const placeName = () =>
  text.optional(
    'Only on the second and further places of a model in the map: `203:2`, the name in addresses and points.',
    ({ name, def }: ModelPlace) => (name === `${def.id}` ? undefined : name),
  );

const model = members<ModelPlace>()(null, () => ({
  id: integer(({ def }) => def.id),
  place: placeName(),
  name: text(({ def }) => def.name),
  label: text(({ def }) => def.label),
  address: integer('Protocol address of the ID register.'),
  length: integer('The L register.'),
  hidden: flag.optional(
    'True where Modbus masters do not find the model (`--map_layout`): its address lies after the end of their map.',
    ({ hidden }) => hidden || undefined,
  ),
}));

const registerModels = members<Device>()('RegisterModels', () => ({
  device_index: member(() => deviceIndex)(({ index }) => index),
  models: list(model)(({ bank }) => bank.layout.models),
}));

const meterModels = members<SiteMeter>()('MeterModels', () => ({
  unit_id: member(() => z.int().min(1).max(247)).orNull(
    'The setting meter_unit; null: not set, and the meter answers as unit 1 on its separate port.',
  ),
  models: list(model)(({ bank }) => bank.layout.models),
}));

/** A decoded value in a reply. */
export const valueSchema = memo(() =>
  z
    .union([z.number(), z.string()])
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Engineering value: raw x 10^scale_factor; the number of an enumeration; text of a string; null when not implemented.',
    }),
);

const isEnum = ({ def }: PointSlot) => def.symbols !== undefined && def.type.startsWith('enum');

const numberOf = (slot: PointSlot, value: AnyPointValue) => (isEnum(slot) ? enumNumber(slot, value) : value);

/** Null: a number without a name; undefined: the point is not an enumeration. */
function symbolOf(slot: PointSlot, value: AnyPointValue): string | null | undefined {
  if (!isEnum(slot)) return undefined;
  return typeof value === 'string' ? value : null;
}

const symbol = member(() => z.string().nullable()).optional;

interface OfBank {
  readonly plant: Pick<Plant, 'dateMs'>;
  readonly bank: PointBank;
}

interface OfRead extends OfBank {
  readonly raw: boolean | undefined;
}

const registerPoint = members<PointSlot, OfRead>()('RegisterPoint', () => ({
  name: text('Path inside the model, for example `Crv[0].Pt[1].V`.', ({ path }) => path),
  label: text(({ def }) => def.label),
  type: text(({ def }) => def.type),
  address: integer(),
  size: integer('Registers.', ({ def }) => def.size),
  raw: list(member(() => z.int().min(0).max(65_535))()).optional('Only with `raw=true`.', (slot, { bank, raw }) =>
    raw === true ? bank.raw(slot) : undefined,
  ),
  value: member(valueSchema)((slot, { bank }) => numberOf(slot, bank.value(slot))),
  scale_factor: integer.orNull(({ def, sf }) => (def.sf === undefined ? null : sf)),
  unit: text.orNull(({ def }) => def.units),
  symbol: symbol('Only on enumerations: the name of the value.', (slot, { bank }) => symbolOf(slot, bank.value(slot))),
  implemented: flag(),
  access: word(['R', 'RW'])('`RW`: this device accepts a write.', ({ writable }) => (writable ? 'RW' : 'R')),
  source: member(() => sourceSchema)((slot, { bank }) => bank.provenance(slot)?.source ?? 'default'),
  source_detail: member(() => sourceDetailSchema)((slot, { bank }) => bank.provenance(slot)?.peer ?? null),
  changed_at: time.orNull(
    'Simulated time of the last write; of the start for a value from the profile; null for a default or ' +
      `measurement. ${asSetNow}`,
    (slot, { bank, plant }) => {
      const by = bank.provenance(slot);
      return by && plant.dateMs(by.at);
    },
  ),
}));

const registers = members<ModelPlace, OfRead & { readonly slots: readonly PointSlot[] }>()('Registers', () => ({
  id: integer(({ def }) => def.id),
  place: placeName(),
  name: text(({ def }) => def.name),
  address: integer(),
  length: integer(),
  points: list(registerPoint)((_place, { slots }) => slots),
}));

const registerChange = members<PointSlot, OfBank>()('RegisterChange', () => ({
  point: text('Model and path, for example `704.WMaxLimPct`.', pointName),
  label: text(({ def }) => def.label),
  address: integer('Protocol address of its first register.'),
  unit: text.orNull(({ def }) => def.units),
  start_value: member(valueSchema)('Value at the start, in the form of `value`.', (slot, { bank }) =>
    numberOf(slot, bank.startValue(slot)),
  ),
  value: member(valueSchema)((slot, { bank }) => numberOf(slot, bank.value(slot))),
  start_symbol: symbol('Only on enumerations: the name of the start value.', (slot, { bank }) =>
    symbolOf(slot, bank.startValue(slot)),
  ),
  symbol: symbol('Only on enumerations: the name of the value.', (slot, { bank }) => symbolOf(slot, bank.value(slot))),
  changed_by: writer.orNull(
    'Last writer of the point; null: the device itself, for example after a command (`overrides` of `controls`).',
    (slot, { bank }) => {
      const by = bank.provenance(slot);
      return by && isShownWriter(by) ? by : null;
    },
  ),
}));

interface Changes {
  readonly deviceIndex: number;
  readonly changes: readonly PointSlot[];
}

const registerChanges = members<Changes, OfBank>()('RegisterChanges', () => ({
  device_index: member(() => deviceIndex)(),
  count: count('Number of points that differ from their start value.', ({ changes }) => changes.length),
  changes: list(registerChange)('In the order of the map.'),
}));

const placeForm = /^0*([1-9]\d{0,4}(?::(?:[2-9]|[1-9]\d))?)$/;
const maxModelId = 65_535;
const placeError = `must be a model id from 1 to ${maxModelId}, or a further place of a model such as 203:2`;

const registersParamsSchema = z.strictObject({
  model_id: z
    .string()
    .regex(placeForm, { error: placeError })
    .transform((name) => placeForm.exec(name)?.[1] ?? name)
    .refine((name) => Number.parseInt(name, 10) <= maxModelId, { error: placeError })
    .openapi({
      param: { name: 'model_id' },
      type: ['integer', 'string'],
      minimum: 1,
      maximum: maxModelId,
      description: 'SunSpec model id; `203:2` is the second place of model 203 in a map with several.',
    }),
});
/** Query of a read of one model, of a device or of the meter. */
const modelQuerySchema = z.strictObject({
  raw: flagParam('raw', 'Adds the raw registers of each point.').optional(),
  points: namesParam(
    'points',
    'Paths of points, as a comma list or repeated: the answer has only these, in the order of the map. Default: all.',
    ['W', 'Hz'],
  ).optional(),
});
const registersQuerySchema = z.strictObject({ device: deviceParam.optional(), ...modelQuerySchema.shape });
/** A value for a point in a request. */
export const writtenSchema = memo(() =>
  z
    .union([z.number(), z.string()], { error: 'must be a number, a text or null' })
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Null marks a point of a stored curve (`Crv[..].Pt[..]`) as not in use; every other point refuses it.',
    }),
);
const registersBodySchema = memo(() =>
  z
    .strictObject({
      points: z
        .record(z.string(), writtenSchema())
        .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
        .openapi({
          description: 'Values by point path, in engineering units; enumerations by name or number.',
          minProperties: 1,
        }),
    })
    .openapi('RegistersRequest'),
);

/** @param who name in the message, as `Device 0` @throws SimError UNKNOWN_RESOURCE */
function modelOf({ layout }: PointBank, modelName: string, who: string): ModelPlace {
  const place = layout.models.find(({ name }) => name === modelName);
  if (!place) {
    const names = layout.models.map(({ name }) => name).join(', ');
    throw new SimError('UNKNOWN_RESOURCE', `${who} does not serve model ${modelName}; it serves ${names}.`);
  }
  return place;
}

const pathsOf = ({ slots }: ModelPlace) => slots.map(({ path }) => path);

/** `suggestions` for points of one model; points inside groups are named with their index. */
function pointSuggestions(place: ModelPlace): (given: string) => string {
  const near = suggestions(() => pathsOf(place));
  return (name) => {
    const inside = pathsOf(place).find((path) => path.endsWith(`].${name}`));
    if (inside !== undefined) return `; did you mean ${inside}?`;
    const member = pathsOf(place).find((path) => path.startsWith(`${name}[`));
    return member === undefined ? near(name) : `; it is a group, with points such as ${member}`;
  };
}

/**
 * Slots of the model that an answer shows.
 * @param points paths that the query selects; without them every slot
 * @throws HttpProblem `validation` with every path that the model does not have
 */
function shownSlots(
  { layout }: PointBank,
  place: ModelPlace,
  points: readonly string[] | undefined,
): readonly PointSlot[] {
  if (!points) return place.slots;
  const unknownPaths = points.filter((path) => !layout.named(`${place.name}.${path}`));
  if (unknownPaths.length > 0) {
    const near = pointSuggestions(place);
    throw invalidAll(
      unknownPaths.map((path) => ({
        in: 'query',
        name: 'points',
        detail: path === '' ? emptyName : `model ${place.name} has no point ${givenText(path)}${near(path)}`,
      })),
    );
  }
  const names = new Set(points);
  return place.slots.filter(({ path }) => names.has(path));
}

/** The pointer of a point of the body. A name with `/` is a mistake, but the pointer must stay valid. */
function pointPointer(path: string): string {
  return `/points/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function valuesBySlot({ layout }: PointBank, place: ModelPlace, points: Readonly<Record<string, AnyPointValue>>) {
  const unknownPoints: ProblemIssue[] = [];
  const near = pointSuggestions(place);
  const values = Object.entries(points).flatMap(([path, value]) => {
    const slot = layout.named(`${place.name}.${path}`);
    if (slot) return [{ slot, value }];
    const detail = `model ${place.name} has no such point${near(path)}`;
    unknownPoints.push({ in: 'body', name: pointPointer(path), detail });
    return [];
  });
  if (unknownPoints.length > 0) throw invalidAll(unknownPoints);
  return values;
}

/** Turns the point names of an error of the bank (`704.WMaxLimPct`) into pointers into the body. */
function inBodyTerms(error: unknown, { name: modelName }: ModelPlace): unknown {
  if (!(error instanceof SimError) || problemOf[error.code] !== 'validation') return error;
  const prefix = `${modelName}.`;
  const issues = error.issues.map(
    ({ name, detail, allowed }): ProblemIssue => ({
      in: 'body',
      name: name.startsWith(prefix) ? pointPointer(name.slice(prefix.length)) : '/points',
      detail: name.startsWith(prefix) ? detail : `${name}: ${detail}`,
      ...(allowed && { allowed }),
    }),
  );
  return issues.length > 0
    ? new HttpProblem('validation', error.message, { issues })
    : new HttpProblem('validation', error.message, {
        issues: [{ in: 'body', name: '/points', detail: error.message }],
      });
}

const shortened = 'The answer has every point of the model, or those that `points` names; the example shows two.';

/** The surroundings, which change by themselves; `controls/grid` and `controls/environment` show their writers. */
const surroundingsId = 64414;

/** Implemented RW points, also of set 1 of curve models, whose value differs from their start value; in map order. */
function changedSlots(bank: PointBank): readonly PointSlot[] {
  return bank.layout.slots.filter(
    (slot) =>
      slot.def.access === 'RW' &&
      slot.implemented &&
      slot.modelId !== surroundingsId &&
      bank.startValue(slot) !== bank.value(slot),
  );
}

/** Points of a device that differ from their start value, in the members of REST. */
export const changesOf = ({ bank }: Device, plant: Plant) =>
  changedSlots(bank).map((slot) => registerChange.reply(slot, { plant, bank }));

export const changeSchema = registerChange.schema;

/** @throws SimError UNKNOWN_RESOURCE without a meter */
function meterOf({ meter }: Plant): SiteMeter {
  if (meter !== null) return meter;
  throw new SimError(
    'UNKNOWN_RESOURCE',
    'The connection point has no meter; the settings meter_unit and meter_port give it one.',
  );
}

// `changes` comes before the route with a model number
export const registerRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/registers',
    tag: 'Core',
    operationId: 'list_register_models',
    summary: 'Models of the register map of a device',
    query: deviceQuery,
    reply: registerModels.schema,
    handle: (ctx, { query }) => registerModels.reply(selectedDevice(ctx, query.device)),
  }),
  route({
    method: 'get',
    path: '/registers/changes',
    tag: 'Core',
    operationId: 'list_register_changes',
    summary: 'Points that differ from their start value, with the writer',
    description:
      'Every RW point, set 1 of the curve models included, whose value differs from its start value (of the profile, or ' +
      'the default): the points that were changed and not restored. A point that was written and is back at its start ' +
      'value is not listed. 64414 shows the surroundings and is left out: `controls/grid` and `controls/environment` ' +
      'show their writers.',
    query: deviceQuery,
    reply: registerChanges.schema,
    handle(ctx, { query }) {
      const { index: deviceIndex, bank } = selectedDevice(ctx, query.device);
      return registerChanges.reply({ deviceIndex, changes: changedSlots(bank) }, { plant: ctx.plant, bank });
    },
  }),
  route({
    method: 'get',
    path: '/registers/{model_id}',
    tag: 'Core',
    operationId: 'get_registers',
    summary: 'Points of one model, decoded and raw',
    description: shortened,
    params: registersParamsSchema,
    query: registersQuerySchema,
    reply: registers.schema,
    problems: ['unknown-resource'],
    handle(ctx, { params, query }) {
      const { index, bank } = selectedDevice(ctx, query.device);
      const place = modelOf(bank, params.model_id, `Device ${index}`);
      const slots = shownSlots(bank, place, query.points);
      return registers.reply(place, { plant: ctx.plant, bank, slots, raw: query.raw });
    },
  }),
  route({
    method: 'post',
    path: '/registers/{model_id}',
    tag: 'Core',
    operationId: 'set_registers',
    summary: 'Writes points of one model, all or none',
    description: `${shortened} Control functions use the written values from the next tick on.`,
    params: registersParamsSchema,
    query: registersQuerySchema,
    body: registersBodySchema,
    reply: registers.schema,
    problems: ['unknown-resource', 'disabled'],
    handle(ctx, { params, query, body, by }) {
      const { index, bank } = selectedDevice(ctx, query.device);
      const place = modelOf(bank, params.model_id, `Device ${index}`);
      const slots = shownSlots(bank, place, query.points);
      const values = valuesBySlot(bank, place, body.points);
      try {
        bank.assign(by, values);
      } catch (error) {
        throw inBodyTerms(error, place);
      }
      return registers.reply(place, { plant: ctx.plant, bank, slots, raw: query.raw });
    },
  }),
  route({
    method: 'get',
    path: '/site/registers',
    tag: 'Controls',
    operationId: 'list_site_registers',
    summary: 'Models of the register map of the meter of the connection point',
    description:
      'The meter is not a device: it has no index, and is neither in `devices` nor in the stream. Without the ' +
      'settings `meter_unit` and `meter_port` the site has no meter. Meters in the map of a device are in its `registers`.',
    reply: meterModels.schema,
    problems: ['unknown-resource'],
    handle: ({ plant }) => meterModels.reply(meterOf(plant)),
  }),
  route({
    method: 'get',
    path: '/site/registers/{model_id}',
    tag: 'Controls',
    operationId: 'get_site_registers',
    summary: 'Points of one model of the meter, decoded and raw',
    description:
      'Active and reactive power are positive when drawn from the grid, opposite to `net_power_kw` of `site`. The answer ' +
      'has every point of the model, or those that `points` names; the example shows two. No point can be written.',
    params: registersParamsSchema,
    query: modelQuerySchema,
    reply: registers.schema,
    problems: ['unknown-resource'],
    handle({ plant }, { params, query }) {
      const { bank } = meterOf(plant);
      const place = modelOf(bank, params.model_id, 'The meter');
      const slots = shownSlots(bank, place, query.points);
      return registers.reply(place, { plant, bank, slots, raw: query.raw });
    },
  }),
];
