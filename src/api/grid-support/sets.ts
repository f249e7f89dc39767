/** Stored sets of the curve and control models in the form of the set in force. */
import { memo } from '../../core/lazy.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { isLater } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import { adoptionIssue } from '../../sunspec/map/adoption.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { isSupported } from '../../sunspec/map/grid-support/state.ts';
import { setsOf, adoptionPoints } from '../../sunspec/map/layout.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { pointText } from '../common/points.ts';
import { writerReply, writerSchema } from '../common/writers.ts';
import { gridFunctionNames, gridFunctions, adoptSymbols } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import type { GridFunction, Member, Members } from './members.ts';
import { membersReply } from './registers.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam, listParam, chosenWords } from '../common/schemas.ts';
import { componentName, replyShape, unsupported } from './schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { invalidAll } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

const set1 = /^(Crv|Ctl)\[0\]/;

/** The member of the set at `position`; null: the member does not belong to a set. */
function inSet(member: Member, position: number): Member | null {
  const moved = (path: string) => (set1.test(path) ? path.replace(set1, `$1[${position}]`) : null);
  switch (member.kind) {
    case 'number':
    case 'symbol':
    case 'flag': {
      const point = moved(member.point);
      return point === null ? null : { ...member, point };
    }
    case 'curve': {
      const at = moved(member.at);
      return at === null ? null : { ...member, at };
    }
    case 'object': {
      const members = setMembers(member.members, position);
      return Object.keys(members).length === 0 ? null : { ...member, members };
    }
    case 'part':
      return null;
  }
}

/** The members of a function that each set has, with the points of the set at `position`, from 0. */
function setMembers(members: Members, position: number): Members {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => {
      const setMember = inSet(member, position);
      return setMember === null ? [] : [[name, setMember]];
    }),
  );
}

/** The functions that have sets, in the order of `grid-support`. */
export const setFunctionNames = gridFunctionNames.filter((name) => {
  const { sets }: GridFunction = gridFunctions[name];
  return sets !== undefined;
});

function newest(bank: Bank, slots: readonly PointSlot[]): Provenance | null {
  return slots.reduce<Provenance | null>((last, slot) => {
    const writer = bank.provenance(slot);
    return writer && (last === null || isLater(writer, last)) ? writer : last;
  }, null);
}

function numberIn(bank: Bank, slot: PointSlot | undefined): number | null {
  const value = slot && bank.value(slot);
  return typeof value === 'number' ? value : null;
}

/** All sets of one function, the set in force first; only `supported: false` if the device lacks it. */
function setsReply(plant: Plant, { bank }: Device, name: GridFunctionName): Record<string, unknown> {
  const spec: GridFunction = gridFunctions[name];
  const { layout } = bank;
  const model = layout.models.find(({ def }) => def.id === spec.model);
  const points = adoptionPoints(layout, spec.model);
  if (!model || !points || !isSupported(bank, spec)) return { supported: false };
  const image = bank.image();
  const result = bank.value(points.result);
  return {
    supported: true,
    adopt_request: numberIn(bank, points.request),
    adopt_result: typeof result === 'string' ? result.toLowerCase() : null,
    reversion_set: numberIn(bank, points.reversion),
    sets: setsOf(model).map(({ def }, position) => {
      const path = `${def.name}[${position}].`;
      const issue = adoptionIssue(layout, image, spec.model, position + 1);
      const slots = model.slots.filter((slot) => slot.path.startsWith(path));
      return {
        number: position + 1,
        in_force: position === 0,
        read_only: pointText(bank, spec.model, `${path}ReadOnly`) === 'R',
        adoptable: issue === null,
        issue: issue && { point: `${spec.model}.${issue.path}`, detail: issue.detail },
        changed_by: writerReply(plant, newest(bank, slots)),
        ...membersReply(bank, spec.model, setMembers(spec.members, position), (at) => plant.dateMs(at)),
      };
    }),
  };
}

const setsQuery = z.strictObject({
  device: deviceParam.optional(),
  function: listParam('function', setFunctionNames, 'Only these functions; default all.').optional(),
});

function setSchema(name: GridFunctionName) {
  const { model, members }: GridFunction = gridFunctions[name];
  return z
    .strictObject({
      number: z.int().min(1).openapi({ description: 'Number of the set, from 1.' }),
      in_force: z.boolean().openapi({ description: 'True of set 1, which the function follows.' }),
      read_only: z.boolean().openapi({ description: `True if no master can write it: ReadOnly of ${model}.` }),
      adoptable: z.boolean().openapi({ description: 'True if an adoption of the set as it is now would succeed.' }),
      issue: z
        .strictObject({
          point: z.string().openapi({ description: 'Point that has the error, for example `705.Crv[1].ActPt`.' }),
          detail: z.string().openapi({ description: 'The reason in words.' }),
        })
        .nullable()
        .openapi({ description: 'Why the set cannot be in force; null: it can.' }),
      changed_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of any point of the set; null: start values.' }),
      ...replyShape(model, setMembers(members, 0)),
    })
    .openapi(`${componentName(name)}Set`);
}

function functionSets(name: GridFunctionName) {
  return z
    .union([
      unsupported,
      z.strictObject({
        supported: z.literal(true),
        adopt_request: z
          .number()
          .nullable()
          .openapi({ description: 'Set that was requested last (AdptCrvReq, AdptCtlReq).' }),
        adopt_result: z.enum(adoptSymbols).nullable().openapi({ description: 'Outcome of that adoption.' }),
        reversion_set: z.number().nullable().openapi({
          description:
            'Set that is adopted when the reversion time is over; 0: none, null: the function has no reversion.',
        }),
        sets: z.array(setSchema(name)).openapi({ description: 'All sets of the map, the one in force first.' }),
      }),
    ])
    .openapi(`${componentName(name)}Sets`);
}

const storedSetsSchema = memo(() => {
  const shape = Object.fromEntries(setFunctionNames.map((name) => [name, functionSets(name).optional()]));
  return z.strictObject({ device_index: deviceIndex, ...shape }).openapi('StoredSets');
});

export const storedSetRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/grid-support/sets',
    tag: 'Grid Support',
    operationId: 'get_stored_sets',
    summary: 'Sets of the curve and control models, with whether each could be adopted',
    description:
      'Every set has the members of the set in force, as `grid-support` shows them. Stored sets are written through ' +
      '`registers/{model_id}` or Modbus, and adopted by the request point of their model; a request to `grid-support` ' +
      'changes set 1 alone. The example shows one function.',
    query: setsQuery,
    reply: storedSetsSchema,
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const { chosen, issues } = chosenWords('function', query.function ?? setFunctionNames, setFunctionNames);
      if (issues.length > 0) throw invalidAll(issues);
      const names = setFunctionNames.filter((name) => chosen.includes(name));
      return {
        device_index: device.index,
        ...Object.fromEntries(names.map((name) => [name, setsReply(ctx.plant, device, name)])),
      };
    },
  }),
];
