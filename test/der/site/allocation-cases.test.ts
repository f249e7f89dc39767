/** The division of limits by numbers: rooms of both directions, what they count on, and which limit cuts. */
import { expect } from 'chai';
import { Allocation } from '../../../src/der/site/allocation.ts';
import { createNest } from '../../../src/der/site/sharing.ts';

interface Device {
  /** + injects */
  readonly demand: number;
  readonly reach?: number;
  readonly least?: number;
  readonly weight?: number;
}

interface Scope {
  readonly members: readonly number[];
  readonly export?: number;
  readonly import?: number;
  readonly generation?: number;
  readonly load?: number;
  /** local loads at the least and at the most */
  readonly loads?: readonly [number, number];
}

function allocated(devices: readonly Device[], ...scopes: readonly Scope[]): Allocation {
  const allocation = new Allocation(
    scopes.map(({ members, ...limits }) => ({
      members,
      limitsW: {
        export: limits.export ?? Infinity,
        import: limits.import ?? Infinity,
        generation: limits.generation ?? Infinity,
        load: limits.load ?? Infinity,
      },
    })),
    devices.length,
  );
  devices.forEach(({ demand, reach = demand, least = 0, weight = 1 }, i) => {
    for (const [claims, own] of [
      [allocation.injecting, demand],
      [allocation.absorbing, -demand],
    ] as const) {
      claims.demandW[i] = Math.max(0, own);
      claims.minW[i] = least;
      claims.weightW[i] = weight;
    }
    allocation.reachW[i] = reach;
  });
  scopes.forEach(({ loads: [min, max] = [0, 0] }, s) => {
    allocation.minLoadW[s] = min;
    allocation.maxLoadW[s] = max;
  });
  allocation.allocate();
  return allocation;
}

const rounded = (shares: Float64Array) => [...shares].map((w) => Math.round(w * 1e6) / 1e6);
const given = (allocation: Allocation) => rounded(allocation.injecting.shareW);
const taken = (allocation: Allocation) => rounded(allocation.absorbing.shareW);
const binding = (allocation: Allocation, scope = 0) =>
  (['export', 'import', 'generation', 'load'] as const).filter((limit) => allocation.binds(scope, limit));

describe('Allocation of limits: rooms', () => {
  it('generation and load hold one direction each', () => {
    const generation = allocated([{ demand: 6 }, { demand: 6 }], { members: [0, 1], generation: 6 });
    expect([given(generation), taken(generation)]).to.deep.equal([
      [3, 3],
      [Infinity, Infinity],
    ]);
    expect(binding(generation)).to.deep.equal(['generation']);
    const load = allocated([{ demand: -6 }, { demand: -6 }], { members: [0, 1], load: 6 });
    expect([given(load), taken(load)]).to.deep.equal([
      [Infinity, Infinity],
      [3, 3],
    ]);
    expect(binding(load)).to.deep.equal(['load']);
  });

  it('local loads leave room for injection, at the least, and take room from absorption, at the most', () => {
    const scope = { members: [0], loads: [2, 3] } as const;
    const pv = allocated([{ demand: 20 }], { ...scope, export: 5, import: 10 });
    expect([given(pv), taken(pv)]).to.deep.equal([[7], [7]]);
    expect(binding(pv)).to.deep.equal(['export']);
    const battery = allocated([{ demand: -20 }], { ...scope, export: 5, import: 10 });
    expect([given(battery), taken(battery)]).to.deep.equal([[7], [7]]);
    expect(binding(battery)).to.deep.equal(['import']);
  });

  it('a load beyond an import limit leaves nothing', () => {
    const allocation = allocated([{ demand: -20 }], { members: [0], loads: [4, 9], import: 8 });
    expect([taken(allocation), binding(allocation)]).to.deep.equal([[0], ['import']]);
    expect(allocation.cutOf(0, 0)).to.deep.equal({ scope: 0, limit: 'import' });
  });

  it('the tighter of two limits is named, of equal ones that of the direction', () => {
    const cut = (loadW: number) => {
      const allocation = allocated([{ demand: 20 }], { members: [0], loads: [loadW, loadW], export: 4, generation: 6 });
      return [given(allocation)[0], binding(allocation), allocation.cutOf(0, 4)?.limit];
    };
    expect(cut(1)).to.deep.equal([5, ['export'], 'export']);
    expect(cut(2)).to.deep.equal([6, ['generation'], 'generation']);
    expect(cut(3)).to.deep.equal([6, ['generation'], 'generation']);
  });

  it('without a scope everybody is free', () => {
    const allocation = allocated([{ demand: 5 }]);
    expect([given(allocation), taken(allocation), allocation.cutOf(0, 5)]).to.deep.equal([
      [Infinity],
      [Infinity],
      null,
    ]);
    expect(allocation.binds(0, 'export')).to.equal(false);
  });

  it('a second division forgets what the first one counted on', () => {
    const allocation = allocated([{ demand: 10 }, { demand: -4 }], { members: [0, 1], export: 0 });
    expect(given(allocation)[0]).to.equal(4);
    allocation.absorbing.demandW[1] = 0;
    allocation.reachW[1] = 0;
    allocation.allocate();
    expect(given(allocation)[0]).to.equal(0);
  });
});

