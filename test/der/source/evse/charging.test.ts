import { expect } from 'chai';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { at, input, plug, run, station, step, v2g } from './rig.ts';

/** `Linear2StageBattery` of ACN-Sim as a profile: one phase, no losses, a negligible ramp. */
function acn(capacityWh: number, soc: number, maxW: number, pilotW: number, taper: number): EvseInput {
  return {
    start_delay_min_s: 0,
    start_delay_max_s: 0,
    connectors: [{ phases: 1, max_power_w: pilotW, max_current_a: 100, power_factor: 1 }],
    ev: {
      battery_capacity_wh: capacityWh,
      soc_pct: 100 * soc,
      ac_max_charge_w: maxW,
      taper_soc_pct: 100 * taper,
      ac_efficiency: 1,
      ac_ramp_a_per_s: 1000,
      end_of_charge_fraction: 0,
    },
  };
}

const cases: Record<string, EvseInput> = {
  'cap60_soc0.1_pmax7.2_pilot32_tsoc0.8': acn(60_000, 0.1, 7200, 7680, 0.8),
  'cap40_soc0.7_pmax7.2_pilot16_tsoc0.8': acn(40_000, 0.7, 7200, 3840, 0.8),
  'cap75_soc0.4_pmax11_pilot16_tsoc0.85': acn(75_000, 0.4, 11_000, 11_520, 0.85),
};

