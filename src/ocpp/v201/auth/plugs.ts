/** Starts without authorisation: while AuthCtrlr.Enabled is false, plugging in is enough. OCPP 2.0.1 C02. */
import { errorText } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';

/** @param start begins a transaction without a token. @returns ends it */
export function followPlugs(
  { device, variables, log, registration }: StationParts,
  start: (evseId: number) => Promise<unknown>,
): () => void {
  // a device that presents a token at plugging in does so by itself
  const isOn = () => !variables.boolean('AuthCtrlr', 'Enabled') && device.detail.plugToken === null;
  const isWaiting = (evseId: number) => device.connector(evseId).phase === 'connected';
  const begin = (evseId: number) => {
    start(evseId).catch((error: unknown) => {
      log.info(`a start without authorisation is refused: ${errorText(error)}`, device.deviceIndex);
    });
  };
  const beginAll = () => {
    for (const evseId of device.connectorIds) if (isOn() && isWaiting(evseId)) begin(evseId);
  };
  const returns = new Set(['plugged', 'clear_fault', 'availability', 'reserve_end']);
  const ends = [
    device.onTransition((transition) => {
      const { event, connectorId } = transition;
      if (returns.has(event) && isOn() && isWaiting(connectorId)) begin(connectorId);
    }),
    variables.onChange('AuthCtrlr', 'Enabled', beginAll),
    // a vehicle that was there before the station was heard
    registration.onAccepted(beginAll),
  ];
  return () => {
    for (const end of ends) end();
  };
}
