import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { bundledEvseProfileNames, bundledProfileNames } from '../../../src/config/profile/bundled.ts';
import { testPlant } from '../../support/plant.ts';
import { configOf, configuredDevices } from '../../support/configured.ts';
import { fileIssues, issueLines, run } from '../support.ts';

const european = [...bundledProfileNames, ...bundledEvseProfileNames].filter((name) => name.endsWith('-EU'));

describe('the nominal frequency', () => {
  it('is that of the profile where the configuration says none, else 60 Hz', () => {
    const hzOf = (...argv: string[]) => run(argv).grid.nominalFrequencyHz;
    expect(hzOf()).to.equal(60);
    expect(hzOf('-f', '10kW-3Phase-EU')).to.equal(50);
    expect(hzOf('--evse_profile', 'EVSE-AC-11kW-1port-EU')).to.equal(50);
    const mixed = 'devices:\n  - { profile: 500kW-3Phase }\n  - { device_type: Batt, profile: Batt-10kW-3Phase-EU }\n';
    expect(run(['--config', 'c.yaml'], { files: { '/site/c.yaml': mixed } }).grid.nominalFrequencyHz).to.equal(50);
  });

  it('is told in the log where one profile decides it for devices of others', () => {
    const noticesOf = (yaml: string) => run(['--config', 'c.yaml'], { files: { '/site/c.yaml': yaml } }).notices;
    const mixed = 'devices:\n  - { device_type: PV-3Phase }\n  - { profile: 5kW-1Phase-EU, device_type: PV-1Phase }\n';
    expect(run(['--config', 'c.yaml'], { files: { '/site/c.yaml': mixed } }).notices).to.deep.equal([
      'the nominal frequency of the grid is 50 Hz instead of 60 Hz, as profile 5kW-1Phase-EU of PV-1Phase 1 says, ' +
        'also for the devices of one other profile that sets none; ' +
        'grid.nominal_frequency_hz in the configuration file overrides it',
    ]);
    expect(noticesOf(`grid: { nominal_frequency_hz: 50 }\n${mixed}`)).to.deep.equal([]);
    expect(noticesOf('devices:\n  - { profile: 10kW-3Phase-EU, count: 3 }\n')).to.deep.equal([]);
    expect(noticesOf('devices:\n  - {}\n  - { profile: { nominal_frequency_hz: 60 } }\n')).to.deep.equal([]);
  });

  it('must be that of every profile that says one', () => {
    expect(fileIssues('grid: { nominal_frequency_hz: 60 }\nf: 10kW-3Phase-EU\nN: 3\n')).to.deep.equal([
      'profile 10kW-3Phase-EU of PV-3Phase 0: nominal_frequency_hz: given 50; allowed: 60, as grid.nominal_frequency_hz says',
    ]);
    const two = 'devices:\n  - { profile: 10kW-3Phase-EU }\n  - { profile: { nominal_frequency_hz: 60 } }\n';
    expect(fileIssues(two)).to.deep.equal([
      'profile of PV-3Phase 1: nominal_frequency_hz: given 60; allowed: 50, as profile 10kW-3Phase-EU of PV-3Phase 0 says',
    ]);
    expect(issueLines(['-f', '10kW-3Phase-EU', '--seed', 'x'])).to.have.length(1);
  });

  it('of the grid that is there holds for a device that is added', () => {
    const names = (argv: string[], profile: string | object) => {
      try {
        configOf(...argv).deviceOf({ profile }, 1);
        return [];
      } catch (error) {
        if (!(error instanceof SimError)) throw error;
        return error.issues.map(({ name, detail }) => `${name}: ${detail}`);
      }
    };
    const refusal = 'profile: nominal_frequency_hz: given 50; allowed: 60, as the default of the grid says';
    expect(names([], '10kW-3Phase-EU')).to.deep.equal([refusal]);
    expect(names([], { nominal_frequency_hz: 50 })).to.deep.equal([refusal]);
    expect(names(['-f', '10kW-3Phase-EU'], { nominal_frequency_hz: 50 })).to.deep.equal([]);
  });
});

describe('European profiles', () => {
  it('run at 50 Hz, 400 V between lines and 230 V to neutral', () => {
    expect(european).to.have.length(18);
    for (const name of european) {
      const type = /^(?:Field-)?(Batt|HybridDC|EVSE)-/.exec(name)?.[1] ?? 'PV';
      const single = name.includes('1Phase');
      const argv = type === 'EVSE' ? ['--evse_profile', name] : ['-d', `${type}-${single ? 1 : 3}Phase`, '-f', name];
      const config = configOf(...argv);
      const plant = testPlant({ devices: configuredDevices(...argv), nominalHz: config.grid.nominalFrequencyHz });
      const { m701, m702 } = plant.device(0).bank.map;
      expect([m701.Hz, m702.VNomRtg], name).to.deep.equal([50, single ? 230 : 400]);
      expect(m701.LNV, name).to.be.closeTo(230, 1.1);
      if (!single) expect(m701.LLV, name).to.be.closeTo(400, 1);
    }
  });

  it('trip at the thresholds of IEEE 1547, shifted to 50 Hz', () => {
    const plant = testPlant({ devices: configuredDevices('-f', '10kW-3Phase-EU'), nominalHz: 50 });
    const { m709, m710 } = plant.device(0).bank.map;
    const thresholds = (points: readonly { readonly Hz: number | null }[], count: number | null) =>
      points.slice(0, count ?? 0).map(({ Hz }) => Hz);
    const [low, high] = [m709.Crv[0]?.MustTrip, m710.Crv[0]?.MustTrip];
    expect(thresholds(low?.Pt ?? [], low?.ActPt ?? 0)).to.deep.equal([46.5, 48.5]);
    expect(thresholds(high?.Pt ?? [], high?.ActPt ?? 0)).to.deep.equal([52, 51.2]);
  });
});