describe('EVSE: charging of a vehicle', () => {
  for (const dtS of [1, 60, 300]) {
    it(`two-stage charge in steps of ${dtS} s ${needsGolden}`, function () {
      const rows = goldenRows(this, 'ev_charge_two_stage.csv');
      for (const [name, block] of Object.entries(cases)) {
        const source = station(block);
        plug(source);
        source.settle(input);
        source.draw(0, true);
        const mine = rows.filter((row) => row['case'] === name);
        expect(mine.length).to.equal(145);
        for (const row of mine.slice(1)) {
          run(source, 300, dtS);
          const soc = at(source).ev!.socPct / 100;
          expect(soc, `${name} at ${row['t_min']!} min`).to.be.closeTo(Number(row['soc_pu']), 1e-4);
        }
      }
    });
  }

  it('the taper starts at 80 % and ends the charge at 2 % of the rating', () => {
    const source = station({
      ...acn(60_000, 0.79, 7200, 7680, 0.8),
      ev: { ...acn(60_000, 0.79, 7200, 7680, 0.8).ev, end_of_charge_fraction: 0.02 },
    });
    plug(source);
    run(source, 300);
    // 1 % of 60 kWh at 7.2 kW is 300 s
    expect(at(source).ev!.socPct).to.be.closeTo(80, 0.002);
    // from there 1 - s decays with tau = E (1 - st) / P = 6000 s
    run(source, 6000);
    expect(at(source).ev!.socPct).to.be.closeTo(100 - 20 * Math.exp(-1), 0.002);
    expect(at(source).powerW).to.be.closeTo(7200 * Math.exp(-1), 2);
    expect(at(source)).to.deep.include({ limitSource: 'ev', status: 'charging' });
    run(source, 6000 * (Math.log(50) - 1) + 2);
    expect(at(source)).to.deep.include({ powerW: 0, status: 'suspended_ev', phase: 'suspended_ev' });
    expect(at(source).ev!.socPct).to.be.closeTo(100 - 20 / 50, 1e-6);
  });

  it('ends at the target state of charge', () => {
    const source = station({ ev: { soc_pct: 30, target_soc_pct: 31 } });
    plug(source);
    run(source, 600);
    expect(at(source).ev!.socPct).to.be.closeTo(31, 1e-6);
    expect(at(source)).to.deep.include({ status: 'suspended_ev', powerW: 0 });
    source.command({ kind: 'evse.ev', connectorId: 1, ev: { targetSocPct: 40 } });
    run(source, 10);
    expect(at(source)).to.deep.include({ status: 'charging' });
    expect(at(source).powerW).to.be.closeTo(10_929.6, 100);
  });

  it('a vehicle that has become full opens its contactors under load, without a ramp', () => {
    const source = station({ ev: { soc_pct: 30, target_soc_pct: 80 } });
    plug(source);
    run(source, 60);
    expect(at(source).powerW).to.be.above(10_000);
    source.command({ kind: 'evse.ev', connectorId: 1, ev: { targetSocPct: 30 } });
    // 8 A/s from 16 A would take 2 s
    expect(step(source, 0.1) + 0).to.equal(0);
    expect(at(source)).to.deep.include({ status: 'suspended_ev', powerW: 0 });
  });

  it('starts after its delay and ramps', () => {
    const source = station();
    plug(source);
    expect([at(source).status, source.maxStepS]).to.deep.equal(['preparing', 5]);
    run(source, 5);
    expect([at(source).status, at(source).powerW, source.nowS]).to.deep.equal(['charging', 0, 5]);
    // 8 A/s on three phases
    const slopeW = 8 * 3 * 230 * 0.99;
    expect(-step(source, 1)).to.be.closeTo(slopeW / 2, 1e-6);
    expect(source.settled).to.equal(false);
    run(source, 3);
    expect([source.settled, at(source).powerW]).to.deep.equal([true, 11_000]);
  });

  it('draws a new delay for each session, within 3 to 15 s, from the seed alone', () => {
    const delays = (seed: number) =>
      Array.from({ length: 50 }, () => 0).map(
        ((source) => () => {
          source.command({ kind: 'evse.plug', connectorId: 1 });
          const delayS = source.maxStepS;
          source.command({ kind: 'evse.unplug', connectorId: 1 });
          return delayS;
        })(station({ start_delay_min_s: 3, start_delay_max_s: 15 }, 22_000, seed)),
      );
    const first = delays(7);
    expect(first).to.deep.equal(delays(7));
    expect(first).to.not.deep.equal(delays(8));
    expect(Math.min(...first)).to.be.within(3, 4.5);
    expect(Math.max(...first)).to.be.within(13.5, 15);
  });

  it('a DC charge follows the fast-charge curve and the cable', () => {
    const source = station(
      {
        connectors: [{ type: 'dc', max_current_a: 300 }],
        start_delay_min_s: 0,
        start_delay_max_s: 0,
        ev: { battery_capacity_wh: 75_000, dc_max_charge_w: 150_000, soc_pct: 20 },
      },
      150_000,
    );
    plug(source);
    source.settle(input);
    source.draw(source.answer({ targetW: null, floorW: -1e6, ceilingW: 1e6 }), true);
    // 300 A into a pack of 400 V at 20 %
    expect(at(source).powerW).to.be.closeTo(300 * 400 * (0.9 + 0.04), 1e-6);
    expect(at(source).limitSource).to.equal('hardware');
    expect(at(source).currentA[0]! * at(source).voltageV).to.be.closeTo(at(source).powerW, 1e-6);
    source.command({ kind: 'evse.ev', connectorId: 1, ev: { socPct: 80 } });
    run(source, 20);
    const fraction = 0.35 - (0.17 * (at(source).ev!.socPct - 80)) / 10;
    expect(at(source).powerW).to.be.closeTo(fraction * 150_000, 30);
    expect(at(source).limitSource).to.equal('ev');
    expect(source.ports[0]).to.deep.include({ type: 'EV' });
    expect(source.ports[0]!.powerW).to.equal(-at(source).powerW);
  });

  it('the result does not depend on the step size', () => {
    const play = (dtS: number) => {
      const source = station({ ev: { battery_capacity_wh: 40_000, soc_pct: 75 } });
      plug(source);
      const energies = [run(source, 900, dtS)];
      source.command({ kind: 'evse.limit', connectorId: 1, powerW: 5000 });
      energies.push(run(source, 900, dtS));
      source.command({ kind: 'evse.limit', connectorId: 1, powerW: null });
      energies.push(run(source, 9000, dtS), at(source).ev!.socPct);
      return energies;
    };
    const fine = play(0.1);
    for (const dtS of [1, 10])
      play(dtS).forEach((value, i) => expect(value, `${dtS} s, ${i}`).to.be.closeTo(fine[i]!, 1e-5 * fine[i]!));
  });

  it('the result does not depend on the step size on a DC curve with V2G and sharing', () => {
    const play = (dtS: number) => {
      const source = station(
        {
          connectors: [{ type: 'dc', bidirectional: true }, { type: 'dc' }],
          start_delay_min_s: 0,
          start_delay_max_s: 0,
          ev: { soc_pct: 3, dc_max_charge_w: 120_000 },
        },
        150_000,
      );
      plug(source);
      plug(source, 2);
      const energies = [run(source, 900, dtS)];
      source.command({ kind: 'evse.discharge', connectorId: 1, powerW: 20_000 });
      energies.push(run(source, 1800, dtS), at(source).ev!.socPct, at(source, 2).ev!.socPct);
      return energies;
    };
    const fine = play(0.1);
    for (const dtS of [1, 10])
      play(dtS).forEach((value, i) =>
        expect(value, `${dtS} s, ${i}`).to.be.closeTo(fine[i]!, 5e-4 * Math.abs(fine[i]!)),
      );
  });

  it('a discharge by a set-point has the slope of the vehicle, whatever the step size', () => {
    for (const dtS of [0.1, 0.5, 3]) {
      const source = station({ ...v2g, start_delay_min_s: 0, start_delay_max_s: 0 }, 50_000);
      plug(source);
      run(source, 10, 0.1, { targetW: 0 });
      const rampWS = source.outputRampDcWS;
      // below the set-point all the time
      expect(rampWS).to.be.within(7000, 9000);
      expect(-3600 * run(source, 3, dtS, { targetW: 30_000 }), `${dtS} s`).to.be.closeTo((rampWS * 3 ** 2) / 2, 1);
      run(source, 2, 0.1, { targetW: 30_000 });
      expect(at(source).powerW, `${dtS} s`).to.equal(-30_000);
      expect(source.settled, 'at its end').to.equal(true);
    }
  });

  it('energy is the integral of power, standby included at the station', () => {
    const source = station({ standby_w: 4, ev: { soc_pct: 60, battery_capacity_wh: 30_000 } });
    plug(source);
    const energyWh = run(source, 3 * 3600);
    const { session, energyWh: meterWh, ev } = at(source);
    expect(source.detail().energyWh).to.be.closeTo(energyWh, 1e-6 * energyWh);
    expect(meterWh).to.be.closeTo(energyWh - 4 * 3, 1e-3);
    expect(session!.energyWh).to.equal(meterWh);
    expect(((ev!.socPct - 60) / 100) * 30_000).to.be.closeTo(0.92 * meterWh, 1e-3);
    expect(source.detail().standbyW).to.be.closeTo(4, 1e-9);
  });
});
