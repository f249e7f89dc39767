/** The central system of the tests notices transactions of 2.x whose events do not fit together. */
import { expect } from 'chai';
import { TransactionBooks } from './books.ts';

type Row = readonly [seqNo: number, eventType: string, second?: number, registerWh?: number, transactionId?: string];

const event = ([seqNo, eventType, second = seqNo, registerWh, transactionId = 'T1']: Row) => ({
  eventType,
  seqNo,
  timestamp: new Date(Date.UTC(2026, 5, 21, 8, 0, second)).toISOString(),
  triggerReason: 'MeterValuePeriodic',
  transactionInfo: { transactionId },
  ...(registerWh !== undefined && { meterValue: [{ timestamp: '', sampledValue: [{ value: registerWh }] }] }),
});

const rows: readonly (readonly [title: string, events: readonly Row[], issue: RegExp])[] = [
  ['one that does not begin with Started', [[0, 'Updated']], /not Started/],
  ['one that begins later than with 0', [[1, 'Started']], /first number is 1/],
  [
    'a gap',
    [
      [0, 'Started'],
      [2, 'Updated'],
    ],
    /2 follows 0/,
  ],
  [
    'a second Started',
    [
      [0, 'Started'],
      [1, 'Started'],
    ],
    /started before/,
  ],
  [
    'an event after the end',
    [
      [0, 'Started'],
      [1, 'Ended'],
      [2, 'Updated'],
    ],
    /ended before/,
  ],
  [
    'a second end',
    [
      [0, 'Started'],
      [1, 'Ended'],
      [2, 'Ended'],
    ],
    /ended before/,
  ],
  [
    'two events with one number',
    [
      [0, 'Started'],
      [1, 'Updated'],
      [1, 'Ended'],
    ],
    /two events/,
  ],
  [
    'a time that goes back',
    [
      [0, 'Started', 5],
      [1, 'Updated', 4],
    ],
    /earlier/,
  ],
  [
    'a register that falls',
    [
      [0, 'Started', 0, 100],
      [1, 'Updated', 1, 90],
    ],
    /falls from 100 to 90/,
  ],
]; // prettier-ignore

describe('the books of transactions of 2.x', () => {
  for (const [title, events, issue] of rows)
    it(`notice ${title}`, () => {
      const books = new TransactionBooks();
      const issues = events.map((row) => books.issue(event(row)));
      expect(issues.slice(0, -1).filter((each) => each !== null)).to.deep.equal([]);
      expect(issues.at(-1)).to.match(issue);
    });

  it('notice readings out of order in one event, and let the end repeat earlier ones', () => {
    const values = (readings: readonly number[]) => ({
      meterValue: readings.map((value) => ({ timestamp: '', sampledValue: [{ value }] })),
    });
    const books = new TransactionBooks();
    expect(books.issue(event([0, 'Started', 0, 100]))).to.equal(null);
    expect(books.issue({ ...event([1, 'Updated']), ...values([120, 110]) })).to.match(/from 120 to 110 in one event/);
    expect(books.issue({ ...event([2, 'Ended']), ...values([100, 130]) })).to.equal(null);
  });

  it('have nothing against transactions side by side, nor against an event that is sent again', () => {
    const books = new TransactionBooks();
    const sent: readonly Row[] = [
      [0, 'Started', 0, 100],
      [0, 'Started', 0, 50, 'T2'],
      [1, 'Updated', 1, 110],
      [1, 'Updated', 1, 110],
      [2, 'Ended', 2, 120],
      [1, 'Ended', 1, 60, 'T2'],
      [2, 'Ended', 2, 120],
    ];
    expect(sent.map((row) => books.issue(event(row))).filter((each) => each !== null)).to.deep.equal([]);
    expect(books.transaction('T1').events.map(({ seqNo }) => seqNo)).to.deep.equal([0, 1, 2]);
    expect(books.transactions.map(({ ended }) => ended)).to.deep.equal([true, true]);
    expect(() => books.transaction('T3')).to.throw('no transaction T3');
  });
});
