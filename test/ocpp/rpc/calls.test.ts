import { expect } from 'chai';
import type { OcppSubprotocol } from '../../../src/contract/ocpp.ts';
import type { CallOutcome } from '../../../src/ocpp/rpc/model.ts';
import type { CentralStation } from '../central/station.ts';
import { useCentral } from './rig.ts';
import type { RigOptions, TransportRig } from './rig.ts';

const versions = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
const time = { currentTime: '2026-06-21T08:00:00.000Z' };

describe('calls of a charge point (OCPP-J 4)', () => {
  const stage = useCentral({ subprotocols: ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'] });
  let rig: TransportRig;
  let station: CentralStation;
  const open = async (version: OcppSubprotocol = 'ocpp1.6', options: RigOptions = {}) => {
    ({ rig, station } = await stage.connected({ subprotocols: [version], ...options }));
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
  const heartbeat = (options?: Parameters<TransportRig['line']['call']>[2]) => rig.line.call('Heartbeat', {}, options);

  describe('own calls', () => {
    it('go out one at a time, urgent ones before those that wait (4.1.1)', async () => {
      await open();
      station.silent = true;
      const outcomes: string[] = [];
      const call = (vendorId: string, urgent = false) =>
        void rig.line
          .call('DataTransfer', { vendorId }, { urgent })
          .then(({ kind }) => outcomes.push(`${vendorId} ${kind}`));
      for (const vendor of ['a', 'b', 'c']) call(vendor);
      call('d', true);
      expect(rig.line.waiting).to.equal(4);
      for (const vendor of ['a', 'd', 'b', 'c']) {
        const taken = await station.next('DataTransfer');
        expect(taken.payload).to.deep.equal({ vendorId: vendor });
        // nothing more has come before the answer
        await station.call('ClearCache');
        expect(station.calls).to.have.length(['a', 'd', 'b', 'c'].indexOf(vendor) + 1);
        station.answer(taken, { status: 'Accepted' });
      }
      await station.call('ClearCache');
      expect(outcomes).to.deep.equal(['a result', 'd result', 'b result', 'c result']);
      expect(rig.line.waiting).to.equal(0);
    });

    it('calls of the central system are answered while one is in flight', async () => {
      await open();
      station.silent = true;
      const outcome = heartbeat();
      const sent = await station.next('Heartbeat');
      expect((await station.call('ClearCache')).kind).to.equal('result');
      rig.wall.advance(250);
      station.answer(sent, time);
      expect(await outcome).to.deep.equal({ kind: 'result', payload: time, durationMs: 250 });
    });

    it('have ids of at most 36 characters, never the same (4.1.4)', async () => {
      await open();
      for (let n = 0; n < 20; n += 1) await heartbeat();
      const ids = station.calls.map(({ messageId }) => messageId);
      expect(new Set(ids).size).to.equal(20);
      expect(ids.filter((id) => id.length > 36 || id.length === 0)).to.deep.equal([]);
      await heartbeat({ messageId: 'a repeat' });
      expect(station.calls.at(-1)?.messageId).to.equal('a repeat');
    });

    it('a CALLERROR is the outcome; what is left out of it is empty', async () => {
      await open();
      station.silent = true;
      const first = heartbeat();
      const { messageId } = await station.next('Heartbeat');
      station.sendText(JSON.stringify([4, messageId, 'GenericError', 'not now', { a: 1 }]));
      const error = { kind: 'error', code: 'GenericError', durationMs: 0 } as const;
      expect(await first).to.deep.equal({ ...error, description: 'not now', details: { a: 1 } });
      const second = heartbeat();
      station.sendText(JSON.stringify([4, (await station.next('Heartbeat')).messageId, 'GenericError']));
      expect(await second).to.deep.equal({ ...error, description: '', details: {} });
      expect(rig.transport.counters.callErrors).to.equal(2);
    });

    it('a CALLERROR with a code of another version is the outcome, and a finding (4.2.3)', async () => {
      await open('ocpp2.0.1');
      station.silent = true;
      for (const code of ['OccurrenceConstraintViolation', 'OccurenceConstraintViolation', 'x'.repeat(1000)]) {
        const outcome = heartbeat({ messageId: code.slice(0, 20) });
        await station.next('Heartbeat');
        station.sendText(JSON.stringify([4, code.slice(0, 20), code, '', {}]));
        expect(await outcome).to.include({ kind: 'error', code });
      }
      const about = { clause: 'OCPP-J 4.2.3', action: 'Heartbeat' };
      expect(rig.broken).to.deep.equal([
        {
          ...about,
          text: 'OccurenceConstraintViolation is no error code of the version',
          messageId: 'OccurenceConstraintV',
        },
        { ...about, text: `${'x'.repeat(40)} is no error code of the version`, messageId: 'x'.repeat(20) },
      ]);
    });

    it('time out; the next one goes out, and the late answer is a finding and changes nothing', async () => {
      await open('ocpp1.6', { callTimeoutMs: 30_000 });
      station.silent = true;
      const first = heartbeat();
      const second = heartbeat({ timeoutMs: 5000 });
      const late = await station.next('Heartbeat');
      rig.timers.pass(29_999);
      expect(rig.line.waiting).to.equal(2);
      rig.timers.pass(1);
      expect(await first).to.deep.equal({ kind: 'timeout' });
      await station.next('Heartbeat');
      station.answer(late, time);
      await station.call('ClearCache');
      expect(rig.transport.counters).to.include({ timeouts: 1, lateAnswers: 1 });
      expect(rig.line.waiting).to.equal(1);
      const about = { clause: 'OCPP-J 4.2.2', messageId: late.messageId };
      expect(rig.broken).to.deep.equal([
        { ...about, text: 'an answer after the time-out of its call', action: 'Heartbeat' },
      ]);
      // a second one is an answer to nothing
      station.answer(late, time);
      await station.call('ClearCache');
      expect(rig.broken.at(-1)).to.deep.equal({
        ...about,
        text: 'an answer whose message id is that of no call in progress',
        action: null,
      });
      rig.timers.pass(5000);
      expect(await second).to.deep.equal({ kind: 'timeout' });
    });

    it('two answers to a call that was sent again under its id are no finding', async () => {
      await open('ocpp1.6', { callTimeoutMs: 30_000 });
      station.silent = true;
      const first = heartbeat({ messageId: 'kept' });
      const late = await station.next('Heartbeat');
      rig.timers.pass(30_000);
      expect(await first).to.deep.equal({ kind: 'timeout' });
      const again = heartbeat({ messageId: 'kept' });
      await station.next('Heartbeat');
      station.answer(late, time);
      expect(await again).to.include({ kind: 'result' });
      station.answer(late, time);
      await station.call('ClearCache');
      expect(rig.broken).to.deep.equal([]);
      expect(rig.transport.counters.lateAnswers).to.equal(1);
    });

    it('wait as long as was set last, from the next one on', async () => {
      await open('ocpp2.0.1', { callTimeoutMs: 30_000 });
      station.silent = true;
      rig.transport.setCallTimeout(5000);
      const call = heartbeat();
      await station.next('Heartbeat');
      rig.timers.pass(4999);
      expect(rig.line.waiting).to.equal(1);
      rig.timers.pass(1);
      expect(await call).to.deep.equal({ kind: 'timeout' });
    });

    it('an answer with an id of no call is a finding, and so is a second one', async () => {
      await open();
      station.sendText(JSON.stringify([3, 'no-such-id', time]));
      await heartbeat();
      station.sendText(JSON.stringify([4, station.calls[0]?.messageId, 'GenericError', '', {}]));
      await station.call('ClearCache');
      expect(rig.broken.map(({ clause, messageId }) => [clause, messageId])).to.deep.equal([
        ['OCPP-J 4.2.2', 'no-such-id'],
        ['OCPP-J 4.2.3', station.calls[0]?.messageId],
      ]);
      expect(rig.transport.counters.lateAnswers).to.equal(2);
    });

    it('the end of the connection: the one in flight is lost, the others were never sent', async () => {
      await open();
      station.silent = true;
      const outcomes = [heartbeat(), heartbeat(), heartbeat({ urgent: true })];
      const lost = await station.next('Heartbeat');
      station.cut();
      const unsent: CallOutcome = { kind: 'unsent', why: 'the connection ended before it was sent' };
      expect(await Promise.all(outcomes)).to.deep.equal([{ kind: 'lost' }, unsent, unsent]);
      expect(await heartbeat()).to.deep.equal({
        kind: 'unsent',
        why: 'there is no connection to the central system',
      });
      await rig.closed.take();
      rig.passWait();
      await station.nextConnection();
      station.answer(lost, time);
      await station.call('ClearCache');
      expect(rig.transport.counters.lateAnswers).to.equal(1);
      expect(rig.broken.map(({ text, action }) => [text, action])).to.deep.equal([
        ['an answer to a call of a connection that has ended', 'Heartbeat'],
      ]);
      expect(station.calls.length).to.equal(1);
    });

    it('a payload that breaks its schema is not sent, except on purpose', async () => {
      await open();
      expect(await rig.line.call('StatusNotification', {})).to.deep.equal({
        kind: 'unsent',
        why: 'StatusNotification breaks its schema: /connectorId is missing',
      });
      expect(await rig.line.call('NoSuchCall', {})).to.include({ kind: 'unsent' });
      expect((await rig.line.call('NoSuchCall', { a: null }, { validate: false })).kind).to.equal('error');
      station.answers['Heartbeat'] = () => ({ anything: true });
      expect(await heartbeat({ validate: false })).to.include({ kind: 'result' });
      expect(station.calls.map(({ payload }) => payload)).to.deep.equal([{ a: null }, {}]);
    });

    it('of 1000 that wait no further one is taken', async () => {
      await open();
      station.silent = true;
      const outcomes = Array.from({ length: 1002 }, () => heartbeat());
      expect(await outcomes[1001]).to.deep.equal({ kind: 'unsent', why: 'too many calls wait already' });
      expect(rig.line.waiting).to.equal(1001);
    });
  });

  describe('answers of the central system that break their schema', () => {
    const code = { 'ocpp1.6': 'OccurenceConstraintViolation', v2: 'OccurrenceConstraintViolation' };
    for (const version of versions)
      it(`${version}: the call has failed${version === 'ocpp2.1' ? ', and CALLRESULTERROR says so (4.2.4)' : ''}`, async () => {
        await open(version);
        station.answers['Heartbeat'] = () => ({});
        const expected = version === 'ocpp1.6' ? code[version] : code.v2;
        expect(await heartbeat()).to.include({ kind: 'error', code: expected });
        const id = station.calls[0]?.messageId;
        expect(rig.violated).to.have.length(1);
        expect(rig.violated[0]).to.include({ action: 'Heartbeat', messageId: id, code: expected });
        const told = (await answered()).map((text) => JSON.parse(text) as unknown);
        const place = { place: '/currentTime' };
        expect(told).to.deep.equal(version === 'ocpp2.1' ? [[5, id, expected, '/currentTime is missing', place]] : []);
      });

    for (const [what, broken] of [
      ['no payload', (id: string) => [3, id]],
      ['a payload that is a list', (id: string) => [3, id, []]],
      ['an error without its code', (id: string) => [4, id]],
    ] as const)
      for (const version of versions)
        it(`${version}: ${what}`, async () => {
          await open(version);
          station.silent = true;
          const outcome = heartbeat();
          const { messageId } = await station.next('Heartbeat');
          station.sendText(JSON.stringify(broken(messageId)));
          const expected = version === 'ocpp1.6' ? 'FormationViolation' : 'FormatViolation';
          expect(await outcome).to.include({ kind: 'error', code: expected });
          expect(rig.count('in', 'invalid')).to.equal(1);
          const told = (await answered()).map((text) => JSON.parse(text) as readonly unknown[]);
          // an error is never answered
          const refuses = version === 'ocpp2.1' && broken('')[0] === 3;
          expect(told.map(([type, id]) => [type, id])).to.deep.equal(refuses ? [[5, messageId]] : []);
        });
  });
});
