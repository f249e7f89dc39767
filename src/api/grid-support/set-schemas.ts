import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam } from '../common/schemas.ts';
import { writerSchema } from '../common/writer-schemas.ts';
import { listParam } from '../common/list-param.ts';
import { exampleGridSupport } from './examples.ts';
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

const { points, dept_ref, response_time_s } = exampleGridSupport.volt_watt;
const exampleSet = {
  number: 1,
  in_force: true,
  read_only: true,
  adoptable: true,
  issue: null,
  changed_by: null,
  points,
  dept_ref,
  response_time_s,
};
/** Volt-watt of a device in whose second set a master is staging a curve. */
export const exampleStoredSets = {
  device_index: 0,
  volt_watt: {
    supported: true,
    adopt_request: 1,
    adopt_result: 'completed',
    reversion_set: 0,
    sets: [
      exampleSet,
      {
        ...exampleSet,
        number: 2,
        in_force: false,
        read_only: false,
        adoptable: false,
        issue: { point: '706.Crv[1].Pt[1].V', detail: '105 is below the value of the previous point, 106' },
        changed_by: { source: 'modbus', source_detail: '127.0.0.1:50122', changed_at: '2026-06-21T12:00:00.000Z' },
        points: [
          { v_pct: 106, w_pct: 100 },
          { v_pct: 105, w_pct: 0 },
        ],
      },
      { ...exampleSet, number: 3, in_force: false, read_only: false },
    ],
  },
};
