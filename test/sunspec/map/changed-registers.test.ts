/** Points that differ between two images of a map, as runs of registers. */
import { expect } from 'chai';
import fc from 'fast-check';
import { changedRegisters, putRegisters } from '../../../src/sunspec/map/changed-registers.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { createTestBank } from '../../support/map.ts';
import { holds } from '../../support/property.ts';

describe('sunspec/map: changed registers', () => {
  const { bank } = createTestBank();
  const { layout } = bank;
  const start = Buffer.from(bank.image());
  const at = (point: string): PointSlot => layout.named(point)!;
  const offset = (point: string) => at(point).address - layout.base;
  /** An image of which the last register of each point differs. */
  const differingIn = (...points: readonly PointSlot[]): Buffer => {
    const image = Buffer.from(start);
    for (const { address, def } of points) {
      const octet = 2 * (address - layout.base + def.size) - 1;
      image.writeUInt8(image.readUInt8(octet) ^ 1, octet);
    }
    return image;
  };
  const changes = (present: Buffer, ...written: readonly PointSlot[]) =>
    changedRegisters(layout, present, start, written);

  it('put into the start image, give the image again', () => {
    const indexes = fc.uniqueArray(fc.nat({ max: layout.slots.length - 1 }), { maxLength: 30 });
    holds('an image is restored', [indexes, indexes], (differing, written) => {
      const slots = (list: readonly number[]) => list.flatMap((index) => layout.slots[index] ?? []);
      const present = differingIn(...slots(differing));
      const restored = Buffer.from(start);
      expect(putRegisters(restored, changes(present, ...slots(written)))).to.equal(true);
      expect(restored.equals(present)).to.equal(true);
    });
  });

  it('are whole points, and none for equal images', () => {
    expect(changes(Buffer.from(start))).to.deep.equal({ runs: [], octets: '' });
    const [counter, limit] = ['701.TotWhInj', '704.WMaxLimPct'];
    const { runs, octets } = changes(differingIn(at(counter), at(limit)));
    const { size } = at(counter).def;
    expect(runs).to.deep.equal([offset(counter), size, offset(limit) - offset(counter) - size, 1]);
    expect(Buffer.from(octets, 'base64').length).to.equal(2 * size + 2);
  });

  it('are points that were written with their start values too', () => {
    const [limit, enable] = ['704.WMaxLimPct', '704.WMaxLimPctEna'];
    const { runs } = changes(differingIn(at(limit)), at(limit), at(enable));
    expect(runs).to.deep.equal([offset(limit), 1, offset(enable) - offset(limit) - 1, 1]);
  });

  it('outside of the image, or without octets, are refused', () => {
    const octets = Buffer.alloc(4).toString('base64');
    const image = Buffer.alloc(8);
    expect([-1, 0.5, 2, 3].map((from) => putRegisters(image, { runs: [from, 2], octets }))).to.deep.equal([
      false,
      false,
      true,
      false,
    ]);
    expect(putRegisters(image, { runs: [0, 3], octets })).to.equal(false);
  });
});
