import type { StationPort } from '../station/port.ts';

/**
 * Calls `forget` for each connector whose authorisation the device takes back, so that a profile that waits for its
 * transaction goes. The returned function ends it.
 */
export function followWithdrawals(
  device: Pick<StationPort, 'connectorIds' | 'onTransition'>,
  forget: (connectorId: number) => void,
): () => void {
  return device.onTransition(({ event, connectorId }) => {
    if (event === 'withdraw') forget(connectorId);
    // a reset of the device takes back every authorisation
    if (event === 'restart') for (const id of device.connectorIds) forget(id);
  });
}
