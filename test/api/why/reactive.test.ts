/** The functions and limits of reactive power in `controls/why`: one test for each rule. */
import { expect } from 'chai';
import { reactiveWhy } from '../../../src/api/why/reactive-chain.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { byModbus } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';

let plant: SimPlant;

const [pv, charger, battery] = [0, 1, 2] as const;
const shown = (index: number = pv) => reactiveWhy(plant.device(index), plant);
const winner = (index?: number) => shown(index).chain.find(({ state }) => state === 'wins') ?? null;
const valueOf = (key: string) => shown().chain.find((entry) => entry.key === key)?.limitVar;
const kvar = (vars: number | null | undefined) => (vars == null ? vars : Math.round(vars) / 1000);
type Write = Parameters<SimPlant['devices'][number]['bank']['transact']>[1];

async function write(change: Write, seconds = 60): Promise<void> {
  plant.device(pv).bank.transact(byModbus, change);
  await plant.step(seconds);
}

/** 4 kvar absorbed at 10 kW. */
const fixed: Write = ({ m704 }) => {
  m704.VarSetMod = 'VARS';
  m704.VarSet = -4000;
  m704.VarSetEna = 'ENABLED';
};
const irradiance = async (wm2: number) => {
  plant.setSurroundings({ irradianceWm2: wm2, cellTemperatureC: 25 });
  await plant.step(60);
};

