/** DER control of 2.1 (block R) in the whole simulator, over a real socket. */
import { expect } from 'chai';
import { Site } from './site.ts';

const id = 'CP-1-1';

describe('OCPP 2.1: DER control in the whole simulator', () => {
  let site: Site;
  const station = () => site.central.station(id);
  const payloads = (action: string) =>
    station()
      .callsOf(action)
      .map(({ payload }) => payload);

  beforeEach(async () => {
    site = await Site.open({ flags: ['--ocpp_version', 'ocpp2.1'], central: { subprotocols: ['ocpp2.1'] } });
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    await site.until('the station is available', () => station().callsOf('StatusNotification').length > 0);
  });

  afterEach(() => site.close());

  it('a limit from SetDERControl to its end, with reports, notices and REST', async () => {
    const startTime = new Date(site.nowMs() + 20_000).toISOString();
    const limit = { priority: 1, pctMaxDischargePower: 40, startTime, duration: 30 };
    const reply = await site.call(
      'SetDERControl',
      { isDefault: false, controlId: 'L1', controlType: 'LimitMaxDischarge', limitMaxDischarge: limit },
      station(),
    );
    expect(reply).to.deep.equal({ status: 'Accepted' });
    await site.advance(25);
    expect(await site.get('evse/der-controls?device=1')).to.deep.include({
      limit_max_discharge_pct: 40,
      control_ids: { max_power: 'L1' },
    });
    expect((await site.get('ocpp/CP-1-1/der-controls')).controls).to.have.lengthOf(1);
    expect(await site.call('GetDERControl', { requestId: 5 }, station())).to.deep.equal({ status: 'Accepted' });
    await site.advance(1);
    await site.advance(30);
    expect((await site.get('ocpp/CP-1-1/der-controls')).controls).to.deep.equal([]);
    expect(payloads('NotifyDERStartStop').map(({ controlId, started }) => [controlId, started])).to.deep.equal([
      ['L1', true],
      ['L1', false],
    ]);
    expect(payloads('ReportDERControl')).to.deep.equal([
      {
        requestId: 5,
        limitMaxDischarge: [{ id: 'L1', isDefault: false, isSuperseded: false, limitMaxDischarge: limit }],
      },
    ]);
  });

  it('a control whose start falls into a reboot of the device acts after it, and its start is told then', async () => {
    const startTime = new Date(site.nowMs() + 5000).toISOString();
    const fixedVar = { priority: 1, setpoint: 20, unit: 'PctMaxVar', startTime, duration: 600 };
    const request = { isDefault: false, controlId: 'F', controlType: 'FixedVar', fixedVar };
    expect(await site.call('SetDERControl', request, station())).to.deep.equal({ status: 'Accepted' });
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'reboot', device: 1, off_s: 10, count: 1 }] });
    await site.advance(7);
    expect((await site.get('ocpp/CP-1-1/der-controls')).controls[0].state).to.equal('waiting');
    await site.until('its start is told', () => payloads('NotifyDERStartStop').length > 0, 120);
    expect((await site.get('ocpp/CP-1-1/der-controls')).controls[0].state).to.equal('applied');
    expect(payloads('NotifyDERStartStop')).to.deep.equal([{ controlId: 'F', started: true, timestamp: startTime }]);
  });

  it('a trip on a sag is told; ModesSupported is in the device model; a one-way station takes no control', async () => {
    site.app.plant.startGridEvent('sag', { residual_pu: 0.3, duration_s: 10 }, 1);
    await site.advance(12);
    const [first] = payloads('NotifyDERAlarm');
    expect(first).to.include({ controlType: 'LVMomCess', gridEventFault: 'UnderVoltage' });
    const data = { component: { name: 'DCDERCtrlr', evse: { id: 1 } }, variable: { name: 'ModesSupported' } };
    const { getVariableResult } = await site.call('GetVariables', { getVariableData: [data] }, station());
    expect(getVariableResult[0].attributeValue.split(',')).to.include.members(['VoltVar', 'Gradients', 'HFMayTrip']);
    const fixedVar = { priority: 1, setpoint: 20, unit: 'PctMaxVar' };
    const request = { isDefault: true, controlId: 'D', controlType: 'FixedVar', fixedVar };
    expect(await site.call('SetDERControl', request, station())).to.deep.equal({ status: 'Accepted' });
    expect((await site.call('SetDERControl', request)).status).to.equal('NotSupported');
    expect(await site.get('ocpp/CP-1/der-controls')).to.deep.equal({ controls: [] });
  });
});
