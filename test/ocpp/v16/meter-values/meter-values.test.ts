/** Meter values of a real station. OCPP 1.6 3.14, 4.7, 4.10, 5.17, 7.31, 9.1. */
import { expect } from 'chai';
import { keyTable, normalValue } from '../../../../src/ocpp/v16/keys/table.ts';
import { createHistory, maxSamples, nextAligned } from '../../../../src/ocpp/meter-values.ts';
import { isSupplied, suppliedMeasurands } from '../../../../src/ocpp/v16/meter-values.ts';
import { find, stationOf } from './station.ts';

const ac = 'EVSE-AC-22kW-1port';
const everything = suppliedMeasurands.join(',');
const register = 'Energy.Active.Import.Register';
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

describe('OCPP 1.6 meter values: what a sample says', () => {
  it('7.31: the keys accept exactly what a station meters', () => {
    const { kind } = keyTable.find(({ name }) => name === 'MeterValuesSampledData') ?? expect.fail('no such key');
    expect(normalValue(kind, everything)).to.equal(everything);
    expect(normalValue(kind, 'Voltage,RPM')).to.equal(null);
    for (const no of ['Temperature', 'RPM', 'Energy.Reactive.Import.Register', 'SoC.L1', 'Voltage.L4', ''])
      expect(isSupplied(no), no).to.equal(false);
    for (const yes of ['Voltage.L1-N', 'Current.Import.L2', 'Power.Active.Import.L3'])
      expect(isSupplied(yes), yes).to.equal(true);
  });

  it('4.7: every measurand of three phases is of one instant, with the phases, units and places of 7.31', async () => {
    const s = await stationOf(ac, { MeterValuesSampledData: everything });
    s.plug();
    await s.rig.run(60);
    s.rig.plant.setGrid({ voltageAPu: 0.97, voltageBPu: 1.01, voltageCPu: 1.04 });
    await s.rig.run(10);
    s.values.trigger(1);
    const sent = s.meterValues().at(-1);
    expect(sent?.queued, 'what is triggered is not queued').to.equal(false);
    const at = new Date(s.clock.ofSim(s.port.sample(1).at)).toISOString();
    expect(sent?.payload.meterValue[0]?.timestamp).to.equal(at);
    const values = s.last();
    const powerW = find(values, 'Power.Active.Import');
    expect(powerW).to.be.closeTo(11_000, 1);
    const va = ['L1', 'L2', 'L3'].map((p) => find(values, 'Voltage', `${p}-N`) * find(values, 'Current.Import', p));
    expect(find(values, 'Power.Factor') * sum(va)).to.be.closeTo(powerW, 0.001 * powerW);
    expect([find(values, 'Power.Active.Export'), find(values, 'Current.Export', 'L1')]).to.deep.equal([0, 0]);
    expect(find(values, 'Frequency')).to.equal(60);
    expect(find(values, 'Power.Offered')).to.be.above(11_000);
    expect(values.find((v) => v.measurand === 'Frequency')).to.not.have.property('unit');
    expect(values.find((v) => v.measurand === 'SoC')).to.include({ location: 'EV', unit: 'Percent' });
    expect(values.every((v) => v.context === 'Trigger' && /^\d+(\.\d+)?$/.test(v.value))).to.equal(true);
    expect(values.find((v) => v.measurand === register)?.value).to.match(/^\d+$/);
    s.values.trigger(0);
    expect(s.last().every((v) => v.location === 'Inlet' && v.measurand !== 'SoC')).to.equal(true);
    expect(find(s.last(), 'Power.Active.Import')).to.be.closeTo(powerW + s.port.detail.standbyW, 1);
    s.values.trigger();
    const ids = s.meterValues().map(({ payload }) => payload.connectorId);
    expect(ids.slice(-2)).to.deep.equal([0, 1]);
  });

  it('9.1: one phase alone where the key names it, and DC has no phases', async () => {
    const MeterValuesSampledData = 'Voltage.L2-N,Current.Import.L2,Power.Active.Import.L2,Voltage,Current.Import';
    const phases = async (profile: string) => {
      const s = await stationOf(profile, { MeterValuesSampledData });
      s.plug();
      await s.rig.run(60);
      s.values.trigger(1);
      return { s, words: s.last().map(({ measurand = '', phase = 'all' }) => `${measurand} ${phase}`) };
    };
    expect((await phases(ac)).words).to.deep.equal([
      'Voltage L2-N',
      'Current.Import L2',
      'Power.Active.Import L2',
      ...['L1-N', 'L2-N', 'L3-N'].map((phase) => `Voltage ${phase}`),
      ...['L1', 'L2', 'L3'].map((phase) => `Current.Import ${phase}`),
    ]);
    const { s, words } = await phases('EVSE-DC-350kW-CCS-2port');
    expect(words).to.deep.equal(['Voltage all', 'Current.Import all']);
    const volts = find(s.last(), 'Voltage');
    expect(volts * find(s.last(), 'Current.Import')).to.be.closeTo(s.port.sample(1).powerW, 0.001 * 350_000);
  });

  it('discharge counts as export, and no value is below 0', async () => {
    const s = await stationOf('EVSE-V2G-DC-50kW-bidir', { MeterValuesSampledData: everything });
    s.plug(1, { socPct: 90, reserveSocPct: 20, maxDischargeW: 20_000 });
    await s.rig.run(5);
    s.rig.command({ kind: 'evse.discharge', connectorId: 1, powerW: 8000 });
    await s.rig.run(120);
    s.values.trigger(1);
    expect(find(s.last(), 'Power.Active.Export')).to.be.closeTo(8000, 1);
    expect(find(s.last(), 'Power.Active.Import')).to.equal(0);
    expect(find(s.last(), 'Energy.Active.Export.Register')).to.be.above(100);
    expect(s.last().every(({ value }) => Number(value) >= 0)).to.equal(true);
  });

  it('faults of the meter show in registers only, once for each message; a register set by hand is shown', async () => {
    const s = await stationOf(ac, {
      MeterValueSampleInterval: '60',
      MeterValuesSampledData: `${register},Power.Active.Import`,
      StopTxnSampledData: register,
    });
    s.plug();
    await s.rig.run(65);
    const powerW = find(s.last(), 'Power.Active.Import');
    s.faults.reading = { factor: 1, offsetWh: 100_000 };
    await s.rig.run(60);
    expect(s.faults.asked).to.equal(1);
    expect(find(s.last(), register)).to.be.above(100_000);
    expect(find(s.last(), 'Power.Active.Import')).to.equal(powerW);
    s.faults.reading = null;
    s.rig.command({ kind: 'evse.meter', connectorId: 1, energyWh: 5 });
    await s.rig.run(60);
    expect(find(s.last(), register)).to.be.within(5, 190);
  });
});

