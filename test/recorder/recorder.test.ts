import { expect } from 'chai';
import type { Recorder, RecorderPatch } from '../../src/contract/recorder.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';
import type { WireChannel } from '../../src/core/wire/wire-log.ts';
import { csipChannel, recordExchange } from '../../src/csip/transport/messages.ts';
import { ocppChannel, recordFrame } from '../../src/ocpp/rpc/messages.ts';
import { createRecorder } from '../../src/recorder/recorder.ts';
import type { Json } from '../support/http.ts';
import { HandWall } from '../support/wall.ts';

const by = { source: 'rest', peer: '127.0.0.1:1' } as const;

describe('recorder', () => {
  let wall: HandWall;
  let wireLog: WireLog;
  let recorder: Recorder;

  beforeEach(() => {
    wall = new HandWall();
    const sim = () => (wall.nowMs() * 2000) as SimTime;
    wireLog = new WireLog({ clock: wall, sim, log: { error: () => undefined } });
    recorder = createRecorder({
      wireLog,
      clock: wall,
      sim,
      dateMs: (at) => at / 1000,
      process: () => ({
        version: '1.2.3',
        buildId: 'abc',
        startedAtMs: 0,
        clock: { mode: 'accelerated', rate: 2, timezone: 'UTC' },
        devices: [],
      }),
    });
  });

  const channelOf = (protocol: string, key = '') =>
    wireLog.channel<object, string>({ protocol, key, entries: 2, bytes: 1000, decode: ({ raw }) => raw.toString() });
  const say = (channel: WireChannel<object, string>, text: string) => {
    if (!channel.active) return;
    channel.push({
      direction: 'in',
      peer: '127.0.0.1:9',
      deviceIndex: 0,
      kind: 'word',
      summary: '',
      raw: Buffer.from(text),
      facts: {},
    });
  };
  const on = (patch: Partial<RecorderPatch> = {}) => {
    recorder.set({ enabled: true, ...patch }, by);
  };
  async function rows(filter = {}): Promise<Json[]> {
    return [...(await recorder.lines(filter))].map((line) => JSON.parse(line));
  }
  const words = async (filter = {}) =>
    (await rows(filter)).slice(1).map(({ raw }) => Buffer.from(String(raw), 'base64').toString());

  it('listens to no channel while it is off', () => {
    const before = channelOf('modbus');
    on();
    const after = channelOf('dnp3');
    expect([before.active, after.active]).to.deep.equal([true, true]);
    recorder.set({ enabled: false }, by);
    expect([before.active, after.active, channelOf('csip').active]).to.deep.equal([false, false, false]);
  });

  it('keeps all channels on one time base, also those that come later', async () => {
    const first = channelOf('modbus');
    on();
    say(first, 'a');
    wall.advance(1500);
    say(channelOf('ocpp', 'CP-1'), 'b');
    wireLog.remove({ protocol: 'ocpp', key: 'CP-1' });
    say(channelOf('ocpp', 'CP-1'), 'c');
    const [header, ...entries] = await rows();
    expect(header).to.include({ recording: 'derbench', format: 1, version: '1.2.3', entries: 3, dropped: 0 });
    expect(entries.map(({ id, protocol, key, sim_s: s }) => [id, protocol, key, s])).to.deep.equal([
      [1, 'modbus', '', 0],
      [2, 'ocpp', 'CP-1', 3],
      [3, 'ocpp', 'CP-1', 3],
    ]);
    expect(await words()).to.deep.equal(['a', 'b', 'c']);
    expect(await words({ protocols: ['modbus'] })).to.deep.equal(['a']);
    expect(await words({ sinceMs: wall.nowMs() })).to.deep.equal(['b', 'c']);
    expect(await words({ untilMs: wall.nowMs() })).to.deep.equal(['a']);
  });

  it('records the protocols asked for alone', async () => {
    const [modbus, csip] = [channelOf('modbus'), channelOf('csip')];
    on({ protocols: ['csip'] });
    expect(modbus.active).to.equal(false);
    say(csip, 'a');
    expect(await words()).to.deep.equal(['a']);
    expect([...recorder.state.byProtocol.keys()]).to.deep.equal(['csip']);
    on({ protocols: ['csip', 'modbus', 'csip'] });
    expect(recorder.state.protocols).to.deep.equal(['csip', 'modbus']);
  });

  it('drops the oldest entries beyond its memory, and counts them', async () => {
    on({ limitMb: 1 });
    const channel = wireLog.channel<object, null>({
      protocol: 'modbus',
      key: '',
      entries: 1,
      bytes: 1e6,
      decode: () => null,
    });
    for (let i = 0; i < 3000; i += 1)
      channel.push({
        direction: 'in',
        peer: 'p',
        deviceIndex: null,
        kind: 'word',
        summary: '',
        facts: {},
        raw: Buffer.alloc(1000, i),
      });
    const { entries, bytes, dropped, lastId, byProtocol } = recorder.state;
    expect(bytes).to.be.within(1024 * 1024 - 2000, 1024 * 1024);
    expect(entries + dropped).to.equal(3000);
    expect(byProtocol.get('modbus')).to.deep.equal({ entries, bytes, dropped });
    const ids = (await rows()).slice(1).map(({ id }) => id);
    expect(ids).to.deep.equal(Array.from({ length: entries }, (_, i) => lastId - entries + 1 + i));
    on({ clear: true });
    expect(recorder.state).to.include({ entries: 0, bytes: 0, dropped: 0, lastId: 3000, limitMb: 1 });
  });

  it('reads on what is cleared meanwhile, and leaves out what comes meanwhile', async () => {
    const channel = channelOf('modbus');
    on();
    for (const word of ['a', 'b', 'c']) say(channel, word);
    const lines = (await recorder.lines())[Symbol.iterator]();
    expect(JSON.parse(String(lines.next().value))).to.include({ entries: 3 });
    lines.next();
    say(channel, 'd');
    expect(String(lines.next().value)).to.include('"id":2');
    on({ clear: true });
    say(channel, 'e');
    expect(String(lines.next().value)).to.include('"id":3');
    expect(lines.next().done).to.equal(true);
    expect(await words()).to.deep.equal(['e']);
    expect((await rows())[1]).to.include({ id: 5 });
  });

  it('counts what was cleared and is still read in the limit, and ends those readings for room', async () => {
    const channel = channelOf('modbus');
    on({ limitMb: 1 });
    const half = () => {
      for (let n = 0; n < 600; n += 1) say(channel, 'x'.repeat(400));
    };
    const bytes = () => recorder.state.bytes;
    half();
    const [first, second, unread] = await Promise.all(
      [1, 2, 3].map(async () => (await recorder.lines())[Symbol.iterator]()),
    );
    for (const lines of [first, second]) for (let n = 0; n < 2; n += 1) lines?.next();
    on({ clear: true });
    for (let n = 0; n < 400; n += 1) say(channel, 'y'.repeat(400));
    expect(String(first?.next().value), 'both fit').to.include('"id":2');
    // a reading that ends gives its part of the memory back
    expect([...{ [Symbol.iterator]: () => first! }].length).to.equal(598);
    half();
    const kept = bytes();
    expect(kept).to.be.below(1024 * 1024);
    expect(() => second?.next()).to.throw(
      'the recording was cleared, and its entries were dropped to make room for new ones',
    );
    unread?.next();
    expect(() => unread?.next()).to.throw('dropped to make room');
    expect(recorder.state.dropped).to.equal(0);
  });

  it('ends well for a reader that has all entries of what was cleared', async () => {
    const channel = channelOf('modbus');
    on({ limitMb: 1 });
    say(channel, 'a');
    const lines = (await recorder.lines())[Symbol.iterator]();
    for (let n = 0; n < 2; n += 1) lines.next();
    on({ clear: true });
    for (let n = 0; n < 1200; n += 1) say(channel, 'y'.repeat(400));
    expect(lines.next().done).to.equal(true);
  });

  it('leaves out what goes for newer messages while it is read', async () => {
    on({ limitMb: 1 });
    const channel = wireLog.channel<object, string>({
      protocol: 'modbus',
      key: '',
      entries: 1,
      bytes: 1e6,
      decode: ({ raw }) => raw.toString(),
    });
    const long = 'x'.repeat(300_000);
    for (let i = 0; i < 3; i += 1) say(channel, long);
    const lines = (await recorder.lines())[Symbol.iterator]();
    lines.next();
    for (let i = 0; i < 2; i += 1) say(channel, long);
    expect(String(lines.next().value)).to.include('"id":3');
    expect(lines.next().done).to.equal(true);
    expect(recorder.state).to.include({ entries: 3, dropped: 2 });
  });

  it('never has a secret of OCPP or CSIP', async () => {
    on();
    const secret = 'hunter2-hunter2-hunter2';
    const pem = '-----BEGIN PRIVATE KEY-----\\nMIIEvQ\\n-----END PRIVATE KEY-----';
    const basic = Buffer.from(`SIM-CP-1:${secret}`).toString('base64');
    const ocpp = ocppChannel(wireLog, 'SIM-CP-1', () => [secret]);
    const facts = { direction: 'in', type: 'call', messageId: '1', action: 'X', durationMs: null } as const;
    for (const text of [
      `[2,"1","ChangeConfiguration",{"key":"AuthorizationKey","value":"${secret}"}]`,
      '[2,"2","SetVariables",{"setVariableData":[{"component":{"name":"SecurityCtrlr"},' +
        `"variable":{"name":"BasicAuthPassword"},"attributeValue":"${secret}"}]}]`,
      `[2,"3","DataTransfer",{"vendorId":"x","data":"${pem}"}]`,
      `[2,"4","GetLog",{"remoteLocation":"ftp://u:${secret}@h/"}]`,
    ])
      recordFrame(ocpp, facts, text, { peer: 'ws://127.0.0.1:1', deviceIndex: 0 });
    recordExchange(csipChannel(wireLog), {
      direction: 'out',
      peer: 'https://h',
      deviceIndex: 0,
      method: 'GET',
      url: 'https://h/edev/1/rg',
      status: 200,
      durationMs: 1,
      error: null,
      requestHeaders: { authorization: `Basic ${basic}` },
      responseHeaders: { 'set-cookie': secret },
      requestBody: null,
      responseBody: Buffer.from('<Registration><pIN>111115</pIN></Registration>'),
    });
    const text = [...(await recorder.lines())].join('');
    expect(recorder.state.entries).to.equal(5);
    for (const word of [secret, basic, 'MIIEvQ', '111115']) expect(text).not.to.include(word);
    expect(text).to.include('(hidden)');
  });
});
