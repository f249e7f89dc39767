/** Meter values of a 2.x station on a real device (J). */
import { expect } from 'chai';
import { suppliedMeasurands } from '../../../../src/ocpp/v201/meter-values.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { txRows } from '../../../../src/ocpp/v201/variables/rows/controllers.ts';
import type { VariableFacts } from '../../../../src/ocpp/v201/variables/model.ts';
import { normalValue } from '../../../../src/ocpp/v201/variables/model.ts';
import { Station, valueOf } from '../transactions/station.ts';
import type { Sampled, StationOptions, TxEvent } from '../transactions/station.ts';

const register = 'Energy.Active.Import.Register';
const ac = 'EVSE-AC-7.4kW-2port';

async function charging(options: StationOptions = {}): Promise<Station> {
  const station = await Station.open(options);
  await station.plug();
  await station.authorize('04AA11BB');
  await station.run(10);
  return station;
}

const sampledOf = (event: TxEvent | undefined): readonly Sampled[] => event?.meterValue?.[0]?.sampledValue ?? [];
const of = (station: Station, trigger: string) =>
  station.central.events.filter(({ triggerReason }) => triggerReason === trigger);
const secondsOf = (text: string | undefined) => Date.parse(text ?? '') / 1000;

describe('OCPP 2.x sampled values in TransactionEvents (J02)', () => {
  it('TxUpdatedInterval: one event per interval from the start, all values of one instant', async () => {
    const measurands = `${register},Power.Active.Import,Current.Import,Voltage,Power.Factor,Frequency,SoC`;
    const station = await charging({
      variables: {
        'SampledDataCtrlr/TxUpdatedInterval': '30',
        'SampledDataCtrlr/TxUpdatedMeasurands': measurands,
      },
    });
    for (let i = 0; i < 30; i++) await station.run(10);
    const events = of(station, 'MeterValuePeriodic');
    expect(events).to.have.lengthOf(10);
    const startS = secondsOf(station.central.events[0]?.timestamp);
    for (const [at, event] of events.entries()) {
      expect(secondsOf(event.timestamp) - startS).to.be.closeTo(30 * (at + 1), 0.2);
      expect(event.timestamp).to.equal(event.meterValue?.[0]?.timestamp);
      const values = sampledOf(event);
      expect(values.every(({ context }) => context === 'Sample.Periodic')).to.equal(true);
      const volts = valueOf(values, 'Voltage', 'L1-N');
      const apparentVa = volts * valueOf(values, 'Current.Import', 'L1');
      const powerW = valueOf(values, 'Power.Active.Import');
      expect(powerW).to.be.above(5000);
      expect(apparentVa * valueOf(values, 'Power.Factor')).to.be.closeTo(powerW, 10);
      expect(valueOf(values, 'Frequency')).to.be.closeTo(60, 0.1);
      expect(valueOf(values, 'SoC')).to.be.within(30, 100);
    }
    const first = valueOf(sampledOf(events[0]), register);
    const last = valueOf(sampledOf(events.at(-1)), register);
    const powerW = valueOf(sampledOf(events.at(-1)), 'Power.Active.Import');
    expect(last - first).to.be.closeTo((powerW * 270) / 3600, 5);
  });

  it('a value is a number with its unit, place and phase (J02)', async () => {
    const station = await charging({
      variables: {
        'SampledDataCtrlr/TxUpdatedInterval': '10',
        'SampledDataCtrlr/TxUpdatedMeasurands': `${register},Voltage,Power.Factor,SoC`,
      },
    });
    await station.run(10);
    const values = sampledOf(of(station, 'MeterValuePeriodic').at(-1));
    const [energy, voltage, factor, soc] = values;
    expect(energy).to.deep.include({ measurand: register, location: 'Outlet', unitOfMeasure: { unit: 'Wh' } });
    expect(voltage).to.deep.include({ measurand: 'Voltage', phase: 'L1-N', unitOfMeasure: { unit: 'V' } });
    expect(factor).to.not.have.property('unitOfMeasure');
    expect(soc).to.deep.include({ measurand: 'SoC', location: 'EV', unitOfMeasure: { unit: 'Percent' } });
  });

  it('Ended has the samples of TxEndedInterval between begin and end (J02, E06)', async () => {
    const station = await charging({
      variables: {
        'SampledDataCtrlr/TxEndedInterval': '60',
        'SampledDataCtrlr/TxEndedMeasurands': `${register},Energy.Active.Import.Interval`,
        'AlignedDataCtrlr/TxEndedInterval': '300',
        'AlignedDataCtrlr/TxEndedMeasurands': register,
      },
    });
    for (let i = 0; i < 60; i++) await station.run(10);
    await station.unplug();
    const { meterValue = [] } = station.central.last;
    const contexts = meterValue.map(({ sampledValue }) => sampledValue[0]?.context);
    expect([contexts[0], contexts.at(-1)]).to.deep.equal(['Transaction.Begin', 'Transaction.End']);
    expect(contexts.filter((each) => each === 'Sample.Periodic')).to.have.lengthOf(10);
    expect(contexts.filter((each) => each === 'Sample.Clock')).to.have.lengthOf(2);
    const sampled = meterValue.filter(({ sampledValue }) => sampledValue[0]?.context !== 'Sample.Clock');
    const intervals = sampled.map(({ sampledValue }) => valueOf(sampledValue, 'Energy.Active.Import.Interval'));
    const sum = intervals.reduce((total, value) => total + value, 0);
    expect(sum).to.equal(valueOf(sampled.at(-1)?.sampledValue, register));
  });

  it('Enabled false and an empty list give no readings (J02)', async () => {
    const station = await charging({
      variables: { 'SampledDataCtrlr/TxUpdatedInterval': '10', 'SampledDataCtrlr/Enabled': 'false' },
    });
    await station.run(30);
    expect(of(station, 'MeterValuePeriodic')).to.deep.equal([]);
    station.variables.set('SampledDataCtrlr', 'Enabled', 'true');
    station.variables.set('SampledDataCtrlr', 'TxUpdatedMeasurands', '');
    await station.run(30);
    expect(of(station, 'MeterValuePeriodic')).to.deep.equal([]);
    station.variables.set('SampledDataCtrlr', 'TxUpdatedMeasurands', register);
    station.variables.set('SampledDataCtrlr', 'TxUpdatedInterval', '5');
    for (let i = 0; i < 6; i++) await station.run(5);
    expect(of(station, 'MeterValuePeriodic').length).to.be.within(5, 6);
  });
});