describe('Allocation of limits: one direction counts on the other', () => {
  const site = { members: [0, 1] };

  it('injection counts on absorption that is surely there', () => {
    const inject = (battery: Device, over: Partial<Scope> = {}) =>
      given(allocated([{ demand: 10 }, battery], { ...site, export: 1, ...over }))[0];
    expect(inject({ demand: -4 })).to.equal(5);
    expect(inject({ demand: -4, reach: -1 })).to.equal(2);
    expect(inject({ demand: -4, reach: 3 })).to.equal(1);
    expect(inject({ demand: -4 }, { load: 3 })).to.equal(4);
    expect(inject({ demand: -4 }, { loads: [2, 5] })).to.equal(7);
  });

  it('absorption counts on injection that is surely there', () => {
    const absorb = (pv: Device, over: Partial<Scope> = {}) =>
      taken(allocated([pv, { demand: -10 }], { ...site, import: 1, ...over }))[1];
    expect(absorb({ demand: 4 })).to.equal(5);
    expect(absorb({ demand: 4, reach: 1 })).to.equal(2);
    expect(absorb({ demand: 4, reach: -3 })).to.equal(1);
    expect(absorb({ demand: 4 }, { generation: 3 })).to.equal(4);
    expect(absorb({ demand: 6 }, { loads: [2, 5] })).to.equal(2);
  });

  it('both at zero exchange power: as much as both reach', () => {
    const of = (reach: number) =>
      allocated([{ demand: 10, reach }, { demand: -6 }], { ...site, export: 0, import: 0, loads: [1, 1] });
    expect([given(of(10))[0], taken(of(10))[1]]).to.deep.equal([7, 6]);
    expect([given(of(3))[0], taken(of(3))[1]]).to.deep.equal([3, 2]);
    expect(of(10).binds(0, 'export')).to.equal(true);
    expect(binding(of(3))).to.deep.equal(['export', 'import']);
  });

  it('injection that must pause leaves no absorption that counts on it', () => {
    const allocation = allocated([{ demand: 10, least: 5 }, { demand: -4 }], { ...site, export: 0, import: 0 });
    expect([given(allocation)[0], taken(allocation)[1]]).to.deep.equal([0, 0]);
    expect(allocation.cutOf(0, 0)).to.deep.equal({ scope: 0, limit: 'export' });
  });

  it('where rounds do not meet, on less and less and then on nothing', () => {
    const batteries = allocated(
      [{ demand: 8 }, { demand: -9, least: 1 }, { demand: -4, least: 2 }],
      { members: [0, 1], export: 0, import: 2 },
      { members: [0, 1, 2], import: 1 },
    );
    expect([given(batteries), taken(batteries)]).to.deep.equal([
      [0, 0, Infinity],
      [0, 1, 0],
    ]);
    const generators = allocated(
      [{ demand: 7 }, { demand: -9, least: 3 }, { demand: 3, reach: 2 }],
      { members: [0, 1], import: 1 },
      { members: [0, 1, 2], export: 1, import: 1 },
    );
    expect([given(generators), taken(generators)]).to.deep.equal([
      [0.5, 0, 0.5],
      [0, 0, 0],
    ]);
  });

  it('a device alone has one direction at a time', () => {
    const allocation = allocated([{ demand: 10 }], { members: [0], export: 3, import: 2 });
    expect([given(allocation), taken(allocation)]).to.deep.equal([[3], [2]]);
  });

  it('in inner scopes as in outer ones', () => {
    const devices = [{ demand: 10 }, { demand: -4 }, { demand: 10 }];
    const allocation = allocated(
      devices,
      { members: [0, 1], export: 1 },
      { members: [0, 1, 2], export: 2, loads: [3, 3] },
    );
    // inside 1 + 4, outside 2 + 3 + 4 for both
    expect(given(allocation)[0]).to.equal(4.5);
    expect(given(allocation)[2]).to.equal(4.5);
    expect([binding(allocation, 0), binding(allocation, 1)]).to.deep.equal([[], ['export']]);
    const tight = allocated(devices, { members: [0, 1], export: 0 }, { members: [0, 1, 2], export: 2, loads: [3, 3] });
    expect([given(tight)[0], given(tight)[2]]).to.deep.equal([4, 5]);
    expect([tight.cutOf(0, 4), tight.cutOf(2, 5)]).to.deep.equal([
      { scope: 0, limit: 'export' },
      { scope: 1, limit: 'export' },
    ]);
  });
});

