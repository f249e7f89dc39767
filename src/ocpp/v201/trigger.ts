/** TriggerMessage (F06): the answer first, the message after it. */
import type { Handler, Part, Replies, Requests, StationParts } from './parts.ts';
import { clauseOf } from './registration.ts';

export type TriggeredMessage = Requests['TriggerMessage']['requestedMessage'];

/** Messages about one EVSE. */
const perEvse: ReadonlySet<TriggeredMessage> = new Set(['MeterValues', 'StatusNotification', 'TransactionEvent']);

const rejected = (reasonCode: string): Replies['TriggerMessage'] => ({
  status: 'Rejected',
  statusInfo: { reasonCode },
});

/** There is a status of connectors alone: both of them are to be named (F06.FR.12, F06.FR.13). */
const isComplete = ({ requestedMessage, evse }: Requests['TriggerMessage']): boolean =>
  requestedMessage !== 'StatusNotification' || (evse !== undefined && evse.id !== 0 && evse.connectorId !== undefined);

/**
 * @param sends by message; what is missing is not implemented
 * @param refuses what cannot be sent as the station is now
 */
export function createTrigger(
  { device, registration, version, finding }: Pick<StationParts, 'device' | 'registration' | 'version' | 'finding'>,
  sends: NonNullable<Part['triggers']>,
  refuses: (message: TriggeredMessage, evseId: number | undefined) => boolean = () => false,
): Part & { readonly handlers: { readonly TriggerMessage: Handler<'TriggerMessage'> } } {
  return {
    handlers: {
      TriggerMessage: (request, after) => {
        const { requestedMessage, evse } = request;
        const send = sends[requestedMessage];
        if (send === undefined) return { status: 'NotImplemented' };
        // F06.FR.17
        if (requestedMessage === 'BootNotification' && registration.status === 'accepted')
          return rejected('NotEnabled');
        if (!isComplete(request)) {
          finding(clauseOf(version, 'F06.FR.13'), 'StatusNotification of no connector is asked for', 'TriggerMessage');
          return rejected('MissingParam');
        }
        const evseId = perEvse.has(requestedMessage) && evse !== undefined && evse.id !== 0 ? evse.id : undefined;
        if (evseId !== undefined && !device.connectorIds.includes(evseId)) return rejected('UnknownEvse');
        if (evseId !== undefined && evse?.connectorId !== undefined && evse.connectorId !== 1)
          return rejected('UnknownConnectorId');
        if (refuses(requestedMessage, evseId)) return rejected('NotEnabled');
        after(() => {
          send(evseId);
        });
        return { status: 'Accepted' };
      },
    },
  };
}