describe('OCPP 2.x clock-aligned values (J01)', () => {
  const variables = { 'AlignedDataCtrlr/Interval': '60', 'AlignedDataCtrlr/Measurands': register };

  it('outside of transactions in MeterValues of every EVSE and the station, on multiples of the interval', async () => {
    const station = await Station.open({ variables });
    for (let i = 0; i < 18; i++) await station.run(10);
    const { values, events } = station.central;
    expect(events).to.deep.equal([]);
    expect(values.map(({ evseId }) => evseId)).to.deep.equal([0, 1, 2, 0, 1, 2, 0, 1, 2]);
    for (const { evseId, meterValue } of values) {
      expect(secondsOf(meterValue[0]?.timestamp) % 60).to.equal(0);
      expect(meterValue[0]?.sampledValue[0]).to.deep.include({
        context: 'Sample.Clock',
        location: evseId === 0 ? 'Inlet' : 'Outlet',
      });
    }
  });

  it('in a transaction as MeterValueClock of its events, never in MeterValues (J01.FR.14)', async () => {
    const station = await charging({ variables });
    for (let i = 0; i < 12; i++) await station.run(10);
    expect(of(station, 'MeterValueClock')).to.have.lengthOf(2);
    expect(secondsOf(of(station, 'MeterValueClock')[0]?.timestamp) % 60).to.equal(0);
    expect(new Set(station.central.values.map(({ evseId }) => evseId))).to.deep.equal(new Set([0, 2]));
  });

  it('SendDuringIdle: none of any EVSE while a transaction runs, and again after it (J01.FR.20)', async () => {
    const station = await charging({ variables: { ...variables, 'AlignedDataCtrlr/SendDuringIdle': 'true' } });
    for (let i = 0; i < 12; i++) await station.run(10);
    expect([of(station, 'MeterValueClock'), station.central.values]).to.deep.equal([[], []]);
    await station.do({ kind: 'evse.stop', connectorId: 1, reason: 'Local' });
    await station.do({ kind: 'evse.unplug', connectorId: 1 });
    for (let i = 0; i < 6; i++) await station.run(10);
    expect(new Set(station.central.values.map(({ evseId }) => evseId))).to.deep.equal(new Set([0, 1, 2]));
  });

  it('an interval that is set later counts from midnight', async () => {
    const station = await Station.open();
    await station.run(7);
    station.variables.set('AlignedDataCtrlr', 'Interval', '900');
    for (let i = 0; i < 31; i++) await station.run(60);
    const stamps = new Set(station.central.values.map(({ meterValue }) => secondsOf(meterValue[0]?.timestamp) % 900));
    expect(station.central.values).to.have.lengthOf(6);
    expect([...stamps]).to.deep.equal([0]);
  });
});

