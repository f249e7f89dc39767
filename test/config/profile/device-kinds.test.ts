import { expect } from 'chai';
import { deviceProfileSchema, resolveProfile } from '../../../src/config/profile/device-profile.ts';
import type { ProfileTarget } from '../../../src/config/profile/kind-parameters.ts';
import type { Issue } from '../../../src/core/errors.ts';
import { maximumPowerPoint, parametersAt, pvModules } from '../../../src/der/source/pv/module.ts';
import type { SourceParts } from '../support.ts';

type Given = Partial<ProfileTarget> & Pick<ProfileTarget, 'assetType'>;

function resolve(raw: unknown, target: Given) {
  const issues: Issue[] = [];
  const profile = resolveProfile(
    deviceProfileSchema.parse(raw),
    { phases: 'three', longitudeDeg: 0, ...target },
    'p',
    issues,
  );
  return { profile, source: profile?.source as SourceParts | undefined, rated: profile?.models['702'], issues };
}

const rating = (points: object) => ({ models: { 702: points } });
const lines = (issues: readonly Issue[]) => issues.map(({ name, detail }) => `${name}: ${detail}`);

describe('interface 12.1: profiles by kind', () => {
  describe('battery', () => {
    const battery = { assetType: 'battery' } as const;

    it('is rated 10 kW both ways, on a single phase 5 kW', () => {
      expect(resolve({}, battery).rated).to.include({
        WMaxRtg: 10_000,
        VAMaxRtg: 10_000,
        WChaRteMaxRtg: 10_000,
        VNomRtg: 480,
      });
      expect(resolve({}, { ...battery, phases: 'split' }).rated).to.include({
        WMaxRtg: 10_000,
        WChaRteMaxRtg: 10_000,
        VNomRtg: 240,
      });
      expect(resolve({}, { ...battery, phases: 'single' }).rated).to.include({
        WMaxRtg: 5000,
        WChaRteMaxRtg: 5000,
        VNomRtg: 240,
      });
    });
    it('is rated by its block where model 702 says nothing', () => {
      expect(resolve({ battery: { power_w: 30_000 } }, battery).rated).to.include({
        WMaxRtg: 30_000,
        VAMaxRtg: 30_000,
        WChaRteMaxRtg: 30_000,
      });
    });
    it('keeps the ratings that are given', () => {
      const { rated, source } = resolve(
        { ...rating({ VAMaxRtg: 44_000, WMaxRtg: 40_000, WChaRteMaxRtg: 20_000 }), battery: { capacity_wh: 1e5 } },
        battery,
      );
      expect(rated).to.include({ WMaxRtg: 40_000, VAMaxRtg: 44_000, WChaRteMaxRtg: 20_000 });
      expect(source).to.deep.include({ kind: 'battery' });
      expect(source?.battery).to.include({ capacityWh: 1e5 });
    });
    it('has no start values in 713 and 802: its block has them', () => {
      for (const id of ['713', '802'])
        expect(deviceProfileSchema.safeParse({ models: { [id]: {} } }).success).to.equal(false);
    });
  });

  describe('wind turbine', () => {
    const t3 = { assetType: 'wind', windType: 'T3' } as const;
    const t4 = { assetType: 'wind', windType: 'T4' } as const;

    it('is the reference machine of its type, with room for the reactive power at full output', () => {
      expect(resolve({}, t3).rated).to.include({ WMaxRtg: 5e6, VAMaxRtg: 5.3e6, VNomRtg: 690 });
      expect(resolve({}, t4).rated).to.include({
        WMaxRtg: 15e6,
        VAMaxRtg: 17.325e6,
        VNomRtg: 6600,
        VarMaxInjRtg: 8.6625e6,
        VarMaxAbsRtg: 8.6625e6,
      });
      for (const target of [t3, t4]) {
        const { rated, source } = resolve({}, target);
        const share = source!.wind!.reactiveShare;
        const [w, va] = [Number(rated?.['WMaxRtg']), Number(rated?.['VAMaxRtg'])];
        expect(Math.sqrt(va ** 2 - w ** 2) / va).to.be.within(share, share + 0.005);
        expect(rated).to.not.have.property('WChaRteMaxRtg');
      }
    });
    it('is rated by its block where model 702 says nothing', () => {
      expect(resolve({ wind: { turbine: 'farm-100kw' } }, t4).rated).to.include({ WMaxRtg: 100_000, VNomRtg: 480 });
      const scaled = resolve({ wind: { rated_power_w: 250_000 } }, t4);
      expect(scaled.rated).to.include({ WMaxRtg: 250_000 });
      expect(scaled.source?.wind).to.include({ turbine: 'farm-100kw', ratedPowerW: 250_000 });
    });
    it('lets one power rating follow the other', () => {
      expect(resolve(rating({ VAMaxRtg: 6e6 }), t3).rated).to.include({ WMaxRtg: 5_663_885, VAMaxRtg: 6e6 });
      expect(resolve(rating({ WMaxRtg: 4e6 }), t3).rated).to.include({ WMaxRtg: 4e6, VAMaxRtg: 4.24e6 });
    });
    it('refuses a machine of the other type', () => {
      expect(lines(resolve({ wind: { turbine: 'nrel-5mw' } }, t4).issues)).to.deep.equal([
        'p: wind.turbine: given nrel-5mw, which is of type T3; allowed: iea-15mw, farm-100kw',
      ]);
    });
    it('has a rotor for the WMaxRtg that is given', () => {
      const { rated, source } = resolve(rating({ WMaxRtg: 2e6 }), t4);
      expect(rated).to.include({ WMaxRtg: 2e6, VAMaxRtg: 2.31e6 });
      expect(source?.wind).to.include({ turbine: 'iea-15mw', ratedPowerW: 2e6 });
      expect(source?.wind?.rotorDiameterM).to.be.closeTo(240 * Math.sqrt(2 / 15), 1e-9);
      expect(resolve(rating({ VAMaxRtg: 1e6 }), t3).source?.wind?.ratedPowerW).to.equal(943_980);
      // the rotor of this size has room over the ground, that of the machine would not
      expect(resolve({ ...rating({ WMaxRtg: 2e6 }), wind: { hub_height_m: 60 } }, t3)).to.deep.include({ issues: [] });
      expect(lines(resolve({ ...rating({ WMaxRtg: 20e6 }), wind: { hub_height_m: 120 } }, t4).issues)).to.deep.equal([
        `p: wind.hub_height_m: given 120; allowed: above half the rotor diameter, which is ${120 * Math.sqrt(20 / 15)}`,
      ]);
    });
    it('may have a rotor for more than the WMaxRtg that is given', () => {
      const { rated, source } = resolve({ ...rating({ WMaxRtg: 4e6 }), wind: { rated_power_w: 5e6 } }, t3);
      expect(rated).to.include({ WMaxRtg: 4e6 });
      expect(source?.wind).to.include({ ratedPowerW: 5e6, rotorDiameterM: 126 });
    });
    it('stays finite for the largest reactive share', () => {
      expect(resolve({ wind: { reactive_share: 0.99 } }, t4).rated?.['VAMaxRtg']).to.be.within(15e6, 1.1e8);
      expect(deviceProfileSchema.safeParse({ wind: { reactive_share: 0.991 } }).success).to.equal(false);
    });
  });

  describe('fuel cell', () => {
    const cell = { assetType: 'fuelcell' } as const;

    it('is rated by its cells: PEMFC 5 kW, SOFC 200 kW', () => {
      expect(resolve({}, cell).rated).to.include({ WMaxRtg: 5000, VAMaxRtg: 5000, VNomRtg: 480 });
      expect(resolve({ fuel_cell: { chemistry: 'SOFC' } }, cell).rated).to.include({
        WMaxRtg: 200_000,
        VAMaxRtg: 200_000,
      });
    });
    it('takes power in electrolysis only', () => {
      expect(resolve({}, cell).rated).to.not.have.property('WChaRteMaxRtg');
      expect(
        resolve({ fuel_cell: { operating_mode: 'bidirectional', rated_el_power_w: 3000 } }, cell).rated,
      ).to.include({ WMaxRtg: 5000, WChaRteMaxRtg: 3000 });
    });
  });

  describe('hybrid', () => {
    const hybrid = { assetType: 'hybrid-dc' } as const;

    it('is rated 15 kVA both ways, or one way when it must not charge from the grid', () => {
      expect(resolve({}, hybrid).rated).to.include({
        WMaxRtg: 15_000,
        VAMaxRtg: 15_000,
        WChaRteMaxRtg: 15_000,
        VNomRtg: 480,
      });
      expect(resolve({ hybrid: { charge_from_grid: false } }, hybrid).rated).to.not.have.property('WChaRteMaxRtg');
    });
    it('has an array of the power given at standard conditions, by the module model', () => {
      for (const module of ['CS5P-220M', 'DATASHEET-270'] as const) {
        const pv = resolve({ hybrid: { pv_w: 12_345 }, pv: { module } }, hybrid).source?.pv;
        const { p } = maximumPowerPoint(parametersAt(pvModules[module], 1000, 25));
        expect((pv!.series * pv!.parallel * p) / 12_345).to.be.closeTo(1, 1e-4);
      }
    });
    it('has a battery of the hybrid block', () => {
      const { source } = resolve(
        { hybrid: { battery_w: 7000, battery_wh: 21_000, soc_min_pct: 15, soc_max_pct: 85 } },
        hybrid,
      );
      expect(source?.battery).to.include({ powerW: 7000, capacityWh: 21_000, socMinPct: 15, socMaxPct: 85 });
    });
    it('takes from the blocks of the parts what these give', () => {
      const { source } = resolve(
        {
          hybrid: { pv_w: 9000, battery_w: 7000, battery_wh: 21_000, soc_min_pct: 15 },
          battery: { power_w: 6000, capacity_wh: 12_000, soc_min_pct: 20, chemistry: 'lfp' },
          pv: { series: 10, parallel: 2 },
        },
        hybrid,
      );
      expect(source?.battery).to.include({
        powerW: 6000,
        capacityWh: 12_000,
        socMinPct: 20,
        socMaxPct: 95,
        chemistry: 'lfp',
      });
      expect(source?.hybrid).to.include({ batteryW: 6000, batteryWh: 12_000, socMinPct: 20, socMaxPct: 95 });
      expect(source?.hybrid?.pvW).to.be.closeTo(20 * 46.9 * 4.69, 1e-9);
    });
    it('says nothing of the battery that follows from limits in the wrong order, but what else is wrong with it', () => {
      const wrong = {
        hybrid: { soc_min_pct: 60, soc_max_pct: 40 },
        battery: { soc_pct: 95, soc_reserve_min_pct: 95, soc_reserve_max_pct: 5 },
      };
      const told = 'p: hybrid.soc_min_pct: given 60; allowed: below soc_max_pct, which is 40';
      expect(lines(resolve(wrong, hybrid).issues)).to.deep.equal([told]);
      expect(
        lines(resolve({ hybrid: { soc_max_pct: 40 }, battery: { soc_min_pct: 92 } }, hybrid).issues),
      ).to.have.length(1);
      const names = resolve(
        { ...wrong, battery: { strings: 500, modules: 500 }, pv: { min_dc_voltage_v: 5000 } },
        hybrid,
      ).issues.map(({ name }) => name);
      expect(names).to.deep.equal(['p: hybrid.soc_min_pct', 'p: pv.min_dc_voltage_v', 'p: battery.strings']);
    });
    it('names the array, not the inverter, in the limit of a night power', () => {
      const wrong = { hybrid: { pv_w: 8000 }, pv: { night_power_w: 1000 } };
      expect(lines(resolve(wrong, hybrid).issues)).to.deep.equal([
        'p: pv.night_power_w: given 1000; allowed: up to 5 % of hybrid.pv_w, which is 400',
      ]);
    });
    it('keeps the limits of the hybrid for the battery when the array is wrong', () => {
      const { issues } = resolve(
        { hybrid: { soc_min_pct: 5 }, battery: { soc_pct: 7 }, pv: { min_dc_voltage_v: 5000 } },
        hybrid,
      );
      expect(issues.map(({ name }) => name)).to.deep.equal(['p: pv.min_dc_voltage_v']);
    });
    it('names limits in the wrong order once', () => {
      expect(lines(resolve({ hybrid: { soc_min_pct: 60, soc_max_pct: 40 } }, hybrid).issues)).to.deep.equal([
        'p: hybrid.soc_min_pct: given 60; allowed: below soc_max_pct, which is 40',
      ]);
    });
  });

  describe('EVSE', () => {
    const evse = { assetType: 'evse' } as const;

    it('is rated by its block', () => {
      expect(resolve({}, evse).rated).to.include({
        WMaxRtg: 22_000,
        VAMaxRtg: 22_300,
        WChaRteMaxRtg: 22_000,
        VNomRtg: 400,
      });
      expect(resolve({ evse: { max_power_w: 50_000 } }, evse).rated).to.include({
        WMaxRtg: 50_000,
        WChaRteMaxRtg: 50_000,
      });
      const two = { evse: { connectors: [{ phases: 1 }, { type: 'dc', max_power_w: 50_000 }] } };
      expect(resolve(two, evse).rated).to.include({ WMaxRtg: 57_360 });
    });
    it('takes its power from model 702 where the block says nothing', () => {
      const { rated, source } = resolve(rating({ WMaxRtg: 11_000 }), evse);
      expect(rated).to.include({ WMaxRtg: 11_000, WChaRteMaxRtg: 11_000 });
      expect(source?.evse).to.include({ maxPowerW: 11_000 });
    });
  });

  describe('refuses', () => {
    const charging = (assetType: Given['assetType'], block: object = {}) =>
      lines(resolve({ ...rating({ WChaRteMaxRtg: 5000 }), ...block }, { assetType }).issues);
    const tail = 'only delivers power; allowed: on devices that take power from the grid';

    it('a charge rating of a device that only delivers', () => {
      expect(charging('pv')).to.deep.equal([`p: models.702.WChaRteMaxRtg: given 5000, but a PV device ${tail}`]);
      expect(charging('wind')).to.deep.equal([`p: models.702.WChaRteMaxRtg: given 5000, but a wind turbine ${tail}`]);
      expect(charging('fuelcell')).to.deep.equal([
        `p: models.702.WChaRteMaxRtg: given 5000, but a fuel cell with operating_mode fc_only ${tail}`,
      ]);
      expect(charging('hybrid-dc', { hybrid: { charge_from_grid: false } })).to.deep.equal([
        `p: models.702.WChaRteMaxRtg: given 5000, but a hybrid with charge_from_grid false ${tail}`,
      ]);
    });
    for (const assetType of ['battery', 'hybrid-dc', 'evse'] as const) {
      it(`no charge rating of kind ${assetType}`, () => expect(charging(assetType)).to.deep.equal([]));
    }

    const foreign: readonly (readonly [Given['assetType'], object, string])[] = [
      ['pv', { battery: {} }, 'p: battery: belongs to: battery, hybrid; allowed for a device of kind pv: pv'],
      ['battery', { pv: {} }, 'p: pv: belongs to: PV device, hybrid; allowed for a device of kind battery: battery'],
      [
        'hybrid-dc',
        { wind: {} },
        'p: wind: belongs to: wind turbine; allowed for a device of kind hybrid-dc: pv, battery, hybrid',
      ],
      ['wind', { fuel_cell: {} }, 'p: fuel_cell: belongs to: fuel cell; allowed for a device of kind wind: wind'],
      ['fuelcell', { hybrid: {} }, 'p: hybrid: belongs to: hybrid; allowed for a device of kind fuelcell: fuel_cell'],
      ['evse', { pv: {} }, 'p: pv: belongs to: PV device, hybrid; allowed for a device of kind evse: evse'],
      ['pv', { evse: {} }, 'p: evse: belongs to: EVSE; allowed for a device of kind pv: pv'],
    ];
    for (const [assetType, raw, line] of foreign) {
      it(`${Object.keys(raw).join()} for a device of kind ${assetType}`, () =>
        expect(lines(resolve(raw, { assetType }).issues)).to.deep.equal([line]));
    }
    it('ratings below 1, for every kind', () => {
      for (const assetType of ['pv', 'battery', 'wind', 'fuelcell', 'hybrid-dc', 'evse'] as const) {
        expect(resolve(rating({ WMaxRtg: 0.99 }), { assetType }).issues.map(({ name }) => name)).to.include(
          'p: models.702.WMaxRtg',
        );
      }
      expect(lines(resolve(rating({ WChaRteMaxRtg: 'much' }), { assetType: 'battery' }).issues)).to.deep.equal([
        'p: models.702.WChaRteMaxRtg: given "much"; allowed: a number from 1 to 1e9',
      ]);
      expect(lines(resolve(rating({ WMaxRtg: 1, VAMaxRtg: 1e9 }), { assetType: 'battery' }).issues)).to.deep.equal([]);
    });
  });
});
