import { expect } from 'chai';
import { camelCased, count, flag, list, members, nested, text, time, word } from '../../../src/api/common/members.ts';
import type { ReplyOf } from '../../../src/api/common/members.ts';
import { listInPieces, replyInPieces } from '../../../src/api/http/streaming.ts';
import type { JsonText } from '../../../src/api/http/route.ts';
import { z } from '../../../src/api/description/zod.ts';

interface Queue {
  readonly waitingCalls: number;
}

interface Station {
  readonly stationName: string;
  readonly startedAtMs: number;
  readonly lostMs: number | null;
  readonly state: 'on' | 'off';
  readonly queue: Queue | null;
  readonly error?: string;
  readonly queues: readonly Queue[];
}

const upperCase = nested<string, string, { readonly suffix: string }>({
  schema: () => z.string(),
  reply: (value, { suffix }) => value.toUpperCase() + suffix,
});

const queue = members<Queue>()('TestQueue', () => ({ waiting_calls: count('Calls that wait.') }));

const station = members<Station, { readonly suffix: string }>()('TestStation', () => ({
  station_name: text('Its name.'),
  title: upperCase('Its name in capitals.', ({ stationName }) => stationName),
  started_at: time(),
  lost_at: time.orNull('Null: never.', ({ lostMs }) => lostMs),
  state: word(['on', 'off'])(),
  queue: nested(queue).orNull('Null: none.'),
  error: text.optional('Absent: none.'),
  is_late: flag.optional(({ lostMs }) => (lostMs === null ? undefined : true)),
  queues: list(queue)('All of them.'),
}));

const source: Station = {
  stationName: 'one',
  startedAtMs: 0,
  lostMs: null,
  state: 'on',
  queue: null,
  queues: [{ waitingCalls: 1 }, { waitingCalls: 2 }],
};
const reply: ReplyOf<typeof station> = {
  station_name: 'one',
  title: 'ONE!',
  started_at: '1970-01-01T00:00:00.000Z',
  lost_at: null,
  state: 'on',
  queue: null,
  queues: [{ waiting_calls: 1 }, { waiting_calls: 2 }],
};

describe('tables of members', () => {
  it('show members by name and by getter, and leave out what is undefined', () => {
    expect(station.reply(source, { suffix: '!' })).to.deep.equal(reply);
  });

  it('show optional members and objects that are there', () => {
    const whole = { ...source, lostMs: 1000, error: 'lost', queue: { waitingCalls: 3 } };
    expect(station.reply(whole, { suffix: '!' })).to.deep.equal({
      ...reply,
      lost_at: '1970-01-01T00:00:01.000Z',
      error: 'lost',
      is_late: true,
      queue: { waiting_calls: 3 },
    });
  });

  it('have a schema that takes their replies and no other members', () => {
    expect(station.schema().parse(reply)).to.deep.equal(reply);
    expect(station.schema().safeParse({ ...reply, more: 1 }).success).to.equal(false);
    expect(station.schema().safeParse({ ...reply, state: 'lost' }).success).to.equal(false);
    expect(station.schema()).to.equal(station.schema());
  });

  it('give their members to other tables', () => {
    const whole = members<Queue & { readonly id: string }>()('TestWholeQueue', () => ({
      ...queue.members(),
      id: text(),
    }));
    expect(whole.reply({ waitingCalls: 1, id: 'a' })).to.deep.equal({ waiting_calls: 1, id: 'a' });
  });

  it('make lists in pieces while the reply is sent', () => {
    const queues = members<Station>()('TestQueues', () => ({ queues: listInPieces(queue)() }));
    const { bytes } = replyInPieces(queues.reply(source)) as JsonText<unknown>;
    expect(JSON.parse(String(bytes))).to.deep.equal({ queues: reply.queues });
  });
});

describe('camelCased', () => {
  it('renames the members of a request and drops undefined ones', () => {
    expect(camelCased({ evse_id: 1, url: undefined, a_b_c: null })).to.deep.equal({ evseId: 1, aBC: null });
  });
});
