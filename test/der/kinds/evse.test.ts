import { expect } from 'chai';
import { KindRig } from './support.ts';
import type { KindSpec } from './support.ts';

const ac: KindSpec = { args: ['-d', 'EVSE'] };
const duo: KindSpec = { args: ['--evse_profile', 'EVSE-AC-7.4kW-2port'] };
const dcDuo: KindSpec = { args: ['--evse_profile', 'EVSE-DC-350kW-CCS-2port'] };
const v2g: KindSpec = { args: ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'] };
const nothing = () => undefined;
/** the station itself, W */
const standbyW = 3;
const chargeW = 11_000 + standbyW;

/** Commands act at once: what ramps is the vehicle. */
function rigOf(spec: KindSpec): KindRig {
  const rig = new KindRig(spec);
  rig.write(({ m704 }) => {
    m704.WRmp = 1000;
  });
  return rig;
}

/** A station whose vehicle charges with all it can. */
async function charging(spec: KindSpec = ac): Promise<KindRig> {
  const rig = rigOf(spec);
  rig.command({ kind: 'evse.plug', connectorId: 1 });
  await rig.run(40);
  return rig;
}

const phases = ({ map: { m701 } }: KindRig) => ({
  w: [m701.WL1, m701.WL2, m701.WL3],
  a: [m701.AL1, m701.AL2, m701.AL3],
});

describe('EVSE device: charging', () => {
  it('a plugged vehicle charges after its delay: a negative 701.W', async () => {
    const rig = rigOf(ac);
    await rig.run(5);
    expect([rig.w, rig.connector().status, rig.state]).to.deep.equal([-standbyW, 'available', 'on running connected']);
    rig.command({ kind: 'evse.plug', connectorId: 1 });
    await rig.watch(2.5, 0.5, () => {
      expect([rig.w, rig.connector().status]).to.deep.equal([-standbyW, 'preparing']);
    });
    const startS = await rig.until(() => rig.connector().status === 'charging', 0.1, 15);
    expect(startS).to.be.within(0.4, 12.6);
    await rig.run(10);
    expect([rig.w, rig.connector().powerW, rig.connector().limitSource]).to.deep.equal([-chargeW, 11_000, 'ev']);
    expect(rig.snapshotKw).to.equal(-chargeW / 1000);
  });

  it('a vehicle that is unplugged takes nothing; its session is kept', async () => {
    const rig = await charging();
    await rig.run(600);
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    await rig.run(2);
    expect([rig.w, rig.connector().status, rig.connector().ev]).to.deep.equal([-standbyW, 'available', null]);
    const [session] = rig.device.chargingSessions();
    expect(session).to.include({ connectorId: 1, state: 'ended', stopReason: 'EVDisconnected' });
    expect(session?.energyWh).to.be.closeTo(rig.map.m701.TotWhAbs ?? NaN, 2);
    expect(session?.energyWh).to.be.closeTo((11_000 * 632) / 3600, (0.03 * 11_000 * 632) / 3600);
    rig.command({ kind: 'evse.plug', connectorId: 1 });
    await rig.run(30);
    expect(rig.device.chargingSessions().map(({ state }) => state)).to.deep.equal(['active', 'ended']);
  });

  it('energy at the meter is what the registers count and what the battery gains', async () => {
    const rig = await charging();
    const start = rig.connector();
    const wh0 = rig.map.m701.TotWhAbs ?? NaN;
    await rig.run(3600);
    const end = rig.connector();
    const gainedWh = (((end.ev?.socPct ?? NaN) - (start.ev?.socPct ?? NaN)) / 100) * 60_000;
    expect(gainedWh).to.be.closeTo(0.92 * (end.energyWh - start.energyWh), 0.001 * gainedWh);
    expect((rig.map.m701.TotWhAbs ?? NaN) - wh0).to.be.closeTo(end.energyWh - start.energyWh + standbyW, 1.5);
    expect(rig.map.m701.TotWhInj).to.equal(0);
  });

  it('the end of the charge: suspended by the vehicle at its target', async () => {
    const rig = rigOf(ac);
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 79, targetSocPct: 80 } });
    await rig.run(600);
    expect([rig.connector().status, rig.w]).to.deep.equal(['suspended_ev', -standbyW]);
    expect(rig.connector().ev?.socPct).to.be.closeTo(80, 1e-6);
  });

  it('a single-phase car loads L1 alone', async () => {
    const rig = rigOf(ac);
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { phases: 1, maxChargeW: 3700 } });
    await rig.run(40);
    expect(rig.w).to.equal(-3700 - standbyW);
    expect(phases(rig).w).to.deep.equal([-3701, -1, -1]);
    expect(phases(rig).a[0]).to.be.closeTo(rig.connector().currentA[0] ?? NaN, 0.02);
    expect(phases(rig).a.slice(1)).to.deep.equal([0, 0]);
    expect(rig.connector().currentA.slice(1)).to.deep.equal([0, 0]);
  });

  it('two single-phase sockets take the phases in turn', async () => {
    const rig = rigOf(duo);
    rig.command({ kind: 'evse.plug', connectorId: 2 });
    await rig.run(40);
    const { w } = phases(rig);
    expect(w[1]).to.be.below(-7000);
    expect([w[0], w[2]].every((watts) => (watts ?? NaN) >= -2)).to.equal(true);
    rig.command({ kind: 'evse.plug', connectorId: 1 });
    await rig.run(40);
    expect(phases(rig).w[0]).to.be.closeTo(phases(rig).w[1] ?? NaN, 2);
  });

  it('two cables share the station in proportion; 714 has a port for each', async () => {
    const rig = rigOf(dcDuo);
    const ev = { batteryCapacityWh: 100_000, socPct: 20, maxChargeW: 300_000 };
    rig.command({ kind: 'evse.plug', connectorId: 1, ev });
    rig.command({ kind: 'evse.plug', connectorId: 2, ev });
    await rig.run(60);
    const station = rig.detail('evse');
    expect(station.powerW).to.be.at.most(station.maxPowerW);
    expect(station.connectors[0]?.powerW).to.be.closeTo(station.connectors[1]?.powerW ?? NaN, 2000);
    expect(rig.map.m714.Prt.map(({ PrtTyp, DCSta }) => [PrtTyp, DCSta])).to.deep.equal([
      ['EV', 'ON'],
      ['EV', 'ON'],
    ]);
    const ports = rig.map.m714.Prt.reduce((sum, { DCW }) => sum + (DCW ?? NaN), 0);
    expect(ports).to.be.closeTo(rig.map.m714.DCW ?? NaN, 20);
    expect(-ports).to.be.closeTo(station.powerW, 20);
  });
});

