import { expect } from 'chai';
import { class0, class1, clearRestart, integrity, JudgeRig } from './rig.ts';

describe('findings about DNP3 masters: confirms', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  /** Polls an event, which asks for a confirm. @returns the number of the response */
  const pollEvent = () => {
    rig.event();
    rig.next(class1);
    return rig.seq;
  };

  describe('unconfirmed', () => {
    /** A response that is not confirmed before the next request, 6 s later. */
    const leave = (times: number) => {
      for (let n = 0; n < times; n += 1) {
        pollEvent();
        rig.pass(6000);
        rig.next('17');
      }
    };

    it('finds three responses in a row that are not confirmed before the next request, 6 s later', () => {
      leave(3);
      expect(rig.row('unconfirmed').cases[0]).to.deep.include({
        text: 'left 3 responses with CON unconfirmed, and sent a request 6 s after the last one',
        facts: { responses: 3, waited_ms: 6000 },
      });
    });

    it('takes two for the losses of a gateway, and begins anew after a confirm', () => {
      leave(2);
      rig.confirm(pollEvent());
      leave(2);
      expect(rig.row('unconfirmed')).to.include({ state: 'held', broken: 0 });
    });

    it('holds where the confirm comes, also where it comes late', () => {
      rig.confirm(pollEvent());
      const seq = pollEvent();
      rig.pass(8000);
      rig.confirm(seq);
      rig.next(class0);
      expect(rig.row('unconfirmed')).to.include({ state: 'held', broken: 0 });
      expect(rig.rules()).to.deep.equal([]);
    });

    it('takes an early request, a repetition, and a late answer for no mistake', () => {
      for (let n = 0; n < 3; n += 1) {
        pollEvent();
        rig.pass(5500);
        rig.next(class0);
        pollEvent();
        rig.pass(9000);
        rig.next(class1, rig.seq);
      }
      expect(rig.rules()).to.deep.equal([]);
    });

    it('does not count where the answer waited for an unsolicited response', () => {
      rig = new JudgeRig({ unsolicited: true });
      for (let n = 0; n < 3; n += 1) {
        rig.pass(500);
        rig.event();
        rig.next(class1);
        rig.pass(5500);
        rig.pass(6500);
        rig.next(class0);
      }
      expect(rig.rules()).to.not.include('unconfirmed');
    });

    it('finds unsolicited events that stay unconfirmed over three attempts, after the first minute', () => {
      const unconfirmedEvents = () => {
        rig = new JudgeRig({ unsolicited: true });
        rig.settle();
        rig.pass(500);
        rig.confirm(0, true);
        rig.next('14 3c 02 06');
      };
      const listen = (seconds: number, hasRequests = true) => {
        for (let n = 0; n < seconds / 10; n += 1) {
          rig.pass(5_000);
          if (hasRequests) rig.next('17');
          rig.pass(5_000);
        }
      };
      unconfirmedEvents();
      rig.event();
      listen(80);
      expect(rig.rules()).to.deep.equal([]);
      listen(20);
      expect(rig.row('unconfirmed').cases[0]?.text).to.contain('left 3 attempts of an unsolicited response');
      unconfirmedEvents();
      rig.event();
      listen(70);
      listen(100, false);
      expect(rig.rules()).to.deep.equal([]);
      unconfirmedEvents();
      rig.pass(61_000);
      for (let n = 0; n < 8; n += 1) {
        rig.event();
        rig.pass(2000);
        rig.confirm(n + 1, true);
        rig.next('17');
      }
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('confirm_sequence', () => {
    it('finds a number that was not sent, and the wrong UNS bit', () => {
      rig.confirm((pollEvent() + 2) & 0x0f);
      expect(rig.row('confirm_sequence').cases[0]).to.deep.include({
        text: 'confirmed a response with the number 5, which was not sent',
        facts: { sequence: 5, unsolicited: false, awaited: 3 },
      });
      rig.pass(60_000);
      rig.confirm(pollEvent(), true);
      expect(rig.row('confirm_sequence').broken).to.equal(2);
      expect(rig.rules()).to.deep.equal(['confirm_sequence']);
    });

    it('finds the number of a fragment that was confirmed before the last one', () => {
      const [first, second] = [pollEvent(), pollEvent()];
      rig.confirm(first);
      rig.confirm(second);
      pollEvent();
      rig.confirm(first);
      expect(rig.rules()).to.deep.equal(['confirm_sequence']);
    });

    it('holds for the right number', () => {
      rig.confirm(pollEvent());
      expect(rig.state('confirm_sequence')).to.equal('held');
    });

    it('takes the late confirm of a fragment that a request has ended for right', () => {
      const former = pollEvent();
      pollEvent();
      rig.confirm(former);
      expect(rig.rules()).to.deep.equal([]);
    });

    it('takes a repeated confirm of the former fragment for right', () => {
      const former = pollEvent();
      rig.confirm(former);
      pollEvent();
      rig.confirm(former);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('confirm_unasked', () => {
    it('finds a confirm of a response without CON', () => {
      rig.next(class0);
      rig.confirm(rig.seq);
      expect(rig.rules()).to.deep.equal(['confirm_unasked']);
    });

    it('is all that is wrong where an unsolicited response with the same number waits', () => {
      rig = new JudgeRig({ unsolicited: true });
      rig.pass(500);
      rig.next('17');
      rig.confirm(rig.seq);
      expect(rig.rules()).to.deep.equal(['confirm_unasked']);
    });

    it('holds for confirms that were asked for, and takes late ones', () => {
      const seq = pollEvent();
      rig.pass(9000);
      rig.confirm(seq);
      rig.confirm(seq);
      expect(rig.state('confirm_unasked')).to.equal('held');
    });
  });

  describe('null_unconfirmed', () => {
    const listen = (confirms: boolean, seconds: number) => {
      rig = new JudgeRig({ unsolicited: true });
      rig.next(integrity);
      rig.next(clearRestart);
      rig.writeTime();
      rig.pass(500);
      if (confirms) rig.confirm(0, true);
      for (let n = 0; n < seconds / 10; n += 1) {
        rig.pass(5_000);
        // a READ would wait for the unsolicited response
        rig.next('17');
        rig.pass(5_000);
      }
    };

    it('finds a master that polls and never confirms it, a minute after the connection began', () => {
      listen(false, 100);
      expect(rig.rules()).to.deep.equal([]);
      listen(false, 120);
      expect(rig.row('null_unconfirmed').cases[0]?.text).to.contain('left 5 attempts');
    });

    it('holds where it is confirmed', () => {
      listen(true, 130);
      expect(rig.state('null_unconfirmed')).to.equal('held');
    });

    it('is not observable without unsolicited responses, and needs requests of the master', () => {
      expect(rig.state('null_unconfirmed')).to.equal('not_observable');
      listen(false, 0);
      rig.pass(200_000);
      expect(rig.rules()).to.deep.equal([]);
    });
  });

  describe('whom they accuse', () => {
    const [nullResponse, events, answer] = ['f0 82 00 00', 'f0 82 00 00 02 01 28', 'e3 81 00 00 02 01 28'];
    const confirmed = (seq: number, uns: boolean) => {
      rig.observer.confirmed({ seq, uns, fir: true, fin: true, con: false });
    };
    /** Attempts of an unsolicited response, each with a request after it. */
    const attempts = (times: number, octets: string, waitMs = 1000) => {
      for (let n = 0; n < times; n += 1) {
        rig.sent(octets);
        rig.pass(waitMs);
        rig.next('17');
      }
    };
    const leave = (times: number) => {
      for (let n = 0; n < times; n += 1) {
        pollEvent();
        rig.pass(6000);
        rig.next('17');
      }
    };

    beforeEach(() => {
      rig = new JudgeRig({ facts: { hasUnsolicited: true } });
      rig.settle();
    });

    it('counts attempts from the end of the first minute on, and requests from a second after each', () => {
      rig.pass(60_000);
      attempts(5, nullResponse);
      expect(rig.rules()).to.deep.equal([]);
      rig.sent(nullResponse);
      expect(rig.rules()).to.deep.equal(['null_unconfirmed']);
      rig = new JudgeRig({ facts: { hasUnsolicited: true } });
      rig.settle();
      rig.pass(60_000);
      attempts(10, nullResponse, 999);
      expect(rig.rules()).to.deep.equal([]);
    });

    it('counts attempts of one fragment alone, and anew after a confirm', () => {
      rig.pass(60_000);
      for (let n = 0; n < 8; n += 1) attempts(1, `f${n % 2} 82 00 00 02 01 28`);
      for (let n = 0; n < 8; n += 1) attempts(1, n % 2 === 0 ? nullResponse : events);
      attempts(2, events);
      confirmed(0, true);
      attempts(2, events);
      expect(rig.rules()).to.deep.equal([]);
      rig.sent(events);
      expect(rig.rules()).to.deep.equal(['unconfirmed']);
    });

    it('holds for null_unconfirmed only where the response without objects is confirmed', () => {
      rig.sent(nullResponse);
      rig.sent(answer);
      confirmed(3, false);
      rig.sent(events);
      confirmed(0, true);
      expect(rig.row('null_unconfirmed').exercised).to.equal(0);
      rig.sent(nullResponse);
      confirmed(0, true);
      expect(rig.row('null_unconfirmed').exercised).to.equal(1);
      rig.sent(nullResponse);
      rig.observer.restarted();
      confirmed(0, true);
      expect(rig.findings.lines.join()).to.not.contain('failed');
    });

    it('asks for nothing where no fragment waits', () => {
      rig.confirm(9);
      expect(rig.rules()).to.deep.equal(['confirm_unasked']);
    });

    it('takes no broadcast, lost frame, restart or wrong confirm for the third unconfirmed response', () => {
      leave(2);
      pollEvent();
      rig.pass(6000);
      rig.ask('c9 07 14 00 06', 'broadcast-no-confirm');
      pollEvent();
      rig.link.lost(4);
      rig.pass(6000);
      rig.next('17');
      expect(rig.rules()).to.deep.equal([]);
      pollEvent();
      rig.stack.outstation.restart();
      rig.pass(6000);
      rig.next(clearRestart);
      rig.writeTime();
      leave(2);
      expect(rig.rules()).to.deep.equal([]);
      // a number that was asked for may come late
      rig.pass(61_000);
      rig.confirm((pollEvent() + 5) & 0x0f);
      rig.pass(6000);
      rig.next('17');
      leave(2);
      expect(rig.rules()).to.deep.equal(['confirm_sequence']);
    });

    it('dates the case from the last response', () => {
      leave(3);
      const [one] = rig.row('unconfirmed').cases;
      expect(one!.wallMs - one!.sinceMs!).to.equal(6000);
    });
  });
});
