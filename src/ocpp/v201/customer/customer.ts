/** CustomerInformation: what the station keeps about a customer is told and forgotten (N09, N10). */
import type { Part, Replies, Requests, StationParts } from '../parts.ts';
import { stamp } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import { customerOf, partsOf } from './model.ts';
import type { CustomerRecords, IsCustomer } from './model.ts';

export interface CustomerInformationDeps {
  readonly records: readonly CustomerRecords[];
}

/** What is told of one customer, bytes of memory for all parts together. */
const maxReport = 64 * 1024;

const nothing = 'no information about this customer';

/** What the station keeps, and what it has forgotten of it; the report comes first. */
function carryOut(
  { report, clear }: Requests['CustomerInformation'],
  records: readonly CustomerRecords[],
  is: IsCustomer,
) {
  const kept = report ? records.flatMap((each) => each.about(is)) : [];
  const cleared = clear ? records.flatMap((each) => each.clear?.(is) ?? []) : [];
  const lines = [...kept, ...cleared.map((line) => `cleared: ${line}`)];
  return (lines.length === 0 ? nothing : lines.join('\n')).slice(0, maxReport);
}

/** Sends NotifyCustomerInformation in parts, one after the other; a part that is not answered ends the report. */
async function notify({ calls, clock }: StationParts, requestId: number, text: string): Promise<void> {
  const generatedAt = stamp(clock.nowMs());
  const parts = partsOf(text);
  for (const [seqNo, data] of parts.entries()) {
    const tbc = seqNo < parts.length - 1;
    const { kind } = await calls.send(
      'NotifyCustomerInformation',
      { requestId, data, tbc, seqNo, generatedAt },
      { triggered: true },
    );
    if (kind !== 'result' && kind !== 'error') return;
  }
}

export function createCustomerInformation(parts: StationParts, { records }: CustomerInformationDeps): Part {
  const { version, finding } = parts;
  return {
    handlers: {
      CustomerInformation(request, after): Replies['CustomerInformation'] {
        const isCustomer = customerOf(request);
        if (isCustomer === null) {
          finding(clauseOf(version, 'N09.FR.09'), 'not exactly one customer is named', 'CustomerInformation');
          return { status: 'Invalid', statusInfo: { reasonCode: 'InvalidValue', additionalInfo: 'name one customer' } };
        }
        if (!request.report && !request.clear)
          return {
            status: 'Rejected',
            statusInfo: { reasonCode: 'InvalidValue', additionalInfo: 'neither report nor clear is asked for' },
          };
        after(() => void notify(parts, request.requestId, carryOut(request, records, isCustomer)));
        return { status: 'Accepted' };
      },
    },
  };
}
