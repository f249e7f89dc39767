/** Vehicles that come and go by themselves. Simulated seconds. */
import { expect } from 'chai';
import type { EvseGenerator } from '../../../src/contract/kinds/evse.ts';
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import { CentralAuthority } from '../../support/evse-authority.ts';
import { KindRig } from './support.ts';

const quick = { startDelayMinS: 5, startDelayMaxS: 5 };
const twoPorts = 'EVSE-AC-7.4kW-2port';

type Settings = NonNullable<Extract<EvseCommand, { kind: 'evse.generator' }>['generator']>;

function stationOf(settings: Partial<Settings> = {}, autoAuthorize = true) {
  const rig = new KindRig({ args: ['--evse_profile', twoPorts], evse: { ...quick, autoAuthorize } });
  const generator = { seed: 7, stream: 0, ratePerHour: 1, idToken: 'GENERATOR', ...settings };
  const start = () => {
    rig.command({ kind: 'evse.generator', generator });
  };
  const detail = (): EvseGenerator => rig.detail('evse').generator ?? expect.fail('no generator');
  return { rig, start, detail };
}

/** Sessions without what ticks may shift by rounding. */
function sessionsOf({ device }: KindRig) {
  return device
    .chargingSessions()
    .map(({ connectorId, idToken, startedAtS, endedAtS, stopReason, energyWh }) => [
      connectorId,
      idToken,
      Math.round(startedAtS * 1000),
      endedAtS === null ? null : Math.round(endedAtS * 1000),
      stopReason,
      Math.round(energyWh),
    ]);
}

describe('EVSE: generator of sessions', () => {
  it('comes and goes at the rate, charges, and gives the same for the same seed whatever the ticks', async () => {
    const { rig, start, detail } = stationOf({ ratePerHour: 12 });
    start();
    await rig.watch(9000, 300, () => undefined);
    const { arrivals, turnedAway, departures, present } = detail();
    // 60 are expected, with a standard deviation of 8
    expect(arrivals + turnedAway).to.be.within(36, 84);
    expect(arrivals).to.equal(departures + present);
    expect(turnedAway, 'stays are longer than some gaps').to.be.above(5);
    const sessions = sessionsOf(rig);
    expect(sessions.length).to.equal(arrivals);
    expect(rig.detail('evse').energyWh).to.be.above(2e4);
    const again = stationOf({ ratePerHour: 12 });
    again.start();
    await again.rig.watch(9000, 75, () => undefined);
    expect(sessionsOf(again.rig)).to.deep.equal(sessions);
    const other = stationOf({ ratePerHour: 12, stream: 1 });
    other.start();
    await other.rig.watch(3600, 360, () => undefined);
    expect(sessionsOf(other.rig).at(-1)).to.not.deep.equal(sessions.at(-1));
  });

  it('drives on from a connector that is reserved, faulted, occupied or out of operation', async () => {
    const { rig, start, detail } = stationOf({ ratePerHour: 10 });
    rig.command({ kind: 'evse.availability', connectorId: 1, operative: false });
    rig.command({
      kind: 'evse.reserve',
      connectorId: 2,
      reservation: { reservationId: 1, idToken: 'MINE', expiresInS: null },
    });
    start();
    await rig.watch(3600, 60, () => undefined);
    expect(detail()).to.include({ arrivals: 0, present: 0, departures: 0 });
    expect(detail().turnedAway).to.be.above(8);
    expect(rig.connector(2).reservation?.idToken).to.equal('MINE');
  });

  it('leaves a vehicle of a user alone, and lets its own leave at its end, or stay', async () => {
    const { rig, start, detail } = stationOf({ ratePerHour: 30 });
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { id: 'MINE' } });
    start();
    await rig.watch(540, 60, () => undefined);
    expect(detail().present).to.equal(1);
    rig.command({ kind: 'evse.generator', generator: null, vehicles: 'stay' });
    expect(rig.connector(2).ev?.id).to.match(/^generated-2-/);
    expect(rig.detail('evse').generator).to.equal(null);
    rig.command({ kind: 'evse.unplug', connectorId: 2 });
    start();
    await rig.watch(540, 60, () => undefined);
    rig.command({ kind: 'evse.generator', generator: null });
    expect(rig.connector(2).ev).to.equal(null);
    expect(rig.device.chargingSessions()[0]).to.include({ state: 'ended', stopReason: 'Local' });
    expect(rig.connector(1).ev?.id).to.equal('MINE');
    await rig.watch(3600, 360, () => undefined);
    expect(rig.connector(2).ev).to.equal(null);
  });

  it('presents its token where plugging in presents none, and under a central authority asks', async () => {
    const local = stationOf({ ratePerHour: 30 }, false);
    local.start();
    await local.rig.watch(540, 60, () => undefined);
    expect(local.rig.device.chargingSessions()[0]?.idToken).to.equal('GENERATOR');
    for (const [auto, token] of [
      [true, 'AUTO'],
      [false, 'GENERATOR'],
    ] as const) {
      const { rig, start } = stationOf({ ratePerHour: 30 }, auto);
      const central = new CentralAuthority(rig.device);
      start();
      await rig.watch(540, 60, () => undefined);
      const asked = central.told.flatMap((t) => ('idToken' in t && t.event === 'token' ? [t.idToken] : []));
      expect(new Set(asked)).to.deep.equal(new Set([token]));
      expect(rig.detail('evse').authority).to.equal('central');
    }
  });

  it('refuses what is out of range and changes nothing; a reset of the device ends it', async () => {
    const { rig, start } = stationOf();
    const refused = (settings: Partial<Settings>) =>
      rig.refusalOf({
        kind: 'evse.generator',
        generator: { seed: 1, stream: 0, ratePerHour: 1, idToken: 'A', ...settings },
      });
    for (const bad of [{ seed: 0.5 }, { ratePerHour: 0 }, { ratePerHour: 61 }, { ratePerHour: NaN }, { idToken: '' }])
      expect(refused(bad), JSON.stringify(bad)).to.equal('COMMAND_BAD_VALUE');
    expect(rig.detail('evse').generator).to.equal(null);
    start();
    await rig.run(60);
    expect(rig.detail('evse').generator).to.not.equal(null);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(1);
    expect(rig.detail('evse').generator).to.equal(null);
  });
});
