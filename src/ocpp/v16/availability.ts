/** ChangeAvailability (5.2). */
import { createOperativeStates } from '../station/availability.ts';
import type { OperativeStates } from '../station/availability.ts';
import type { Handler } from './parts.ts';

export interface AvailabilityPart extends OperativeStates {
  readonly handlers: { readonly ChangeAvailability: Handler<'ChangeAvailability'> };
}

export function createAvailability(options: Parameters<typeof createOperativeStates>[0]): AvailabilityPart {
  const states = createOperativeStates(options);
  return {
    handlers: {
      ChangeAvailability: ({ connectorId, type }) => ({ status: states.change(connectorId, type === 'Operative') }),
    },
    get stationInoperative() {
      return states.stationInoperative;
    },
    operative: states.operative,
    change: states.change,
    onChange: states.onChange,
    load: states.load,
    stop: states.stop,
  };
}
