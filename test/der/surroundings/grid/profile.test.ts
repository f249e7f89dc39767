import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../../src/core/time/clock.ts';
import { Environment } from '../../../../src/der/surroundings/environment.ts';
import { parseGridProfile } from '../../../../src/der/surroundings/grid/profile.ts';
import { codeOf } from '../../../support/map.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const at = (seconds: number) => addSeconds(start, seconds);

function environment(csv: string): Environment {
  const weather = { source: 'csv' as const, at: () => undefined, dataset: () => null };
  return new Environment(
    {
      nominalHz: 50,
      gridProfile: parseGridProfile(csv, 'grid.csv'),
      weather: { csv: () => weather, clear_sky: () => ({ irradianceAt: () => 0, airTemperatureAt: () => 20 }) },
      weatherSource: 'csv',
      seriesTime: (t) => (t - start) / 1e6,
    },
    start,
  );
}

describe('Grid profile', () => {
  it('one voltage for all phases', () => {
    expect(environment('time_s,voltage_pu,frequency_hz\n0,0.9,50\n10,1,51\n').gridAt(0, at(5))).to.deep.equal({
      aPu: 0.95,
      bPu: 0.95,
      cPu: 0.95,
      hz: 50.5,
      angleDeg: 0,
      island: false,
    });
  });

  it('each phase, and the angle; phases win over the common voltage', () => {
    const text =
      'time_s,voltage_a_pu,voltage_b_pu,voltage_c_pu,voltage_pu,frequency_hz,phase_angle_deg\n0,1,0.9,0.8,0,50,10\n10,1,0.9,0.8,0,50,30\n';
    const env = environment(text);
    expect(env.gridAt(0, at(5))).to.deep.equal({ aPu: 1, bPu: 0.9, cPu: 0.8, hz: 50, angleDeg: 20, island: false });
    const single = environment('time_s,voltage_pu,voltage_b_pu,frequency_hz\n0,1,0.5,50\n');
    expect(single.gridAt(0, at(5))).to.deep.include({ aPu: 1, bPu: 0.5, cPu: 1 });
  });

  it('the same object while the rows say the same', () => {
    const env = environment('time_s,voltage_pu,frequency_hz\n0,0.97,50\n100,0.97,50\n');
    expect(env.gridAt(0, at(5))).to.equal(env.gridAt(0, at(50)));
  });

  it('needs a voltage for every phase', () => {
    for (const columns of ['frequency_hz', 'voltage_a_pu,frequency_hz', 'voltage_a_pu,voltage_c_pu,frequency_hz']) {
      const text = `time_s,${columns}\n0${',1'.repeat(columns.split(',').length - 1)},50\n`;
      expect(
        codeOf(() => parseGridProfile(text, 'grid.csv')),
        columns,
      ).to.equal('CONFIG_INVALID');
      expect(() => parseGridProfile(text, 'grid.csv')).to.throw(/voltage_pu nor all of voltage_a_pu/);
    }
    expect(codeOf(() => parseGridProfile('time_s,voltage_pu\n0,1\n', 'grid.csv'))).to.equal('CONFIG_INVALID');
  });

  it('every row is reached exactly, also where seconds are no round numbers', () => {
    const env = environment('time_s,voltage_pu,frequency_hz\n0,1,50\n0.1,0.5,50\n0.3,1,50\n');
    const seen: number[] = [];
    for (let t: number = start; Number.isFinite(t); ) {
      t = env.nextEvent(0, t as ReturnType<typeof at>);
      if (Number.isFinite(t)) seen.push(t);
    }
    expect(seen).to.deep.equal([at(0.1), at(0.3)]);
  });
});