describe('OCPP 2.x readings on request and through faults (F06, J01)', () => {
  it('TriggerMessage for MeterValues sends them, also during a transaction; for TransactionEvent an event (F06)', async () => {
    const station = await charging();
    station.meterValues.part.triggers?.MeterValues?.(1);
    expect(station.central.values).to.have.lengthOf(1);
    expect(station.central.values[0]?.meterValue[0]?.sampledValue[0]?.context).to.equal('Trigger');
    station.meterValues.part.triggers?.TransactionEvent?.(undefined);
    await station.settle();
    expect(of(station, 'Trigger')).to.have.lengthOf(1);
    expect(sampledOf(of(station, 'Trigger')[0])[0]?.context).to.equal('Trigger');
  });

  it('a sample that a user asks for is an event in a transaction, else MeterValues (J02)', async () => {
    const station = await charging();
    station.meterValues.trigger(1);
    station.meterValues.trigger(2);
    await station.settle();
    expect(of(station, 'Trigger')).to.have.lengthOf(1);
    expect(station.central.values.map(({ evseId }) => evseId)).to.deep.equal([2]);
  });

  it('a loss of power stands in Ended as an interruption (J02)', async () => {
    const station = await charging();
    await station.tell('power_down');
    await station.run(10);
    await station.tell('power_up');
    const contexts = station.central.last.meterValue?.map(({ sampledValue }) => sampledValue[0]?.context);
    expect(contexts).to.deep.equal(['Transaction.Begin', 'Interruption.Begin', 'Interruption.End', 'Transaction.End']);
  });

  it('Started is one occasion of a faulty meter: Ended begins with the same register', async () => {
    const station = await Station.open();
    await station.plug();
    const offsets = [100, 900];
    station.distort = () => ({ factor: 1, offsetWh: offsets.shift() ?? 0 });
    await station.authorize('04AA11BB');
    await station.run(10);
    await station.unplug();
    const { events, last } = station.central;
    const shown = [events[0]?.meterValue?.[0], last.meterValue?.[0], last.meterValue?.[1]];
    const registers = shown.map((value) => valueOf(value?.sampledValue, register));
    expect(registers.slice(0, 2)).to.deep.equal([100, 100]);
    expect(registers[2]).to.be.within(900, 930);
  });

  it('a faulty meter shows other registers, and no other power', async () => {
    const station = await charging();
    station.distort = () => ({ factor: 2, offsetWh: 10 });
    await station.run(300);
    await station.unplug();
    const { energyWh } = station.connector();
    const values = station.central.last.meterValue?.at(-1)?.sampledValue;
    expect(valueOf(values, register)).to.equal(Math.round(Math.round(energyWh) * 2 + 10));
  });
});

const versions: readonly Version2[] = ['ocpp2.0.1', 'ocpp2.1'];

