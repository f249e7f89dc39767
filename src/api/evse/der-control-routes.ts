import { SimError } from '../../core/errors.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { gridFunctionNames, gridFunctions } from '../grid-support/functions.ts';
import type { GridFunctionName } from '../grid-support/functions.ts';
import { flag, number } from '../grid-support/members.ts';
import { functionReply } from '../grid-support/read.ts';
import { isEnabled, isSupported } from '../../sunspec/map/grid-support/state.ts';
import { writeFunctions } from '../grid-support/write.ts';
import type { FunctionRequest } from '../grid-support/write.ts';
import { pointNumber, pointWriter } from '../common/points.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { memo } from '../../core/lazy.ts';
import { z } from '../description/zod.ts';
import { gridSupportBodySchema, gridSupportSchema } from '../grid-support/schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { stationOf } from './stations.ts';

const derControlsSchema = memo(() =>
  z
    .strictObject({
      ...gridSupportSchema().shape,
      limit_max_discharge_pct: z.number().nullable().openapi({
        description: '704.WMaxLimPct: maximum power from the vehicles, percent of 702.WMax; null: no limit.',
      }),
      control_ids: z.record(z.string(), z.string()).openapi({
        description:
          'By function, the id of the OCPP 2.1 control that set it last. Functions that were set otherwise are left out.',
      }),
    })
    .openapi('EvseDerControls'),
);

const derControlsBodySchema = memo(() =>
  z
    .strictObject({
      ...gridSupportBodySchema().shape,
      limit_max_discharge_pct: z
        .number()
        .min(0)
        .max(100)
        .nullable()
        .optional()
        .openapi({ description: 'Sets and enables 704.WMaxLimPct; null disables it.' }),
    })
    .openapi('EvseDerControlsRequest'),
);

const { max_power: maxPower } = gridFunctions;

/**
 * The station that a request selects; without `device` the first.
 * @throws SimError COMMAND_NOT_APPLICABLE, UNKNOWN_DEVICE
 */
function selectedStation(ctx: RouteContext, index: number | undefined): Device {
  const first = ctx.plant.devices.find(({ assetType }) => assetType === 'evse');
  if (index === undefined && !first) throw new SimError('COMMAND_NOT_APPLICABLE', 'There is no charging station here.');
  return stationOf(ctx, selectedDevice(ctx, index ?? first?.index)).device;
}

/** The last writer of a function. Slopes of commands stand beside the registers of their ramps. */
function writerOf({ bank, gradient, overrides }: Device, name: GridFunctionName) {
  const isSlope = name === 'ramp' && gradient.w.source === 'gradient';
  if (isSlope) return overrides.find((each) => each.name === 'gradient');
  return pointWriter(bank, gridFunctions[name].model, gridFunctions[name].enable);
}

/** By function, the id of the OCPP control that wrote it last. */
function controlIds(device: Device): Record<string, string> {
  return Object.fromEntries(
    gridFunctionNames.flatMap((name) => {
      const writer = writerOf(device, name);
      return writer?.source === 'ocpp' && writer.peer !== undefined ? [[name, writer.peer]] : [];
    }),
  );
}

function reply({ plant }: RouteContext, device: Device) {
  const { bank, index } = device;
  const functions = Object.fromEntries(
    gridFunctionNames.map((name) => [name, functionReply(bank, gridFunctions[name], (at) => plant.dateMs(at))]),
  );
  const limits = isSupported(bank, maxPower) && isEnabled(bank, maxPower);
  return {
    device_index: index,
    ...(functions as Record<GridFunctionName, ReturnType<typeof functionReply>>),
    limit_max_discharge_pct: limits ? pointNumber(bank, maxPower.model, 'WMaxLimPct') : null,
    control_ids: controlIds(device),
  };
}

/** The limit as two writes: its value, and its enable. */
function dischargeLimit(limitPct: number | null): FunctionRequest[] {
  const one = (members: FunctionRequest['spec']['members'], value: number | boolean): FunctionRequest => ({
    spec: { ...maxPower, members },
    name: 'max_power',
    pointer: '',
    body: { limit_max_discharge_pct: value },
  });
  const enabled = one({ limit_max_discharge_pct: flag(maxPower.enable) }, limitPct !== null);
  return limitPct === null ? [enabled] : [enabled, one({ limit_max_discharge_pct: number('WMaxLimPct') }, limitPct)];
}

const getDerControls = route({
  method: 'get',
  path: '/evse/der-controls',
  tag: 'EVSE / OCPP',
  operationId: 'get_evse_der_controls',
  summary: 'Grid-support functions of a charging station',
  description: 'Like `grid-support`; without `device` for the first station.',
  query: deviceQuery,
  reply: derControlsSchema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => reply(ctx, selectedStation(ctx, query.device)),
});

const setDerControls = route({
  method: 'post',
  path: '/evse/der-controls',
  tag: 'EVSE / OCPP',
  operationId: 'set_evse_der_controls',
  summary: 'Sets grid-support functions of a charging station',
  description:
    'As `grid-support`; without `device` those of the first station. `limit_max_discharge_pct` is short for `max_power` ' +
    'with `limit_pct` and `enabled`: it limits what vehicles give, not what they take.',
  query: deviceQuery,
  body: derControlsBodySchema,
  reply: derControlsSchema,
  problems: ['not-applicable', 'disabled'],
  handle(ctx, { query, body, by }) {
    const device = selectedStation(ctx, query.device);
    const requests = gridFunctionNames.flatMap((name): FunctionRequest[] => {
      const settings = body[name];
      return settings === undefined ? [] : [{ spec: gridFunctions[name], name, pointer: `/${name}`, body: settings }];
    });
    const { limit_max_discharge_pct: limitPct } = body;
    writeFunctions(device.bank, by, [...requests, ...(limitPct === undefined ? [] : dischargeLimit(limitPct))]);
    return reply(ctx, device);
  },
});

export const evseDerControlRoutes: readonly Route[] = [getDerControls, setDerControls];
