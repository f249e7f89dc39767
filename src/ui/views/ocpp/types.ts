import type { ReplyOf } from '../../api/call';
import type { Tone } from '../../kit/panel';

type ChargePoint = NonNullable<ReplyOf<'ocpp'>['charge_points'][number]>;

export interface PartProps {
  readonly status: ChargePoint;
}

/** Colour of a state of the connection. */
export function connectionTone(state: ChargePoint['connection_state']): Tone {
  if (state === 'connected') return 'good';
  if (state === 'connecting') return 'warn';
  return state === 'disabled' ? 'off' : 'bad';
}
