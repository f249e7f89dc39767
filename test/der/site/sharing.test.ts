import { expect } from 'chai';
import { createRandom } from '../../../src/core/random.ts';
import { createClaims, shareRoom } from '../../../src/der/site/sharing.ts';
import type { Claims } from '../../../src/der/site/sharing.ts';

interface Claim {
  readonly demand: number;
  readonly weight?: number;
  readonly least?: number;
}

function claimsOf(list: readonly Claim[]): Claims {
  const claims = createClaims(list.length);
  list.forEach(({ demand, weight = 1, least = 0 }, i) => {
    claims.demandW[i] = demand;
    claims.weightW[i] = weight;
    claims.minW[i] = least;
  });
  return claims;
}

function shared(list: readonly Claim[], roomW: number): number[] {
  const claims = claimsOf(list);
  shareRoom(claims, roomW);
  return [...claims.shareW].map((w) => Math.round(w * 1e6) / 1e6);
}

describe('Sharing of a limit of the site', () => {
  const cases: readonly (readonly [string, readonly Claim[], number, readonly number[]])[] = [
    ['without a limit everybody is free', [{ demand: 5 }, { demand: 0 }], Infinity, [Infinity, Infinity]],
    [
      'what is left over is room to grow, by rating',
      [
        { demand: 2, weight: 1 },
        { demand: 0, weight: 3 },
      ],
      10,
      [4, 6],
    ],
    [
      'no rating, no room to grow',
      [
        { demand: 2, weight: 1 },
        { demand: 0, weight: 0 },
      ],
      10,
      [10, 0],
    ],
    ['equal devices get equal parts', [{ demand: 10 }, { demand: 10 }], 6, [3, 3]],
    [
      'of different ratings in proportion',
      [
        { demand: 10, weight: 10 },
        { demand: 20, weight: 20 },
      ],
      6,
      [2, 4],
    ],
    ['what one does not use goes to the others', [{ demand: 1 }, { demand: 10 }, { demand: 10 }], 9, [1, 4, 4]],
    ['a device that nothing is asked of gets nothing', [{ demand: 0 }, { demand: 10 }], 4, [0, 4]],
    [
      'nobody gets less than the least useful power',
      [
        { demand: 10, least: 4 },
        { demand: 10, weight: 9 },
      ],
      10,
      [4, 6],
    ],
    [
      'where the least powers are too much the smallest demand pauses',
      [
        { demand: 10, least: 4 },
        { demand: 8, least: 4 },
      ],
      6,
      [6, 0],
    ],
    [
      'of equal ones the last',
      [
        { demand: 10, least: 4 },
        { demand: 10, least: 4 },
      ],
      6,
      [6, 0],
    ],
    [
      'and all of them, if need be',
      [
        { demand: 10, least: 4 },
        { demand: 10, least: 4 },
      ],
      3,
      [0, 0],
    ],
    [
      'whose least power is more than the room leaves it to the others',
      [
        { demand: 10, least: 7 },
        { demand: 8, least: 4 },
      ],
      6,
      [0, 6],
    ],
    ['no room', [{ demand: 10 }, { demand: 1, least: 1 }], 0, [0, 0]],
    ['nobody', [], 5, []],
  ];
  for (const [name, list, roomW, expected] of cases) {
    it(name, () => {
      expect(shared(list, roomW)).to.deep.equal(expected);
    });
  }

  it('earlier demands have no effect', () => {
    const claims = claimsOf([
      { demand: 10, least: 4 },
      { demand: 8, least: 4 },
      { demand: 9, least: 4 },
    ]);
    shareRoom(claims, 9);
    expect([...claims.shareW].map(Math.round)).to.deep.equal([5, 0, 5]);
    claims.demandW.set([7, 8, 7]);
    shareRoom(claims, 6);
    expect([...claims.shareW].map(Math.round)).to.deep.equal([0, 6, 0]);
  });

  it('of a thousand minimum powers one that fits', () => {
    const list = Array.from({ length: 1000 }, (_, i) => ({ demand: 11_000 + ((i * 7) % 1000), least: 4102 }));
    const shares = shared(list, 5000);
    expect(shares.filter((w) => w > 0)).to.deep.equal([5000]);
    expect(list[shares.indexOf(5000)]?.demand).to.equal(11_999);
  });

  it('any demands: never more than the room, no device below its minimum, all of the room used', () => {
    const random = createRandom(1, 'sharing');
    for (let round = 0; round < 2000; round += 1) {
      const list = Array.from({ length: 1 + Math.floor(random.next() * 8) }, () => ({
        demand: random.next() < 0.2 ? 0 : random.next() * 1e5,
        weight: random.next() * 1e5 + 1,
        least: random.next() < 0.3 ? random.next() * 5000 : 0,
      }));
      const claims = claimsOf(list);
      const roomW = random.next() * 2e5;
      const binds = shareRoom(claims, roomW);
      const sum = claims.shareW.reduce((total, w) => total + w, 0);
      expect(sum).to.be.at.most(roomW + 1e-9 * roomW);
      expect(binds).to.equal(list.reduce((total, { demand }) => total + demand, 0) > roomW);
      if (!binds) continue;
      const paused = list.filter(({ demand, least }, i) => claims.shareW[i] === 0 && demand > 0 && least > 0);
      list.forEach((claim, i) => {
        if (!paused.includes(claim))
          expect(claims.shareW[i]).to.be.within(Math.min(claim.least, claim.demand) - 1e-9, claim.demand);
      });
      if (paused.length === 0) expect(sum).to.be.closeTo(roomW, 1e-6 * roomW);
    }
  });
});
