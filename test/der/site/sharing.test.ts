import { expect } from 'chai';
import type { RandomStream } from '../../../src/core/random.ts';
import { shareRooms } from '../../../src/der/site/sharing.ts';
import type { Claims } from '../../../src/der/site/sharing.ts';
import { casesOf } from '../../support/random.ts';
import { claimsOf, nestOf } from './sharing-rig.ts';
import type { Claim } from './sharing-rig.ts';
import { randomSets } from './support.ts';

/** Shares one room out among all devices. @returns whether it binds */
function shareRoom(claims: Claims, roomW: number): boolean {
  const count = claims.demandW.length;
  const nest = nestOf([[[...Array(count).keys()], roomW]], count);
  shareRooms(claims, nest);
  return nest.rooms.some(({ binds }) => binds);
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
    [
      'a least power that fits exactly is admitted',
      [
        { demand: 10, least: 4 },
        { demand: 9, least: 4 },
        { demand: 8, least: 4 },
      ],
      8,
      [4, 4, 0],
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
    const random = casesOf('one room');
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

describe('Sharing of nested limits', () => {
  function randomCase(random: RandomStream, withMinimums: boolean) {
    const list = Array.from({ length: 1 + Math.floor(random.next() * 9) }, () => ({
      demand: random.next() < 0.2 ? 0 : random.next() * 1e4,
      weight: random.next() < 0.1 ? 0 : random.next() * 1e4 + 1,
      least: withMinimums && random.next() < 0.5 ? random.next() * 5000 : 0,
    }));
    // a device that asks for power has a rating
    for (const claim of list) if (claim.demand > 0) claim.weight += 1;
    const all = [...list.keys()].sort(() => random.next() - 0.5);
    const rooms = randomSets(random, all).map(
      (set) => [set, random.next() < 0.1 ? 0 : random.next() * 6000 * set.length] as const,
    );
    return { list, rooms };
  }

  /** One water level that rises in small steps between events: each device stops at its demand or in a full room. */
  function reference(list: readonly Claim[], rooms: readonly (readonly [readonly number[], number])[]): number[] {
    const share = list.map(() => 0);
    const open = new Set(list.flatMap(({ demand }, i) => (demand > 0 ? [i] : [])));
    const sum = (members: readonly number[]) => members.reduce((total, i) => total + (share[i] ?? 0), 0);
    const weight = (i: number) => list[i]?.weight ?? 1;
    while (open.size > 0) {
      let rise = Infinity;
      for (const i of open) rise = Math.min(rise, ((list[i]?.demand ?? 0) - (share[i] ?? 0)) / weight(i));
      for (const [members, roomW] of rooms) {
        const rate = members.reduce((total, i) => total + (open.has(i) ? weight(i) : 0), 0);
        if (rate > 0) rise = Math.min(rise, Math.max(0, roomW - sum(members)) / rate);
      }
      for (const i of open) share[i] = (share[i] ?? 0) + rise * weight(i);
      for (const i of [...open]) if ((share[i] ?? 0) >= (list[i]?.demand ?? 0) - 1e-9) open.delete(i);
      for (const [members, roomW] of rooms) if (sum(members) >= roomW - 1e-7) for (const i of members) open.delete(i);
    }
    return share;
  }

  it('is that of one rising level, which stops in each room when it is full', () => {
    const random = casesOf('nested rooms');
    for (let round = 0; round < 3000; round += 1) {
      const { list, rooms } = randomCase(random, false);
      const claims = claimsOf(list);
      shareRooms(claims, nestOf(rooms, list.length));
      reference(list, rooms).forEach((expected, i) => {
        const demandedW = Math.min(claims.shareW[i] ?? NaN, list[i]?.demand ?? NaN);
        expect(demandedW, `round ${round}, device ${i}`).to.be.closeTo(expected, 1e-3);
      });
    }
  });

  it('any rooms: no sum exceeds its room, no device runs below its minimum, and nothing that fits is left', () => {
    const random = casesOf('any rooms');
    let paused = 0;
    for (let round = 0; round < 5000; round += 1) {
      const { list, rooms } = randomCase(random, true);
      const claims = claimsOf(list);
      const nest = nestOf(rooms, list.length);
      shareRooms(claims, nest);
      const share = (i: number) => claims.shareW[i] ?? NaN;
      const sum = (members: readonly number[], of = share) => members.reduce((total, i) => total + of(i), 0);
      for (const [members, roomW] of rooms) expect(sum(members)).to.be.at.most(roomW * (1 + 1e-9) + 1e-9);
      const least = (i: number) => Math.min(list[i]?.least ?? 0, list[i]?.demand ?? 0);
      list.forEach(({ demand }, i) => {
        if (share(i) >= demand) return expect(claims.cutBy[i]).to.equal(-1);
        const around = rooms.filter(([members]) => members.includes(i));
        const cut = claims.cutBy[i] ?? -1;
        expect(nest.rooms[cut]?.binds, `round ${round}, device ${i}`).to.equal(true);
        if (share(i) === 0 && least(i) > 0) {
          paused += 1;
          const besides = (j: number) => (share(j) > 0 ? least(j) : 0);
          return expect(around.some(([members, roomW]) => sum(members, besides) + least(i) > roomW - 1e-9)).to.equal(
            true,
          );
        }
        expect(share(i)).to.be.at.least(least(i) - 1e-9);
        return expect(around.some(([members, roomW]) => sum(members) > roomW - 1e-3 - 1e-9 * roomW)).to.equal(true);
      });
      nest.rooms.forEach(({ members, binds }, r) => {
        expect(binds).to.equal(members.some((i) => claims.cutBy[i] === r));
      });
    }
    expect(paused).to.be.above(1000);
  });

  it('room to grow ends where the inner or the outer room ends', () => {
    const claims = claimsOf([{ demand: 2 }, { demand: 2 }, { demand: 1 }]);
    shareRooms(
      claims,
      nestOf(
        [
          [[0, 1], 6],
          [[0, 1, 2], 14],
        ],
        3,
      ),
    );
    expect([...claims.shareW].map((w) => Math.round(w * 1e6) / 1e6)).to.deep.equal([3, 3, 8]);
    const tight = claimsOf([{ demand: 2 }, { demand: 2 }, { demand: 1 }]);
    shareRooms(
      tight,
      nestOf(
        [
          [[0, 1], 6],
          [[0, 1, 2], 8],
        ],
        3,
      ),
    );
    expect([...tight.shareW].map((w) => Math.round(w * 1e6) / 1e6)).to.deep.equal([3, 3, 2]);
  });

  it('a device that must pause in the outer room leaves the inner one to the others', () => {
    const claims = claimsOf([{ demand: 10, least: 6 }, { demand: 8, least: 4 }, { demand: 1 }]);
    const nest = nestOf(
      [
        [[0, 1], 7],
        [[0, 1, 2], 5],
      ],
      3,
    );
    shareRooms(claims, nest);
    expect([...claims.shareW].map(Math.round)).to.deep.equal([0, 4, 1]);
    expect(nest.rooms.map(({ binds }) => binds)).to.deep.equal([false, true]);
    expect([...claims.cutBy]).to.deep.equal([1, 1, -1]);
  });
});
