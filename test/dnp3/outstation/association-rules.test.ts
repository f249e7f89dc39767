/** Connections, confirms and restarts: the cases that a mutation of the source would change. */
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import type { Session } from '../../../src/dnp3/stack/outstation/types.ts';
import { hex, toHex } from '../rig/frames.ts';
import { association, class1, classes, event, settled, unsolicited } from '../rig/classes.ts';

const delay = '34 02 07 01 00 00';
const crob = '0c 01 17 01 00 03 01 64 00 00 00 64 00 00 00 00';

/** A connection that keeps what is sent to it. */
function connection() {
  const sent: { readonly fragment: string; readonly badCrc: boolean | undefined }[] = [];
  let replaced = 0;
  const session: Session = {
    peer: '4@127.0.0.1:9',
    send: (fragment: Buffer, options) => sent.push({ fragment: toHex(fragment), badCrc: options?.badCrc }),
    replaced: () => (replaced += 1),
    probe: () => undefined,
  };
  return { session, sent, replaced: () => replaced };
}

describe('the connection of a master', () => {
  it('is replaced by the next one, which takes the answers over', () => {
    const stack = settled();
    stack.set('binaryInput', 0, 1);
    stack.ask(`c2 01 ${class1}`);
    const next = connection();
    association(stack).open(next.session);
    expect(stack.replaced).to.deep.equal([4]);
    expect(association(stack).session).to.equal(next.session);
    // what was under way is over: its confirm comes too late
    stack.ask('c2 00');
    expect(association(stack).events.size).to.equal(1);
    expect(stack.ask('c3 17')).to.deep.equal([]);
    expect(next.sent).to.deep.equal([{ fragment: `c3 81 02 00 ${delay}`, badCrc: false }]);
  });

  it('does not end with the end of one that it has replaced', () => {
    const stack = settled();
    const [former, next] = [connection(), connection()];
    association(stack).open(former.session);
    association(stack).open(next.session);
    association(stack).close(former.session);
    expect(association(stack).session).to.equal(next.session);
    expect([former.replaced(), next.replaced()]).to.deep.equal([1, 0]);
    association(stack).close(next.session);
    expect(association(stack).session).to.equal(null);
  });

  it('takes with it what waits for a confirm, the select, and the last request', () => {
    const stack = settled();
    stack.set('binaryInput', 0, 1);
    stack.ask(`c2 01 ${class1}`);
    stack.disconnect();
    stack.clock.pass(5000);
    expect(association(stack).counters.confirmTimeouts).to.equal(0);
    stack.connect();
    expect(stack.ask('c2 00')).to.deep.equal([]);
    expect(association(stack).events.waiting()[1]).to.equal(1);
    stack.ask(`c3 05 ${crob}`);
    stack.disconnect();
    stack.connect();
    // the same octets are a new request
    stack.ask(`c3 05 ${crob}`);
    expect(stack.done).to.have.length(2);
  });

  it('is named as the one who operates', () => {
    const stack = settled({ masters: [4, 5] });
    stack.ask(`c2 05 ${crob}`);
    stack.disconnect(5);
    stack.ask(`c2 05 ${crob}`, 5, 'broadcast-no-confirm');
    stack.outstation.association(5)?.receive(hex(`c3 05 ${crob}`), 'broadcast-no-confirm', '7@127.0.0.1:8');
    expect(stack.peers).to.deep.equal(['4@127.0.0.1:1', '5', '7@127.0.0.1:8']);
  });

  it('tells when its last request has come', () => {
    const stack = classes();
    expect(association(stack).lastRequestMs).to.equal(null);
    stack.clock.pass(70);
    stack.ask('c2 17');
    stack.clock.pass(70);
    expect(association(stack).lastRequestMs).to.equal(70);
  });

  it('does not count what is no request', () => {
    const stack = settled();
    const before = { ...association(stack).counters };
    for (const octets of ['', 'c2', '82 17', '42 17', 'd2 17', 'c2 81 00 00'])
      expect(stack.ask(octets)).to.deep.equal([]);
    expect(association(stack).counters).to.deep.equal(before);
  });
});

