/** DataTransfer of the central system (5.6). The vendor `derbench` has one message, which returns its data. */
import type { Handler, Part } from './parts.ts';

const vendorId = 'derbench';
const messageId = 'echo';

export function createDataTransfer(): Part & { readonly handlers: { readonly DataTransfer: Handler<'DataTransfer'> } } {
  return {
    handlers: {
      DataTransfer: (request) => {
        if (request.vendorId.toLowerCase() !== vendorId) return { status: 'UnknownVendorId' };
        if (request.messageId?.toLowerCase() !== messageId) return { status: 'UnknownMessageId' };
        return { status: 'Accepted', ...(request.data !== undefined && { data: request.data }) };
      },
    },
  };
}