describe('OCPP 1.6 meter values: a meter that jumps', () => {
  it('shows one register in all of a message: StartTransaction and Transaction.Begin, StopTransaction and Transaction.End', async () => {
    const s = await stationOf(ac, { StopTxnSampledData: register });
    s.faults.reading = { factor: 1, offsetWh: 700 };
    s.plug();
    await s.rig.run(60);
    s.faults.reading = { factor: 2, offsetWh: 100_000 };
    s.rig.command({ kind: 'evse.stop', connectorId: 1 });
    const [start] = s.sent.filter(({ action }) => action === 'StartTransaction');
    const [stop] = s.stops();
    const shown = stop?.transactionData?.map(({ sampledValue }) => find(sampledValue, register));
    expect(start?.payload).to.include({ meterStart: 700 });
    expect(stop?.meterStop).to.be.above(100_000);
    expect(shown).to.deep.equal([700, stop?.meterStop]);
  });
});

describe('OCPP 1.6 meter values: when samples are taken', () => {
  it('9.1: MeterValueSampleInterval counts from the start of a transaction to its end; a change acts at once', async () => {
    const s = await stationOf(ac, {
      MeterValueSampleInterval: '30',
      MeterValuesSampledData: `${register},Energy.Active.Import.Interval`,
    });
    await s.rig.run(100);
    expect(s.meterValues(), 'no transaction').to.deep.equal([]);
    s.plug();
    const startMs = s.clock.nowMs();
    await s.rig.run(125);
    const samples = () => s.meterValues().flatMap(({ payload }) => payload.meterValue);
    const times = () => samples().map(({ timestamp }) => Date.parse(timestamp) - startMs);
    expect(times()).to.deep.equal([30_000, 60_000, 90_000, 120_000]);
    const registers = samples().map(({ sampledValue }) => find(sampledValue, register));
    expect(registers).to.deep.equal(registers.toSorted((a, b) => a - b));
    const steps = samples().map(({ sampledValue }) => find(sampledValue, 'Energy.Active.Import.Interval'));
    expect(sum(steps)).to.equal(registers.at(-1));
    expect(s.meterValues().every(({ queued }) => queued)).to.equal(true);
    expect(s.last()[0]?.context).to.equal('Sample.Periodic');
    s.keys.set('MeterValueSampleInterval', '100');
    await s.rig.run(100);
    expect(times().slice(4)).to.deep.equal([200_000]);
    s.keys.set('MeterValueSampleInterval', '0');
    await s.rig.run(300);
    s.keys.set('MeterValueSampleInterval', '10');
    s.rig.command({ kind: 'evse.unplug', connectorId: 1 });
    await s.rig.run(100);
    expect(times()).to.have.length(5);
  });

  it('9.1: ClockAlignedDataInterval counts from midnight of the central system, for all connectors and the station', async () => {
    const s = await stationOf('EVSE-AC-7.4kW-2port', { MeterValuesAlignedData: `${register},SoC` });
    s.clock.sync(Date.UTC(2030, 0, 1, 23, 40, 30), 0);
    const startMs = s.clock.nowMs();
    s.keys.set('ClockAlignedDataInterval', '600');
    s.plug(2);
    await s.rig.run(1800);
    const first = Math.ceil(startMs / 600_000) * 600_000;
    const seen = s.meterValues().map(({ payload, queued }) => {
      const [value] = payload.meterValue;
      const step = (Date.parse(value?.timestamp ?? '') - first) / 600_000;
      return [step, payload.connectorId, queued, value?.sampledValue.length];
    });
    expect(seen).to.deep.equal(
      [0, 1, 2].flatMap((i) => [
        [i, 0, false, 1],
        [i, 1, false, 1],
        [i, 2, true, 2],
      ]),
    );
    expect(s.last()[0]?.context).to.equal('Sample.Clock');
    const [one = [], two = []] = s
      .meterValues()
      .filter(({ payload }) => payload.connectorId === 2)
      .map(({ payload }) => payload.meterValue[0]?.sampledValue ?? []);
    const wh = find(two, register) - find(one, register);
    expect(wh, 'energy of exactly ten minutes').to.be.closeTo(s.port.sample(2).powerW / 6, 2);
  });

  it('9.1: an interval that does not divide the day begins anew at midnight', () => {
    const at = (text: string) => Date.parse(`2030-01-01T${text}Z`);
    const midnight = Date.parse('2030-01-02T00:00:00Z');
    expect(nextAligned(at('23:20:00'), 7200)).to.equal(midnight);
    expect(nextAligned(at('00:00:00'), 50_000)).to.equal(at('13:53:20'));
    expect(nextAligned(at('13:53:20'), 50_000)).to.equal(midnight);
  });

  it('4.10: StopTransaction carries begin, samples and end, and the end is the meter of meterStop', async () => {
    const s = await stationOf(ac, {
      MeterValueSampleInterval: '60',
      MeterValuesSampledData: '',
      StopTxnSampledData: `${register},SoC`,
      MeterValuesAlignedData: '',
      StopTxnAlignedData: 'Power.Active.Import',
      ClockAlignedDataInterval: '100',
    });
    await s.rig.run(15);
    s.plug();
    await s.rig.run(150.5);
    s.rig.command({ kind: 'evse.stop', connectorId: 1 });
    const [stop] = s.stops();
    const data = stop?.transactionData ?? [];
    const contexts = data.map(({ sampledValue }) => sampledValue[0]?.context);
    expect([contexts[0], contexts.at(-1)]).to.deep.equal(['Transaction.Begin', 'Transaction.End']);
    expect(contexts.slice(1, -1).toSorted()).to.deep.equal(['Sample.Clock', 'Sample.Periodic', 'Sample.Periodic']);
    const end = data.at(-1);
    expect(find(end?.sampledValue ?? [], register)).to.equal(stop?.meterStop);
    expect(end?.timestamp).to.equal(stop?.timestamp);
    expect(find(end?.sampledValue ?? [], 'SoC')).to.be.above(30);
    expect(s.meterValues(), 'nothing asked for in MeterValues').to.deep.equal([]);
  });

  it('a station without power meters nothing, neither periodic nor clock-aligned (7.34)', async () => {
    const s = await stationOf(ac, {
      MeterValueSampleInterval: '10',
      MeterValuesSampledData: register,
      MeterValuesAlignedData: register,
      ClockAlignedDataInterval: '10',
    });
    s.plug();
    await s.rig.run(35);
    const before = s.sent.length;
    expect(before).to.be.above(4);
    Object.defineProperty(s.port, 'dark', { value: true });
    await s.rig.run(60);
    expect(s.sent.length).to.equal(before);
  });

  it('an interval shorter than the ticks gives one value for each reading, none twice', async () => {
    const s = await stationOf(ac, { MeterValueSampleInterval: '1', MeterValuesSampledData: register });
    s.plug();
    for (let tick = 0; tick < 5; tick += 1) await s.rig.run(10);
    const times = s.meterValues().flatMap(({ payload }) => payload.meterValue.map(({ timestamp }) => timestamp));
    expect(times.length).to.be.at.least(4);
    expect(new Set(times).size).to.equal(times.length);
  });

  it('7.34: a loss of power marks begin and end of the interruption', async () => {
    const s = await stationOf(ac, { MeterValuesSampledData: register });
    s.plug();
    await s.rig.run(60);
    s.tell('power_down');
    s.tell('power_up');
    const contexts = s.meterValues().map(({ payload }) => payload.meterValue[0]?.sampledValue[0]?.context);
    expect(contexts).to.deep.equal(['Interruption.Begin', 'Interruption.End']);
  });

  it('stop ends every timer', async () => {
    const s = await stationOf(ac, { MeterValueSampleInterval: '10', ClockAlignedDataInterval: '10' });
    s.plug();
    await s.rig.run(15);
    const before = s.sent.length;
    expect(before).to.be.above(2);
    s.values.stop?.();
    await s.rig.run(60);
    expect(s.sent.length).to.equal(before);
  });

  it('samples of a long transaction are thinned out; first and last stay', () => {
    const history = createHistory<{ readonly timestamp: string; readonly sampledValue: [] }>();
    for (let i = 0; i < 5 * maxSamples; i += 1) history.add('k', { timestamp: String(i), sampledValue: [] });
    const kept = history.removeAll('k');
    expect(kept.length).to.be.within(maxSamples / 4, maxSamples);
    expect([kept[0]?.timestamp, kept.at(-1)?.timestamp]).to.deep.equal(['0', String(5 * maxSamples - 1)]);
    expect(history.removeAll('k')).to.deep.equal([]);
  });
});
