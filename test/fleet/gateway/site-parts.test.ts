import { expect } from 'chai';
import { joinHistory, joinScopes } from '../../../src/fleet/gateway/site-parts.ts';

const at = (second: number) => new Date(Date.UTC(2026, 5, 21, 12, 0, second)).toISOString();
const past = (shard: string, seconds: readonly number[], kw: readonly number[], kind: string, voltage: number) => ({
  shard,
  body: {
    timestamp: seconds.map(at),
    net_power_kw: kw,
    possible_kw: kw.map((each) => each * 2),
    voltage_pct: kw.map(() => voltage),
    kinds: [{ asset_type: kind, net_power_kw: kw }],
  },
});
const whole = {
  devices: null,
  net_power_kw: 4,
  export_limit_kw: 3,
  export_limit_by: { changed_at: at(6) },
  import_limit_kw: null,
  import_limit_by: null,
  mode: 'shared',
  by_kind: {},
  missing: [],
  tick: 9,
  sim_time: at(18),
};
const lost = [{ shard: 'c', first: 20, count: 2, code: 'shard-lost' }];

describe('fleet/gateway: the site of all shards', () => {
  it('has sums at the times of the longest history, with the newest sample of each shard', () => {
    const parts = [past('a', [7, 13], [10, 20], 'pv', 101), past('b', [0, 6, 12], [1, 2, 3], 'battery', 99)];
    expect(joinHistory(whole, parts, lost)).to.deep.equal({
      tick: 9,
      sim_time: at(18),
      timestamp: [at(0), at(6), at(12)],
      net_power_kw: [1, 2, 13],
      possible_kw: [2, 4, 26],
      export_limit_kw: [null, 3, 3],
      import_limit_kw: [null, null, null],
      voltage_pct: [null, null, 101],
      kinds: [
        { asset_type: 'pv', net_power_kw: [0, 0, 10] },
        { asset_type: 'battery', net_power_kw: [1, 2, 3] },
      ],
      missing: lost,
    });
  });

  it('counts no sample of a shard that has had none for longer than two of the others', () => {
    const parts = [past('a', [0, 6, 12, 18], [1, 1, 1, 1], 'pv', 100), past('b', [0], [5], 'pv', 100)];
    const { net_power_kw: net, kinds } = joinHistory(whole, parts, []);
    expect(net).to.deep.equal([6, 6, 6, 1]);
    expect(kinds).to.deep.equal([{ asset_type: 'pv', net_power_kw: [6, 6, 6, 1] }]);
  });

  it('is empty where no shard has a sample yet', () => {
    expect(joinHistory(whole, [past('a', [], [], 'pv', 100)], [])).to.deep.include({ timestamp: [], net_power_kw: [] });
  });

  it('lists the fleet first, then scopes of all shards from small to large, and limits of one shard with its devices', () => {
    const owners = [{ owner: 'rest' }];
    const parts = [
      { shard: 'a', body: { scopes: [{ devices: null, owners }, { devices: [0, 1] }], recorded_groups: [[0, 1]] } },
      { shard: 'b', body: { scopes: [{ devices: null, owners: [] }, { devices: [12] }], recorded_groups: [] } },
    ];
    const { scopes, ...rest } = joinScopes(whole, parts, lost, () => [0, 1, 2]);
    const [first, ...inner] = scopes;
    expect(first).to.have.all.keys(
      ...['devices', 'net_power_kw'],
      ...['export_limit_kw', 'export_limit_by', 'import_limit_kw', 'import_limit_by'],
    );
    expect(inner).to.deep.equal([{ devices: [12] }, { devices: [0, 1] }, { devices: [0, 1, 2], owners, shard: 'a' }]);
    expect(rest).to.deep.equal({ recorded_groups: [[0, 1]], missing: lost });
  });
});
