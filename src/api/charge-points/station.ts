import { chargePoint } from '../../contract/charge-point-ids.ts';
import { disabledOcppStation } from '../../contract/ocpp-disabled.ts';
import type { OcppStation } from '../../contract/ocpp.ts';
import { HttpProblem } from '../http/errors.ts';
import type { RouteContext } from '../http/context.ts';

export const tag = 'EVSE / OCPP';

type Context = Pick<RouteContext, 'ocpp' | 'plant' | 'chargePointId'>;

/** A station for views; while OCPP is off one whose views are empty. @throws SimError UNKNOWN_RESOURCE */
export function viewedStation({ ocpp, plant, chargePointId }: Context, id: string): OcppStation {
  // a device that is no station, or none yet, is told of in the words of `evse`
  const { index } = chargePoint(plant, chargePointId, id);
  return ocpp.enabled ? ocpp.station(id) : disabledOcppStation(id, index);
}

/** A station for operations. @throws SimError UNKNOWN_RESOURCE, HttpProblem `disabled` */
export function enabledStation(ctx: Context, id: string): OcppStation {
  const station = viewedStation(ctx, id);
  if (!ctx.ocpp.enabled)
    throw new HttpProblem('disabled', 'OCPP is switched off: start with --ocpp_enable yes and --ocpp_csms_url.');
  return station;
}
