import type { Device } from '../../contract/device.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { detailOf } from '../common/kind-replies.ts';
import { pointNumber } from '../common/points.ts';
import { deviceQuery } from '../common/schemas.ts';
import {
  checkSetPoint,
  endSetPoint,
  isSetPointOurs,
  setPointKw,
  setPointRangeW,
  writeSetPoint,
} from '../common/set-point.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { hybrid, hybridDispatchBodySchema, hybridManualBodySchema } from './members.ts';

const hybridReply = ({ plant }: RouteContext, device: Device) =>
  hybrid.reply(detailOf(device, 'hybrid-dc'), { device, plant });

/** @throws HttpProblem `validation` */
function checkWithin(givenKw: number, ratedW: number, pointer: string): void {
  if (Math.abs(givenKw * 1000) <= ratedW) return;
  throw invalid('body', pointer, `given ${givenKw} kW; the rating allows ${-ratedW / 1000} to ${ratedW / 1000} kW`);
}

const getHybrid = route({
  method: 'get',
  path: '/hybrid-dc',
  tag: 'Hybrid DC',
  operationId: 'get_hybrid_dc',
  summary: 'Power flows and dispatch of a DC-coupled hybrid',
  query: deviceQuery,
  reply: hybrid.schema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => hybridReply(ctx, selectedDevice(ctx, query.device)),
});

const setDispatch = route({
  method: 'post',
  path: '/hybrid-dc/dispatch',
  tag: 'Hybrid DC',
  operationId: 'set_hybrid_dispatch',
  summary: 'Changes the dispatch policy',
  description:
    'Entering `manual` keeps the present output as target: it is written to the set-point of model 704. Leaving it ' +
    'switches the set-point off, unless another interface was the last to switch it.',
  query: deviceQuery,
  body: hybridDispatchBodySchema,
  reply: hybrid.schema,
  problems: ['not-applicable', 'disabled'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const { bank } = device;
    const { policy } = detailOf(device, 'hybrid-dc');
    if (policy === body.policy) return hybridReply(ctx, device);
    // registers first: they may refuse, the policy cannot
    if (body.policy === 'manual') {
      const { minW, maxW } = setPointRangeW(bank);
      writeSetPoint(bank, by, Math.min(Math.max(pointNumber(bank, 701, 'W') ?? 0, minW), maxW));
    } else if (policy === 'manual' && setPointKw(bank) !== null && isSetPointOurs(bank)) endSetPoint(bank, by);
    device.command({ kind: 'hybrid.policy', policy: body.policy }, by);
    return hybridReply(ctx, device);
  },
});

const setManual = route({
  method: 'post',
  path: '/hybrid-dc/manual',
  tag: 'Hybrid DC',
  operationId: 'set_hybrid_manual',
  summary: 'Sets the target of policy manual, and the flow of the battery',
  description: 'Writes the set-point of active power of model 704. Outside policy `manual` the answer is `conflict`.',
  query: deviceQuery,
  body: hybridManualBodySchema,
  reply: hybrid.schema,
  problems: ['not-applicable', 'conflict', 'disabled'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const detail = detailOf(device, 'hybrid-dc');
    const { target_kw: targetKw, battery_kw: batteryKw } = body;
    if (detail.policy !== 'manual') {
      throw new HttpProblem(
        'conflict',
        `The dispatch policy is ${detail.policy}; a target is taken in policy manual only (POST hybrid-dc/dispatch).`,
      );
    }
    checkWithin(targetKw, pointNumber(device.bank, 702, 'WMaxRtg') ?? 0, '/target_kw');
    checkSetPoint(device.bank, targetKw, '/target_kw');
    if (typeof batteryKw === 'number') checkWithin(batteryKw, detail.battery.ratedPowerW, '/battery_kw');
    writeSetPoint(device.bank, by, targetKw * 1000);
    if (batteryKw !== undefined)
      device.command({ kind: 'hybrid.battery', powerW: batteryKw === null ? null : batteryKw * 1000 }, by);
    return hybridReply(ctx, device);
  },
});

export const hybridRoutes: readonly Route[] = [getHybrid, setDispatch, setManual];
