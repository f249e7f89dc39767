/** Models and points of the map of a device, or of the meter of the connection point. */
import type { Device } from '../../contract/device.ts';
import type { Plant, SiteMeter } from '../../contract/plant.ts';
import { memo } from '../../core/lazy.ts';
import type { PointBank } from '../../sunspec/map/bank.ts';
import type { ModelPlace, PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { count, flag, integer, list, member, members, text, time, word } from '../common/members.ts';
import { enumNumber } from '../common/points.ts';
import { deviceIndex, deviceParam, flagParam, integerParam, namesParam, sourceSchema } from '../common/schemas.ts';
import { isFromClient, writer } from '../common/writer-replies.ts';
import { asSetNow, sourceDetailSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';

const model = members<ModelPlace>()(null, () => ({
  id: integer(({ def }) => def.id),
  name: text(({ def }) => def.name),
  label: text(({ def }) => def.label),
  address: integer('Protocol address of the ID register.'),
  length: integer('The L register.'),
  hidden: flag.optional(
    'True where Modbus masters do not find the model (`--map_layout`): its address lies behind the end of their map.',
    ({ hidden }) => hidden || undefined,
  ),
}));

export const registerModels = members<Device>()('RegisterModels', () => ({
  device_index: member(() => deviceIndex)(({ index }) => index),
  models: list(model)(({ bank }) => bank.layout.models),
}));

export const meterModels = members<SiteMeter>()('MeterModels', () => ({
  unit_id: member(() => z.int().min(1).max(247)).orNull(
    'The setting meter_unit; null: none is given, and the meter has unit id 1 at its own port.',
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

interface Shown extends OfBank {
  readonly raw: boolean | undefined;
}

const registerPoint = members<PointSlot, Shown>()('RegisterPoint', () => ({
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
  access: word(['R', 'RW'])('Whether this device accepts a write.', ({ writable }) => (writable ? 'RW' : 'R')),
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

export const registers = members<ModelPlace, Shown & { readonly slots: readonly PointSlot[] }>()('Registers', () => ({
  id: integer(({ def }) => def.id),
  name: text(({ def }) => def.name),
  address: integer(),
  length: integer(),
  points: list(registerPoint)((_place, { slots }) => slots),
}));

const registerChange = members<PointSlot, OfBank>()('RegisterChange', () => ({
  point: text('Model and path, as `704.WMaxLimPct`.', pointName),
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
    'Last writer of the point; null: the device itself, as after a command (`overrides` of `controls`).',
    (slot, { bank }) => {
      const by = bank.provenance(slot);
      return by && isFromClient(by) ? by : null;
    },
  ),
}));

interface Changes {
  readonly deviceIndex: number;
  readonly changes: readonly PointSlot[];
}

export const registerChanges = members<Changes, OfBank>()('RegisterChanges', () => ({
  device_index: member(() => deviceIndex)(),
  count: count('Points that differ.', ({ changes }) => changes.length),
  changes: list(registerChange)('In the order of the map.'),
}));

export const registersParamsSchema = z.strictObject({
  model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.'),
});
/** Parameters of reads of one model, whatever its map. */
export const modelQuerySchema = z.strictObject({
  raw: flagParam('raw', 'Adds the raw registers of each point.').optional(),
  points: namesParam(
    'points',
    'Paths of points, as a comma list or repeated: the answer has these alone, in the order of the map. Default: all.',
    ['W', 'Hz'],
  ).optional(),
});
export const registersQuerySchema = z.strictObject({ device: deviceParam.optional(), ...modelQuerySchema.shape });
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
export const registersBodySchema = memo(() =>
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
