/** What a device keeps over a restart with another configuration. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../src/app/build.ts';
import type { App } from '../../../src/app/start-stop.ts';
import type { DeviceConfig } from '../../../src/config/settings/app-config.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { configOf } from '../../support/configured.ts';
import { ask } from '../../support/http.ts';

type Profile = DeviceConfig['profile'];

const byMaster = { source: 'modbus', peer: '192.0.2.1:502' } as const;

describe('A device whose configuration has changed over a restart', () => {
  let folder: string;
  let app: App;
  let port: number;
  let lines: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-changed-'));
  });

  afterEach(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  async function start(type: string, change: (profile: Profile) => Profile = (profile) => profile): Promise<void> {
    lines = [];
    const config = configOf('-wp', '0', '-p', '0', '--state_dir', folder, '--start_paused', 'yes', '--tick', '10');
    const devices = configOf('--device_type', type).devices.map((device) => ({
      ...device,
      profile: change(device.profile),
    }));
    app = createApp({ ...config, devices }, { logBook: createLogBook({ write: (line) => lines.push(line) }) });
    ({ port } = (await app.start()).http);
  }

  async function restart(type: string, change: (profile: Profile) => Profile): Promise<void> {
    await app.stop();
    await start(type, change);
  }

  const bank = () => app.plant.device(0).bank;
  const value = (point: string) => bank().value(bank().layout.named(point)!);
  const write = (values: Readonly<Record<string, number | string>>) =>
    bank().assign(
      byMaster,
      Object.entries(values).map(([point, each]) => ({ slot: bank().layout.named(point)!, value: each })),
    );
  /** A profile with a share of the present ratings. */
  const rated = (share: number, points: readonly string[]) => {
    const ratings = Object.fromEntries(points.map((point) => [point, share * Number(value(`702.${point}`))]));
    return (profile: Profile): Profile => ({
      ...profile,
      models: { ...profile.models, 702: { ...profile.models['702'], ...ratings } },
    });
  };
  const log = () => lines.join('');
  const holds = async () => (await ask(port, '/api/sim/controls/holds')).json.holds as Record<string, unknown>[];
  async function hold(id: string, values: Readonly<Record<string, number>>): Promise<void> {
    const { status, text } = await ask(port, '/api/sim/controls/holds', {
      method: 'POST',
      body: { id, values, duration_s: 600 },
    });
    expect(status, text).to.equal(200);
  }

  it('of other ratings: settings in their ranges, counters and charge', async () => {
    await start('Batt-3Phase');
    const full = Number(value('702.WMaxRtg'));
    write({ '702.WMax': 0.9 * full, '704.WSetMod': 'W_MAX_PCT', '704.WSetPct': 40, '704.WSetEna': 'ENABLED' });
    await app.plant.step(30);
    const [charge, energy] = [Number(value('713.SoC')), value('701.TotWhInj')];
    expect(Number(energy)).to.be.above(0);
    await restart('Batt-3Phase', rated(0.5, ['WMaxRtg', 'WDisChaRteMaxRtg', 'WChaRteMaxRtg']));
    expect(value('702.WMaxRtg')).to.equal(0.5 * full);
    expect(value('702.WMax'), 'within its range').to.equal(0.5 * full);
    expect([value('704.WSetPct'), value('704.WSetEna'), value('701.TotWhInj')]).to.deep.equal([40, 'ENABLED', energy]);
    expect(bank().provenance(bank().layout.named('704.WSetPct')!)).to.include(byMaster);
    expect(log())
      .to.include('the configuration of device 0 has changed')
      .and.not.match(/ WARN | ERROR /);
    await app.plant.step(1);
    expect(Number(value('713.SoC'))).to.be.closeTo(charge, 0.5);
    expect(Number(value('701.TotWhInj'))).to.be.above(Number(energy));
    expect(Number(value('701.W'))).to.be.closeTo(0.2 * full, 0.01 * full);
  });

  it('of other ratings: holds last, and their ends put back what the device would have without them', async () => {
    await start('PV-3Phase');
    const full = Number(value('702.WMax'));
    write({ '704.WSet': 0.5 * full });
    await hold('h', { '702.WMax': 0.1 * full, '704.WSet': 0.1 * full });
    await restart('PV-3Phase', rated(10, ['WMaxRtg', 'VAMaxRtg']));
    expect([value('702.WMax'), value('704.WSet')]).to.deep.equal([0.1 * full, 0.1 * full]);
    await app.plant.step(60);
    expect((await holds()).map(({ restored, left }) => [restored, left])).to.deep.equal([
      [['702.WMax', '704.WSet', '704.WSetRvrtTms'], []],
    ]);
    expect([value('702.WMax'), value('704.WSet')]).to.deep.equal([10 * full, 0.5 * full]);
    expect(log()).not.to.match(/ WARN | ERROR /);
  });

  it('of another start value: the written settings stay, and the others follow', async () => {
    await start('PV-3Phase');
    write({ '704.WMaxLimPct': 60 });
    await app.plant.step(10);
    const [energy, power] = [value('701.TotWhInj'), value('701.W')];
    await restart('PV-3Phase', (profile) => ({
      ...profile,
      models: { ...profile.models, 704: { ...profile.models['704'], WMaxLimPct: 80, VarSetPct: 7 } },
    }));
    expect([value('704.WMaxLimPct'), value('704.VarSetPct')]).to.deep.equal([60, 7]);
    expect([value('701.TotWhInj'), value('701.W')]).to.deep.equal([energy, power]);
  });

  it('of another map: each point that it still has', async () => {
    await start('PV-3Phase');
    write({ '704.WMaxLimPct': 60, '704.WMaxLimPctEna': 'ENABLED' });
    await app.plant.step(10);
    const [energy, address] = [value('701.TotWhInj'), bank().layout.named('704.WMaxLimPct')?.address];
    await restart('PV-3Phase', (profile) => ({
      ...profile,
      map: { ...profile.map, layout: 'both' },
    }));
    expect(bank().layout.named('704.WMaxLimPct')?.address).not.to.equal(address);
    expect([value('704.WMaxLimPct'), value('704.WMaxLimPctEna')]).to.deep.equal([60, 'ENABLED']);
    expect(value('701.TotWhInj')).to.equal(energy);
    expect(log()).not.to.match(/ WARN | ERROR /);
    write({ '123.WMaxLimPct_RvrtTms': 60 });
    await restart('PV-3Phase', (profile) => profile);
    expect([value('704.WMaxLimPct'), value('701.TotWhInj')]).to.deep.equal([60, energy]);
    expect(log().match(/kept points that its register map no longer has/g), 'restored twice').to.have.length(1);
  });

  it('of a smaller tank: no more hydrogen than fits', async () => {
    const massKg = () => {
      const { detail } = app.plant.device(0);
      return detail.kind === 'fuelcell' ? Number(detail.tankMassKg) : NaN;
    };
    await start('Fuelcell-3Phase');
    await app.plant.step(2);
    const half = massKg() / 2;
    await restart('Fuelcell-3Phase', (profile) => {
      const { source } = profile;
      if (source.kind !== 'fuelcell') throw new Error('no fuel cell');
      return { ...profile, source: { ...source, fuelCell: { ...source.fuelCell, tankCapacityKg: half } } };
    });
    expect(massKg()).to.be.closeTo(half, 1e-9).and.above(0);
    expect(log())
      .to.include('charge and counters are kept')
      .and.not.match(/ WARN | ERROR /);
  });

  it('of another type: nothing', async () => {
    await start('PV-3Phase');
    write({ '704.WMaxLimPct': 60 });
    await app.plant.step(10);
    await restart('PV-1Phase', (profile) => profile);
    expect([value('704.WMaxLimPct'), value('701.TotWhInj')].map(Number)).to.deep.equal([100, 0]);
    expect(log()).to.include('device 0 starts anew: its configuration has changed');
  });

  it('of another type: no hold, so that one of the same name can begin', async () => {
    await start('PV-3Phase');
    await hold('h', { '704.WMaxLimPct': 30 });
    await restart('Batt-3Phase', (profile) => profile);
    expect(await holds()).to.deep.equal([]);
    await hold('h', { '704.WMaxLimPct': 40 });
    expect(value('704.WMaxLimPct')).to.equal(40);
  });
});
