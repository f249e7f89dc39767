import { expect } from 'chai';
import fc from 'fast-check';
import { hybridPolicies } from '../../../../src/contract/kinds/hybrid.ts';
import type { HybridPolicy } from '../../../../src/contract/kinds/hybrid.ts';
import type { BatteryTree } from '../../../../src/contract/kinds/battery.ts';
import type { SourceCommand } from '../../../../src/contract/device.ts';
import { HybridSource } from '../../../../src/der/source/hybrid.ts';
import type { HybridConfig } from '../../../../src/der/source/hybrid.ts';
import { acFromDc, dcFromAc } from '../../../../src/der/inverter/dc-link.ts';
import { codeOf } from '../../../support/map.ts';
import { holds } from '../../../support/property.ts';
import { FakeSource } from './fakes.ts';

const weather = (loadW = 0) => ({
  irradianceWm2: 800,
  ambientTemperatureC: 20,
  cellTemperatureC: null,
  windSpeedMS: 1,
  terminalPu: 1,
  phaseLnV: [230, 230, 230] as [number, number, number],
  loadW,
  frequencySupport: false,
  rate: 1,
});

interface Rig {
  readonly pv: FakeSource;
  readonly battery: FakeSource;
  readonly hybrid: HybridSource;
}

function rig(pvW: number, policy: HybridPolicy = 'self_consumption', changes: Partial<HybridConfig> = {}): Rig {
  const pv = new FakeSource('pv', pvW);
  const battery = new FakeSource('battery', 10_000, 10_000);
  const hybrid = new HybridSource({ pv, battery, busVoltageV: 800, policy, chargeFromGrid: true, ...changes });
  hybrid.prepare(1, weather());
  return { pv, battery, hybrid };
}

function ask({ hybrid }: Rig, targetW: number | null = null, floorW = -15_000, ceilingW = 15_000): number {
  return hybrid.answer({ targetW, floorW, ceilingW });
}

/** Draws the answer to a request. @returns PV, battery and bus power, W */
function run(device: Rig, targetW: number | null = null, floorW = -15_000, ceilingW = 15_000): number[] {
  const dcW = ask(device, targetW, floorW, ceilingW);
  device.hybrid.draw(dcW, true);
  return [device.pv.powerW, device.battery.powerW, dcW];
}

describe('hybrid source: sharing', () => {
  it('offers both parts together', () => {
    const { hybrid } = rig(4000);
    expect([hybrid.availableDcW, hybrid.absorbableDcW]).to.deep.equal([14_000, 10_000]);
    expect(hybrid.ports.map((port) => port.type)).to.deep.equal(['PV', 'ESS']);
  });

  it('self-consumption stores all PV without load or set-point, covers a load, follows a set-point', () => {
    const device = rig(8000);
    expect(run(device)).to.deep.equal([8000, -8000, 0]);
    device.hybrid.prepare(1, weather(9000));
    expect(run(device)).to.deep.equal([8000, 1000, 9000]);
    expect(run(device, 3000)).to.deep.equal([8000, -5000, 3000]);
    expect(run(device, -2000)).to.deep.equal([8000, -10_000, -2000]);
  });

  it('a load at the AC side is met through the losses', () => {
    const device = rig(8000, 'self_consumption', { dcOfAcW: (acW) => acW / 0.96 });
    device.hybrid.prepare(1, weather(4800));
    expect(run(device)).to.deep.equal([8000, -3000, 5000]);
  });

  it('changes policy at the next sub-step', () => {
    const device = rig(8000);
    run(device);
    device.hybrid.command({ kind: 'hybrid.policy', policy: 'pv_priority' });
    expect(run(device)).to.deep.equal([8000, 0, 8000]);
    expect(device.hybrid.detail().policy).to.equal('pv_priority');
    device.hybrid.command({ kind: 'hybrid.policy', policy: 'manual' });
    expect(run(device, 12_000)).to.deep.equal([8000, 4000, 12_000]);
    expect(run(device)).to.deep.equal([8000, 0, 8000]);
  });

  it('absorbs nothing from the grid if that is not allowed', () => {
    const device = rig(2000, 'manual', { chargeFromGrid: false });
    expect(device.hybrid.absorbableDcW).to.equal(0);
    expect(run(device, -6000)).to.deep.equal([2000, -2000, 0]);
    expect(run(device, -6000, -9000, -3000)).to.deep.equal([2000, -2000, 0]);
  });

  it('answers with exactly the requested number', () => {
    const device = rig(0.3 * 10_000 + 0.1, 'manual');
    for (const targetW of [0.7 * 9999.9, 1234.5678901, -4321.0987654]) expect(ask(device, targetW)).to.equal(targetW);
    const clipped = rig(18_000.123456, 'pv_priority');
    expect(ask(clipped, null, 0, 15_000.000001)).to.equal(15_000.000001);
    expect(ask(rig(1000.1), null, 3000.3, 15_000)).to.equal(3000.3);
  });

  it('an answer changes nothing', () => {
    const device = rig(8000, 'manual');
    ask(device, 9000);
    expect([device.pv.powerW, device.battery.powerW, device.hybrid.availableDcW]).to.deep.equal([0, 0, 18_000]);
  });
});