describe('OCPP 2.x measurands', () => {
  for (const version of versions)
    it(`${version}: each supplied measurand has a value at a charging vehicle, by its schema`, async () => {
      const all = suppliedMeasurands(version);
      const station = await charging({
        version,
        variables: {
          'SampledDataCtrlr/TxUpdatedInterval': '20',
          'SampledDataCtrlr/TxUpdatedMeasurands': all.join(','),
        },
        setpointW: () => 5000,
      });
      await station.run(60);
      const values = sampledOf(of(station, 'MeterValuePeriodic').at(-1));
      expect([...new Set(values.map(({ measurand }) => measurand))]).to.deep.equal([...all]);
      expect(values.every(({ value }) => Number.isFinite(value) && !Object.is(value, -0))).to.equal(true);
      expect(all.includes('Display.PresentSOC')).to.equal(version === 'ocpp2.1');
    });

  it('set-point, residual and the wishes of the vehicle are those of the state (2.1)', async () => {
    const station = await charging({
      variables: {
        'SampledDataCtrlr/TxUpdatedInterval': '20',
        'SampledDataCtrlr/TxUpdatedMeasurands': suppliedMeasurands('ocpp2.1').join(','),
      },
      setpointW: () => 5000,
    });
    await station.run(60);
    const values = sampledOf(of(station, 'MeterValuePeriodic').at(-1));
    const ev = station.connector().ev;
    const powerW = valueOf(values, 'Power.Active.Import');
    expect(valueOf(values, 'Power.Active.Setpoint')).to.equal(5000);
    expect(valueOf(values, 'Power.Active.Residual')).to.be.closeTo(5000 - powerW, 0.11);
    expect(valueOf(values, 'Display.PresentSOC')).to.be.closeTo(ev?.socPct ?? NaN, 0.1);
    expect(valueOf(values, 'Display.BatteryEnergyCapacity')).to.equal(100_000);
    expect(valueOf(values, 'EnergyRequest.Maximum')).to.be.closeTo((100 - (ev?.socPct ?? NaN)) * 1000, 50);
  });

  it('without a vehicle its measurands are left out, and DC has no phases', async () => {
    const station = await charging({
      profile: 'EVSE-DC-150kW-CCS-1port',
      variables: {
        'SampledDataCtrlr/TxUpdatedInterval': '20',
        'SampledDataCtrlr/TxUpdatedMeasurands': 'Current.Import,Voltage,SoC',
        'AlignedDataCtrlr/Measurands': 'SoC,Display.PresentSOC',
      },
    });
    await station.run(30);
    const values = sampledOf(of(station, 'MeterValuePeriodic').at(-1));
    expect(values.map(({ phase }) => phase)).to.deep.equal([undefined, undefined, undefined]);
    await station.unplug();
    station.meterValues.trigger(1);
    expect(station.central.values).to.deep.equal([]);
  });

  it('a list of measurands refuses what the station does not meter (J02)', () => {
    const facts = { version: 'ocpp2.0.1' } as VariableFacts;
    for (const row of txRows.filter(({ variable }) => variable.endsWith('easurands'))) {
      const values = typeof row.values === 'function' ? row.values(facts, {}) : (row.values ?? []);
      const accepted = (text: string) => normalValue({ type: row.type, values }, text);
      expect(accepted(`${register},Voltage`)).to.equal(`${register},Voltage`);
      for (const refused of ['RPM', 'Temperature', 'Display.PresentSOC', 'Energy.Reactive.Import.Register'])
        expect(accepted(refused), refused).to.equal(null);
    }
  });

  it('start and stop points refuse DataSigned and an empty list (E01)', () => {
    for (const row of txRows.filter(({ variable }) => /^Tx(Start|Stop)Point$/.test(variable))) {
      const values = typeof row.values === 'function' ? [] : (row.values ?? []);
      const accepted = (text: string) => normalValue({ type: row.type, values, min: row.min ?? 0 }, text);
      expect(accepted('EVConnected, Authorized')).to.equal('EVConnected,Authorized');
      expect(accepted('DataSigned')).to.equal(null);
      expect(accepted('')).to.equal(null);
    }
  });

  it('stop ends every timer', async () => {
    const station = await charging({
      profile: ac,
      variables: { 'SampledDataCtrlr/TxUpdatedInterval': '10', 'AlignedDataCtrlr/Interval': '10' },
    });
    await station.run(30);
    station.meterValues.part.stop?.();
    const { events, values } = station.central;
    const before = [events.length, values.length];
    expect(before[0]).to.be.above(2);
    await station.run(60);
    expect([events.length, values.length]).to.deep.equal(before);
  });
});
