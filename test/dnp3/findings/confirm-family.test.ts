import { expect } from 'chai';
import { OneFamily } from '../../../src/dnp3/findings/confirm-family.ts';

describe('confirms of one counter of DNP3', () => {
  let family: OneFamily;
  const sent = (seq: number, nowMs: number, asksForConfirm = true) => {
    family.sent({ seq, asksForConfirm, isFirst: true, isUnsolicited: false, hasObjects: true, bits: 0 }, nowMs);
  };

  beforeEach(() => {
    family = new OneFamily();
  });

  it('are awaited from a fragment with CON until its confirm, its end, or a fragment without CON', () => {
    expect(family.isWaiting).to.equal(false);
    sent(0, 0);
    expect([family.isWaiting, family.awaitedSeq]).to.deep.equal([true, 0]);
    expect(family.confirm(0, 10)).to.equal('awaited');
    expect([family.isWaiting, family.awaitedSeq]).to.deep.equal([false, null]);
    sent(15, 20);
    sent(1, 30, false);
    expect(family.isWaiting).to.equal(false);
    expect(family.end(40)).to.equal(null);
    sent(2, 50);
    expect(family.end(80)).to.equal(30);
    expect(family.isWaiting).to.equal(false);
  });

  it('are late for 60 s, and leave the wait for the next one', () => {
    sent(1, 0);
    sent(2, 1000);
    expect(family.confirm(1, 60_000)).to.equal('former');
    expect(family.awaitedSeq).to.equal(2);
    sent(3, 60_000);
    sent(4, 60_000);
    expect(family.confirm(3, 120_001)).to.equal('wrong');
  });

  it('may be repeated, but only the last one', () => {
    sent(1, 0);
    family.confirm(1, 0);
    expect(family.confirm(1, 0)).to.equal('former');
    sent(2, 0);
    family.confirm(2, 0);
    expect(family.confirm(1, 0)).to.equal('wrong');
  });

  it('are unasked for the last fragment without CON alone', () => {
    sent(1, 0, false);
    expect([family.confirm(1, 0), family.confirm(0, 0)]).to.deep.equal(['unasked', 'wrong']);
    sent(2, 0);
    expect(family.confirm(1, 0)).to.equal('wrong');
  });
});