describe('hybrid source: drawing something else than the answer', () => {
  it('less: the battery gives less before the array is curtailed', () => {
    const device = rig(5000, 'manual');
    expect(ask(device, 10_000)).to.equal(10_000);
    device.hybrid.draw(7000, true);
    expect([device.pv.powerW, device.battery.powerW]).to.deep.equal([5000, 2000]);
    device.hybrid.draw(1000, true);
    expect([device.pv.powerW, device.battery.powerW]).to.deep.equal([5000, -4000]);
  });

  it('more: the array gives what it has, the battery the rest', () => {
    const device = rig(5000, 'pv_priority');
    ask(device);
    device.hybrid.draw(9000, true);
    expect([device.pv.powerW, device.battery.powerW]).to.deep.equal([5000, 4000]);
  });

  it('is obeyed exactly within the limits of both', () => {
    const cases = fc.record({
      policy: fc.constantFrom(...hybridPolicies),
      pvW: fc.double({ min: 0, max: 20_000, noNaN: true }),
      targetW: fc.option(fc.double({ min: -20_000, max: 20_000, noNaN: true })),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      forcedW: fc.option(fc.double({ min: -10_000, max: 10_000, noNaN: true })),
    });
    holds(
      'a target within the limits of both',
      cases,
      ({ policy, pvW, targetW, part, forcedW }) => {
        const device = rig(pvW, policy);
        device.battery.forcedW = forcedW;
        ask(device, targetW);
        const dcW = -10_000 + part * (pvW + 20_000);
        device.hybrid.draw(dcW, true);
        expect(device.pv.powerW + device.battery.powerW).to.be.closeTo(dcW, 1e-7);
      },
      { runs: 2000 },
    );
  });

  it('rounding on the way through AC is no battery power', () => {
    for (let pvW = 100.1; pvW < 15_000; pvW += 333.3) {
      const device = rig(pvW, 'pv_priority');
      ask(device);
      device.hybrid.draw(dcFromAc(acFromDc(pvW, 15_625, 0.96), 15_625, 0.96), true);
      expect(device.battery.powerW).to.equal(0);
      expect(device.hybrid.detail().curtailedW).to.equal(0);
    }
  });

  it('an open input rests both parts', () => {
    const device = rig(5000);
    run(device, 9000);
    device.hybrid.draw(0, false);
    expect([device.pv.powerW, device.battery.powerW, device.pv.energized, device.battery.energized]).to.deep.equal([
      0,
      0,
      false,
      false,
    ]);
    expect(device.hybrid.detail()).to.include({ dcPowerW: 0, curtailedW: 0 });
  });
});

describe('hybrid source: battery under its own command', () => {
  it('a forced battery pins the flow, the array adds to it', () => {
    const device = rig(8000);
    device.battery.forcedW = 5000;
    expect(run(device)).to.deep.equal([8000, 5000, 13_000]);
    device.battery.forcedW = -3000;
    expect(run(device)).to.deep.equal([8000, -3000, 5000]);
    device.battery.forcedW = 9000;
    expect(run(device)).to.deep.equal([6000, 9000, 15_000]);
  });

  it('passes battery commands on and refuses those of others', () => {
    const { hybrid, battery } = rig(8000);
    const reserve: SourceCommand = { kind: 'battery.reserve', minPct: 20, maxPct: 80 };
    hybrid.command(reserve);
    expect(battery.commands).to.deep.equal([reserve]);
    expect(codeOf(() => hybrid.command({ kind: 'wind.override' } as unknown as SourceCommand))).to.equal(
      'COMMAND_NOT_APPLICABLE',
    );
    expect(codeOf(() => hybrid.command({ kind: 'pv.shading' } as unknown as SourceCommand))).to.equal(
      'COMMAND_NOT_APPLICABLE',
    );
  });

  it('pins the battery in manual only, until another policy comes', () => {
    const device = rig(8000);
    const pin = (powerW: number | null) => device.hybrid.command({ kind: 'hybrid.battery', powerW });
    expect(codeOf(() => pin(1000))).to.equal('COMMAND_CONFLICT');
    device.hybrid.command({ kind: 'hybrid.policy', policy: 'manual' });
    expect(codeOf(() => pin(NaN))).to.equal('COMMAND_BAD_VALUE');
    pin(2000);
    expect(run(device, 6000)).to.deep.equal([4000, 2000, 6000]);
    expect(device.hybrid.detail()).to.include({ manualBatteryW: 2000, curtailedW: 4000 });
    pin(null);
    expect(run(device, 6000)).to.deep.equal([8000, -2000, 6000]);
    pin(99_000);
    expect(run(device, 9000)).to.deep.equal([0, 9000, 9000]);
    device.hybrid.command({ kind: 'hybrid.policy', policy: 'self_consumption' });
    expect(device.hybrid.detail().manualBatteryW).to.equal(null);
    expect(codeOf(() => device.hybrid.command({ kind: 'hybrid.policy', policy: 'best' as HybridPolicy }))).to.equal(
      'COMMAND_BAD_VALUE',
    );
  });
});

