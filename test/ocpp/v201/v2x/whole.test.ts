import { expect } from 'chai';
import type { Json } from '../../../support/http.ts';
import type { CentralStation } from '../../central/station.ts';
import { id, Site } from '../../whole/site.ts';

const startSchedule = '2026-01-01T00:00:00Z';

/** Signed powers of the samples that transactions have sent, W, + into the vehicle. */
function poweredBy(station: CentralStation): readonly number[] {
  return station
    .callsOf('TransactionEvent')
    .flatMap(({ payload }: Json) =>
      (payload.meterValue ?? []).flatMap(({ sampledValue }: Json) =>
        sampledValue.flatMap(({ measurand, value }: Json) =>
          measurand === 'Power.Active.Import' ? [value] : measurand === 'Power.Active.Export' ? [-value] : [],
        ),
      ),
    );
}

describe('OCPP 2.1: a bidirectional station at a central system', () => {
  let site: Site;
  before(async () => {
    site = await Site.open({
      flags: ['--ocpp_version', 'ocpp2.1'],
      central: { subprotocols: ['ocpp2.1'] },
    });
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  const second = `${id}-1`;
  const station = () => site.central.station(second);
  const powerW = () => site.connector(1, 1).powerW;
  const actions = () => station().calls.map(({ action }) => action);
  const call = (action: string, payload: Json) => site.call(action, payload, station());
  const firstEvent = (): Json => station().callsOf('TransactionEvent')[0]?.payload;

  it('the vehicle tells its needs after the start of its transaction, and discharges by the set-point of its TxProfile', async () => {
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 60 } }, 1);
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG' }, 1);
    await site.until('energy flows', () => powerW() > 10_000, 120);
    const told = actions();
    expect(told.indexOf('NotifyEVChargingNeeds')).to.be.above(told.indexOf('TransactionEvent'));
    const { transactionId } = firstEvent().transactionInfo;
    const period = { startPeriod: 0, operationMode: 'CentralSetpoint', setpoint: -15_000 };
    const chargingProfile = {
      id: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxProfile',
      chargingProfileKind: 'Absolute',
      transactionId,
      chargingSchedule: [{ id: 1, startSchedule, chargingRateUnit: 'W', chargingSchedulePeriod: [period] }],
    };
    expect(await call('SetChargingProfile', { evseId: 1, chargingProfile })).to.deep.equal({ status: 'Accepted' });
    await site.advance(60);
    expect(powerW()).to.equal(-15_000);
    expect(site.app.plant.device(1).bank.map.m701.W).to.be.within(14_900, 15_000);
    const changes = station()
      .callsOf('TransactionEvent')
      .filter(({ payload }) => payload.triggerReason === 'OperationModeChanged');
    expect(changes.map(({ payload }) => payload.transactionInfo.operationMode)).to.deep.equal(['CentralSetpoint']);
  });

  it('the meter values of the transaction show the export', async () => {
    await call('SetVariables', {
      setVariableData: [
        {
          component: { name: 'SampledDataCtrlr' },
          variable: { name: 'TxUpdatedMeasurands' },
          attributeValue: 'Power.Active.Import,Power.Active.Export',
        },
        { component: { name: 'SampledDataCtrlr' }, variable: { name: 'TxUpdatedInterval' }, attributeValue: '10' },
      ],
    });
    await site.advance(30);
    expect(poweredBy(station())).to.include(-15_000);
  });

  it('REST shows the profile and its composite schedule', async () => {
    const { charging_profiles: profiles } = await site.get(`ocpp/${second}/charging-profiles`);
    expect(profiles).to.have.length(1);
    expect(profiles[0]).to.include({ purpose: 'TxProfile', effective: true });
    const schedule = await site.get(`ocpp/${second}/composite-schedule?connector=1&duration_s=60&unit=W`);
    expect(schedule.periods).to.have.length(1);
    expect(schedule.periods[0]).to.include({ setpoint: -15_000, operation_mode: 'CentralSetpoint' });
  });

  it('the profile leaves with its transaction', async () => {
    const { transactionId } = firstEvent().transactionInfo;
    expect(await call('RequestStopTransaction', { transactionId })).to.include({ status: 'Accepted' });
    await site.advance(5);
    const asked = { requestId: 1, chargingProfile: { chargingLimitSource: ['CSO'] } };
    expect(await call('GetChargingProfiles', asked)).to.include({ status: 'NoProfiles' });
    expect(powerW()).to.equal(0);
  });
});