describe('EVSE device: functions of the grid while charging', () => {
  it('WSet: a smaller demand slows the charge, below 6 A it pauses, without one it goes on', async () => {
    const rig = await charging();
    rig.demand(-5000);
    await rig.run(10);
    expect([rig.w, rig.connector().limitSource, rig.active]).to.deep.equal([-5000, 'der', 'active_power']);
    rig.demand(-2000);
    await rig.run(10);
    expect([rig.w, rig.connector().status]).to.deep.equal([-standbyW, 'suspended_evse']);
    rig.demand(0);
    await rig.run(10);
    expect(rig.w).to.equal(-standbyW);
    rig.demand(-22_000);
    await rig.run(10);
    expect(rig.w, 'no more than the car takes').to.equal(-chargeW);
    rig.demand(null);
    await rig.run(10);
    expect([rig.w, rig.connector().status]).to.deep.equal([-chargeW, 'charging']);
  });

  it('a limit below 6 A pauses the charge once: no car charges with less', async () => {
    const rig = await charging();
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 2000;
    });
    await rig.run(1);
    await rig.watch(20, 0.5, () => {
      expect([rig.w, rig.connector().status]).to.deep.equal([-standbyW, 'suspended_evse']);
    });
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 22_000;
    });
    await rig.run(10);
    expect(rig.w).to.equal(-chargeW);
  });

  it('702.WChaRteMax limits the charge, 704.WMaxLimPct does not', async () => {
    const rig = await charging();
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 6000;
    });
    await rig.run(10);
    expect([rig.w, rig.connector().limitSource]).to.deep.equal([-6000, 'der']);
    rig.write(({ m702 }) => {
      m702.WChaRteMax = 22_000;
    });
    rig.limit(0);
    await rig.run(10);
    expect([rig.w, rig.active]).to.deep.equal([-chargeW, '']);
  });

  it('under-frequency reduces consumption by the droop, and gives it back', async () => {
    const rig = await charging();
    rig.plant.setGrid({ frequencyHz: 59.5 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.be.closeTo(-chargeW + ((0.5 - 0.036) / 3) * 22_000, 3);
    expect([rig.active, rig.connector().status, rig.connector().limitSource]).to.deep.equal([
      'freq_droop',
      'charging',
      'der',
    ]);
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.watch(60, 1, nothing);
    expect([rig.w, rig.connector().limitSource]).to.deep.equal([-chargeW, 'ev']);
  });

  it('a deep under-frequency pauses an AC car, which cannot discharge', async () => {
    const rig = await charging();
    rig.plant.setGrid({ frequencyHz: 57.2 });
    await rig.watch(40, 1, () => {
      expect(rig.w).to.be.at.most(0);
    });
    expect(rig.w).to.be.within(-standbyW, 0);
    expect(rig.connector().status).to.equal('suspended_evse');
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.watch(60, 1, nothing);
    expect(rig.w).to.equal(-chargeW);
  });

  it('over-frequency raises the charge where the car can take more', async () => {
    const rig = await charging();
    rig.plant.setGrid({ frequencyHz: 60.5 });
    await rig.watch(40, 1, nothing);
    expect(rig.w, 'the car takes all it can').to.equal(-chargeW);
    rig.plant.setGrid({ frequencyHz: 60 });
    rig.demand(-5000);
    await rig.watch(60, 1, nothing);
    rig.plant.setGrid({ frequencyHz: 60.5 });
    await rig.watch(40, 1, nothing);
    expect(rig.w).to.be.closeTo(-5000 - ((0.5 - 0.036) / 3) * 22_000, 3);
  });

  it('volt-watt with a negative second point makes it charge at high voltage, more than its set-point', async () => {
    const rig = await charging();
    rig.demand(-5000);
    rig.useCurve(706, [
      [106, 100],
      [109, -100],
    ]);
    rig.plant.setGrid({ voltagePu: 1.08 });
    await rig.run(20);
    expect(rig.w).to.be.closeTo(-22_000 / 3, 3);
    expect(rig.active).to.equal('volt_watt');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(20);
    expect(rig.w).to.equal(-5000);
  });

  it('a local limit and a charging profile apply below the grid functions', async () => {
    const rig = await charging();
    rig.command({ kind: 'evse.limit', connectorId: 1, powerW: 7000 });
    await rig.run(10);
    expect([rig.w, rig.connector().limitSource]).to.deep.equal([-7000 - standbyW, 'local']);
    rig.command({ kind: 'evse.profile_limit', connectorId: 1, limitW: null, limitA: 8 });
    await rig.run(10);
    expect(rig.connector().limitSource).to.equal('charging_profile');
    expect(rig.connector().currentA[0]).to.be.closeTo(8, 0.01);
    rig.demand(-10_000);
    await rig.run(10);
    expect(rig.connector().currentA[0]).to.be.closeTo(8, 0.01);
  });

  it('trips on low voltage: the charge pauses, and goes on after enter service', async () => {
    const rig = await charging();
    rig.quickEntry(10);
    rig.plant.setGrid({ voltagePu: 0.4, durationS: 3 });
    await rig.watch(2.5, 0.5, nothing);
    expect([rig.w, rig.state, rig.connector().status]).to.deep.equal([0, 'off fault disconnected', 'suspended_evse']);
    expect(rig.alarms).to.include('ac_under_volt');
    await rig.watch(10, 0.5, () => {
      expect([rig.w, rig.map.m701.A]).to.deep.equal([0, 0]);
    });
    await rig.run(20);
    expect([rig.w, rig.connector().status, rig.alarms.length]).to.deep.equal([-chargeW, 'charging', 0]);
    expect(rig.device.chargingSessions().length, 'one session').to.equal(1);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'STOP';
    });
    await rig.run(10);
    expect([rig.w, rig.state]).to.deep.equal([0, 'off off disconnected']);
    rig.write(({ m715 }) => {
      m715.OpCtl = 'START';
    });
    await rig.run(40);
    expect(rig.w).to.equal(-chargeW);
  });
});

