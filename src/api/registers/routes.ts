import type { Plant, SiteMeter } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { givenText, suggestions } from '../../core/nearest.ts';
import type { PointBank } from '../../sunspec/map/bank.ts';
import type { ModelPlace, PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { emptyName } from '../common/list-param.ts';
import { deviceQuery } from '../common/schemas.ts';
import { HttpProblem, invalidAll, problemOf } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  meterModels,
  modelQuerySchema,
  registerChanges,
  registerModels,
  registers,
  registersBodySchema,
  registersParamsSchema,
  registersQuerySchema,
} from './members.ts';

/** @param who in the message: `Device 0` @throws SimError UNKNOWN_RESOURCE */
function modelOf({ layout }: PointBank, id: number, who: string): ModelPlace {
  const place = layout.models.find(({ def }) => def.id === id);
  if (!place) {
    const ids = layout.models.map(({ def }) => def.id).join(', ');
    throw new SimError('UNKNOWN_RESOURCE', `${who} does not serve model ${id}; it serves ${ids}.`);
  }
  return place;
}

const pathsOf = ({ slots }: ModelPlace) => slots.map(({ path }) => path);

/** `suggestions` for points of one model; points inside groups are named with their index. */
function pointSuggestions(place: ModelPlace): (given: string) => string {
  const near = suggestions(() => pathsOf(place));
  return (given) => {
    const inside = pathsOf(place).find((path) => path.endsWith(`].${given}`));
    if (inside !== undefined) return `; did you mean ${inside}?`;
    const member = pathsOf(place).find((path) => path.startsWith(`${given}[`));
    return member === undefined ? near(given) : `; it is a group, with points such as ${member}`;
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
  const unknown = points.filter((path) => !layout.slot(place.def.id, path));
  if (unknown.length > 0) {
    const near = pointSuggestions(place);
    throw invalidAll(
      unknown.map((path) => ({
        in: 'query',
        name: 'points',
        detail: path === '' ? emptyName : `model ${place.def.id} has no point ${givenText(path)}${near(path)}`,
      })),
    );
  }
  const shown = new Set(points);
  return place.slots.filter(({ path }) => shown.has(path));
}

/** A point name with `/` is a mistake, but the pointer must stay valid. */
function pointPointer(path: string): string {
  return `/points/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function valuesBySlot({ layout }: PointBank, place: ModelPlace, points: Readonly<Record<string, AnyPointValue>>) {
  const unknown: ProblemIssue[] = [];
  const near = pointSuggestions(place);
  const values = Object.entries(points).flatMap(([path, value]) => {
    const slot = layout.slot(place.def.id, path);
    if (slot) return [{ slot, value }];
    const detail = `model ${place.def.id} has no such point${near(path)}`;
    unknown.push({ in: 'body', name: pointPointer(path), detail });
    return [];
  });
  if (unknown.length > 0) throw invalidAll(unknown);
  return values;
}

/** The bank names points as `704.WMaxLimPct`; the client knows them as members of its body. */
function inBodyTerms(error: unknown, modelId: number): unknown {
  if (!(error instanceof SimError) || problemOf[error.code] !== 'validation') return error;
  const prefix = `${modelId}.`;
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

/** The model of the surroundings, which change on their own; `controls/grid` and `controls/environment` show their writers. */
const surroundingsId = 64414;

/** Every implemented RW point, set 1 of the curve models included, whose value is not that of the start; in map order. */
function changedSlots(bank: PointBank): readonly PointSlot[] {
  return bank.layout.slots.filter(
    (slot) =>
      slot.def.access === 'RW' &&
      slot.implemented &&
      slot.modelId !== surroundingsId &&
      bank.startValue(slot) !== bank.value(slot),
  );
}

const listModels = route({
  method: 'get',
  path: '/registers',
  tag: 'Core',
  operationId: 'list_register_models',
  summary: 'Models of the register map of a device',
  query: deviceQuery,
  reply: registerModels.schema,
  handle: (ctx, { query }) => registerModels.reply(selectedDevice(ctx, query.device)),
});

const listChanges = route({
  method: 'get',
  path: '/registers/changes',
  tag: 'Core',
  operationId: 'list_register_changes',
  summary: 'Points that differ from their start value, with the writer',
  description:
    'What a control left behind: every RW point, set 1 of the curve models included, whose value is not the one that ' +
    'profile and defaults gave it. A point that was written and is back at its start value is not listed. 64414 shows ' +
    'the surroundings and is left out: `controls/grid` and `controls/environment` have their writers.',
  query: deviceQuery,
  reply: registerChanges.schema,
  handle(ctx, { query }) {
    const { index: deviceIndex, bank } = selectedDevice(ctx, query.device);
    return registerChanges.reply({ deviceIndex, changes: changedSlots(bank) }, { plant: ctx.plant, bank });
  },
});

const getRegisters = route({
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
});

const setRegisters = route({
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
      throw inBodyTerms(error, place.def.id);
    }
    return registers.reply(place, { plant: ctx.plant, bank, slots, raw: query.raw });
  },
});

/** @throws SimError UNKNOWN_RESOURCE without a meter */
function meterOf({ meter }: Plant): SiteMeter {
  if (meter !== null) return meter;
  throw new SimError(
    'UNKNOWN_RESOURCE',
    'The connection point has no meter; the settings meter_unit and meter_port give it one.',
  );
}

const listMeterModels = route({
  method: 'get',
  path: '/site/registers',
  tag: 'Controls',
  operationId: 'list_site_registers',
  summary: 'Models of the register map of the meter of the connection point',
  description:
    'The meter is no device: it has no index, and is neither in `devices` nor in the stream. Without the settings ' +
    '`meter_unit` and `meter_port` there is none.',
  reply: meterModels.schema,
  problems: ['unknown-resource'],
  handle: ({ plant }) => meterModels.reply(meterOf(plant)),
});

const getMeterRegisters = route({
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
});

// `changes` comes before the route with a model number
export const registerRoutes: readonly Route[] = [
  listModels,
  listChanges,
  getRegisters,
  setRegisters,
  listMeterModels,
  getMeterRegisters,
];
