/** Partial shading of PV arrays: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { maxPvInputs } from '../contract/kinds/pv.ts';
import type { PvShading } from '../contract/kinds/pv.ts';
import type { PvArrayDetail } from '../contract/kinds/table.ts';
import { arrayOf, stateOperations } from './common/device-replies.ts';
import type { OfDevice } from './common/device-replies.ts';
import { count, integer, list, member, members, text, word } from './common/members.ts';
import { overrideOf, writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import type { Route } from './http/route.ts';

const share = z.number().min(0).max(1);

const shareMember = member(() => share);
const trackerState = word(['off', 'start', 'track', 'limit', 'dc_low']);

type Shaded = Pick<PvArrayDetail, 'shading' | 'mpptState'>;
const shadedShare = ({ shading }: Shaded) => shading?.shadedShare ?? 0;
const irradianceShare = ({ shading }: Shaded) => shading?.irradianceShare ?? 1;

const inputShading = members<Shaded & { readonly input: number; readonly name: string }>()('InputShading', () => ({
  input: count('Number of the input, as `port` of `dc-iv`.'),
  name: text('714.Prt.IDStr.'),
  shaded_share: shareMember(shadedShare),
  irradiance_share: shareMember(irradianceShare),
  mppt_state: trackerState('State of the tracker of this input.'),
}));

const shading = members<PvArrayDetail, OfDevice>()('Shading', () => ({
  device_index: integer((_of, { device }) => device.index),
  shaded_share: shareMember('With several inputs, the share of the first shaded input.', shadedShare),
  irradiance_share: shareMember('With several inputs, the share of the first shaded input.', irradianceShare),
  mppt_state: trackerState(
    'State of the maximum power point tracker. With several inputs, the first of limit, track, dc_low, start, off in which a tracker is.',
  ),
  inputs: list(inputShading).optional('Inputs of an inverter with several inputs; absent: one input.', ({ inputs }) =>
    inputs?.map((each, input) => ({ ...each, input })),
  ),
  changed_by: writer.orNull('Last writer; null: as started.', (_of, { device }) => overrideOf(device, 'pv_shading')),
}));

const shadingBodySchema = memo(() =>
  z
    .strictObject({
      shaded_share: share.openapi({
        description: 'Fraction of the modules of each string that are shaded; 0 ends the shading.',
      }),
      irradiance_share: share.openapi({ description: 'Fraction of the irradiance that reaches the shaded modules.' }),
      input: z
        .int()
        .min(0)
        .max(maxPvInputs - 1)
        .optional()
        .openapi({
          description: 'Shaded input, as `port` of `dc-iv`. Default: every input of the inverter.',
        }),
    })
    .openapi('ShadingRequest'),
);

const arrays = stateOperations('Controls', shading, arrayOf, ['not-applicable']);

export const shadingRoutes: readonly Route[] = [
  arrays.get({
    path: '/controls/shading',
    operationId: 'get_shading',
    summary: 'Partial shading of a PV array',
  }),
  arrays.post({
    path: '/controls/shading',
    operationId: 'set_shading',
    summary: 'Shades part of every string of a PV array, or ends the shading',
    description:
      'The curve then has a second maximum; see `dc-iv`. `shaded_share` 0 ends the shading. `input` chooses one of several inputs.',
    body: shadingBodySchema,
    change(device, body, by) {
      const { shaded_share: shadedShare, irradiance_share: irradianceShare, input } = body;
      const pattern: PvShading | null = shadedShare === 0 ? null : { shadedShare, irradianceShare };
      device.command({ kind: 'pv.shading', shading: pattern, ...(input !== undefined && { input }) }, by);
    },
  }),
];
