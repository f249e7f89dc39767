import { expect } from 'chai';
import fc from 'fast-check';
import { EnergyMeter } from '../../../src/der/inverter/energy.ts';
import type { PowerSpan } from '../../../src/der/inverter/energy.ts';
import type { DcPort } from '../../../src/der/source/source.ts';
import { holds } from '../../support/property.ts';

const span = (fromW: number, toW: number, linear = true): PowerSpan => ({
  fromW,
  toW,
  fromVar: -fromW,
  toVar: -toW,
  linear,
});
const port = (powerW: number): DcPort => ({ type: 'ESS', name: 'x', voltageV: 800, currentA: powerW / 800, powerW });
const hour = 3600;

describe('Energy counters (IEEE 1547-2018 10.3; 701.TotWhInj, TotWhAbs)', () => {
  it('a ramp through zero counts exactly in both directions', () => {
    const meter = new EnergyMeter(1, 1);
    meter.add(1e-9, { ...span(0, 0), linear: false }, [1], { ports: [port(-1000)] });
    meter.add(hour, span(-1000, 3000), [1], { ports: [port(3000)] });
    const [phase] = meter.phases;
    // a quarter of the hour below zero, three quarters above
    expect(phase!.whAbsorbed).to.be.closeTo(125, 1e-6);
    expect(phase!.whInjected).to.be.closeTo(1125, 1e-6);
    expect(phase!.varhInjected).to.be.closeTo(125, 1e-6);
    expect(phase!.varhAbsorbed).to.be.closeTo(1125, 1e-6);
    expect(meter.ports[0]!.whAbsorbed).to.be.closeTo(125, 1e-6);
    expect(meter.ports[0]!.whInjected).to.be.closeTo(1125, 1e-6);
  });

  it('give the same result however a ramp is split', () => {
    holds(
      'energy of a ramp however it is split',
      [fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: 1, max: 50 })],
      (a, b, parts) => {
        const whole = new EnergyMeter(1, 0);
        whole.add(hour, span(a, b), [1], { ports: [] });
        const split = new EnergyMeter(1, 0);
        const at = (i: number) => a + ((b - a) * i) / parts;
        for (let i = 0; i < parts; i += 1) split.add(hour / parts, span(at(i), at(i + 1)), [1], { ports: [] });
        const [one, other] = [whole.phases[0]!, split.phases[0]!];
        for (const key of ['whInjected', 'whAbsorbed', 'varhInjected', 'varhAbsorbed'] as const) {
          expect(other[key], key).to.be.closeTo(one[key], 1e-6);
        }
        expect(one.whInjected - one.whAbsorbed).to.be.closeTo((a + b) / 2, 1e-6);
      },
    );
  });

  it('a step holds its later value throughout', () => {
    const meter = new EnergyMeter(1, 0);
    meter.add(hour, span(-1000, 3000, false), [1], { ports: [] });
    expect(meter.phases[0]).to.include({ whInjected: 3000, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 3000 });
  });

  it('phases count their shares, and NaN is ignored', () => {
    const meter = new EnergyMeter(3, 1);
    meter.add(hour, span(900, 900), [0.5, 0.25, NaN], { ports: [port(NaN)] });
    expect(meter.phases.map((phase) => phase.whInjected)).to.deep.equal([450, 225, 0]);
    meter.add(hour, span(NaN, 900), [1, 1, 1], { ports: [port(0)] });
    meter.add(hour, span(0, 900, false), [1, 0, 0], { ports: [] });
    expect(meter.phases.map((phase) => phase.whInjected)).to.deep.equal([1350, 225, 0]);
    expect(meter.ports[0]).to.deep.equal({ whInjected: 0, whAbsorbed: 0, lastW: 0 });
  });

  it('never fall; only a reset sets them to zero', () => {
    const meter = new EnergyMeter(1, 1);
    const powers = fc.array(fc.tuple(fc.double({ min: -1e4, max: 1e4, noNaN: true }), fc.boolean()), { maxLength: 20 });
    holds('counters never fall', powers, (steps) => {
      let [before, lastW] = [{ ...meter.phases[0]! }, 0];
      for (const [watts, linear] of steps) {
        meter.add(10, span(lastW, watts, linear), [1], { ports: [port(watts)] });
        const now = { ...meter.phases[0]! };
        for (const key of ['whInjected', 'whAbsorbed', 'varhInjected', 'varhAbsorbed'] as const)
          expect(now[key]).to.be.at.least(before[key]);
        [before, lastW] = [now, watts];
      }
    });
    meter.clear();
    expect(meter.phases[0]).to.deep.equal({ whInjected: 0, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 0 });
  });

  it('since the start, no reset takes them back', () => {
    const meter = new EnergyMeter(2, 0);
    const [first, second] = [span(600, 600), span(-400, -400)];
    meter.add(hour, first, [0.5, 0.5], { ports: [] });
    meter.clear();
    expect(meter.sinceStart.map(({ whInjected }) => whInjected)).to.deep.equal([300, 300]);
    meter.add(hour, second, [0.75, 0.25], { ports: [] });
    meter.clear();
    meter.add(hour, first, [1, 0], { ports: [] });
    expect(meter.sinceStart[0]).to.deep.equal({
      whInjected: 900,
      whAbsorbed: 300,
      varhInjected: 300,
      varhAbsorbed: 900,
    });
    expect(meter.phases[0]).to.deep.equal({ whInjected: 600, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 600 });
  });
});
