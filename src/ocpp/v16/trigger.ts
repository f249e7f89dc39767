/** TriggerMessage (5.17) and ExtendedTriggerMessage (white paper 5.4): the answer first, the message after it. */
import type { StationPort } from '../station/port.ts';
import type { Handler, Part, Requests } from './parts.ts';

export type TriggeredMessage =
  | Requests['TriggerMessage']['requestedMessage']
  | Requests['ExtendedTriggerMessage']['requestedMessage'];

/** By message: sends it; the connector is absent where none was named. What is missing is not implemented. */
export type Triggers = Readonly<Partial<Record<TriggeredMessage, (connectorId: number | undefined) => void>>>;

/** Messages of one connector; the others belong to the station and ignore it. */
const perConnector: readonly TriggeredMessage[] = ['MeterValues', 'StatusNotification'];

export function createTrigger(
  device: Pick<StationPort, 'connectorIds'>,
  triggers: Triggers,
): Part & {
  readonly handlers: {
    readonly TriggerMessage: Handler<'TriggerMessage'>;
    readonly ExtendedTriggerMessage: Handler<'ExtendedTriggerMessage'>;
  };
} {
  const answer: Handler<'ExtendedTriggerMessage'> & Handler<'TriggerMessage'> = (
    { requestedMessage, connectorId }: { readonly requestedMessage: TriggeredMessage; readonly connectorId?: number },
    after,
  ) => {
    const send = triggers[requestedMessage];
    if (send === undefined) return { status: 'NotImplemented' };
    const one = perConnector.includes(requestedMessage) && connectorId !== undefined;
    if (one && connectorId !== 0 && !device.connectorIds.includes(connectorId)) return { status: 'Rejected' };
    after(() => {
      send(one ? connectorId : undefined);
    });
    return { status: 'Accepted' };
  };
  return { handlers: { TriggerMessage: answer, ExtendedTriggerMessage: answer } };
}