describe('Allocation of limits: what cuts a device', () => {
  it('at the end of its share that which leaves no more, to the rounding of a sum', () => {
    const allocation = allocated(
      [{ demand: 5 }, { demand: -5 }],
      { members: [0], generation: 8 },
      { members: [1], load: 7 },
    );
    expect([given(allocation)[0], taken(allocation)[1]]).to.deep.equal([8, 7]);
    expect(allocation.cutOf(0, 8)).to.deep.equal({ scope: 0, limit: 'generation' });
    expect(allocation.cutOf(0, 7.9995)).to.deep.equal({ scope: 0, limit: 'generation' });
    expect(allocation.cutOf(0, 7.99)).to.equal(null);
    expect(allocation.cutOf(1, -7)).to.deep.equal({ scope: 1, limit: 'load' });
    expect(allocation.cutOf(1, -6.99)).to.equal(null);
    expect(binding(allocation, 0)).to.deep.equal([]);
  });

  it('by the direction of its power; at rest by the injection that was cut, else by the absorption', () => {
    const limits = { members: [0], export: 3, import: 2 };
    const pv = allocated([{ demand: 10 }], limits);
    for (const powerW of [3, 1, 0]) expect(pv.cutOf(0, powerW)).to.deep.equal({ scope: 0, limit: 'export' });
    const battery = allocated([{ demand: -10 }], limits);
    for (const powerW of [-2, -1, 0]) expect(battery.cutOf(0, powerW)).to.deep.equal({ scope: 0, limit: 'import' });
    expect(battery.cutOf(0, 1)).to.equal(null);
    expect(battery.cutOf(0, 3)).to.deep.equal({ scope: 0, limit: 'export' });
  });

  it('is none of a device that is not there', () => {
    expect(allocated([{ demand: 10 }], { members: [0], export: 3 }).cutOf(-1, 0)).to.equal(null);
  });

  it('the one that pauses for its least power, by the outermost room without it', () => {
    const allocation = allocated(
      [
        { demand: 9, least: 4 },
        { demand: 8, least: 4 },
      ],
      { members: [0, 1], generation: 7 },
      { members: [0, 1], generation: 6 },
    );
    expect(given(allocation)).to.deep.equal([6, 0]);
    expect(allocation.cutOf(1, 0)).to.deep.equal({ scope: 1, limit: 'generation' });
  });
});

describe('Nests of rooms', () => {
  it('name the innermost room of each device, and the room around each room', () => {
    const { innermost, around, rooms } = createNest([[0], [3], [0, 1], [2, 3], [0, 1, 2, 3]], 5);
    expect([...innermost]).to.deep.equal([0, 2, 3, 1, -1]);
    expect([...around]).to.deep.equal([2, 3, 4, 4, -1]);
    expect(rooms.map(({ roomW, binds }) => [roomW, binds])).to.deep.equal(Array(5).fill([Infinity, false]));
  });
});
