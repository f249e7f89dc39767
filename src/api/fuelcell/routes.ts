import type { FuelCellDetail } from '../../contract/kinds/fuelcell.ts';
import type { Device } from '../../contract/device.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { detailOf } from '../common/kind-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import { endSetPoint, setPointRangeW, writeSetPoint } from '../common/set-point.ts';
import type { RouteContext } from '../http/context.ts';
import { invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { fuelCell, fuelCellSetPointBodySchema, tankBodySchema } from './members.ts';

const fuelCellReply = ({ plant }: RouteContext, device: Device) =>
  fuelCell.reply(detailOf(device, 'fuelcell'), { device, plant });

/** Range in whole watts, as kW. */
const range = (minW: number, maxW: number) => `${Math.round(minW) / 1000} to ${Math.round(maxW) / 1000} kW`;

/** Registers and replies have set-points in whole watts: one that was read can be sent again. */
const slackW = 0.5;

/**
 * The AC set-point for a power of the stack, W. The stack's range follows from that of the AC set-point: consumption of
 * the plant and losses of the inverter make it wider for the fuel cell and narrower for the electrolyser.
 * @throws HttpProblem `validation`
 */
function acSetPointW(device: Device, { operatingMode }: FuelCellDetail, powerKw: number, pointer: string): number {
  const powerW = powerKw * 1000;
  const settings = setPointRangeW(device.bank);
  const { stackPower } = device;
  if (!stackPower) return powerW;
  const minW = Math.min(0, stackPower.stackW(settings.minW));
  const maxW = Math.max(0, stackPower.stackW(settings.maxW));
  if (powerW < 0 && operatingMode === 'fc_only') {
    const text = `given ${powerKw} kW; this plant has no electrolyser, and its stack takes ${range(0, maxW)}`;
    throw invalid('body', pointer, text);
  }
  if (powerW < minW - slackW || powerW > maxW + slackW) {
    const text = `given ${powerKw} kW; the settings of the device allow ${range(minW, maxW)} at the stack (702.WChaRteMax, 702.WMax)`;
    throw invalid('body', pointer, text);
  }
  const acW = Math.max(settings.minW, Math.min(settings.maxW, stackPower.acW(powerW)));
  // registers hold whole watts: less than half a watt is 0, but more must not become 0
  if (Math.abs(powerW) >= slackW && Math.abs(acW) < slackW) {
    const text = `given ${powerKw} kW; the plant consumes this itself, and nothing would be left at the AC terminals`;
    throw invalid('body', pointer, text);
  }
  return acW;
}

const getFuelCell = route({
  method: 'get',
  path: '/fuelcell',
  tag: 'Fuel Cell',
  operationId: 'get_fuel_cell',
  summary: 'Stack, hydrogen and tank of a fuel cell',
  query: deviceQuery,
  reply: fuelCell.schema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => fuelCellReply(ctx, selectedDevice(ctx, query.device)),
});

const setPoint = route({
  method: 'post',
  path: '/fuelcell/setpoint',
  tag: 'Fuel Cell',
  operationId: 'set_fuel_cell_setpoint',
  summary: 'Sets the power of the stack of a fuel cell or electrolyser',
  description:
    'Writes the AC power at which the stack has this power as set-point of model 704 (`WSetMod`, `WSet`, `WSetEna`) in ' +
    'one commit; `registers/704` and `grid-support/active-power` take the AC power itself. ' +
    'A change of direction waits for the dwell time.',
  query: deviceQuery,
  body: fuelCellSetPointBodySchema,
  reply: fuelCell.schema,
  problems: ['not-applicable', 'disabled'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const detail = detailOf(device, 'fuelcell');
    const [powerKw, pointer] =
      body.power_kw === undefined ? [body.setpoint_kw ?? null, '/setpoint_kw'] : [body.power_kw, '/power_kw'];
    if (powerKw === null) endSetPoint(device.bank, by);
    else writeSetPoint(device.bank, by, acSetPointW(device, detail, powerKw, pointer));
    return fuelCellReply(ctx, device);
  },
});

const setTank = route({
  method: 'post',
  path: '/fuelcell/tank',
  tag: 'Fuel Cell',
  operationId: 'set_fuel_cell_tank',
  summary: 'Sets the level of the hydrogen tank at once',
  description: 'A plant with a continuous supply has no tank and answers `not-applicable`.',
  query: deviceQuery,
  body: tankBodySchema,
  reply: fuelCell.schema,
  problems: ['not-applicable'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    detailOf(device, 'fuelcell');
    device.command({ kind: 'fuelcell.tank', levelPct: body.level_pct }, by);
    return fuelCellReply(ctx, device);
  },
});

export const fuelCellRoutes: readonly Route[] = [getFuelCell, setPoint, setTank];
