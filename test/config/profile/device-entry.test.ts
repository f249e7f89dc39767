import { expect } from 'chai';
import { addedDeviceSchema, deviceEntrySchema } from '../../../src/config/profile/device-entry.ts';
import type { DeviceEntry } from '../../../src/config/profile/device-entry.ts';
import { entryIssues, profileIssues } from '../../../src/config/issues/entry-issues.ts';
import { SimError } from '../../../src/core/errors.ts';
import { run } from '../support.ts';

function issuesOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (error instanceof SimError && error.code === 'CONFIG_INVALID')
      return error.issues.map(({ name, detail }) => `${name}: ${detail}`);
    throw error;
  }
  return [];
}

describe('a further device by its entry', () => {
  it('is the one that the settings describe where the entry says nothing', () => {
    const config = run(['-d', 'Batt-3Phase', '-f', 'Batt-LFP-100kW-3Phase', '--load_profile', '/site/load.csv'], {
      files: { '/site/load.csv': '' },
    });
    const { name, ...device } = config.deviceOf({}, 8);
    const { name: first, ...present } = config.devices[0]!;
    expect(device).to.deep.equal({ ...present, profilePlace: 'the setting f' });
    expect([first, name]).to.deep.equal(['Batt-3Phase 0', 'Batt-3Phase 8']);
    expect(device.profile).to.equal(present.profile);
  });

  it('takes the overrides of its kind', () => {
    const config = run(['-d', 'HybridDC-3Phase', '--hybrid_batt_kwh', '33', '--hybrid_dispatch', 'manual']);
    const { source } = config.deviceOf({ device_type: 'HybridDC-3Phase', profile: 'HybridDC-15kVA-3Phase' }, 1).profile;
    expect(source.kind === 'hybrid-dc' && [source.battery.capacityWh, source.hybrid.policy]).to.deep.equal([
      33_000,
      'manual',
    ]);
  });

  it('names every issue by the member of the entry, again and again', () => {
    const { deviceOf } = run([]);
    const entry: DeviceEntry = {
      device_type: 'Batt',
      profile: { models: { 702: { WMaxRtg: -1 } }, pv: {}, battery: { soc_min_pct: 80, soc_max_pct: 20 } },
    };
    for (let i = 0; i < 2; i += 1) {
      const issues = issuesOf(() => deviceOf(entry, 1));
      expect(issues.map((issue) => issue.split(': ').slice(0, 2).join(': '))).to.include.members([
        'profile: pv',
        'profile: models.702.WMaxRtg',
      ]);
      expect(issues.some((issue) => issue.startsWith('profile: battery.soc_m'))).to.equal(true);
      expect(issuesOf(() => deviceOf({ device_type: 'PV', profile: 'EVSE-AC-22kW-1port' }, 1))[0]).to.match(
        /^profile: given "EVSE-AC-22kW-1port"/,
      );
      expect(issuesOf(() => deviceOf({ evse_profile: 'EVSE-AC-22kW-1port', profile: '10kW-3Phase' }, 1))[0]).to.match(
        /^evse_profile: given beside profile/,
      );
    }
  });

  it('does not say where a setting stands', () => {
    const { deviceOf } = run(['--config', '/secret/site.yaml'], {
      files: { '/secret/site.yaml': 'device_type: HybridDC-3Phase\nhybrid_soc_min_pct: 50\n' },
    });
    const issues = issuesOf(() =>
      deviceOf({ device_type: 'HybridDC-3Phase', profile: { battery: { soc_max_pct: 40 } } }, 1),
    );
    expect(issues).to.deep.equal(['the setting hybrid_soc_min_pct: given 50; allowed: below soc_max_pct, which is 40']);
  });

  it('is an EVSE where the settings give the profile of one and no type, also beside a list of devices', () => {
    const files = { '/site.yaml': 'devices:\n  - device_type: PV\n  - device_type: EVSE\n' };
    for (const more of [[], ['--config', '/site.yaml']]) {
      const { deviceOf } = run(['--evse_profile', 'EVSE-AC-7.4kW-2port', ...more], { files });
      expect(deviceOf({}, 9)).to.include({ deviceType: 'EVSE', profileName: 'EVSE-AC-7.4kW-2port' });
      expect(deviceOf({ device_type: 'PV' }, 9)).to.include({ deviceType: 'PV' });
    }
    expect(
      run(['-d', 'EVSE', '--evse_profile', 'EVSE-AC-7.4kW-2port']).deviceOf({ device_type: 'Batt' }, 9).deviceType,
    ).to.equal('Batt');
  });

  it('an issue of one leaves the next alone', () => {
    const { deviceOf } = run([]);
    expect(issuesOf(() => deviceOf({ device_type: 'Batt', profile: '10kW-3Phase' }, 1))).to.have.length(1);
    expect(deviceOf({ device_type: 'PV', profile: '10kW-3Phase' }, 1).profileName).to.equal('10kW-3Phase');
  });
});

