import { expect } from 'chai';
import fc from 'fast-check';
import type { OcppSubprotocol } from '../../../src/contract/ocpp.ts';
import { changedNumber, isTooDeep } from '../../../src/ocpp/rpc/frames.ts';
import type { CentralConnection, CentralStation } from '../central/station.ts';
import { holds } from '../../support/property.ts';
import { useCentral } from './rig.ts';
import type { RigOptions, TransportRig } from './rig.ts';

const versions = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
const time = { currentTime: '2026-06-21T08:00:00.000Z' };

describe('frames that a charge point cannot read (OCPP-J 4.2)', () => {
  const stage = useCentral({ subprotocols: ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'] });
  let rig: TransportRig;
  let station: CentralStation;
  let connection: CentralConnection;
  const open = async (version: OcppSubprotocol = 'ocpp1.6', options: RigOptions = {}) => {
    ({ rig, station, connection } = await stage.connected({ subprotocols: [version], ...options }));
  };
  /** The answer to what was sent before, since frames stay in order. */
  const answered = async () => {
    station.sendText('[2,"flush","ClearCache",{}]');
    const texts: string[] = [];
    for (;;) {
      const text = await station.nextText();
      if (text.includes('"flush"')) return texts;
      texts.push(text);
    }
  };

  const garbage: readonly (readonly [what: string, text: string])[] = [
    ['an empty text', ''],
    ['no JSON', '[2,"id-1","ClearCache",{'],
    ['no list', '{"a":1}'],
    ['an empty list', '[]'],
    ['a type that is no number', '["2","id-1","ClearCache",{}]'],
    ['an id that is no text', '[2,1,"ClearCache",{}]'],
    ['null', 'null'],
  ];
  for (const version of versions)
    for (const [what, text] of garbage)
      it(`${version}: ${what} ${version === 'ocpp1.6' ? 'is not answered' : 'is answered with the id -1'}`, async () => {
        await open(version);
        station.sendText(text);
        const told = (await answered()).map((each) => JSON.parse(each) as readonly unknown[]);
        expect(told.map(([type, id, code]) => [type, id, code])).to.deep.equal(
          version === 'ocpp1.6' ? [] : [[4, '-1', 'RpcFrameworkError']],
        );
        expect(rig.broken).to.have.length(1);
        expect(rig.count('in', 'invalid')).to.equal(1);
      });

  for (const version of versions) {
    const outcome = version === 'ocpp2.0.1' ? 'is MessageTypeNotSupported' : 'is passed over';
    it(`${version}: a type of no version ${outcome} (2.1 4.1.3)`, async () => {
      await open(version);
      station.sendText('[9,"id-9","ClearCache",{}]');
      station.sendText('[9,null]');
      const told = (await answered()).map((each) => (JSON.parse(each) as unknown[]).slice(0, 3));
      expect(told).to.deep.equal(version === 'ocpp2.0.1' ? [[4, 'id-9', 'MessageTypeNotSupported']] : []);
      expect(rig.broken).to.have.length(2);
    });
  }

  it('answers that are none are not answered', async () => {
    await open('ocpp2.0.1');
    for (const text of ['[3]', '[3,null,{}]', '[4,"a"]', '[4,5,"GenericError","",{}]', '[3,"a",null]'])
      station.sendText(text);
    expect(await answered()).to.deep.equal([]);
    expect(rig.broken).to.have.length(5);
  });

  for (const version of versions)
    it(`${version}: null in place of a payload ${version === 'ocpp1.6' ? 'is an empty one (1.6 4.2.1)' : 'is no frame'}`, async () => {
      await open(version);
      station.sendText('[2,"empty","ClearCache",null]');
      station.sendText('[2,"short","ChangeAvailability",null]');
      const [empty, short] = (await answered()).map((each) => JSON.parse(each) as readonly unknown[]);
      if (version === 'ocpp1.6') {
        expect(empty).to.deep.equal([3, 'empty', { status: 'Accepted' }]);
        expect(short?.slice(0, 3)).to.deep.equal([4, 'short', 'OccurenceConstraintViolation']);
        expect(rig.violated.map(({ messageId }) => messageId)).to.deep.equal(['short']);
        expect(rig.broken.filter(({ clause }) => clause === 'OCPP-J 4.2')).to.deep.equal([]);
      } else {
        expect(empty?.slice(0, 3)).to.deep.equal([4, 'empty', 'FormatViolation']);
        expect(short?.slice(0, 3)).to.deep.equal([4, 'short', 'FormatViolation']);
        expect(rig.broken.map(({ clause }) => clause)).to.deep.equal(['OCPP-J 4.2', 'OCPP-J 4.2']);
      }
    });

  it('1.6: an answer of null is that without members, which the schema judges (4.2.2)', async () => {
    await open();
    station.silent = true;
    for (const [action, payload, kind] of [
      ['StatusNotification', { connectorId: 0, errorCode: 'NoError', status: 'Available' }, 'result'],
      ['Heartbeat', {}, 'error'],
    ] as const) {
      const outcome = rig.line.call(action, payload);
      const { messageId } = await station.next(action);
      station.sendText(`[3,"${messageId}",null]`);
      expect((await outcome).kind, action).to.equal(kind);
    }
    expect([rig.broken, rig.violated.map(({ action }) => action)]).to.deep.equal([[], ['Heartbeat']]);
  });

  it('2.1: SEND is never answered, nor is a broken one; CALLRESULTERROR is told (4.2.4, 4.2.5)', async () => {
    await open('ocpp2.1');
    station.sendText('[6,"s1","NotifyPeriodicEventStream",{"id":1}]');
    station.sendText('[6,"s2","NotifyPeriodicEventStream"]');
    station.sendText('[6,7]');
    station.sendText('[5,"r1","FormatViolation","why",{}]');
    station.sendText('[5,"r2"]');
    expect(await answered()).to.deep.equal([]);
    expect(rig.refused).to.deep.equal([['r1', 'FormatViolation', 'why']]);
    expect(rig.broken.map(({ clause }) => clause)).to.deep.equal([
      'OCPP-J 4.2.5',
      'OCPP-J 4.2',
      'OCPP-J 4.2',
      'OCPP-J 4.2',
    ]);
    expect([rig.count('in', 'send'), rig.count('in', 'result_error')]).to.deep.equal([1, 1]);
  });

  for (const version of ['ocpp1.6', 'ocpp2.0.1'] as const)
    it(`${version}: SEND and CALLRESULTERROR are types that it does not have`, async () => {
      await open(version);
      station.sendText('[6,"s1","NotifyPeriodicEventStream",{"id":1}]');
      station.sendText('[5,"r1","FormatViolation","why",{}]');
      const told = (await answered()).map((each) => (JSON.parse(each) as unknown[]).slice(0, 3));
      const refused = ['s1', 'r1'].map((id) => [4, id, 'MessageTypeNotSupported']);
      expect(told).to.deep.equal(version === 'ocpp2.0.1' ? refused : []);
      expect([rig.refused, rig.broken.length]).to.deep.equal([[], 2]);
    });

  it('2.1: the station sends SEND, and awaits nothing', async () => {
    await open('ocpp2.1');
    const payload = { id: 1, pending: 0, basetime: time.currentTime, data: [{ t: 0, v: '1' }] };
    rig.line.send('NotifyPeriodicEventStream', payload);
    rig.line.send('NotifyPeriodicEventStream', {});
    const [type, id, action, sent] = JSON.parse(await station.nextText()) as readonly unknown[];
    expect([type, action, sent]).to.deep.equal([6, 'NotifyPeriodicEventStream', payload]);
    expect(id).to.be.a('string').with.length.of.at.most(36);
    expect([rig.line.waiting, await answered()]).to.deep.equal([0, []]);
    expect(rig.count('out', 'send')).to.equal(1);
  });

  it('other versions have no SEND', async () => {
    await open('ocpp2.0.1');
    rig.line.send('Heartbeat', {});
    expect(await answered()).to.deep.equal([]);
  });

  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
  for (const version of versions)
    it(`${version}: a call of more than 64 levels is refused, and shown as text`, async () => {
      await open(version);
      const texts = [8000, 40_000].map(
        (levels) => `[2,"deep","DataTransfer",{"vendorId":"v","data":${nested(levels)}}]`,
      );
      for (const text of texts) station.sendText(text);
      const code = version === 'ocpp1.6' ? 'FormationViolation' : 'FormatViolation';
      const refusal = JSON.stringify([4, 'deep', code, 'more than 64 levels of lists and objects', {}]);
      expect(await answered()).to.deep.equal([refusal, refusal]);
      expect(rig.handled).to.deep.equal(['ClearCache']);
      const broken = { clause: 'OCPP-J 4.2', text: 'a frame of more than 64 levels', action: null, messageId: 'deep' };
      expect(rig.broken).to.deep.equal([broken, broken]);
      expect(rig.count('in', 'invalid')).to.equal(2);
      const shown = rig.transport.messages.list({ direction: 'in' });
      expect(shown.map(({ payload }) => payload).slice(0, 2)).to.deep.equal(texts.map((text) => text.slice(0, 65_536)));
      expect(() => JSON.stringify(shown)).not.to.throw();
    });

  it('an answer of more than 64 levels ends its call at once; so does an error with such details', async () => {
    await open();
    station.silent = true;
    for (const frame of [
      (id: string) => `[3,"${id}",{"currentTime":${nested(8000)}}]`,
      (id: string) => `[4,"${id}","GenericError","",${nested(8000)}]`,
    ]) {
      const outcome = rig.line.call('Heartbeat', {}, { validate: false });
      const { messageId } = await station.next('Heartbeat');
      station.sendText(frame(messageId));
      expect(await outcome).to.include({ kind: 'error', code: 'FormationViolation' });
    }
    expect(rig.broken.map(({ text }) => text)).to.deep.equal(Array(2).fill('a frame of more than 64 levels'));
    expect(() => JSON.stringify(rig.transport.messages.list({}))).not.to.throw();
  });

  it('levels are counted outside of texts alone', () => {
    expect(isTooDeep(nested(64))).to.equal(false);
    expect(isTooDeep(`[${nested(64)}]`)).to.equal(true);
    expect(isTooDeep(`${'['.repeat(33)}${'{'.repeat(31)}`)).to.equal(false);
    expect(isTooDeep(`${'['.repeat(33)}${'{'.repeat(32)}`)).to.equal(true);
    expect(isTooDeep('['.repeat(65))).to.equal(true);
    expect(isTooDeep('{'.repeat(65))).to.equal(true);
    expect(isTooDeep('[],'.repeat(100))).to.equal(false);
    expect(isTooDeep(JSON.stringify(['['.repeat(100), `\\"${'{'.repeat(100)}`]))).to.equal(false);
    expect(isTooDeep(`["\\\\",${'['.repeat(64)}`)).to.equal(true);
  });

  it('numbers that would be others here have other digits in the shortest text of their double, outside of texts', () => {
    const kept = [
      '9007199254740992',
      '100000000000000000000',
      '1e22',
      '1e23',
      '-1E+15',
      '0.12345678901234567890',
      '1e-400',
      '0e999',
    ];
    for (const text of kept) expect(changedNumber(`[{"a":${text}}]`), text).to.equal(null);
    const changed = [
      '9007199254740993',
      '1732860000123456768',
      '1.732860000123456789e18',
      '1e400',
      '12345678901234567.5',
    ];
    for (const text of changed) expect(changedNumber(`[1,{"a":[${text}]}]`), text).to.equal(text);
    expect(changedNumber('{"a":-9007199254740993}')).to.equal('9007199254740993');
    expect(changedNumber(JSON.stringify(['1732860000123456789', '\\"1e400', '\\']))).to.equal(null);
    expect(changedNumber('["\\\\",1e400]')).to.equal('1e400');
    holds('whole numbers are kept or named', fc.bigInt({ min: 0n, max: 10n ** 20n }), (value) => {
      const isKept = BigInt(JSON.stringify(Number(value))) === value;
      expect(changedNumber(`[${value}]`)).to.equal(isKept ? null : String(value));
    });
  });

  it('a number of 200 000 zeros is read once, not once for each of them', () => {
    const zeros = '0'.repeat(200_000);
    for (const text of [`1${zeros}1`, `1.${zeros}1e20`])
      expect(changedNumber(`[2,"a","Reset",{"x":${text}}]`) === text, text.slice(-9)).to.equal(true);
    for (const text of [`1${zeros}e-199990`, `0.${zeros}1e200021`, `1e20,"y":0.${zeros}`])
      expect(changedNumber(`[2,"a","Reset",{"x":${text}}]`), text.slice(-9)).to.equal(null);
  });

  it('10 of them within 60 s end the connection with 1002, and the next one waits by the back-off', async () => {
    await open();
    const bad = async (times: number) => {
      for (let n = 0; n < times; n += 1) station.sendText('no frame');
      await station.call('ClearCache');
    };
    await bad(9);
    rig.wall.advance(60_000);
    await bad(9);
    expect(rig.transport.counters.connects).to.equal(1);
    station.sendText('no frame');
    expect(await connection.closed).to.deep.equal({ code: 1002, reason: 'too many invalid frames' });
    expect((await rig.closed.take()).code).to.equal(1002);
    expect(rig.link.lastError).to.equal('the connection ended with code 1002: too many invalid frames');
    const waits = [rig.passWait()];
    for (let n = 0; n < 3; n += 1) {
      await station.nextConnection();
      for (let frame = 0; frame < 10; frame += 1) station.sendText('no frame');
      await rig.closed.take();
      waits.push(rig.passWait());
    }
    // the frames of these connections do not make the next wait a first one
    expect(waits).to.deep.equal([1500, 3500, 7500, 15_500]);
    connection = await station.nextConnection();
    await bad(9);
    expect(rig.transport.counters).to.include({ connects: 5, drops: 4 });
    station.close(1000);
    await rig.closed.take();
    expect(rig.link.reconnectInS, 'a connection that was of use').to.equal(1.5);
  });
});
