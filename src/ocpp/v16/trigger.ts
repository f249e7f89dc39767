/** TriggerMessage (5.17) and ExtendedTriggerMessage (white paper 5.4): the answer first, the message after it. */
import type { After } from '../rpc/model.ts';
import type { StationPort } from '../station/port.ts';
import type { Handler, Part, Requests } from './parts.ts';

export type TriggeredMessage =
  | Requests['TriggerMessage']['requestedMessage']
  | Requests['ExtendedTriggerMessage']['requestedMessage'];

/**
 * By message: sends it; the connector is absent where none was named, and `extended` tells ExtendedTriggerMessage. What is
 * missing is not implemented.
 */
export type Triggers = Readonly<
  Partial<Record<TriggeredMessage, (connectorId: number | undefined, extended: boolean) => void>>
>;

/** Messages of one connector; the others belong to the station and ignore it. */
const perConnector: readonly TriggeredMessage[] = ['MeterValues', 'StatusNotification'];

/** @param refuses what cannot be sent as the station is now */
export function createTrigger(
  device: Pick<StationPort, 'connectorIds'>,
  triggers: Triggers,
  refuses: (message: TriggeredMessage) => boolean = () => false,
): Part & {
  readonly handlers: {
    readonly TriggerMessage: Handler<'TriggerMessage'>;
    readonly ExtendedTriggerMessage: Handler<'ExtendedTriggerMessage'>;
  };
} {
  const answer = (
    extended: boolean,
    { requestedMessage, connectorId }: { readonly requestedMessage: TriggeredMessage; readonly connectorId?: number },
    after: After,
  ) => {
    const send = triggers[requestedMessage];
    if (send === undefined) return { status: 'NotImplemented' } as const;
    if (refuses(requestedMessage)) return { status: 'Rejected' } as const;
    const one = perConnector.includes(requestedMessage) && connectorId !== undefined;
    if (one && connectorId !== 0 && !device.connectorIds.includes(connectorId)) return { status: 'Rejected' } as const;
    after(() => {
      send(one ? connectorId : undefined, extended);
    });
    return { status: 'Accepted' } as const;
  };
  return {
    handlers: {
      TriggerMessage: (request, after) => answer(false, request, after),
      ExtendedTriggerMessage: (request, after) => answer(true, request, after),
    },
  };
}