describe('issues as JSON pointers into an entry', () => {
  const inline: DeviceEntry = { device_type: 'EVSE', profile: {} };
  const names = (issues: readonly string[], entry: DeviceEntry, translate = entryIssues) =>
    translate(
      issues.map((name) => ({ name, detail: 'd' })),
      entry,
    ).map(({ name, detail }) => [name, detail]);

  it('point at members of an inline profile; a point of a model is one key', () => {
    expect(
      names(
        ['profile: evse.connectors[1].type', 'profile: models.705.Crv[0].Pt[2].V', 'profile: pv', 'device_type'],
        inline,
      ),
    ).to.deep.equal([
      ['/profile/evse/connectors/1/type', 'd'],
      ['/profile/models/705/Crv[0].Pt[2].V', 'd'],
      ['/profile/pv', 'd'],
      ['/device_type', 'd'],
    ]);
    expect(names(['models.702.WMax', 'connector'], inline, profileIssues)).to.deep.equal([
      ['/profile/models/702/WMax', 'd'],
      ['/profile', 'connector: d'],
    ]);
  });

  it('of a bundled profile, or of a setting, point at what chose it', () => {
    expect(names(['10kW-3Phase.yaml: pv'], { profile: '10kW-3Phase' })).to.deep.equal([
      ['/profile', '10kW-3Phase.yaml: pv: d'],
    ]);
    expect(names(['models.702.WMax'], { evse_profile: 'EVSE-AC-22kW-1port' }, profileIssues)).to.deep.equal([
      ['/evse_profile', 'models.702.WMax: d'],
    ]);
    expect(names(['--hybrid_soc_min_pct'], { device_type: 'HybridDC-3Phase' })).to.deep.equal([
      ['/device_type', '--hybrid_soc_min_pct: d'],
    ]);
    expect(names(['-f'], {})).to.deep.equal([['', '-f: d']]);
  });
});

describe('the entry that comes over the network', () => {
  it('has the members of the entry in a file, and takes what that takes, but for files and count', () => {
    expect(Object.keys(addedDeviceSchema.shape)).to.have.members(Object.keys(deviceEntrySchema.shape));
    const entry = { device_type: 'Batt-3Phase', name: 'Cellar', profile: { battery: { capacity_wh: 5000 } } };
    expect(addedDeviceSchema.parse(entry)).to.deep.equal(deviceEntrySchema.parse(entry));
    for (const [name, value] of Object.entries({
      dc_profile: 'a.csv',
      load_profile: 'a.csv',
      vehicles: 'a.csv',
      count: 2,
      profile: './a.yaml',
      evse_profile: '/etc/passwd',
    })) {
      expect(deviceEntrySchema.safeParse({ [name]: value }).success, name).to.equal(true);
      expect(addedDeviceSchema.safeParse({ [name]: value }).success, name).to.equal(false);
    }
  });
});