describe('requests of DNP3', () => {
  it('that have no answer have none the second time, and are carried out once', () => {
    const stack = settled();
    for (let n = 0; n < 2; n += 1) expect(stack.ask(`c2 06 ${crob}`)).to.deep.equal([]);
    expect(stack.done).to.have.length(1);
  });

  it('are counted with their answers, refusals and late confirms', () => {
    const stack = classes({ masters: [4, 5] });
    const sum = () => stack.outstation.counters;
    stack.ask('c0 17');
    stack.ask('c1 46', 5);
    stack.ask('c2 01 63 01 06');
    stack.ask('c3 01 01 02 00 00 00');
    stack.ask('c4 02 50 01 00 04 04 00');
    stack.set('binaryInput', 0, 1);
    stack.set('binaryInput', 0, 0);
    stack.ask(`c5 01 ${class1}`);
    stack.clock.pass(5000);
    expect(sum()).to.deep.equal({
      requests: 6,
      responses: 6,
      unsolicited: 0,
      refusals: 3,
      confirmTimeouts: 1,
      // two of each master
      events: 4,
      eventsLost: 0,
    });
  });

  it('restart the association by a broadcast too', () => {
    const stack = settled();
    expect(stack.ask('c2 0d', 4, 'broadcast-no-confirm')).to.deep.equal([]);
    expect(stack.ask('c3 17')).to.deep.equal([`c3 81 90 00 ${delay}`]);
  });

  it('end a select by a broadcast', () => {
    const stack = settled();
    stack.ask(`c2 03 ${crob}`);
    stack.ask('c2 08 14 00 06', 4, 'broadcast-no-confirm');
    expect(association(stack).selectPending).to.equal(false);
  });

  it('are answered by nothing more when their last fragment is confirmed', () => {
    const stack = settled();
    stack.set('binaryInput', 0, 1);
    expect(stack.ask(`c2 01 ${class1}`)).to.deep.equal([`e2 81 00 00 ${event('00')}`]);
    expect(stack.ask('c2 00')).to.deep.equal([]);
    expect(stack.ask('c2 00')).to.deep.equal([]);
    stack.clock.pass(60_000);
    expect(association(stack).counters).to.include({ responses: 3, confirmTimeouts: 0 });
  });

  it('are not confirmed by a broadcast', () => {
    const stack = settled();
    stack.set('binaryInput', 0, 1);
    stack.ask(`c2 01 ${class1}`);
    stack.ask('c2 00', 4, 'broadcast-no-confirm');
    expect(association(stack).events.size).to.equal(1);
    stack.ask('c2 00');
    expect(association(stack).events.size).to.equal(0);
  });

  it('get their answers as faults have it', () => {
    const stack = settled();
    stack.disturbance.sequenceShift = 3;
    expect(stack.ask('ce 17')).to.deep.equal([`c1 81 00 00 ${delay}`]);
    stack.disturbance.sequenceShift = 0;
    stack.disturbance.iin = 0x2040;
    expect(stack.ask('c2 17')).to.deep.equal([`c2 81 40 20 ${delay}`]);
    expect(association(stack).indications).to.equal(0x2040);
    stack.disturbance.iin = 0;
    stack.disturbance.dropped = true;
    expect(stack.ask('c3 17')).to.deep.equal([]);
    stack.disturbance.dropped = false;
    stack.disturbance.ignoresConfirm = true;
    stack.set('binaryInput', 0, 1);
    expect(stack.ask(`c4 01 ${class1}`)).to.deep.equal([`e4 81 00 00 ${event('00')}`]);
    stack.ask('c4 00');
    expect(association(stack).events.size).to.equal(1);
  });

  it('get their answers late, with CON or with one more object, as faults have it', () => {
    const stack = settled();
    stack.disturbance.asksForConfirm = true;
    expect(stack.ask('c2 17')).to.deep.equal([`e2 81 00 00 ${delay}`]);
    expect(stack.ask('c2 00'), 'a confirm that nobody waits for').to.deep.equal([]);
    stack.disturbance.asksForConfirm = false;
    stack.disturbance.addedOctets = Buffer.from([150, 1, 7, 1, 0]);
    expect(stack.ask('c3 17')).to.deep.equal([`c3 81 00 00 ${delay} 96 01 07 01 00`]);
    stack.disturbance.addedOctets = null;
    stack.disturbance.delayMs = 500;
    expect(stack.ask('c5 17')).to.deep.equal([]);
    stack.disturbance.delayMs = 0;
    expect(stack.ask('c6 17')).to.deep.equal([`c6 81 00 00 ${delay}`]);
    stack.clock.pass(499);
    expect(stack.sent(4)).to.deep.equal([]);
    stack.clock.pass(1);
    expect(stack.sent(4)).to.deep.equal([`c5 81 00 00 ${delay}`]);
  });

  it('get 64 late answers at most', () => {
    const stack = settled();
    stack.disturbance.delayMs = 500;
    for (let n = 0; n < 70; n += 1) stack.ask(`c${(n % 16).toString(16)} 17`);
    stack.clock.pass(500);
    expect(stack.sent(4)).to.have.length(64);
    stack.ask('c9 17');
    stack.clock.pass(500);
    expect(stack.sent(4)).to.have.length(1);
  });

  it('hear of a broadcast until its confirm, where its address asks for one', () => {
    for (const cast of ['broadcast-confirm', 'broadcast-confirm-optional'] as const) {
      const stack = settled();
      stack.ask('c2 18', 4, cast);
      for (const seq of [3, 4]) expect(stack.ask(`c${seq} 17`), cast).to.deep.equal([`e${seq} 81 01 00 ${delay}`]);
      stack.ask('c4 00');
      expect(stack.ask('c5 17'), cast).to.deep.equal([`c5 81 00 00 ${delay}`]);
    }
  });
});