describe('the chain of reactive power', () => {
  beforeEach(async () => {
    plant = testPlant({ types: ['PV-3Phase', 'EVSE', 'Batt-3Phase'], tickIntervalS: 1 });
    await irradiance(600);
  });

  it('says that no function acts, in an order of functions and limits that stays', async () => {
    const keys = () => shown().chain.map(({ key }) => key);
    const before = keys();
    expect(before.slice(0, 5)).to.have.members(['volt_var', 'watt_var', 'constant_var', 'pf_inject', 'pf_absorb']);
    expect(before.slice(5)).to.deep.equal(['capability', 'low_power', 'apparent_power', 'cessation', 'out_of_service']);
    expect([winner(), shown().sentence]).to.deep.equal([null, '0.00 kvar: no function acts.']);
    await write(fixed);
    expect(keys()).to.deep.equal(before);
  });

  it('constant reactive power has its value, writer and end', async () => {
    await write(({ m704 }) => {
      m704.VarSetRvrtTms = 600;
      m704.VarSetMod = 'VARS';
      m704.VarSet = -4000;
      m704.VarSetEna = 'ENABLED';
    });
    const { deliveredVar, asked, sentence } = shown();
    expect([kvar(deliveredVar), asked.by, kvar(asked.powerVar), asked.text]).to.deep.equal([
      -4,
      'function',
      -4,
      'what constant reactive power asks for',
    ]);
    const { key, limitVar, by, untilMs } = winner()!;
    expect([key, kvar(limitVar), by?.source]).to.deep.equal(['constant_var', -4, 'modbus']);
    expect(untilMs! - plant.dateMs(plant.now)).to.equal(540_000);
    expect(sentence).to.match(/^4\.00 kvar absorbed: constant reactive power, written by Modbus .* at 12:01:00\.$/);
  });

  it('a curve has its input; a function that another one displaces keeps what it asks for', async () => {
    await write(fixed);
    plant.setGrid({ voltagePu: 0.94 });
    await write(({ m705 }) => (m705.Ena = 'ENABLED'));
    const { key, limitVar } = winner()!;
    expect(key).to.equal('volt_var');
    expect(limitVar).to.equal(shown().deliveredVar).and.to.be.above(0);
    expect(shown().sentence).to.match(/kvar injected: volt-var at 94\.\d %, curve written by Modbus/);
    expect(shown().chain.find((entry) => entry.key === 'constant_var')).to.include({
      state: 'not_reached',
      limitVar: -4000,
    });
    await write(({ m705, m712 }) => {
      m705.Ena = 'DISABLED';
      m712.Ena = 'ENABLED';
    });
    expect(winner()).to.include({ key: 'watt_var' });
    expect(shown().sentence).to.include('watt-var at ').and.to.include(' kW, curve written by Modbus');
  });

  it('constant power factor acts in the direction of the active power', async () => {
    const device = plant.device(battery);
    device.bank.transact(byModbus, ({ m704 }) => {
      m704.PFWInj.PF = 0.9;
      m704.PFWInj.Ext = 'UNDER_EXCITED';
      m704.PFWInjEna = 'ENABLED';
      m704.PFWAbs.PF = 0.95;
      m704.PFWAbs.Ext = 'OVER_EXCITED';
      m704.PFWAbsEna = 'ENABLED';
    });
    for (const [mode, key, verb] of [
      ['discharge', 'pf_inject', 'absorbed: power factor while injecting'],
      ['charge', 'pf_absorb', 'injected: power factor while absorbing'],
    ] as const) {
      device.command({ kind: 'battery.control', mode, powerW: 4000 }, byModbus);
      await plant.step(60);
      expect(winner(battery)).to.include({ key });
      expect(shown(battery).sentence).to.include(verb);
    }
  });

  it('on the way to a new value it names the end of the ramp', async () => {
    await write(({ m704 }) => {
      m704.VarRmp = 1;
    });
    await write(fixed, 5);
    expect(winner()).to.include({ key: 'constant_var' });
    expect(shown().sentence).to.match(/^0\.\d\d kvar absorbed, on the way to 4\.00 kvar absorbed: constant/);
  });

  it('the reactive capability bounds a function', async () => {
    await write(fixed);
    await write(({ m702 }) => (m702.VarMaxAbs = 3000));
    expect(winner()).to.include({ key: 'capability', limitVar: -3000 });
    expect(shown().sentence).to.match(
      /^3\.00 kvar of 4\.00 kvar absorbed, what constant reactive power asks for: the reactive capability \(702\.VarMaxAbs\), written/,
    );
  });

  it('low active power leaves less of the capability', async () => {
    await write(fixed);
    await irradiance(100);
    const capability = valueOf('capability')!;
    expect(winner()).to.include({ key: 'low_power' });
    expect(valueOf('low_power')).to.equal(shown().deliveredVar).and.to.be.above(capability);
    await irradiance(600);
    expect(valueOf('low_power')).to.equal(null);
  });

  it('the circle bounds it, and the priority is named', async () => {
    await write(fixed);
    await write(({ m702 }) => (m702.VAMax = 3000));
    expect(winner()).to.deep.include({ key: 'apparent_power', limitVar: shown().deliveredVar });
    expect(kvar(shown().deliveredVar)).to.equal(-3);
    expect(shown().sentence).to.include(': the rating in kVA with priority of reactive power, written by Modbus');
    await write(({ m704 }) => (m704.VarSetPri = 'ACTIVE'));
    expect(shown().sentence).to.include(': the rating in kVA with priority of active power, written by Modbus');
    await write(({ m702 }) => (m702.VAMax = 10_000));
    expect(winner()).to.include({ key: 'constant_var' });
    expect(kvar(valueOf('apparent_power'))).to.equal(-10);
  });

  it('a cessation and an open switch end it', async () => {
    await write(fixed);
    await write(({ m703 }) => (m703.ES = 'DISABLED'));
    expect(winner()).to.include({ key: 'out_of_service', limitVar: 0 });
    expect(shown().sentence).to.equal('No reactive power: out of service.');
    await write(({ m703 }) => (m703.ES = 'ENABLED'), 400);
    plant.setGrid({ voltagePu: 0.4 });
    await plant.step(1);
    expect(winner()?.key).to.be.oneOf(['cessation', 'out_of_service']);
  });

  it('without sun nothing limits: the converter does not run', async () => {
    await write(fixed);
    await irradiance(0);
    expect(winner()).to.equal(null);
    expect(shown().sentence).to.equal(
      '0.00 kvar of 4.00 kvar absorbed, what constant reactive power asks for: the converter does not run.',
    );
  });

  it('of a charger without a function is that of the loads', async () => {
    plant.device(charger).command({ kind: 'evse.plug', connectorId: 1, ev: {} }, byModbus);
    await plant.step(60);
    const { asked, deliveredVar, sentence } = shown(charger);
    expect([asked.by, asked.powerVar, winner(charger)]).to.deep.equal(['loads', deliveredVar, null]);
    expect(sentence).to.match(/kvar (absorbed|injected) by the loads behind the terminals: no function acts\.$/);
  });
});
