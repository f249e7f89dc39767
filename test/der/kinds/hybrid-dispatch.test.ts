import { expect } from 'chai';
import type { Origin } from '../../../src/core/origin.ts';
import type { HybridPolicy } from '../../../src/contract/kinds/hybrid.ts';
import { createRandom } from '../../../src/core/random.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { BatteryPort } from '../../../src/der/source/battery/battery-port.ts';
import { HybridSource } from '../../../src/der/source/hybrid.ts';
import { detailOf } from '../../support/detail.ts';
import { baseTickS, idealPlant } from '../../support/ideal-plant.ts';
import { goldenRows, needsGolden } from '../golden.ts';
import { FakeSource } from '../source/hybrid/fakes.ts';
import { master, profileOf } from './support-storage.ts';

const operator: Origin = { source: 'rest', peer: 'test' };

interface Situation {
  readonly policy: HybridPolicy;
  /** W */
  readonly pv: number;
  readonly load?: number;
  /** 704.WSet, in policy manual its target, W; null: none */
  readonly set?: number | null;
  readonly soc: number;
}

/** PV, battery, AC and curtailed power, W. */
type Shares = readonly [pv: number, battery: number, ac: number, curtailed: number];

/** A real hybrid device with a real battery around an array that gives what the test says. */
class DispatchRig {
  readonly device: SimDevice;
  readonly #plant: SimPlant;
  readonly #pv = new FakeSource('pv', 0);

  /** @param efficiencyNominal null: an inverter without losses */
  constructor(chargeFromGrid = true, efficiencyNominal: number | null = null) {
    const profile = profileOf('HybridDC-3Phase');
    if (profile.source.kind !== 'hybrid-dc') throw new Error('the profile of a hybrid has none');
    const battery = new BatteryPort(profile.source.battery, createRandom(1, 'battery'));
    const source = new HybridSource({
      pv: this.#pv,
      battery,
      busVoltageV: 800,
      policy: 'self_consumption',
      chargeFromGrid,
    });
    const built = idealPlant({
      profile,
      source,
      name: 'Hybrid',
      deviceType: 'HybridDC-3Phase',
      efficiencyNominal,
      generator: false,
    });
    this.device = built.device;
    this.#plant = built.plant;
    this.device.bank.transact(master, ({ m704 }) => {
      m704.WRmp = 1000;
    });
  }

  /** The settled state of a situation. */
  async settle({ policy, pv, load = 0, set = null, soc }: Situation): Promise<Shares> {
    this.#pv.availableDcW = pv;
    this.#plant.setSurroundings({ loadKw: load / 1000 });
    this.device.command({ kind: 'battery.control', socPct: soc }, operator);
    if (detailOf(this.device, 'hybrid-dc').policy !== policy)
      this.device.command({ kind: 'hybrid.policy', policy }, operator);
    this.device.bank.transact(master, ({ m704 }) => {
      Object.assign(m704, set === null ? { WSetEna: 'DISABLED' } : { WSetMod: 'WATTS', WSet: set, WSetEna: 'ENABLED' });
    });
    this.#plant.setTime({ rate: 4 / baseTickS });
    await this.#plant.step(1);
    const { m701, m714 } = this.device.bank.map;
    const { curtailedW } = detailOf(this.device, 'hybrid-dc');
    return [m714.Prt[0]?.DCW ?? NaN, m714.Prt[1]?.DCW ?? NaN, m701.W ?? NaN, Math.round(curtailedW)];
  }
}

