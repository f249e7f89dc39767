import { SimError } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import type { Device } from '../../contract/device.ts';
import type { ModelPlace } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { problemOf, HttpProblem, invalidAll } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import {
  exampleRegisterModels,
  exampleRegisters,
  registerModelsSchema,
  registersBodySchema,
  registersParamsSchema,
  registersQuerySchema,
  registersSchema,
} from './schemas.ts';
import { modelList, modelOf, modelReply, pointSuggestions, shownSlots } from './replies.ts';
import { changeReplies } from './change-replies.ts';
import { exampleRegisterChanges, registerChangesSchema } from './change-schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';

/** A point name with `/` is a mistake, but the pointer must stay valid. */
function pointPointer(path: string): string {
  return `/points/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function slotsOf(device: Device, place: ModelPlace, points: Readonly<Record<string, AnyPointValue>>) {
  const unknown: ProblemIssue[] = [];
  const near = pointSuggestions(place);
  const values = Object.entries(points).flatMap(([path, value]) => {
    const slot = device.bank.layout.slot(place.def.id, path);
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

const listModels = route({
  method: 'get',
  path: '/registers',
  tag: 'Core',
  operationId: 'list_register_models',
  summary: 'Models of the register map of a device',
  query: deviceQuery,
  reply: registerModelsSchema,
  examples: { reply: exampleRegisterModels },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    return {
      device_index: device.index,
      models: modelList(device.bank),
    };
  },
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
  reply: registerChangesSchema,
  examples: { reply: exampleRegisterChanges },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const changes = changeReplies(ctx.plant, device);
    return { device_index: device.index, count: changes.length, changes };
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
  reply: registersSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleRegisters },
  handle(ctx, { params, query }) {
    const device = selectedDevice(ctx, query.device);
    const place = modelOf(device.bank, params.model_id, `Device ${device.index}`);
    return modelReply(ctx.plant, device.bank, place, shownSlots(device.bank, place, query.points), query.raw);
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
  reply: registersSchema,
  problems: ['unknown-resource', 'disabled'],
  examples: { body: { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } }, reply: exampleRegisters },
  handle(ctx, { params, query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const place = modelOf(device.bank, params.model_id, `Device ${device.index}`);
    const shown = shownSlots(device.bank, place, query.points);
    const values = slotsOf(device, place, body.points);
    try {
      device.bank.assign(by, values);
    } catch (error) {
      throw inBodyTerms(error, place.def.id);
    }
    return modelReply(ctx.plant, device.bank, place, shown, query.raw);
  },
});

// `changes` stands before the number of a model, which it is not
export const registerRoutes: readonly Route[] = [listModels, listChanges, getRegisters, setRegisters];
