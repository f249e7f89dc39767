import { expect } from 'chai';
import { chargingRig, profile, schedule, watts } from '../charging/rig.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';

type Needs = Requests['NotifyEVChargingNeeds'];
const vehicle = { socPct: 60, maxChargeW: 60_000 };
const needsOf = ({ of }: ReturnType<typeof chargingRig>) => of('NotifyEVChargingNeeds') as unknown as readonly Needs[];

describe('OCPP 2.x: the needs of vehicles (K15, Q01)', () => {
  it('2.1, bidirectional: DC_BPT with energies around the state of charge, once per transaction', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
    await station.plug(1, vehicle);
    const [needs, ...more] = needsOf(station);
    expect(more).to.deep.equal([]);
    expect(needs?.chargingNeeds).to.deep.include({
      requestedEnergyTransfer: 'DC_BPT',
      availableEnergyTransfer: ['DC_BPT', 'DC'],
    });
    expect(needs?.chargingNeeds.v2xChargingParameters).to.deep.include({
      maxChargePower: 50_000,
      maxDischargePower: 50_000,
      evMinV2XEnergyRequest: -22_500,
    });
    expect(needs?.chargingNeeds.dcChargingParameters).to.include({ evMaxPower: 60_000, stateOfCharge: 60 });
  });

  it('2.0.1: DC in whole numbers, without members of 2.1', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir', { version: 'ocpp2.0.1' });
    await station.plug(1, vehicle);
    const [needs] = needsOf(station);
    expect(needs?.chargingNeeds.requestedEnergyTransfer).to.equal('DC');
    expect(needs?.chargingNeeds).to.have.all.keys('requestedEnergyTransfer', 'dcChargingParameters');
    expect(needs).to.not.have.property('timestamp');
  });

  it('no vehicle at an AC connector tells its needs: it has no ISO15118Ctrlr', async () => {
    const station = chargingRig('EVSE-AC-22kW-1port-EU');
    await station.plug();
    expect(needsOf(station)).to.deep.equal([]);
  });

  it('a TxProfile before the needs is out of order; after them the vehicle tells its schedule (K15.FR.17, K15.FR.19)', async () => {
    const station = chargingRig('EVSE-DC-150kW-CCS-1port', { autoAnswer: false });
    const { plug, set, answered, running, of } = station;
    const transactionId = await plug(1, vehicle);
    const rows = [
      { startPeriod: 0, limit: 20_000 },
      { startPeriod: 600, limit: 100_000 },
    ];
    const tx = profile({
      chargingProfilePurpose: 'TxProfile',
      transactionId,
      schedule: { id: 4, chargingRateUnit: 'W', chargingSchedulePeriod: rows },
    });
    expect(await set(tx)).to.equal('InvalidMessageSeq');
    const [transaction] = running;
    if (transaction !== undefined) answered(transaction);
    expect(needsOf(station)).to.have.length(1);
    expect(await set(tx)).to.equal('Accepted');
    const [told] = of('NotifyEVChargingSchedule') as unknown as readonly Requests['NotifyEVChargingSchedule'][];
    expect(told).to.include({ evseId: 1, selectedChargingScheduleId: 4 });
    expect(told?.chargingSchedule.chargingSchedulePeriod).to.deep.equal([
      { startPeriod: 0, limit: 20_000 },
      { startPeriod: 600, limit: 60_000 },
    ]);
  });

  it('refused needs: without discharge once more, then the transaction ends (ReqEnergyTransferRejected)', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
    const { plug, stops, answers, set, rig, kw } = station;
    await set(profile({ schedule: watts({ operationMode: 'CentralSetpoint', setpoint: -20_000 }) }));
    let refusals = 1;
    answers.set('NotifyEVChargingNeeds', () => ({ status: (refusals -= 1) >= 0 ? 'Rejected' : 'Accepted' }));
    await plug(1, vehicle);
    await rig.run(60);
    expect(needsOf(station).map(({ chargingNeeds }) => chargingNeeds.requestedEnergyTransfer)).to.deep.equal([
      'DC_BPT',
      'DC',
    ]);
    expect(kw()).to.equal(0);
    expect(stops).to.deep.equal([]);
    rig.command({ kind: 'evse.stop', connectorId: 1 });
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    refusals = 2;
    await plug(1, vehicle);
    expect(stops).to.deep.equal([{ evseId: 1, reason: 'ReqEnergyTransferRejected' }]);
  });

  it('NotifyAllowedEnergyTransfer: the vehicle asks anew, and discharges only where that is allowed (Q03)', async () => {
    const station = chargingRig('EVSE-V2G-DC-50kW-bidir');
    const { plug, call, set, rig, kw } = station;
    const transactionId = await plug(1, vehicle);
    await set(profile({ schedule: watts({ operationMode: 'CentralSetpoint', setpoint: -20_000 }) }));
    await rig.run(60);
    expect(kw()).to.equal(-20);
    const allow = async (
      allowedEnergyTransfer: Requests['NotifyAllowedEnergyTransfer']['allowedEnergyTransfer'],
      id = transactionId,
    ) => {
      const reply = await call('NotifyAllowedEnergyTransfer', { transactionId: id, allowedEnergyTransfer });
      await rig.run(60);
      return [reply.status, reply.statusInfo?.reasonCode, kw()];
    };
    expect(await allow(['DC'], 'other')).to.deep.equal(['Rejected', 'TxNotFound', -20]);
    expect(await allow(['AC_BPT'])).to.deep.equal(['Rejected', 'UnsupportedParam', -20]);
    expect(await allow(['DC', 'AC_three_phase'])).to.deep.equal(['Accepted', undefined, 0]);
    expect(needsOf(station).at(-1)?.chargingNeeds.requestedEnergyTransfer).to.equal('DC');
    expect(await allow(['DC_BPT'])).to.deep.equal(['Accepted', undefined, -20]);
    const oneWay = chargingRig('EVSE-DC-150kW-CCS-1port');
    const id = await oneWay.plug(1, vehicle);
    const reply = await oneWay.call('NotifyAllowedEnergyTransfer', {
      transactionId: id,
      allowedEnergyTransfer: ['DC'],
    });
    expect(reply.statusInfo?.reasonCode).to.equal('UnsupportedRequest');
  });

  it('needs that could not be sent are told with the next answered event of the transaction', async () => {
    const station = chargingRig('EVSE-DC-150kW-CCS-1port');
    const { plug, offline, online, answered, running, set } = station;
    offline();
    await plug(1, vehicle);
    expect(needsOf(station)).to.deep.equal([]);
    online();
    const [transaction] = running;
    if (transaction !== undefined) answered(transaction);
    expect(needsOf(station)).to.have.length(1);
    expect(await set({ ...profile(), chargingSchedule: [schedule()] })).to.equal('Accepted');
  });
});
