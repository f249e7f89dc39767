/** What limits a connector besides a charging profile, in all pairs, as OCPP sees it. W at the connector. */
import { expect } from 'chai';
import { createStationPort } from '../../src/ocpp/bridge.ts';
import { KindRig, operator } from '../der/kinds/support.ts';

function stationOf() {
  const rig = new KindRig({
    args: ['--evse_profile', 'EVSE-AC-22kW-1port'],
    evse: { startDelayMinS: 1, startDelayMaxS: 1 },
  });
  const port = createStationPort(rig.device, rig.plant, 'SIM-CP-1');
  rig.command({
    kind: 'evse.plug',
    connectorId: 1,
    ev: { socPct: 20, batteryCapacityWh: 200_000, maxChargeW: 40_000 },
  });
  return { rig, port };
}
type Station = ReturnType<typeof stationOf>;

const none = { limitW: null, limitA: null };

interface Limiter {
  readonly name: string;
  /** as `limit_source` shows it */
  readonly source: string;
  /** the standby power of the station counts against it */
  readonly withStandby?: true;
  set(station: Station, limitW: number): void;
}

const limiters: readonly Limiter[] = [
  {
    name: 'profile of the connector',
    source: 'charging_profile',
    set: ({ port }, limitW) => {
      port.command({ kind: 'evse.profile_limit', connectorId: 1, ...none, limitW });
    },
  },
  {
    name: 'profile of the station',
    source: 'charging_profile',
    withStandby: true,
    set: ({ port }, limitW) => {
      port.command({ kind: 'evse.profile_limit', connectorId: 0, ...none, limitW });
    },
  },
  {
    name: 'profile of the station in amperes',
    source: 'charging_profile',
    withStandby: true,
    set: ({ rig, port }, limitW) => {
      const { supplyVoltageV } = rig.connector();
      const perA = 0.99 * supplyVoltageV.reduce((sum, volts) => sum + volts, 0);
      port.command({ kind: 'evse.profile_limit', connectorId: 0, ...none, limitA: limitW / perA });
    },
  },
  {
    name: 'local limit',
    source: 'local',
    set: ({ rig }, powerW) => {
      rig.command({ kind: 'evse.limit', connectorId: 1, powerW });
    },
  },
  {
    name: 'vehicle',
    source: 'ev',
    set: ({ rig }, maxChargeW) => {
      rig.command({ kind: 'evse.ev', connectorId: 1, ev: { maxChargeW } });
    },
  },
  {
    name: 'set-point of the device (Modbus, CSIP, DNP3)',
    source: 'der',
    withStandby: true,
    set: ({ rig }, limitW) => {
      rig.demand(-limitW);
    },
  },
  {
    name: 'load limit of the site',
    source: 'site',
    withStandby: true,
    set: ({ rig }, load) => {
      rig.plant.setSite({ load }, operator);
    },
  },
];

const [lowW, highW] = [7000, 12_000];
/** The device holds one profile of the station at a time. */
const ofStation = ({ name }: Limiter) => name.startsWith('profile of the station');
const pairs = limiters.flatMap((low) =>
  limiters.filter((high) => high !== low && !(ofStation(low) && ofStation(high))).map((high) => [low, high] as const),
);

describe('OCPP: the lowest limit decides, whichever adapter sets it (1.6 3.13, 7.31)', () => {
  for (const low of limiters) {
    it(`${low.name} beside each of the others, set first or last; power, offer and source follow at once`, async () => {
      for (const [, high] of pairs.filter(([each]) => each === low)) {
        for (const order of [[low, high] as const, [high, low] as const]) {
          const station = stationOf();
          const { rig, port } = station;
          await rig.run(30);
          const fullW = rig.connector().powerW;
          expect(fullW).to.be.within(18_000, 22_000);
          for (const limiter of order) limiter.set(station, limiter === low ? lowW : highW);
          await rig.run(20);
          const standbyW = low.withStandby === true ? port.detail.standbyW : 0;
          const { powerW, offeredW } = port.sample(1);
          const text = `${low.name} under ${high.name}`;
          expect(powerW, text).to.be.closeTo(lowW - standbyW, 1);
          expect(rig.connector().limitSource, text).to.equal(low.source);
          // the charger offers what its own limits leave: the vehicle alone takes less
          expect(offeredW, text).to.be.closeTo(
            low.source === 'ev' ? highW - (high.withStandby ? standbyW + 3 : 0) : powerW,
            5,
          );
        }
      }
    });
  }

  it('the offer follows a new limit within a tick, before the vehicle does', async () => {
    const { rig, port } = stationOf();
    await rig.run(30);
    port.command({ kind: 'evse.profile_limit', connectorId: 1, limitW: null, limitA: 10 });
    await rig.run(0.1);
    const { offeredA, offeredW, powerW } = port.sample(1);
    expect(offeredA).to.be.closeTo(10, 1e-9);
    expect(offeredW).to.be.below(powerW);
    await rig.run(20);
    expect(port.sample(1).currentA[0]).to.be.closeTo(10, 1e-6);
  });

  it('10 A at connector 0 are 10 A on L1 for a single-phase vehicle: meter, offer, 701 and limit agree', async () => {
    const { rig, port } = stationOf();
    rig.command({ kind: 'evse.ev', connectorId: 1, ev: { phases: 1 } });
    await rig.run(30);
    expect(port.sample(1).currentA[0]).to.be.above(25);
    port.command({ kind: 'evse.profile_limit', connectorId: 0, limitW: null, limitA: 10 });
    await rig.run(20);
    const { currentA, offeredA, offeredW, powerW } = port.sample(1);
    expect(currentA[0]).to.be.within(9.9, 10);
    expect([currentA[1], currentA[2]]).to.deep.equal([0, 0]);
    expect(offeredA).to.be.closeTo(currentA[0] ?? NaN, 1e-6);
    expect(offeredW).to.be.closeTo(powerW, 1e-6);
    expect(rig.connector()).to.deep.include({ limitSource: 'charging_profile', supplyPhases: [1] });
    expect(Math.max(...port.sample(0).currentA)).to.be.within(9.9, 10.01);
    expect(rig.map.m701.AL1).to.be.closeTo(10, 0.1);
  });

  it('a limit of 0 from outside is SuspendedEVSE with nothing offered, and its end is Charging', async () => {
    const { rig, port } = stationOf();
    await rig.run(30);
    const statuses: string[] = [];
    port.onTransition((t) => {
      if ('status' in t && t.status !== t.fromStatus) statuses.push(t.status);
    });
    rig.plant.setSite({ load: 0 }, operator);
    await rig.run(30);
    expect(port.connector(1).status).to.equal('suspended_evse');
    expect(port.sample(1)).to.include({ powerW: 0, offeredW: 0, offeredA: 0 });
    rig.plant.setSite({ load: null }, operator);
    await rig.run(30);
    expect([statuses[0], statuses.at(-1)]).to.deep.equal(['suspended_evse', 'charging']);
    expect(port.sample(1).offeredW).to.be.above(18_000);
  });
});
