import { expect } from 'chai';
import { setFunctionNames } from '../../../src/api/grid-support/sets.ts';
import type { Json } from '../../support/http.ts';
import { byModbus, named } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

function write(values: Readonly<Record<string, number | string>>): void {
  const { bank } = rest.plant.devices[0]!;
  bank.assign(
    byModbus,
    Object.entries(values).map(([name, value]) => ({ slot: named(bank.layout, name), value })),
  );
}

const state = ['number', 'in_force', 'read_only', 'adoptable', 'issue', 'changed_by'];
/** Members of a set that are settings. */
const settings = (set: Json): Json => Object.fromEntries(Object.entries(set).filter(([name]) => !state.includes(name)));

describe('GET grid-support/sets', () => {
  beforeEach(async () => {
    rest = await Rest.open();
  });
  afterEach(() => rest.api.stop());

  it('has all sets of all functions with sets, the one in force first and as grid-support shows it', async () => {
    const sets = await rest.get('/grid-support/sets');
    const inForce = await rest.get('/grid-support');
    expect(Object.keys(sets)).to.deep.equal(['device_index', ...setFunctionNames]);
    expect(setFunctionNames).to.deep.equal([
      'volt_var',
      'volt_watt',
      'watt_var',
      'freq_droop',
      'lv_trip',
      'hv_trip',
      'lf_trip',
      'hf_trip',
    ]);
    for (const name of setFunctionNames) {
      const { sets: list, ...adoption } = sets[name];
      expect(adoption, name).to.include({ supported: true, adopt_request: 1, adopt_result: 'completed' });
      expect(
        list.map((set: Json) => [set.number, set.in_force, set.read_only, set.adoptable, set.issue]),
      ).to.deep.equal([
        [1, true, true, true, null],
        [2, false, false, true, null],
        [3, false, false, true, null],
      ]);
      const own = settings(list[0]);
      expect(Object.keys(own), name).to.not.be.empty;
      for (const [member, value] of Object.entries(own))
        expect(inForce[name][member], `${name} ${member}`).to.deep.equal(value);
      expect(settings(list[1])).to.deep.equal(own);
    }
    expect(sets.volt_var.reversion_set).to.equal(0);
    expect(sets.lv_trip.reversion_set, 'trips have no reversion').to.equal(null);
  });

  it('shows a staged set, its writer and why it could not be adopted', async () => {
    await rest.plant.step(1);
    write({ '706.Crv[1].Pt[0].V': 106, '706.Crv[1].Pt[1].V': 105, '706.Crv[1].RspTms': 2.5 });
    const { volt_watt: voltWatt, ...others } = await rest.get('/grid-support/sets?function=volt_watt');
    expect(others).to.deep.equal({ device_index: 0 });
    expect(voltWatt.sets[1]).to.deep.include({
      adoptable: false,
      issue: { point: '706.Crv[1].Pt[1].V', detail: '105 is below the value of the previous point, 106' },
      changed_by: { source: 'modbus', source_detail: byModbus.peer, changed_at: '2026-06-21T12:00:01.500Z' },
      points: [
        { v_pct: 106, w_pct: 100 },
        { v_pct: 105, w_pct: 0 },
      ],
      response_time_s: 2.5,
    });
    expect(voltWatt.sets.map((set: Json) => set.changed_by === null)).to.deep.equal([true, false, true]);
  });

  it('says what an adoption would do: the same set is refused, and mended it comes into force', async () => {
    write({ '705.Crv[2].ActPt': 0 });
    const before = (await rest.get('/grid-support/sets?function=volt_var')).volt_var;
    expect(before.sets[2]).to.deep.include({
      adoptable: false,
      issue: { point: '705.Crv[2].ActPt', detail: 'no points are in use' },
      points: [],
    });
    write({ '705.AdptCrvReq': 3 });
    const refused = (await rest.get('/grid-support/sets?function=volt_var')).volt_var;
    expect(refused).to.include({ adopt_request: 3, adopt_result: 'failed' });
    write({ '705.Crv[2].ActPt': 2, '705.Crv[2].Pt[0].Var': 30 });
    write({ '705.AdptCrvReq': 3 });
    const after = (await rest.get('/grid-support/sets?function=volt_var')).volt_var;
    expect(after).to.include({ adopt_request: 3, adopt_result: 'completed' });
    expect(settings(after.sets[0])).to.deep.equal(settings(after.sets[2]));
    expect(after.sets[0].points[0]).to.deep.equal({ v_pct: 92, var_pct: 30 });
    expect(after.sets[0].changed_by.source).to.equal('modbus');
  });

  it('takes several functions, each once, and refuses words that have no sets', async () => {
    const reply = await rest.get('/grid-support/sets?function=hf_trip,freq_droop&function=hf_trip');
    expect(Object.keys(reply)).to.deep.equal(['device_index', 'freq_droop', 'hf_trip']);
    expect(settings(reply.freq_droop.sets[1])).to.include({ db_of_hz: 0.036, k_of: 0.05 });
    expect(Object.keys(settings(reply.hf_trip.sets[2]))).to.deep.equal([
      'must_trip',
      'may_trip',
      'momentary_cessation',
    ]);
    const problem = await rest.refused('/grid-support/sets?function=max_power', 422, 'validation');
    expect(problem.errors[0]).to.deep.include({ in: 'query', name: 'function', allowed: setFunctionNames });
    await rest.refused('/grid-support/sets?device=4', 404, 'unknown-device');
  });
});

describe('GET grid-support/sets of a device without a function', () => {
  it('says so', async () => {
    rest = await Rest.open(testPlant());
    const { bank } = rest.plant.devices[0]!;
    bank.measurements.m702.CtrlModes = 0;
    const reply = await rest.get('/grid-support/sets?function=watt_var');
    await rest.api.stop();
    expect(reply).to.deep.equal({ device_index: 0, watt_var: { supported: false } });
  });
});
