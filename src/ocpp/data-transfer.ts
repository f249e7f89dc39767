/**
 * DataTransfer of the central system (1.6 5.6, 2.0.1 P01). The vendor `derbench` has one message, `echo`, which returns
 * its data.
 */

interface DataRequest<Data> {
  readonly vendorId: string;
  readonly messageId?: string;
  readonly data?: Data;
}

interface DataReply<Data> {
  readonly status: 'Accepted' | 'UnknownVendorId' | 'UnknownMessageId';
  readonly data?: Data;
}

/** Names of vendors and messages are compared without their case. */
const isName = (text: string | undefined, name: string) => text?.toLowerCase() === name;

function answer<Data>({ vendorId, messageId, data }: DataRequest<Data>): DataReply<Data> {
  if (!isName(vendorId, 'derbench')) return { status: 'UnknownVendorId' };
  if (!isName(messageId, 'echo')) return { status: 'UnknownMessageId' };
  return { status: 'Accepted', ...(data !== undefined && { data }) };
}

/** Part that answers DataTransfer, in every version. */
export const dataTransfer = { handlers: { DataTransfer: answer } } as const;
