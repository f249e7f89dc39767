import { expect } from 'chai';
import type { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { concernsAny, ShownImage } from '../../../src/sunspec/faults/image.ts';
import type { ReadingFault } from '../../../src/sunspec/faults/image.ts';
import { createTestBank } from '../../support/map.ts';

describe('the registers as many reading faults show them', () => {
  const { bank } = createTestBank();
  const { layout } = bank;
  const truthNow = () => Buffer.from(bank.read(layout.base, layout.size));
  const quantities = layout.slots.filter(({ def, implemented }) => def.type === 'int16' && implemented);
  const [first, second, third] = quantities as [PointSlot, PointSlot, PointSlot];
  const fault = {} as unknown as ActiveFault;
  const [now, next] = [0 as SimTime, 1 as SimTime];
  let applied = 0;

  /** Adds to the number in the register. */
  const adds = (amount: number, slots: readonly PointSlot[] = quantities): ReadingFault => ({
    fault,
    effect: {
      slots,
      change(image, slot) {
        applied += 1;
        image.setRaw(slot, (image.raw(slot) ?? 0) + amount);
      },
    },
  });
  const at = ({ address }: PointSlot) => 2 * (address - layout.base);
  beforeEach(() => {
    applied = 0;
  });

  it('a fault changes a point once for any number of reads, and only points that are read', () => {
    const shown = new ShownImage(layout);
    const striking = Array.from({ length: 10 }, () => adds(1));
    const truth = truthNow();
    truth.writeInt16BE(100, at(first));
    for (let i = 0; i < 20; i += 1) {
      const bytes = shown.show(truth, [first, second], striking, now);
      expect(bytes.readInt16BE(at(first))).to.equal(110);
    }
    expect(applied).to.equal(10 * 2);
    shown.show(truth, [second, third], striking, now);
    expect(applied).to.equal(10 * 3);
  });

  it('is made again: a point that has changed, and all of them for another instant or other faults', () => {
    const shown = new ShownImage(layout);
    const striking = [adds(1), adds(2, [first])];
    const truth = truthNow();
    truth.writeInt16BE(5, at(first));
    truth.writeInt16BE(6, at(second));
    const values = (faults: readonly ReadingFault[], instant: SimTime) => {
      const bytes = shown.show(truth, [first, second], faults, instant);
      return [first, second].map((slot) => bytes.readInt16BE(at(slot)));
    };
    expect(values(striking, now)).to.deep.equal([8, 7]);
    truth.writeInt16BE(50, at(first));
    applied = 0;
    expect(values(striking, now)).to.deep.equal([53, 7]);
    expect(applied, 'two faults of one point').to.equal(2);
    values(striking, next);
    expect(applied).to.equal(5);
    expect(values(striking.slice(1), next)).to.deep.equal([52, 6]);
  });

  it('steady faults stay over ticks: a point is made again when it has changed itself', () => {
    const shown = new ShownImage(layout);
    const steady = { ...adds(1), effect: { ...adds(1).effect, isSteady: true as const } };
    const truth = truthNow();
    truth.writeInt16BE(5, at(first));
    truth.writeInt16BE(6, at(second));
    const values = (faults: readonly ReadingFault[], instant: SimTime) => {
      const bytes = shown.show(truth, [first, second], faults, instant);
      return [first, second].map((slot) => bytes.readInt16BE(at(slot)));
    };
    expect(values([steady], now)).to.deep.equal([6, 7]);
    expect([values([steady], next), applied]).to.deep.equal([[6, 7], 2]);
    truth.writeInt16BE(50, at(first));
    expect([values([steady], now), applied]).to.deep.equal([[51, 7], 3]);
    // one that moves with time, and all are made again
    const both = [steady, adds(1)];
    expect([values(both, now), applied]).to.deep.equal([[52, 8], 7]);
    expect([values(both, next), applied]).to.deep.equal([[52, 8], 11]);
  });

  it('values changed in a row are kept as the register can hold them after each, and around other effects', () => {
    const shown = new ShownImage(layout);
    const number = (change: (value: number) => number): ReadingFault => ({
      fault,
      effect: { slots: [first], number: change },
    });
    const truth = truthNow();
    truth.writeInt16BE(1, at(first));
    const unit = first.sf < 0 ? 1 / 10 ** -first.sf : 10 ** first.sf;
    const valueOf = (...striking: ReadingFault[]) => shown.show(truth, [first], striking, now).readInt16BE(at(first));
    const half = number((value) => value * 1.4);
    expect(valueOf(half, half, half), 'rounded each time').to.equal(1);
    const much = number((value) => value + 1e6 * unit);
    expect(
      valueOf(
        much,
        number((value) => value - unit),
      ),
    ).to.equal(0x7fff - 1);
    expect(valueOf(much, adds(-0x7fff), half, adds(100)), 'in the order of the faults').to.equal(100);
    const clears: ReadingFault = {
      fault,
      effect: {
        slots: [first],
        change(image, slot) {
          image.clear(slot);
        },
      },
    };
    expect(valueOf(half, clears, much), 'a point without a value stays so').to.equal(-0x8000);
  });

  it('effects that use other points find these as the faults before have left them', () => {
    const shown = new ShownImage(layout);
    const sum: ReadingFault = {
      fault,
      effect: {
        slots: [first],
        reads: [second, third],
        apply(image) {
          applied += 1;
          image.setRaw(first, (image.raw(second) ?? 0) + (image.raw(third) ?? 0));
        },
      },
    };
    const truth = truthNow();
    truth.writeInt16BE(10, at(second));
    truth.writeInt16BE(20, at(third));
    const striking = [adds(1), sum, adds(100)];
    for (let i = 0; i < 3; i += 1) {
      const bytes = shown.show(truth, [first], striking, now);
      expect(bytes.readInt16BE(at(first))).to.equal(132);
    }
    expect(applied, 'the sum once, each other fault once per point that counts').to.equal(1 + 2 * 3);
    truth.writeInt16BE(11, at(second));
    expect(shown.show(truth, [first], [adds(1), sum], now).readInt16BE(at(first))).to.equal(33);
  });

  it('knows which points an effect concerns', () => {
    const { effect } = adds(1, [first]);
    expect([
      concernsAny(effect, [second, first]),
      concernsAny(effect, [second]),
      concernsAny(effect, []),
    ]).to.deep.equal([true, false, false]);
  });
});
