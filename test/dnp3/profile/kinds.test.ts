import { expect } from 'chai';
import type { PointName } from '../../../src/dnp3/profile/types.ts';
import { configuredDevices } from '../../support/configured.ts';
import { same } from '../../support/expect.ts';
import { PointRig } from '../rig/points.ts';

const by = { source: 'modbus', peer: 'test' } as const;

/** Inputs, and the registers that they show: the engineering value is the one of the register times the factor. */
const registers: readonly (readonly [PointName, number, string, number?])[] = [
  ['AI2', 702, 'VMinRtg'],
  ['AI3', 702, 'VMaxRtg'],
  ['AI4', 702, 'WMaxRtg'],
  ['AI5', 702, 'WChaRteMaxRtg', -1],
  ['AI6', 702, 'WOvrExtRtg'],
  ['AI8', 702, 'WOvrExtRtgPF'],
  ['AI9', 702, 'WUndExtRtg'],
  ['AI11', 702, 'WUndExtRtgPF'],
  ['AI12', 702, 'VarMaxInjRtg'],
  ['AI13', 702, 'VarMaxAbsRtg', -1],
  ['AI14', 702, 'VAMaxRtg'],
  ['AI16', 713, 'WHRtg'],
  ['AI19', 702, 'AMaxRtg'],
  ['AI29', 702, 'VNom'],
  ['AI32', 702, 'WMax'],
  ['AI33', 702, 'WChaRteMax', -1],
  ['AI34', 702, 'VarMaxInj'],
  ['AI35', 702, 'VarMaxAbs', -1],
  ['AI36', 702, 'VAMax'],
  ['AI47', 713, 'SoC'],
  ['AI50', 703, 'ESVHi'],
  ['AI51', 703, 'ESVLo'],
  ['AI52', 703, 'ESHzHi'],
  ['AI53', 703, 'ESHzLo'],
  ['AI54', 703, 'ESDlyTms'],
  ['AI56', 703, 'ESRmpTms'],
  ['AI62', 704, 'WRmp'],
  ['AI145', 704, 'WMaxLimPctRvrtTms'],
  ['AI149', 704, 'WMaxLimPct'],
  ['AI281', 704, 'VarSetPct'],
  ['AI536', 701, 'Hz'],
  ['AI537', 701, 'W'],
  ['AI538', 701, 'WL1'],
  ['AI539', 701, 'WL2'],
  ['AI540', 701, 'WL3'],
  ['AI541', 701, 'Var'],
  ['AI542', 701, 'VarL1'],
  ['AI543', 701, 'VarL2'],
  ['AI544', 701, 'VarL3'],
  ['AI545', 701, 'PF'],
  ['AI546', 701, 'VA'],
  ['AI547', 701, 'VL1'],
  ['AI549', 701, 'VL2'],
  ['AI551', 701, 'VL3'],
  ['AI553', 701, 'LLV'],
  ['AI554', 701, 'AL1'],
  ['AI555', 701, 'AL2'],
  ['AI556', 701, 'AL3'],
  ['CTR0', 701, 'TotWhInj'],
  ['CTR1', 701, 'TotWhAbs'],
  ['CTR2', 701, 'TotVarhInj'],
  ['CTR3', 701, 'TotVarhAbs'],
];

/** Exactly one of them says what the device does. */
const exclusive = ['BI18', 'BI19', 'BI20', 'BI21', 'BI22'] as const;

function expectRegisters(rig: PointRig): number {
  let shown = 0;
  const views = new Map(rig.points.views().map((view) => [`${view.type}${view.index}`, view]));
  for (const [name, model, path, factor = 1] of registers) {
    // model 713 shows 0 % without a storage
    const isThere = model !== 713 || typeof rig.register(713, 'WHRtg') === 'number';
    const value = isThere ? rig.register(model, path) : null;
    const view = views.get(name);
    if (typeof value !== 'number') {
      expect(view?.engineeringValue ?? null, `${name}: there is no ${model}.${path}`).to.equal(null);
      continue;
    }
    if (view === undefined) throw new Error(`${name} is not in the map`);
    expect(view.online, `${name} has no value of ${model}.${path}`).to.equal(true);
    expect(view.engineeringValue, name).to.be.closeTo(value * factor, view.multiplier / 2 + 1e-9);
    shown += 1;
  }
  return shown;
}

const doing = (rig: PointRig) => exclusive.filter((name) => rig.value(name) === 1);

