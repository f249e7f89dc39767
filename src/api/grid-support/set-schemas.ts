import { memo } from '../../core/lazy.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam } from '../common/schemas.ts';
import { writerSchema } from '../common/writer-schemas.ts';
import { listParam } from '../common/list-param.ts';
import { adoptSymbols, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import type { GridFunction } from './members.ts';
import { componentName, replyShape, unsupported } from './schemas.ts';
import { setFunctionNames, setMembers } from './set-replies.ts';

export const setsQuery = z.strictObject({
  device: deviceParam.optional(),
  function: listParam('function', setFunctionNames, 'Only these functions; default all.').optional(),
});

function setSchema(name: GridFunctionName) {
  const { model, members }: GridFunction = gridFunctions[name];
  return z
    .strictObject({
      number: z.int().min(1).openapi({ description: 'Number of the set, from 1.' }),
      in_force: z.boolean().openapi({ description: 'True of set 1, which the function follows.' }),
      read_only: z.boolean().openapi({ description: `Whether a master cannot write it: ReadOnly of ${model}.` }),
      adoptable: z.boolean().openapi({ description: 'Whether an adoption of the set as it is now would succeed.' }),
      issue: z
        .strictObject({
          point: z.string().openapi({ description: 'Point that shows it, as `705.Crv[1].ActPt`.' }),
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
          .openapi({ description: 'Set that was asked for last (AdptCrvReq, AdptCtlReq).' }),
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

export const storedSetsSchema = memo(() => {
  const shape = Object.fromEntries(setFunctionNames.map((name) => [name, functionSets(name).optional()]));
  return z.strictObject({ device_index: deviceIndex, ...shape }).openapi('StoredSets');
});
