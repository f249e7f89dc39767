/** `GET consistency` beside what programs of other people read at the same instant. */
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { PythonCentral, sampled } from './support/ocpp-central.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

const metered =
  'Power.Active.Import,Power.Reactive.Import,Power.Factor,Current.Import,Voltage,Frequency,Energy.Active.Import.Register,SoC';

/** Quantities, points of 701 that pysunspec2 reads, analog inputs and measurands. */
const rows = [
  ['active_power', 'W', 'AI537', 'Power.Active.Import', -1],
  ['reactive_power', 'Var', 'AI541', 'Power.Reactive.Import', -1],
  ['power_factor', 'PF', 'AI545', 'Power.Factor', 1],
  ['frequency', 'Hz', 'AI536', 'Frequency', 1],
  ['voltage_l1', 'VL1', 'AI547', null, 1],
  ['current_l3', 'AL3', 'AI556', null, 1],
  ['apparent_power', 'VA', 'AI546', null, 1],
] as const;

describeWith(['ocpp', 'pysunspec2', 'opendnp3'], 'GET consistency, as peers read the same device', function () {
  this.timeout(120_000);
  let central: PythonCentral;
  let modbus: PythonPeer;
  let dnp3: PythonPeer;

  before(async () => {
    central = await PythonCentral.open('CP-1', { flags: ['--dnp3_enable', 'yes', '--dnp3_port', '0'] });
    const { station } = central;
    const { port } = new URL((await station.get('dnp3')).link.endpoint);
    modbus = new PythonPeer('sunspec_master', station.simulator.modbusPort);
    dnp3 = new PythonPeer('dnp3_opendnp3', Number(port), '1', '4', 'no');
    await station.registered();
    await station.configure('MeterValuesSampledData', metered);
    await station.start('TAG-1');
    await station.until('power', async () => {
      const { devices } = await station.get('devices');
      return devices[0].metrics.power_kw < -5 ? true : undefined;
    });
    await station.post('controls/time', { mode: 'paused' });
    await modbus.ask('scan');
    await dnp3.ask('begun');
  });
  after(async () => {
    await modbus.stop();
    await dnp3.stop();
    await central.station.close();
    await central.peer.stop();
  });

  const presented = async (quantity: string): Promise<Json> => {
    const { quantities } = await central.station.get(`consistency?quantity=${quantity}`);
    return quantities[0].presentations;
  };
  const of = async (quantity: string, protocol: string): Promise<Json> =>
    (await presented(quantity)).find((each: Json) => each.protocol === protocol);
  const points = () => modbus.ask('read', { model: 701 });
  /** What the central system gets when it asks for the meter of the station. */
  const meterValues = async () => {
    await central.station.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId: 0 });
    return central.station.next('MeterValues', { connectorId: 0 });
  };

  it('shows of each quantity what pysunspec2, opendnp3 and the central system have', async () => {
    const { consistent, causes } = await central.station.get('consistency');
    expect([consistent, causes.unexplained, causes.fault]).to.deep.equal([true, 0, 0]);
    const values = await points();
    await dnp3.ask('range', { group: 30, variation: 1, start: 533, stop: 556 });
    const inputs = await dnp3.ask('values', { points: rows.map(([, , input]) => input) });
    const told = await meterValues();
    for (const [quantity, point, input, measurand, sign] of rows) {
      expect((await of(quantity, 'modbus')).value, `${quantity}: pysunspec2`).to.be.closeTo(values[point], 1e-9);
      const { place, shown, value } = await of(quantity, 'dnp3');
      const [{ raw, multiplier, flags }] = shown;
      expect([place, raw, flags], `${quantity}: opendnp3`).to.deep.equal([input, ...inputs[input]]);
      expect(value).to.be.closeTo(raw * multiplier, 1e-9);
      if (measurand === null) continue;
      const sent = sign * (sampled(told, measurand) ?? NaN);
      expect((await of(quantity, 'ocpp')).value, `${quantity}: ocpp`).to.be.closeTo(sent, 1e-9);
    }
  });

  it('shows the falsified value that pysunspec2 reads, and names the fault', async () => {
    const { station } = central;
    await station.post('faults', { inject: [{ kind: 'scale', factor: 0.25, points: ['701.W'] }] });
    const { consistent } = await station.get('consistency');
    const lie = await of('active_power', 'modbus');
    const { W: read } = await points();
    expect([consistent, lie.value, lie.cause]).to.deep.equal([false, read, 'fault']);
    expect(lie.explanation).to.include("fault 'scale'");
    const truth = await of('active_power', 'registers');
    expect(read / truth.value).to.be.closeTo(0.25, 0.001);
    await station.post('faults', { clear: true });
    await station.post('faults', { inject: [{ protocol: 'ocpp', kind: 'meter_jump', offset_wh: 1234 }] });
    const energy = await of('energy_absorbed', 'ocpp');
    expect([energy.value, energy.cause]).to.deep.equal([
      sampled(await meterValues(), 'Energy.Active.Import.Register'),
      'fault',
    ]);
    await station.post('faults', { clear: true });
    expect((await station.get('consistency')).consistent).to.equal(true);
  });
});