/** Devices of all kinds, by the flags that make them. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  'PV, three-phase': ['--device_type', 'PV-3Phase'],
  'PV, single-phase': ['--device_type', 'PV-1Phase'],
  'PV, split phase': ['--device_type', 'PV-2Phase'],
  'PV, 400 V': ['-f', '100kW-3Phase-EU'],
  battery: ['--device_type', 'Batt-3Phase'],
  'battery, single-phase': ['--device_type', 'Batt-1Phase'],
  'wind turbine': ['--device_type', 'Wind-T3-3Phase'],
  'large wind turbine': ['--device_type', 'Wind-T4-3Phase'],
  'fuel cell': ['--device_type', 'Fuelcell-3Phase'],
  'reversible fuel cell': ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  hybrid: ['--device_type', 'HybridDC-3Phase'],
  'charging station': ['--device_type', 'EVSE'],
  'bidirectional charging station': ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'],
};

describe('the points of every kind of device', () => {
  for (const [kind, flags] of Object.entries(kinds))
    it(`MON-001 ${kind}: every point that is there has a value, the one of its register`, async () => {
      const rig = new PointRig('PV-3Phase', { devices: configuredDevices(...flags) });
      for (const seconds of [0, 7, 60]) {
        if (seconds > 0) await rig.pass(seconds);
        expect(expectRegisters(rig)).to.be.greaterThan(30);
        const served = rig.points.views({ coverage: 'served' });
        expect(served.filter(({ online }) => !online).map(({ type, index }) => `${type}${index}`)).to.deep.equal([]);
        for (const { type, index, value, min, max } of served) {
          const isWithin = value !== null && (min === null || value >= min) && (max === null || value <= max);
          if (type === 'AI' || type === 'AO')
            same(isWithin, true, () => `${type}${index} = ${value}, [${min}, ${max}]`);
        }
        expect(doing(rig).length).to.equal(1);
      }
    });

  it('show as absent what a device cannot have', () => {
    const absent = (type: string, ...names: PointName[]) => {
      const rig = new PointRig(type);
      const served = rig.points.views({ coverage: 'served' }).map((view) => `${view.type}${view.index}`);
      return names.filter((name) => !served.includes(name));
    };
    const storage = ['AI5', 'AI16', 'AI44', 'AI47', 'AI64', 'BI4', 'BI27', 'AO87'] as const;
    expect(absent('PV-3Phase', ...storage)).to.deep.equal(storage);
    expect(absent('Batt-3Phase', ...storage)).to.deep.equal([]);
    expect(absent('PV-1Phase', 'AI538', 'AI539', 'AI551', 'BI105')).to.deep.equal(['AI539', 'AI551', 'BI105']);
  });
});

describe('settings of a device', () => {
  it('CHG: the reserves of a battery are its registers, and bound what is usable of it', () => {
    const rig = new PointRig('Batt-3Phase');
    const soc = Number(rig.register(713, 'SoC'));
    rig.done(['AO100', 200], ['AO101', 800]);
    expect([rig.register(802, 'SoCRsvMin'), rig.register(802, 'SocRsvMax')]).to.deep.equal([20, 80]);
    expect([rig.value('AI161'), rig.value('AI162')]).to.deep.equal([200, 800]);
    expect(rig.operate('AO100', 900)).to.equal(12);
    expect(rig.operate('AO100', -1)).to.equal(12);
    rig.points.tick();
    expect(rig.value('AI48')).to.equal(Math.round((1000 * (soc - 20)) / 60));
    expect(rig.value('AI18')).to.equal(Math.round(Number(rig.register(713, 'WHRtg')) * 0.6));
  });

  it('FW: both time constants of droop are the one of its register', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO73', 7]);
    expect([rig.register(711, 'Ctl[0].RspTms'), rig.value('AI131'), rig.value('AI132')]).to.deep.equal([7, 7, 7]);
  });

  it('VV: a single phase acts on its voltage to neutral', () => {
    const rig = new PointRig('PV-1Phase');
    expect(rig.value('AI295')).to.equal(10 * Number(rig.register(701, 'LNV')));
  });
});

describe('the states of a device', () => {
  it('are told by exactly one input, whatever the device does', async () => {
    const rig = new PointRig('Batt-3Phase');
    const after = async (seconds: number) => {
      await rig.pass(seconds);
      return doing(rig);
    };
    expect(await after(5)).to.deep.equal(['BI18']);
    rig.done(['AO93', -500], ['BO18', true]);
    expect(await after(30)).to.deep.equal(['BI20']);
    rig.done(['AO93', 500]);
    expect(await after(60)).to.deep.equal(['BI19']);
    rig.device.command({ kind: 'switch', closed: false }, by);
    expect(await after(30)).to.deep.equal(['BI21']);
    rig.done(['BO3', false]);
    expect(doing(rig)).to.deep.equal(['BI22']);
    rig.done(['BO3', true], ['BO5', true]);
    expect(await after(900)).to.deep.equal(['BI19']);
  });

  it('BO2 and BO1: stopping, stopped, starting and started follow each other', async () => {
    const rig = new PointRig('PV-3Phase', { models: { 703: { ESDlyTms: 20, ESRndTms: 0 } } });
    const states = () => ['BI12', 'BI13', 'BI14', 'BI15'].filter((name) => rig.value(name as PointName) === 1);
    await rig.pass(30);
    expect(states()).to.deep.equal(['BI14']);
    rig.done(['BO2', true]);
    await rig.pass(60);
    expect(states()).to.deep.equal(['BI15']);
    rig.done(['BO1', true]);
    await rig.pass(5);
    expect(states()).to.deep.equal(['BI12']);
    await rig.pass(400);
    expect(states()).to.deep.equal(['BI14']);
  });

  it('ALARM-001 tells of a trip: priority, protection and power', async () => {
    const rig = new PointRig('PV-3Phase', {
      gridProfile: 'time_s,voltage_pu,frequency_hz\n0,1,60\n43210,1,60\n43211,1.3,60\n43240,1.3,60',
    });
    await rig.pass(5);
    expect(['BI1', 'BI52', 'BI53', 'BI54'].map((name) => rig.value(name as PointName))).to.deep.equal([0, 0, 0, 0]);
    await rig.pass(20);
    expect(['BI1', 'BI54', 'AI537'].map((name) => rig.value(name as PointName))).to.deep.equal([1, 1, 0]);
    expect(doing(rig)).to.deep.equal(['BI22']);
    rig.device.bank.transact(by, (tx) => {
      tx.m708.Ena = 'DISABLED';
    });
    expect(rig.value('BI52')).to.equal(1);
  });
});
