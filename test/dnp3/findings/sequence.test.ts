import { expect } from 'chai';
import { spec } from '../rig/stack.ts';
import { class0, class1, integrity, JudgeRig, latch } from './rig.ts';

describe('findings about DNP3 masters: sequence numbers and form', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  describe('sequence', () => {
    it('finds a number far off, and the same number with other octets', () => {
      rig.next(class1, 7);
      expect(rig.row('sequence').cases[0]).to.deep.include({
        text: 'sent a new request with the number 7 after one with the number 2',
        excerpt: 'c7013c0206',
      });
      rig.next(class0, 7);
      expect(rig.row('sequence')).to.include({ broken: 1, repeats: 1 });
    });

    it('takes numbers that are left out for losses of a gateway, unless it happens three times in a row', () => {
      for (const step of [4, 2, 1, 3, 3]) rig.next(class1, (rig.seq + step) & 0x0f);
      expect(rig.row('sequence')).to.include({ broken: 0, undecided: 4 });
      rig.next(class1, (rig.seq + 2) & 0x0f);
      expect(rig.row('sequence').broken).to.equal(1);
    });

    it('holds over the end of the numbers', () => {
      for (let n = 0; n < 20; n += 1) rig.next(n % 2 === 0 ? class1 : class0);
      expect(rig.row('sequence')).to.include({ state: 'held', broken: 0 });
    });

    it('takes the number of the request or of any fragment of its answer for the last one', () => {
      const specs = Array.from({ length: 1000 }, (_, index) => spec('analogInput', index));
      for (const step of [1, 2, 3, 7]) {
        rig = new JudgeRig({ specs });
        rig.next(class0);
        for (const seq of [0, 1]) rig.confirm(seq);
        rig.next(class1, step);
        expect(rig.rules(), `step ${step}`).to.deep.equal(step === 7 ? ['sequence'] : []);
        expect(rig.row('sequence').undecided, `step ${step}`).to.equal(0);
      }
    });

    it('takes a repetition, a broadcast, a new connection, and 0 after a pause for no mistake', () => {
      rig.next(class1, rig.seq + 1);
      rig.next(class1, rig.seq);
      rig.ask('c9 07 14 00 06', 'broadcast-no-confirm');
      rig.next(class1, 12);
      rig.reconnect();
      rig.next(class1, 3);
      rig.pass(10_000);
      rig.next(class0, 0);
      expect(rig.row('sequence').broken).to.equal(0);
      rig.pass(9_500);
      rig.next(class1, 0);
      expect(rig.row('sequence').broken).to.equal(1);
    });

    it('does not count requests of the time without power', () => {
      rig.stack.outstation.restart();
      rig.next(class1, 9);
      expect(rig.rules()).to.deep.equal([]);
    });

    it('finds another number than 0 also after a pause, and forgets what a lost frame had', () => {
      rig.pass(20_000);
      rig.next(class1, 9);
      expect(rig.row('sequence').broken).to.equal(1);
      rig.link.lost(4);
      rig.next(class1, 2);
      expect(rig.row('sequence')).to.include({ broken: 1, repeats: 0 });
    });

    it('leaves the number of an OPERATE to the rule of its SELECT', () => {
      rig.next(`03 ${latch}`);
      rig.next(`04 ${latch}`, rig.seq + 9);
      expect(rig.rules()).to.deep.equal(['operate_sequence']);
    });
  });

  describe('request_form, fragment_odd', () => {
    it('find each wrong form by itself', () => {
      for (const octets of ['43 01 3c 02 06', '83 01 3c 02 06', 'd3 01 3c 02 06', 'c3 81 00 00', 'c3']) rig.ask(octets);
      expect(rig.row('request_form').cases.map(({ text }) => text)).to.deep.equal([
        'sent a fragment without FIR',
        'sent a fragment without FIN',
      ]);
      expect(rig.row('fragment_odd').cases.map(({ text }) => text)).to.deep.equal([
        'sent a fragment with UNS',
        'sent a fragment with the function 129 of a response',
        'sent a fragment with fewer than two octets',
      ]);
      rig.next(class1, 9);
      expect(rig.rules()).to.deep.equal(['request_form', 'fragment_odd']);
    });

    it('hold for requests and for the confirm of an unsolicited response', () => {
      rig.next(integrity);
      rig.confirm(3, true);
      expect([rig.state('request_form'), rig.state('fragment_odd')]).to.deep.equal(['held', 'held']);
    });
  });
});
