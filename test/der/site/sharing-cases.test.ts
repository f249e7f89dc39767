/** Shares by numbers: which room cuts a device, and which one ends its growth. */
import { expect } from 'chai';
import { shareRooms } from '../../../src/der/site/sharing.ts';
import { claimsOf, nestOf } from './sharing-rig.ts';
import type { Claim } from './sharing-rig.ts';

describe('Sharing of a limit: what holds a device', () => {
  /** Shares to a millionth, with the rooms that cut them and those that end their growth. */
  function outcome(list: readonly Claim[], rooms: Parameters<typeof nestOf>[0], claims = claimsOf(list)) {
    const nest = nestOf(rooms, list.length);
    shareRooms(claims, nest);
    return {
      shares: [...claims.shareW].map((w) => Math.round(w * 1e6) / 1e6),
      cutBy: [...claims.cutBy],
      endedBy: [...claims.endedBy],
      binds: nest.rooms.map(({ binds }) => binds),
    };
  }

  it('where the demands fit nobody is cut, and the growth of each ends in the outermost full room', () => {
    const list = [{ demand: 2 }, { demand: 2 }, { demand: 1 }, { demand: 1 }];
    expect(
      outcome(list, [
        [[0, 1], 6],
        [[0, 1, 2], 14],
      ]),
    ).to.deep.equal({
      shares: [3, 3, 8, Infinity],
      cutBy: [-1, -1, -1, -1],
      endedBy: [0, 0, 1, -1],
      binds: [false, false],
    });
    expect(
      outcome(list, [
        [[0, 1], 6],
        [[0, 1, 2], 8],
      ]),
    ).to.deep.include({ shares: [3, 3, 2, Infinity], endedBy: [1, 1, 1, -1] });
  });

  it('demands that fill a room exactly fit', () => {
    expect(outcome([{ demand: 2 }, { demand: 4 }], [[[0, 1], 6]])).to.deep.equal({
      shares: [2, 4],
      cutBy: [-1, -1],
      endedBy: [0, 0],
      binds: [false],
    });
  });

  it('a room without a limit ends nothing', () => {
    expect(
      outcome(
        [{ demand: 2 }, { demand: 2 }],
        [
          [[0], Infinity],
          [[0, 1], 5],
        ],
      ),
    ).to.deep.include({ shares: [2.5, 2.5], endedBy: [1, 1] });
  });

  it('only the device whose demand is beyond its part is cut', () => {
    expect(outcome([{ demand: 1 }, { demand: 10 }, { demand: 4 }], [[[0, 1, 2], 9]])).to.deep.equal({
      shares: [1, 4, 4],
      cutBy: [-1, 0, -1],
      endedBy: [0, 0, 0],
      binds: [true],
    });
  });

  it('of two rooms that cut, the outer one that cuts further; an inner one that cut nobody else does not bind', () => {
    const inner = [[0, 1], 6] as const;
    const list = [{ demand: 4 }, { demand: 4 }, { demand: 4 }];
    expect(outcome(list, [inner, [[0, 1, 2], 6]])).to.deep.include({
      shares: [2, 2, 2],
      cutBy: [1, 1, 1],
      binds: [false, true],
    });
    expect(outcome(list, [inner, [[0, 1, 2], 9.5]])).to.deep.include({
      shares: [3, 3, 3.5],
      cutBy: [0, 0, 1],
      binds: [true, true],
    });
    expect(outcome(list, [inner, [[0, 1, 2], 10]])).to.deep.include({ shares: [3, 3, 4], binds: [true, false] });
  });

  it('a device alone in its room gets the room', () => {
    expect(outcome([{ demand: 4, weight: 7 }], [[[0], 3]])).to.deep.equal({
      shares: [3],
      cutBy: [0],
      endedBy: [0],
      binds: [true],
    });
  });

  it('what an inner room left is divided further: bounded growth first, then by weight', () => {
    const rooms = (outerW: number) =>
      [
        [[0], 3],
        [[0, 1, 2], outerW],
      ] as const;
    const list = [{ demand: 2 }, { demand: 0, weight: 2 }, { demand: 0, weight: 4 }];
    // the first one grows by 1 at most
    expect(outcome(list, rooms(9)).shares).to.deep.equal([3, 2, 4]);
    expect(outcome(list, rooms(15)).shares).to.deep.equal([3, 4, 8]);
    expect(outcome(list, rooms(5.5)).shares).to.deep.equal([2.5, 1, 2]);
    expect(outcome([{ demand: 3 }, ...list.slice(1)], rooms(9)).shares).to.deep.equal([3, 2, 4]);
  });

  it('where all growth is bounded, all of it fits or a part by weight', () => {
    const list = [{ demand: 1 }, { demand: 1, weight: 3 }];
    const rooms = (outerW: number) =>
      [
        [[0], 4],
        [[1], 5],
        [[0, 1], outerW],
      ] as const;
    expect(outcome(list, rooms(9))).to.deep.include({ shares: [4, 5], endedBy: [0, 1] });
    expect(outcome(list, rooms(12))).to.deep.include({ shares: [4, 5], endedBy: [0, 1] });
    expect(outcome(list, rooms(6))).to.deep.include({ shares: [2, 4], endedBy: [2, 2] });
    expect(outcome(list, rooms(8))).to.deep.include({ shares: [3, 5], endedBy: [2, 1] });
  });

  it('devices without a rating do not grow, also where nobody has one', () => {
    const list = [
      { demand: 0, weight: 0 },
      { demand: 0, weight: 0 },
    ];
    expect(outcome(list, [[[0, 1], 6]]).shares).to.deep.equal([0, 0]);
    expect(outcome([{ demand: 4, weight: 2 }, ...list], [[[0, 1, 2], 3]]).shares).to.deep.equal([3, 0, 0]);
  });

  it('least powers are kept above the level, demands below it', () => {
    const list = [{ demand: 10, least: 6 }, { demand: 10 }, { demand: 1 }];
    expect(outcome(list, [[[0, 1, 2], 10]])).to.deep.include({ shares: [6, 3, 1], cutBy: [0, 0, -1] });
    const weighted = [
      { demand: 10, least: 6 },
      { demand: 10, weight: 2 },
      { demand: 1, least: 5 },
    ];
    expect(outcome(weighted, [[[0, 1, 2], 22]])).to.deep.include({ shares: [10.25, 10.5, 1.25] });
    expect(outcome(weighted, [[[0, 1, 2], 13]])).to.deep.include({ shares: [6, 6, 1] });
    expect(outcome(weighted, [[[0, 1, 2], 16]])).to.deep.include({ shares: [6, 9, 1] });
  });

  it('a device pauses for the outermost room that has no place for it', () => {
    const list = [
      { demand: 9, least: 4 },
      { demand: 8, least: 4 },
      { demand: 7, least: 4 },
    ];
    const inner = (roomW: number, outerW: number) =>
      outcome(list, [
        [[1, 2], roomW],
        [[0, 1, 2], outerW],
      ]);
    expect(inner(7, 20)).to.deep.include({ shares: [13, 7, 0], cutBy: [-1, 0, 0] });
    expect(inner(20, 8)).to.deep.include({ shares: [4, 4, 0], cutBy: [1, 1, 1], binds: [false, true] });
    expect(inner(3, 7)).to.deep.include({ shares: [7, 0, 0], cutBy: [1, 1, 1] });
    expect(inner(3, 12)).to.deep.include({ shares: [12, 0, 0], cutBy: [-1, 0, 0] });
    expect(inner(4, 8)).to.deep.include({ shares: [4, 4, 0], binds: [true, true] });
  });

  it('minimums are admitted by falling demand, wherever a device stands; of equal ones the first', () => {
    const pausing = (demands: readonly number[], roomW: number) =>
      outcome(
        demands.map((demand) => ({ demand, least: 4 })),
        [[[...demands.keys()], roomW]],
      ).shares;
    expect(pausing([7, 8, 9], 6)).to.deep.equal([0, 0, 6]);
    expect(pausing([8, 9, 7], 6)).to.deep.equal([0, 6, 0]);
    expect(pausing([7, 9, 8], 8)).to.deep.equal([0, 4, 4]);
    expect(pausing([5, 9, 9, 6, 9], 8)).to.deep.equal([0, 4, 4, 0, 0]);
    expect(pausing([5, 6, 9, 6, 6], 12)).to.deep.equal([0, 4, 4, 4, 0]);
  });

  it('a device alone gets the room to the last digit', () => {
    for (const [weight, roomW] of [
      [49, 1],
      [0.1, 0.3],
      [3, 0.7],
    ] as const) {
      const claims = claimsOf([{ demand: 100, weight }]);
      shareRooms(claims, nestOf([[[0], roomW]], 1));
      expect(claims.shareW[0]).to.equal(roomW);
    }
  });

  it('demands that change from call to call leave nothing of the last one', () => {
    const list = [{ demand: 4 }, { demand: 4 }];
    const [claims, nest] = [claimsOf(list), nestOf([[[0, 1], 6]], 2)];
    shareRooms(claims, nest);
    expect([[...claims.cutBy], nest.rooms[0]?.binds]).to.deep.equal([[0, 0], true]);
    claims.demandW.fill(1);
    shareRooms(claims, nest);
    expect([[...claims.cutBy], nest.rooms[0]?.binds]).to.deep.equal([[-1, -1], false]);
    expect([...claims.shareW].map(Math.round)).to.deep.equal([3, 3]);
  });
});
