/** Addresses of messages in the views of their protocols. */
import { href } from '../../store/route';

interface Place {
  readonly protocol: string;
  /** of the channel: the identity of a charge point */
  readonly key: string;
  readonly id: number;
  readonly device: number | null;
}

const of = ({ protocol, key, id, device }: Place) => ({
  ...(device !== null && protocol !== 'ocpp' && { device }),
  ...(protocol === 'ocpp' && { station: key }),
  [`${protocol}-message`]: id,
});

/** Address of a message in the list of its protocol. */
export const messageHref = (place: Place): string => href(`protocols/${place.protocol}/messages`, of(place));

/** Protocols whose messages are drawn as a sequence; Modbus has transactions. */
const drawn = new Set(['csip', 'ocpp', 'dnp3']);

/** Address of a message among those before and after it. */
export const sequenceHref = (place: Place): string =>
  href(`protocols/${place.protocol}/${drawn.has(place.protocol) ? 'sequence' : 'transactions'}`, of(place));