describe('hybrid device: dispatch by policy', () => {
  const cases: readonly (readonly [string, Situation, Shares])[] = [
    ['surplus is stored', { policy: 'self_consumption', pv: 8000, soc: 50 }, [8000, -8000, 0, 0]],
    ['a load is covered', { policy: 'self_consumption', pv: 3000, load: 4000, soc: 50 }, [3000, 1000, 4000, 0]],
    [
      'what the battery cannot take is exported',
      { policy: 'self_consumption', pv: 18_000, load: 4000, soc: 50 },
      [18_000, -10_000, 8000, 0],
    ],
    [
      'a set-point comes before the load',
      { policy: 'self_consumption', pv: 8000, load: 2000, set: 6000, soc: 50 },
      [8000, -2000, 6000, 0],
    ],
    ['full: exported, then curtailed', { policy: 'self_consumption', pv: 18_000, soc: 95 }, [15_000, 0, 15_000, 3000]],
    ['empty: PV alone', { policy: 'self_consumption', pv: 3000, load: 4000, soc: 10 }, [3000, 0, 3000, 0]],
    ['PV first', { policy: 'pv_priority', pv: 8000, load: 4000, soc: 50 }, [8000, 0, 8000, 0]],
    ['what the inverter clips is stored', { policy: 'pv_priority', pv: 18_000, soc: 50 }, [18_000, -3000, 15_000, 0]],
    [
      'the battery fills up to a set-point',
      { policy: 'pv_priority', pv: 3000, set: 6000, soc: 50 },
      [3000, 3000, 6000, 0],
    ],
    ['a target below PV charges', { policy: 'manual', pv: 8000, set: 5000, soc: 50 }, [8000, -3000, 5000, 0]],
    [
      'and curtails what is left over',
      { policy: 'manual', pv: 18_000, set: 5000, soc: 50 },
      [15_000, -10_000, 5000, 3000],
    ],
    ['full, all of it', { policy: 'manual', pv: 8000, set: 0, soc: 95 }, [0, 0, 0, 8000]],
    ['a target above PV discharges', { policy: 'manual', pv: 3000, set: 12_000, soc: 50 }, [3000, 9000, 12_000, 0]],
    [
      'a target below zero charges from the grid',
      { policy: 'manual', pv: 2000, set: -6000, soc: 50 },
      [2000, -8000, -6000, 0],
    ],
    ['as much as the battery takes', { policy: 'manual', pv: 0, set: -12_000, soc: 50 }, [0, -10_000, -10_000, 0]],
  ];

  it('the rows in which the policies differ, one after another on one running device', async () => {
    const rig = new DispatchRig();
    for (const [title, situation, shares] of cases) expect(await rig.settle(situation), title).to.deep.equal(shares);
  });

  it('without charging from the grid a target below zero stores PV and imports nothing', async () => {
    const rig = new DispatchRig(false);
    expect(await rig.settle({ policy: 'manual', pv: 2000, set: -6000, soc: 50 })).to.deep.equal([2000, -2000, 0, 0]);
    expect(await rig.settle({ policy: 'self_consumption', pv: 0, soc: 50 })).to.deep.equal([0, 0, 0, 0]);
  });

  it(
    'every row of the acceptance table with an inverter without losses, through the registers ' + needsGolden,
    async function () {
      const rows = goldenRows(this, 'hybrid_dispatch.csv').filter((row) => Number(row['inverter_eff']) === 1);
      expect(rows).to.have.length(111);
      const rigs = [new DispatchRig(false), new DispatchRig(true)];
      const kw = (row: Record<string, string>, name: string) => (row[name] === '' ? null : Number(row[name]) * 1000);
      for (const row of rows) {
        const policy = row['policy'] as HybridPolicy;
        const got = await rigs[Number(row['grid_charge_allowed'])]?.settle({
          policy,
          pv: kw(row, 'pv_available_kw') ?? 0,
          load: kw(row, 'load_kw') ?? 0,
          soc: Number(row['soc_pct']),
          set: kw(row, policy === 'manual' ? 'manual_target_kw' : 'ac_setpoint_kw'),
        });
        const wanted = ['pv_used_kw', 'batt_kw_discharge_positive', 'ac_kw', 'curtailed_kw'].map((name) =>
          kw(row, name),
        );
        expect(got, Object.values(row).join()).to.deep.equal(wanted);
      }
    },
  );

  it('with losses the device still delivers the full power of the table', async () => {
    const rig = new DispatchRig(true, 0.96);
    expect(await rig.settle({ policy: 'pv_priority', pv: 17_000, soc: 50 })).to.deep.equal([17_000, -1375, 15_000, 0]);
  });
});
