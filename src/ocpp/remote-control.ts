/** Remote starts, stops and unlocks as far as the versions share them. OCPP 1.6 5.11, 5.12, 5.18; 2.0.1 F01 to F05. */
import type { EvseConnectorDetail } from '../contract/kinds/evse.ts';
import { errorText, SimError } from '../core/errors.ts';
import type { StationPort } from './station/port.ts';
import type { StackOptions } from './station/stack.ts';

/**
 * The connector for a remote start, in order of preference: reserved for the token, with a vehicle, any other. Never
 * one whose vehicle waits to leave after its session; a vehicle that got no token in time still waits for a start.
 */
export function bestConnector(
  connectors: readonly EvseConnectorDetail[],
  canStart: (connector: EvseConnectorDetail) => boolean,
  isReservedForToken: (connectorId: number) => boolean,
): EvseConnectorDetail | undefined {
  const candidates = connectors.filter((c) => (c.phase !== 'finishing' || c.session === null) && canStart(c));
  return (
    candidates.find(({ connectorId }) => isReservedForToken(connectorId)) ??
    candidates.find(({ phase }) => phase === 'connected' || phase === 'finishing') ??
    candidates[0]
  );
}

/** Authorises a remote start after its answer. @param forget drops its charging profile if the start fails */
export async function beginStart(
  { device, log }: Pick<StackOptions, 'device' | 'log'>,
  place: string,
  authorize: () => Promise<{ readonly status: string }>,
  forget: () => void,
): Promise<void> {
  const failed = (why: string) => {
    log.warning(`${place}: the remote start does not happen: ${why}`, device.deviceIndex);
    forget();
  };
  try {
    const { status } = await authorize();
    if (status !== 'Accepted') failed(`the token is ${status}`);
  } catch (error) {
    failed(errorText(error));
  }
}

/** Unlocks a cable. @param place for the log */
export function unlock(
  { device, log }: Pick<StackOptions, 'device' | 'log'>,
  connectorId: number,
  place: string,
): 'Unlocked' | 'UnlockFailed' {
  try {
    device.command({ kind: 'evse.unlock', connectorId });
    return 'Unlocked';
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    log.warning(`${place} stays locked: ${error.message}`, device.deviceIndex);
    return 'UnlockFailed';
  }
}

/**
 * Calls `forget` for each connector whose authorisation the device withdraws, so that a profile that waits for its
 * transaction is removed. The returned function unsubscribes.
 */
export function followWithdrawals(
  device: Pick<StationPort, 'connectorIds' | 'onTransition'>,
  forget: (connectorId: number) => void,
): () => void {
  return device.onTransition(({ event, connectorId }) => {
    if (event === 'withdraw') forget(connectorId);
    // a reset of the device withdraws every authorisation
    if (event === 'restart') for (const id of device.connectorIds) forget(id);
  });
}

/** `load` and `stop` of a part that drops a waiting profile when its authorisation is withdrawn. */
export function dropsWithdrawn(
  device: Pick<StationPort, 'connectorIds' | 'onTransition'>,
  forget: (id: number) => void,
) {
  let endListening: (() => void) | null = null;
  return {
    load() {
      endListening = followWithdrawals(device, forget);
      return Promise.resolve();
    },
    stop() {
      endListening?.();
    },
  };
}
