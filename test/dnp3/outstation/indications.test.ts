import { expect } from 'chai';
import { EventBuffer, Indications } from '../../../src/dnp3/stack/outstation/events.ts';
import { undisturbed } from '../../../src/dnp3/stack/outstation/types.ts';
import { HandClock, MasterTime, spec } from '../rig/stack.ts';

describe('indications of DNP3', () => {
  function indications(bits = 0) {
    const asked: boolean[] = [];
    const disturber = {
      iin: (isSent: boolean) => {
        asked.push(isSent);
        return bits;
      },
      ignoresConfirm: () => false,
      response: () => undisturbed,
    };
    const events = new EventBuffer(1);
    const conditions = { localControl: () => false, trouble: () => false };
    const time = new MasterTime(new HandClock());
    time.needsTime = false;
    const made = new Indications({ conditions, disturber }, { events, time });
    made.hasRestarted = false;
    return { made, asked, events };
  }

  it('are shown without a response, and told in one', () => {
    const { made, asked } = indications(0x40);
    expect(made.nextBits).to.equal(0x40);
    expect(made.report()).to.deep.equal({ bits: 0x40, outstationBits: 0, broadcasts: 0, lost: 0 });
    expect(asked).to.deep.equal([false, true]);
  });

  it('tell of a broadcast once where its address asks for no confirm', () => {
    const { made } = indications();
    made.broadcast('broadcast-no-confirm');
    expect([made.asksForConfirm, made.nextBits, made.report().outstationBits, made.nextBits]).to.deep.equal([
      false,
      1,
      1,
      0,
    ]);
  });

  it('go on telling of a broadcast that the confirmed fragment did not tell of', () => {
    const { made } = indications(1);
    const before = made.report();
    made.broadcast('broadcast-confirm');
    // the fault has set the bit in that fragment, no broadcast
    made.confirmed({ ...before, broadcasts: 1 });
    expect(made.asksForConfirm).to.equal(true);
    const first = made.report();
    made.broadcast('broadcast-confirm');
    made.confirmed(first);
    expect(made.asksForConfirm).to.equal(true);
    made.confirmed(made.report());
    expect([made.asksForConfirm, made.report().outstationBits]).to.deep.equal([false, 0]);
  });

  it('go on telling of an overflow that the confirmed fragment did not tell of', () => {
    const { made, events } = indications(0x800);
    const before = made.report();
    const lose = (): void => {
      for (let n = 0; n < 2; n += 1) {
        const of = spec('binaryInput', 0);
        events.add({ spec: of, class: 1, state: { value: 1, flags: 1 }, stamp: 0 }, { localMs: 0, dateMs: 0 });
      }
    };
    lose();
    events.confirm(events.select({}));
    made.confirmed({ ...before, lost: 1 });
    expect(events.isOverflown).to.equal(true);
    made.confirmed(made.report());
    expect(events.isOverflown).to.equal(false);
  });
});