describe('EVSE device: vehicle to grid', () => {
  it('a positive set-point discharges, limited by WMaxLimPct; without it the vehicle charges again', async () => {
    const rig = await charging(v2g);
    expect(rig.w).to.equal(-50_000);
    rig.demand(20_000);
    await rig.run(30);
    expect([rig.w, rig.active]).to.deep.equal([20_000, 'active_power']);
    expect(rig.connector().powerW).to.be.below(-20_000);
    rig.limit(20);
    await rig.run(20);
    expect([rig.w, rig.active]).to.deep.equal([10_000, 'max_power']);
    expect(rig.connector().energyExportWh).to.be.above(100);
    rig.demand(null);
    rig.limit(null);
    await rig.run(30);
    expect(rig.w).to.equal(-50_000);
  });

  it('under-frequency reduces the charge first, and inverts it when it is deep enough', async () => {
    const rig = await charging(v2g);
    rig.plant.setGrid({ frequencyHz: 59 });
    await rig.watch(60, 1, nothing);
    expect(rig.w).to.be.closeTo(-50_000 + ((1 - 0.036) / 3) * 50_000, 20);
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.watch(120, 1, nothing);
    expect(rig.w).to.equal(-50_000);
    rig.write(({ m711 }) => {
      const staged = m711.Ctl[1];
      if (staged) Object.assign(staged, { KUf: 0.02 });
      m711.AdptCtlReq = 2;
    });
    rig.plant.setGrid({ frequencyHz: 58.6 });
    await rig.watch(60, 1, nothing);
    expect(rig.w).to.be.closeTo(-50_000 + ((1.4 - 0.036) / 1.2) * 50_000, 30);
  });

  it('by command it discharges down to the reserve for the departure, and not below', async () => {
    const rig = rigOf(v2g);
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 31, reserveSocPct: 30 } });
    rig.command({ kind: 'evse.discharge', connectorId: 1, powerW: 30_000 });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(29_995, 10);
    await rig.run(600);
    expect(rig.connector().ev?.socPct).to.be.closeTo(30, 0.001);
    expect(rig.w).to.be.within(-10, 0);
  });

  it('a one-way connector refuses to discharge', async () => {
    const rig = await charging();
    expect(rig.refusalOf({ kind: 'evse.discharge', connectorId: 1, powerW: 1000 })).to.equal('COMMAND_CONFLICT');
    expect(rig.refusalOf({ kind: 'evse.plug', connectorId: 7 })).to.equal('UNKNOWN_RESOURCE');
    expect(rig.refusalOf({ kind: 'wind.override', speedMS: 3, height: 'hub' })).to.equal('COMMAND_NOT_APPLICABLE');
  });
});