describe('hybrid source: as one source', () => {
  it('shows both parts', () => {
    const device = rig(6000);
    run(device, 9000);
    const detail = device.hybrid.detail();
    expect(detail).to.deep.include({
      kind: 'hybrid-dc',
      policy: 'self_consumption',
      busVoltageV: 800,
      batteryPowerW: 3000,
      curtailedW: 0,
      dcPowerW: 9000,
      manualBatteryW: null,
      pv: {
        powerW: 6000,
        availableW: 6000,
        voltageV: 600,
        currentA: 10,
        irradianceWm2: 800,
        cellTemperatureC: 40,
        mpptState: 'track',
        shading: null,
      },
    });
    expect(detail.battery).to.deep.equal({ kind: 'battery', socPct: 50 });
  });

  it('refuses to show parts of the wrong kind', () => {
    const hybrid = new HybridSource({
      pv: new FakeSource('battery', 1),
      battery: new FakeSource('pv', 1),
      busVoltageV: 800,
      policy: 'manual',
      chargeFromGrid: true,
    });
    expect(codeOf(() => hybrid.detail())).to.equal('INTERNAL');
  });

  it('has the strings of its battery', () => {
    const { hybrid, battery } = rig(6000);
    expect(codeOf(() => hybrid.tree())).to.equal('COMMAND_NOT_APPLICABLE');
    const tree: BatteryTree = { strings: [] };
    Object.assign(battery, { tree: () => tree });
    expect(hybrid.tree()).to.equal(tree);
  });

  it('has the curves of both ports', () => {
    const { hybrid } = rig(6000);
    const shown = (port: number | undefined) => {
      const { kind, port: at } = hybrid.curve(port, 20);
      return [kind, at];
    };
    expect([shown(undefined), shown(0), shown(1)]).to.deep.equal([
      ['pv', 0],
      ['pv', 0],
      ['battery', 1],
    ]);
    expect(codeOf(() => hybrid.curve(2, 20))).to.equal('UNKNOWN_RESOURCE');
  });

  it('starts only while no part is ready; steps and alarms are those of both', () => {
    const { hybrid, pv, battery } = rig(0);
    pv.starting = true;
    expect(hybrid.starting).to.equal(false);
    battery.availableDcW = battery.absorbableDcW = 0;
    expect(hybrid.starting).to.equal(true);
    pv.maxStepS = 10;
    battery.maxStepS = 0.5;
    battery.settled = false;
    pv.conditions.add('dc_over_volt');
    battery.conditions.add('soc_low');
    expect([hybrid.maxStepS, hybrid.settled, [...hybrid.conditions]]).to.deep.equal([
      0.5,
      false,
      ['dc_over_volt', 'soc_low'],
    ]);
    pv.conditions.clear();
    expect([...hybrid.conditions]).to.deep.equal(['soc_low']);
  });

  it('passes time, faults and restart to both, and restarts under the first policy', () => {
    const { hybrid, pv, battery } = rig(6000);
    hybrid.command({ kind: 'hybrid.policy', policy: 'manual' });
    hybrid.command({ kind: 'hybrid.battery', powerW: 100 });
    hybrid.settle(weather());
    hybrid.clearFaults();
    hybrid.restart();
    for (const part of [pv, battery])
      expect(part.calls).to.deep.equal(['prepare 1', 'settle', 'clearFaults', 'restart']);
    expect(hybrid.detail()).to.include({ policy: 'self_consumption', manualBatteryW: null });
  });
});