describe('a restart of the outstation', () => {
  it('is told to every master, and drops select, answer and last request', () => {
    const stack = settled({ masters: [4, 5] });
    stack.ask(`c2 03 ${crob}`);
    stack.outstation.restart();
    expect(association(stack).selectPending).to.equal(false);
    expect(stack.ask('c3 17')).to.deep.equal([`c3 81 90 00 ${delay}`]);
    expect(stack.ask('c3 17', 5)).to.deep.equal([`c3 81 90 00 ${delay}`]);
    stack.set('binaryInput', 0, 1);
    stack.ask(`c4 01 ${class1}`);
    stack.outstation.restart();
    stack.ask('c4 00');
    expect(association(stack).events.waiting()[1]).to.equal(1);
    stack.ask(`c5 05 ${crob}`);
    stack.outstation.restart();
    stack.ask(`c5 05 ${crob}`);
    expect(stack.done).to.have.length(2);
  });

  it('gives points their classes back', () => {
    const stack = settled();
    stack.ask('c2 16 3c 01 06 01 00 06');
    stack.outstation.restart();
    expect(stack.database.points('binaryInput').map((point) => point.class)).to.deep.equal([1, 2, 3]);
  });

  it('ends a broadcast that no response has told', () => {
    const stack = settled();
    stack.ask('c2 18', 4, 'broadcast-confirm');
    stack.outstation.restart();
    expect(stack.ask('c3 17')).to.deep.equal([`c3 81 90 00 ${delay}`]);
  });

  it('begins unsolicited responses anew, without classes and from number 0', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    stack.outstation.restart();
    expect([association(stack).unsolicited.nullConfirmed, association(stack).unsolicited.isPending]).to.deep.equal([
      false,
      false,
    ]);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal(['f0 82 92 00']);
    stack.ask('d0 00');
    stack.clock.pass(60_000);
    expect(stack.sent()).to.deep.equal([]);
    expect(association(stack).unsolicited.classes).to.deep.equal([]);
  });

  it('sends nothing to a master without a connection', () => {
    const stack = unsolicited();
    stack.disconnect();
    const before = association(stack).counters.unsolicited;
    stack.outstation.restart();
    stack.clock.pass(60_000);
    expect([stack.sent(), association(stack).counters.unsolicited]).to.deep.equal([[], before]);
    stack.connect();
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal(['f0 82 90 00']);
  });
});

describe('the end of an outstation', () => {
  it('is that of its connections, and of what it hears of its points', () => {
    const stack = settled({ masters: [4, 5] });
    stack.disconnect(5);
    stack.outstation.close();
    expect(stack.outstation.associations.map(({ session }) => session)).to.deep.equal([null, null]);
    stack.set('binaryInput', 0, 1);
    expect(stack.outstation.counters.events).to.equal(0);
    expect(stack.outstation.association(6)).to.equal(null);
  });
});