describe('EVSE device: faults', () => {
  it('a fault raises connector_fault with its bit and text, and stops the charge; cleared, both end', async () => {
    const rig = await charging();
    rig.command({ kind: 'evse.fault', connectorId: 1, errorCode: 'OverCurrentFailure' });
    await rig.run(2);
    expect([rig.w, rig.connector().status, rig.alarms]).to.deep.equal([-standbyW, 'faulted', ['connector_fault']]);
    expect([rig.map.m701.Alrm, rig.map.m701.MnAlrmInfo]).to.deep.equal([1 << 16, 'a charging connector is faulted']);
    rig.command({ kind: 'evse.clear_fault', connectorId: 1 });
    await rig.run(20);
    expect([rig.w, rig.connector().status, rig.alarms.length, rig.map.m701.Alrm]).to.deep.equal([
      -chargeW,
      'charging',
      0,
      0,
    ]);
  });

  it('a ground fault has its own bit, in 714 too; a reset of alarms clears it', async () => {
    const rig = await charging(v2g);
    rig.command({ kind: 'evse.fault', connectorId: 1, errorCode: 'GroundFailure' });
    await rig.run(2);
    expect([...rig.alarms].sort()).to.deep.equal(['connector_fault', 'ground_fault']);
    expect((rig.map.m701.Alrm ?? 0) & 1).to.equal(1);
    expect(rig.map.m714.Prt[0]?.DCAlrm).to.equal(1);
    rig.write(({ m715 }) => {
      m715.AlarmReset = 1;
    });
    await rig.run(2);
    expect([rig.alarms.length, rig.map.m701.Alrm, rig.map.m714.Prt[0]?.DCAlrm]).to.deep.equal([0, 0, 0]);
  });

  it('a reset of the device sends vehicles and sessions away', async () => {
    const rig = await charging();
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(2);
    expect([rig.w, rig.connector().status, rig.device.chargingSessions().length]).to.deep.equal([
      -standbyW,
      'available',
      0,
    ]);
    expect(rig.map.m701.TotWhAbs).to.be.at.most(1);
  });
});
