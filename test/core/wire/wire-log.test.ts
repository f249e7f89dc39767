import { expect } from 'chai';
import fc from 'fast-check';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import type { WireChannel, WireChannelOptions, WireEntry, WireMessage } from '../../../src/core/wire/wire-log.ts';
import { holds } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

interface Facts {
  readonly secret?: string;
}

const by = { source: 'rest', peer: '127.0.0.1:1' } as const;

describe('wire log', () => {
  let wall: HandWall;
  let sim: number;
  let errors: string[];
  let log: WireLog;

  beforeEach(() => {
    wall = new HandWall();
    sim = 0;
    errors = [];
    log = new WireLog({
      clock: wall,
      sim: () => sim as SimTime,
      log: {
        error: (message) => {
          errors.push(message);
        },
      },
    });
  });

  const channelOf = (options: Partial<WireChannelOptions<Facts, string>> = {}): WireChannel<Facts, string> =>
    log.channel<Facts, string>({
      protocol: 'test',
      key: '',
      entries: 3,
      bytes: 100,
      decode: ({ raw }) => raw.toString(),
      ...options,
    });
  const message = (text: string, facts: Facts = {}): WireMessage<Facts> => ({
    direction: 'in',
    peer: 'peer',
    deviceIndex: null,
    kind: 'word',
    summary: text.slice(0, 5),
    raw: Buffer.from(text),
    facts,
  });
  const texts = (channel: WireChannel<Facts, string>) => channel.list().map((entry) => channel.decode(entry));
  const ids = (entries: readonly WireEntry<Facts>[]) => entries.map(({ id }) => id);

  it('is active only while something is kept or somebody listens', () => {
    const channel = channelOf();
    expect(channel.active).to.equal(false);
    channel.record(true, by);
    expect(channel.active).to.equal(true);
    const end = channel.subscribe(() => undefined);
    channel.record(false, by);
    expect(channel.active).to.equal(true);
    end();
    expect(channel.active).to.equal(false);
  });

  it('stamps messages with both clocks and copies their octets', () => {
    const channel = channelOf();
    channel.record(true, by);
    sim = 5_000_000;
    wall.advance(250);
    const given = message('abc');
    expect(channel.push(given)).to.equal(1);
    given.raw.fill(0);
    const [entry] = channel.list();
    expect(entry).to.include({
      id: 1,
      wallMs: wall.nowMs(),
      sim: 5_000_000,
      direction: 'in',
      kind: 'word',
      rawLength: 3,
    });
    expect(entry!.raw.toString()).to.equal('abc');
  });

  it('knows the last writer of its settings', () => {
    const channel = channelOf();
    expect(channel.changedBy).to.equal(null);
    sim = 7;
    channel.record(true, by, 2);
    expect(channel.changedBy).to.deep.equal({ ...by, at: 7, wallMs: wall.nowMs() });
    expect(channel.capacity).to.equal(2);
  });

  it('lets the oldest go, and ids go on', () => {
    const channel = channelOf();
    channel.record(true, by);
    for (const text of ['a', 'b', 'c', 'd', 'e']) channel.push(message(text));
    expect(texts(channel)).to.deep.equal(['c', 'd', 'e']);
    expect([ids(channel.list()), channel.dropped, channel.lastId, channel.bytes]).to.deep.equal([[3, 4, 5], 2, 5, 3]);
  });

  it('holds octets to their bound, and cuts a message that is too long', () => {
    const channel = channelOf({ entries: 10, bytes: 100, messageBytes: 60 });
    channel.record(true, by);
    channel.push(message('x'.repeat(50)));
    channel.push(message('y'.repeat(50)));
    expect(channel.count).to.equal(2);
    channel.push(message('z'.repeat(200)));
    const [only, ...more] = channel.list();
    expect(more).to.deep.equal([]);
    expect([only!.raw.length, only!.rawLength, channel.bytes]).to.deep.equal([60, 200, 60]);
  });

  it('counts messages on while nothing is kept: a reader sees the gap', () => {
    const channel = channelOf();
    channel.record(true, by);
    channel.push(message('a'));
    channel.record(false, by);
    const end = channel.subscribe(() => undefined);
    channel.push(message('b'));
    channel.record(true, by);
    channel.push(message('c'));
    end();
    expect(ids(channel.list())).to.deep.equal([1, 3]);
    channel.clear();
    expect([channel.count, channel.bytes, channel.lastId]).to.deep.equal([0, 0, 3]);
    channel.push(message('d'));
    expect(texts(channel)).to.deep.equal(['d']);
  });

  it('gives the newest after an id that pass a test, oldest first', () => {
    const channel = channelOf({ entries: 10 });
    channel.record(true, by);
    for (const text of ['a', 'b', 'a', 'b', 'a']) channel.push(message(text));
    const isA = ({ summary }: WireEntry<Facts>) => summary === 'a';
    expect(ids(channel.list({ where: isA }))).to.deep.equal([1, 3, 5]);
    expect(ids(channel.list({ where: isA, afterId: 1, limit: 1 }))).to.deep.equal([5]);
    expect(ids(channel.list({ afterId: 3 }))).to.deep.equal([4, 5]);
    expect(ids(channel.list({ afterId: 9 }))).to.deep.equal([]);
  });

  it('takes secrets out before anything is kept or told', () => {
    const channel = channelOf({
      redact: (given) => ({ ...given, raw: Buffer.from(given.raw.toString().replace(/pw=\w+/, 'pw=***')), facts: {} }),
    });
    const told: string[] = [];
    channel.subscribe(({ raw, facts }) => told.push(raw.toString() + JSON.stringify(facts)));
    channel.record(true, by);
    channel.push(message('pw=S3CR3T', { secret: 'S3CR3T' }));
    expect(texts(channel)).to.deep.equal(['pw=***']);
    expect(told).to.deep.equal(['pw=***{}']);
  });

  it('keeps and tells nothing of a message that cannot be searched for secrets', () => {
    const channel = channelOf({
      redact() {
        throw new Error('S3CR3T');
      },
    });
    const told: unknown[] = [];
    channel.subscribe((entry) => told.push(entry));
    channel.record(true, by);
    expect(channel.push(message('S3CR3T'))).to.equal(1);
    expect([channel.count, channel.lastId, told]).to.deep.equal([0, 1, []]);
    expect(errors).to.deep.equal(['a message of test could not be searched for secrets and is not kept']);
  });

  it('decodes when asked, and answers null for what cannot be decoded', () => {
    let calls = 0;
    const channel = channelOf({
      decode({ raw }) {
        calls += 1;
        if (raw.length === 0) throw new Error('nothing there');
        return raw.toString();
      },
    });
    channel.record(true, by);
    channel.push(message(''));
    channel.push(message('b'));
    expect(calls).to.equal(0);
    expect(texts(channel)).to.deep.equal([null, 'b']);
  });

  it('removes a listener that fails and goes on with the others', () => {
    const channel = channelOf();
    const heard: number[] = [];
    channel.subscribe(() => {
      throw new Error('too much');
    });
    channel.subscribe(({ id }) => heard.push(id));
    channel.push(message('a'));
    channel.push(message('b'));
    expect(heard).to.deep.equal([1, 2]);
    expect(errors).to.deep.equal(['a listener for messages of test failed and was removed: too much']);
  });

  it('ends two subscriptions of one function one by one', () => {
    const channel = channelOf();
    const heard: number[] = [];
    const listener = ({ id }: WireEntry<Facts>) => {
      heard.push(id);
    };
    const ends = [channel.subscribe(listener), channel.subscribe(listener)];
    channel.push(message('a'));
    ends[0]!();
    channel.push(message('b'));
    ends[1]!();
    expect([heard, channel.active]).to.deep.equal([[1, 1, 2], false]);
  });

  it('has channels by protocol and key', () => {
    const [one, two] = [channelOf({ key: 'CP-1' }), channelOf({ key: 'CP-2' })];
    expect(log.channels).to.deep.equal([one, two]);
    expect(log.find('test', 'CP-2')).to.equal(two);
    expect(() => channelOf({ key: 'CP-1' })).to.throw('there is a channel test CP-1 already');
    log.remove(one);
    expect(log.find('test', 'CP-1')).to.equal(undefined);
    expect(channelOf({ key: 'CP-1' })).to.not.equal(one);
  });

  it('ends a channel that is removed: it forgets all and takes nothing more', () => {
    const channel = channelOf();
    const heard: number[] = [];
    const listener = ({ id }: WireEntry<Facts>) => {
      heard.push(id);
    };
    const end = channel.subscribe(listener);
    channel.record(true, by);
    channel.push(message('a'));
    log.remove(channel);
    const state = () => [channel.active, channel.recording, channel.count, channel.bytes, channel.list()];
    expect(state()).to.deep.equal([false, false, 0, 0, []]);
    channel.record(true, by);
    channel.subscribe(listener)();
    channel.subscribe(listener);
    expect(channel.push(message('b'))).to.equal(1);
    end();
    expect(state()).to.deep.equal([false, false, 0, 0, []]);
    expect(heard).to.deep.equal([1]);
    log.remove(channel);
    expect(log.channels).to.deep.equal([]);
  });

  it('keeps what a list of messages with the same bounds would keep, whatever is done', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.string({ minLength: 0, maxLength: 40, unit: 'grapheme-ascii' }) },
      fc.integer({ min: 1, max: 8 }),
      fc.constant('clear' as const),
    );
    holds('a list of messages with the same bounds', fc.array(step, { maxLength: 60 }), (steps) => {
      const own = new WireLog({ clock: wall, sim: () => 0 as SimTime, log: { error: () => undefined } });
      const channel = own.channel<Facts, string>({
        protocol: 'test',
        key: '',
        entries: 4,
        bytes: 90,
        messageBytes: 30,
        decode: ({ raw }) => raw.toString(),
      });
      channel.record(true, by);
      let kept: string[] = [];
      let most = 4;
      const shrink = () => {
        while (kept.length > most || kept.join('').length > 90) kept.shift();
      };
      for (const one of steps) {
        if (typeof one === 'number') {
          most = one;
          channel.record(true, by, one);
        } else if (one === 'clear') {
          kept = [];
          channel.clear();
        } else {
          kept.push(one.slice(0, 30));
          channel.push(message(one));
        }
        shrink();
        expect(channel.list().map(({ raw }) => raw.toString())).to.deep.equal(kept);
        expect([channel.count, channel.bytes]).to.deep.equal([kept.length, kept.join('').length]);
      }
    });
  });
});
