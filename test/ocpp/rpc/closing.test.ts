import { expect } from 'chai';
import type { OcppSubprotocol } from '../../../src/contract/ocpp.ts';
import { until, useCentral } from './rig.ts';
import type { RigOptions } from './rig.ts';

const currentTime = '2026-06-21T10:00:00.000Z';

for (const subprotocol of ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] satisfies OcppSubprotocol[])
  describe(`a charge point of ${subprotocol} that closes its connection to open another`, () => {
    const stage = useCentral({ subprotocols: [subprotocol] });

    /** A station that has answered a call after which it reconnects, while its Heartbeat has no answer. */
    const closing = async (options: RigOptions = {}) => {
      const { rig, station, connection } = await stage.connected({ subprotocols: [subprotocol], ...options });
      station.silent = true;
      rig.handle = (_action, _payload, after) => {
        after(() => {
          rig.link.reconnect('new credentials');
        });
        return { status: 'Accepted' };
      };
      const outcome = rig.line.call('Heartbeat', {});
      const heartbeat = await station.next('Heartbeat');
      expect(await station.call('ClearCache')).to.deep.equal({ kind: 'result', payload: { status: 'Accepted' } });
      return { rig, station, connection, outcome, heartbeat };
    };

    it('awaits the answer to its call, sends no other one meanwhile, and answers', async () => {
      const { rig, station, connection, outcome, heartbeat } = await closing();
      const next = rig.line.call('Heartbeat', {});
      expect((await station.call('ClearCache')).kind).to.equal('result');
      expect([connection.socket.readyState, station.calls.length]).to.deep.equal([connection.socket.OPEN, 1]);
      station.answer(heartbeat, { currentTime });
      expect(await outcome).to.include({ kind: 'result' });
      expect(rig.count('out', 'call')).to.equal(1);
      expect(await connection.closed).to.deep.equal({ code: 1000, reason: 'new credentials' });
      await rig.opened.take();
      expect((await next).kind).to.equal('unsent');
      expect([station.calls.length, rig.link.drops]).to.deep.equal([1, 0]);
      void rig.line.call('Heartbeat', {});
      await station.next('Heartbeat');
    });

    it('awaits it for 5 s', async () => {
      const { rig, station, connection, outcome } = await closing();
      rig.timers.pass(4999);
      expect((await station.call('ClearCache')).kind).to.equal('result');
      rig.timers.pass(1);
      expect((await connection.closed).code).to.equal(1000);
      expect(await outcome).to.deep.equal({ kind: 'lost' });
    });

    it('opens another at once where the central system ends this one, and leaves that one alone', async () => {
      const { rig, station } = await closing();
      station.cut();
      await rig.closed.take();
      await rig.opened.take();
      rig.timers.pass(5000);
      station.silent = false;
      expect((await rig.line.call('Heartbeat', {})).kind).to.equal('result');
      expect(rig.link.connects).to.equal(2);
    });

    it('awaits nothing without power', async () => {
      let hasPower = true;
      const { rig, station, connection } = await closing({ mayOpen: () => hasPower });
      hasPower = false;
      rig.link.restart('the device has switched itself off', 2000);
      expect((await station.call('ClearCache')).kind).to.equal('lost');
      expect((await connection.closed).code).to.equal(1001);
    });

    it('has sent its answer also where the other end reads it after the closing handshake was given up', async () => {
      const { rig, station, connection } = await stage.connected({ subprotocols: [subprotocol] });
      rig.handle = (_action, _payload, after) => {
        after(() => {
          rig.link.reconnect('new credentials');
        });
        return { status: 'Accepted' };
      };
      const reply = station.call('ClearCache');
      connection.request.socket.pause();
      await until(() => rig.count('out', 'result') === 1);
      rig.timers.pass(2000);
      await rig.closed.take();
      connection.request.socket.resume();
      expect((await reply).kind).to.equal('result');
    });
  });
