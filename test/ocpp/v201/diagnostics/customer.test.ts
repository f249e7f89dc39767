/** OCPP 2.0.1 and 2.1, N09 and N10: what a station keeps about a customer; P01: data of vendors. */
import { expect } from 'chai';
import type { OcppReservationEntry, OcppTokenEntry, OcppTransactionEntry } from '../../../../src/contract/ocpp.ts';
import {
  createCustomerInformation,
  partsOf,
  reservationRecords,
  tokenRecords,
  transactionRecords,
} from '../../../../src/ocpp/v201/diagnostics.ts';
import { dataTransfer } from '../../../../src/ocpp/data-transfer.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { settled } from '../../v16/fakes.ts';
import { rig as stationRig } from '../rig.ts';

const token = (idToken: string): OcppTokenEntry => ({
  idToken,
  status: 'Accepted',
  expiresMs: null,
  parentIdToken: 'GROUP',
});

const at = Date.UTC(2026, 5, 21, 8);

const transactions: readonly OcppTransactionEntry[] = ['ABC', 'XYZ'].map((idToken) => ({
  transactionId: `T-${idToken}`,
  sessionId: 'S1',
  connectorId: 1,
  idToken,
  startedMs: at,
  endedMs: at + 60_000,
  meterStartWh: 100,
  meterStopWh: 350,
  stopReason: 'Local',
  queued: 0,
}));
const reservations: readonly OcppReservationEntry[] = [
  { reservationId: 7, connectorId: 2, idToken: 'ABC', expiresMs: at },
];

function made(version: 'ocpp2.0.1' | 'ocpp2.1' = 'ocpp2.1') {
  const rig = stationRig({ version });
  let cache = [token('ABC'), token('XYZ')];
  const tokens = {
    list: () => ({ version: 1, entries: [token('abc')], cache }),
    forget: (fits: (of: { readonly idToken: string; readonly type: string }) => boolean) => {
      const before = cache.length;
      cache = cache.filter(({ idToken }) => !fits({ idToken, type: 'ISO14443' }));
      return before - cache.length;
    },
  };
  const part = createCustomerInformation(rig.parts, {
    records: [tokenRecords(tokens), transactionRecords(() => transactions), reservationRecords(() => reservations)],
  });
  const ask = async (request: Partial<Requests['CustomerInformation']>) => {
    const reply = await rig.ask(part, 'CustomerInformation', { requestId: 3, report: false, clear: false, ...request });
    await settled();
    return reply.status;
  };
  const sent = () =>
    rig.line.of('NotifyCustomerInformation') as unknown as readonly Requests['NotifyCustomerInformation'][];
  return { rig, ask, sent, cached: () => cache.map(({ idToken }) => idToken) };
}

const abc = { idToken: 'ABC', type: 'ISO14443' };
const certificate = { hashAlgorithm: 'SHA256', issuerNameHash: 'a', issuerKeyHash: 'b', serialNumber: '1' } as const;

describe('OCPP 2.x N09, N10: customer information', () => {
  it('tells all that the station keeps about a token, and nothing of others', async () => {
    const { ask, sent, cached } = made();
    expect(await ask({ report: true, idToken: abc })).to.equal('Accepted');
    expect(sent()).to.deep.equal([
      {
        requestId: 3,
        seqNo: 0,
        tbc: false,
        generatedAt: '2026-06-21T08:00:00.000Z',
        data: [
          'authorization cache: Accepted, group GROUP',
          'local list: Accepted, group GROUP',
          'transaction T-ABC: EVSE 1, 2026-06-21T08:00:00.000Z to 2026-06-21T08:01:00.000Z, 250 Wh',
          'reservation 7: EVSE 2, until 2026-06-21T08:00:00.000Z',
        ].join('\n'),
      },
    ]);
    expect(cached()).to.deep.equal(['ABC', 'XYZ']);
  });

  it('knows a customer by an identifier, and nobody by a certificate', async () => {
    const { ask, sent } = made('ocpp2.0.1');
    await ask({ report: true, customerIdentifier: 'xyz' });
    await ask({ report: true, customerCertificate: certificate });
    expect(sent().map(({ data }) => data.split('\n').length)).to.deep.equal([2, 1]);
    expect(sent()[1]?.data).to.equal('no information about this customer');
  });

  it('forgets a customer after the answer, and tells it', async () => {
    const { ask, sent, cached } = made();
    expect(await ask({ clear: true, idToken: abc })).to.equal('Accepted');
    expect(cached()).to.deep.equal(['XYZ']);
    expect(sent().map(({ data }) => data)).to.deep.equal(['cleared: authorization cache: 1 removed']);
    await ask({ clear: true, report: true, idToken: { idToken: 'XYZ', type: 'ISO14443' } });
    expect(sent()[1]?.data.split('\n').at(-1)).to.equal('cleared: authorization cache: 1 removed');
    expect(cached()).to.deep.equal([]);
  });

  it('is Invalid without exactly one customer (N09.FR.09)', async () => {
    const { rig, ask, sent, cached } = made();
    expect(await ask({ report: true, clear: true })).to.equal('Invalid');
    expect(await ask({ report: true, clear: true, idToken: abc, customerIdentifier: 'ABC' })).to.equal('Invalid');
    expect(rig.findings.map(([clause]) => clause)).to.deep.equal(['OCPP 2.1 N09.FR.09', 'OCPP 2.1 N09.FR.09']);
    expect([sent(), cached()]).to.deep.equal([[], ['ABC', 'XYZ']]);
  });

  it('is Rejected where neither a report nor a clearing is asked for', async () => {
    const { ask, sent } = made();
    expect(await ask({ idToken: abc })).to.equal('Rejected');
    expect(sent()).to.deep.equal([]);
  });

  it('goes in parts of 512 characters, each with its number', () => {
    expect(partsOf('')).to.deep.equal(['']);
    const text = '\u{1F50C}'.repeat(1000);
    const parts = partsOf(text);
    expect(parts.map((part) => Array.from(part).length)).to.deep.equal([512, 488]);
    expect(parts.join('')).to.equal(text);
  });
});

describe('OCPP 2.x P01: DataTransfer', () => {
  it('knows one vendor with one message, which returns its data', async () => {
    const rig = stationRig();
    const ask = (request: Requests['DataTransfer']) => rig.ask(dataTransfer, 'DataTransfer', request);
    expect(await ask({ vendorId: 'acme' })).to.deep.equal({ status: 'UnknownVendorId' });
    expect(await ask({ vendorId: 'derbench' })).to.deep.equal({ status: 'UnknownMessageId' });
    expect(await ask({ vendorId: 'DERbench', messageId: 'Echo', data: { a: [1] } })).to.deep.equal({
      status: 'Accepted',
      data: { a: [1] },
    });
  });
});
