import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { MixedSite, pv, station } from './site.ts';

const withFault = (fault: Json): Json => ({ inject: [fault] });

describe('GET consistency', () => {
  let mixed: MixedSite;

  before(async () => {
    mixed = await MixedSite.open();
    const { site } = mixed;
    const by = { source: 'rest', peer: 'test' } as const;
    const charger = site.app.plant.device(station);
    charger.command({ kind: 'evse.plug', connectorId: 1, ev: { batteryCapacityWh: 60_000, socPct: 31 } }, by);
    charger.command({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' }, by);
    await mixed.post('grid-support/max-power?device=0', { enabled: true, limit_pct: 43.2 });
    await mixed.post('grid-support/constant-var?device=0', { enabled: true, var_pct: 12 });
    await site.advance(200, 20);
  });
  after(() => mixed.close());
  afterEach(() => mixed.post('faults', { clear: true }));

  const problems = ({ quantities }: Json) =>
    (quantities as Json[]).flatMap(({ quantity, presentations }) =>
      (presentations as Json[])
        .filter(({ cause }) => !['equal', 'rounding', 'earlier'].includes(cause))
        .map(({ protocol, explanation }) => `${quantity} ${protocol} ${explanation}`),
    );

  it('finds every protocol of a mixed site consistent, and says of each why it presents nothing', async () => {
    const inverter = await mixed.consistency(pv);
    expect(problems(inverter)).to.deep.equal([]);
    expect(inverter).to.include({ device_index: pv, consistent: true });
    expect(inverter.quantity_count).to.be.greaterThan(50);
    const { quantities, presentation_count: count, causes } = inverter;
    const all = (quantities as Json[]).flatMap(({ presentations }) => presentations as Json[]);
    expect([all.length, Object.values(causes).reduce((sum: number, n) => sum + Number(n), 0)]).to.deep.equal([
      count,
      count,
    ]);
    const absent = (protocols: Json[]) =>
      Object.fromEntries(
        protocols.filter(({ presents }) => !presents).map(({ protocol, reason }) => [protocol, reason]),
      );
    expect(absent(inverter.protocols)).to.deep.equal({ ocpp: 'the device is no charging station' });
    const charger = await mixed.consistency(station);
    expect(problems(charger)).to.deep.equal([]);
    expect(absent(charger.protocols)).to.deep.equal({});
  });

  it('shows the registers that a master reads, of both generations', async () => {
    const { bank } = mixed.site.app.plant.device(pv);
    const slots = [bank.layout.slot(701, 'W'), bank.layout.slot(701, 'W_SF'), bank.layout.slot(103, 'W')];
    const read = await Promise.all(slots.map((slot) => mixed.registers(pv, slot?.address ?? 0, 1)));
    const [w, sf, classic] = read.map((words) => words.readInt16BE(0));
    const { quantities } = await mixed.consistency(pv, 'active_power');
    const modbus = (quantities[0].presentations as Json[]).filter(({ protocol }) => protocol === 'modbus');
    expect(modbus.map(({ place, shown: [{ raw, multiplier }] }) => [place, raw, multiplier])).to.deep.equal([
      ['701.W', w, 10 ** (sf ?? 0)],
      ['103.W', classic, 1],
    ]);
    expect(modbus[0]?.value).to.equal((w ?? 0) * 10 ** (sf ?? 0));
    expect(modbus[0]?.value).to.be.within(4200, 4400);
  });

  it('shows the point that a master of DNP3 reads, the message of the stream and the reply of REST', async () => {
    const { dnp3 } = await mixed.presentations(pv, 'power_factor');
    const { stream, rest } = await mixed.presentations(pv, 'apparent_power');
    const { flags, value } = await mixed.analogInput(pv, 545);
    expect(dnp3).to.include({ place: 'AI545', resolution: 0.01, cause: 'rounding' });
    expect(dnp3?.shown).to.deep.equal([
      { name: 'AI545', raw: value, multiplier: 0.01, unit: null, decimals: null, flags, listed: null },
    ]);
    expect(dnp3?.explanation).to.match(
      /^DNP3 shows 0\.\d\d in steps of 0\.01; the register has 0\.\d\d\d: rounding\.$/,
    );
    const { metrics } = await mixed.message(pv);
    const { devices } = await mixed.site.get('devices?device=0');
    expect(stream?.shown[0].raw).to.equal(metrics.apparent_power_kva);
    expect(rest?.shown[0].raw).to.equal(devices[0].metrics.apparent_power_kva);
    expect(rest?.at).to.equal(metrics.timestamp);
  });

  it('shows the meter values that a central system gets when it asks for them', async () => {
    const power = (await mixed.presentations(station, 'active_power'))['ocpp'];
    const current = (await mixed.presentations(station, 'current_l2'))['ocpp'];
    const energy = (await mixed.presentations(station, 'energy_absorbed'))['ocpp'];
    const soc = (await mixed.presentations(station, 'vehicle_state_of_charge'))['ocpp'];
    const { ocpp: frequency } = await mixed.presentations(station, 'frequency');
    const listed = async () => (await mixed.presentations(station, 'frequency'))['ocpp']?.shown[0].listed;
    const [inlet, outlet] = [await mixed.meterValues(0), await mixed.meterValues(1)];
    const sent = (values: readonly Json[], measurand: string, phase?: string) =>
      values.find((each) => each.measurand === measurand && each.phase === phase)?.value;
    expect(power?.shown[1]).to.include({
      name: 'Power.Active.Import',
      raw: sent(inlet, 'Power.Active.Import'),
      unit: 'W',
    });
    expect(power?.value).to.equal(-Number(power?.shown[1].raw));
    expect(Number(power?.value)).to.be.below(-5000);
    expect(current?.shown[0].raw).to.equal(sent(inlet, 'Current.Import', 'L2'));
    expect(energy?.shown[0].raw).to.equal(sent(inlet, 'Energy.Active.Import.Register'));
    expect(soc?.shown[0].raw).to.equal(sent(outlet, 'SoC'));
    // the configuration asks for it since then
    expect([frequency?.shown[0].listed, await listed()]).to.deep.equal([false, true]);
  });

  it('shows the readings that a server of IEEE 2030.5 was sent, and that they are older', async () => {
    const power = (await mixed.presentations(pv, 'active_power'))['csip'];
    expect(power).to.include({ place: 'reading of uom 38', value: -mixed.reading(pv, 38), resolution: 1 });
    expect(Date.parse(power?.interval.end) - Date.parse(power?.interval.start)).to.equal(60_000);
    const volts = (await mixed.presentations(pv, 'voltage_l2'))['csip'];
    expect(volts?.value).to.be.closeTo(mixed.reading(pv, 29, 65), 1e-9);
    await mixed.post('grid-support/max-power?device=0', { limit_pct: 20 });
    await mixed.site.advance(10, 10);
    const { consistent, difference_count: count, quantities } = await mixed.consistency(pv, 'active_power');
    expect([consistent, count]).to.deep.equal([true, 1]);
    const late = (quantities[0].presentations as Json[]).at(-1);
    expect(late).to.include({ protocol: 'csip', agrees: false, cause: 'earlier' });
    expect(late['explanation']).to.match(
      /, a difference of \d+ W, more than rounding of 1 W explains: it is the mean from \d\d:\d\d:\d\d to \d\d:\d\d:\d\d/,
    );
  });

  it('names the fault that lies to masters of Modbus, and counts no occasion of it', async () => {
    const fault = { protocol: 'modbus', kind: 'scale', factor: 1.5, points: ['701.W'], count: 1, device: pv };
    await mixed.post('faults', withFault(fault));
    for (let n = 0; n < 3; n += 1) {
      const { consistent, causes, protocols } = await mixed.consistency(pv);
      expect([consistent, causes.fault, causes.unexplained]).to.deep.equal([false, 1, 0]);
      const [{ id, ...listed }] = (protocols as Json[]).find(({ protocol }) => protocol === 'modbus')?.faults;
      expect(listed).to.deep.equal({ kind: 'scale', changes_values: true });
      const { quantities } = await mixed.consistency(pv, 'active_power');
      const [registers, modbus, classic] = quantities[0].presentations as [Json, Json, Json];
      expect([registers['agrees'], classic['place'], classic['agrees']]).to.deep.equal([true, '103.W', true]);
      expect(modbus).to.include({ place: '701.W', agrees: false, cause: 'fault' });
      expect(modbus['value']).to.be.closeTo(1.5 * Number(registers['value']), 1);
      expect(modbus['explanation']).to.match(
        new RegExp(
          `^Modbus shows \\d+ W and the register has \\d+ W, a difference of .*: fault 'scale' \\(${id}\\) is on\\.$`,
        ),
      );
    }
    const slot = mixed.site.app.plant.device(pv).bank.layout.slot(701, 'W');
    const before = (await mixed.site.get('faults')).faults[0];
    expect([before.occasions, before.strikes]).to.deep.equal([0, 0]);
    const truth = Number((await mixed.presentations(pv, 'active_power'))['registers']?.value);
    expect((await mixed.registers(pv, slot?.address ?? 0, 1)).readInt16BE(0)).to.be.closeTo(1.5 * truth, 1);
    expect(await mixed.consistency(pv)).to.include({ consistent: true });
  });

  it('reads frozen values, and models where a master finds them or does not', async () => {
    await mixed.post('faults', withFault({ kind: 'freeze', points: ['701'], device: pv }));
    await mixed.post('grid-support/max-power?device=0', { limit_pct: 50 });
    await mixed.site.advance(20, 20);
    const power = async () => (await mixed.consistency(pv, 'active_power')).quantities[0].presentations as Json[];
    const [truth, frozen, classic] = await power();
    expect([frozen?.cause, classic?.cause]).to.deep.equal(['fault', 'equal']);
    expect(frozen?.explanation).to.include("fault 'freeze'");
    expect(Number(truth?.value) - Number(frozen?.value)).to.be.greaterThan(1000);
    await mixed.post('faults', { clear: true });
    await mixed.post('faults', withFault({ kind: 'hide_model', model: 701, device: pv }));
    const [, hidden, moved] = await power();
    expect(hidden).to.include({ value: null, agrees: false, cause: 'fault' });
    expect(hidden?.explanation).to.match(/^Modbus shows nothing: a master finds no model 701; fault 'hide_model'/);
    expect(moved).to.include({ place: '103.W', cause: 'equal' });
    await mixed.post('faults', { clear: true });
    await mixed.post('faults', withFault({ kind: 'shift', model: 701, registers: 2, device: pv }));
    expect((await mixed.consistency(pv)).consistent).to.equal(false);
  });

  it('names the fault of an OCPP meter and of a mirror of IEEE 2030.5', async () => {
    await mixed.post('faults', withFault({ protocol: 'ocpp', kind: 'meter_jump', offset_wh: 5000, device: station }));
    const { ocpp, registers } = await mixed.presentations(station, 'energy_absorbed');
    expect(Number(ocpp?.value) - Number(registers?.value)).to.be.closeTo(5000, 1);
    expect(ocpp).to.include({ cause: 'fault', agrees: false });
    expect(ocpp?.explanation).to.match(/a difference of 500\d Wh, .*: fault 'meter_jump' \(\d+\) is on\.$/);
    await mixed.post('faults', { clear: true });
    await mixed.post('faults', withFault({ protocol: 'csip', kind: 'wrong_multiplier', shift: 2, device: pv }));
    // the server forgets its mirrors, so that they are made again
    mixed.site.headEnd.mirrors.length = 0;
    mixed.site.headEnd.readings.length = 0;
    await mixed.site.advance(130, 10);
    const { csip } = await mixed.presentations(pv, 'frequency');
    expect(csip).to.include({ value: mixed.reading(pv, 33), resolution: 0.1, cause: 'fault' });
    expect(csip?.value).to.equal(6000);
    expect(csip?.explanation).to.include("fault 'wrong_multiplier'");
    await mixed.post('faults', { clear: true });
    const after = (await mixed.presentations(pv, 'frequency'))['csip'];
    expect(after?.explanation).to.include('a fault that has ended since has changed it');
  });

  it('says that a device is off, and refuses what it does not know', async () => {
    await mixed.post('faults', withFault({ protocol: 'device', kind: 'reboot', off_s: 60, device: pv }));
    await mixed.site.advance(2);
    const { protocols } = await mixed.consistency(pv);
    const off = (protocols as Json[]).filter(({ reason }) => reason === 'the device is off and does not answer');
    expect(off.map(({ protocol }) => protocol)).to.deep.equal(['modbus', 'dnp3', 'ocpp']);
    const unknown = await mixed.status('consistency?quantity=active_power,voltage');
    expect([unknown.status, unknown.json.errors[0].name]).to.deep.equal([422, 'quantity']);
    expect((await mixed.status('consistency?device=7')).status).to.equal(404);
  });
});
