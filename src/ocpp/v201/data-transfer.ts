/** DataTransfer of the central system (P01). The vendor `derbench` has one message, which returns its data. */
import type { Part, Replies, Requests, StationParts } from './parts.ts';
import type { ReplyOutcome } from './parts.ts';

const vendorId = 'derbench';
const messageId = 'echo';

interface DataTransfer extends Part {
  /** Sends data of a vendor to the central system (P02). */
  send(request: Requests['DataTransfer']): Promise<ReplyOutcome<'DataTransfer'>>;
}

/** Names of vendors and messages are compared without their case. */
const same = (a: string | undefined, b: string) => a?.toLowerCase() === b;

export function createDataTransfer({ calls }: Pick<StationParts, 'calls'>): DataTransfer {
  return {
    send: (request) => calls.send('DataTransfer', request),
    handlers: {
      DataTransfer(request): Replies['DataTransfer'] {
        if (!same(request.vendorId, vendorId)) return { status: 'UnknownVendorId' };
        if (!same(request.messageId, messageId)) return { status: 'UnknownMessageId' };
        return { status: 'Accepted', ...(request.data !== undefined && { data: request.data }) };
      },
    },
  };
}
