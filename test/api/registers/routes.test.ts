import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const close = () => rest.api.stop();

describe('nameplate and DC curve', () => {
  afterEach(close);

  it('nameplate follows models 1, 702, 713, 714', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-1Phase'] }));
    const plate = await rest.get('/nameplate');
    const { bank } = rest.plant.devices[0]!;
    expect(plate).to.include({ device_index: 0, ac_type: 'three_phase', storage: null });
    expect(plate.ratings).to.include({
      w_max_w: bank.map.m702.WMaxRtg,
      v_nom_v: 480,
      w_cha_rte_max_w: bank.map.m702.WChaRteMaxRtg,
    });
    expect(plate.settings).to.include({ w_max_w: bank.map.m702.WMax, v_nom_v: 480 });
    expect(plate.ctrl_modes).to.include.members(['max_w', 'fixed_pf']);
    expect(plate.normal_category).to.match(/^cat_[ab]$/);
    expect(plate.dc_ports[0]).to.include({ index: 0, type: 'pv' });
    expect(plate.models.map(({ id }: Json) => id)).to.include.members([1, 701, 702, 714]);
    expect((await rest.get('/nameplate?device=1')).ac_type).to.equal('single_phase');
  });

  it('configured settings are the difference between ratings and settings', async () => {
    rest = await Rest.open();
    expect((await rest.get('/nameplate/configured-settings')).overrides).to.deep.equal([]);
    const rated = rest.plant.devices[0]!.bank.map.m702.WMaxRtg;
    await rest.post('/registers/702', { points: { WMax: 8000 } });
    expect((await rest.get('/nameplate/configured-settings')).overrides).to.deep.equal([
      {
        point: '702.WMax',
        name: 'w_max_w',
        value: 8000,
        rated_value: rated,
        unit: 'W',
        origin: 'rest',
        flag: null,
        set_at: '2026-06-21T12:00:00.000Z',
      },
    ]);
  });

  it('DC curve', async () => {
    rest = await Rest.open();
    await rest.plant.step(60);
    const curve = await rest.get('/dc-iv?points=64');
    expect(curve).to.include({ kind: 'pv', port: 0 });
    expect(curve.curve.length).to.be.within(64, 66);
    const volts = curve.curve.map(({ v }: Json) => v as number);
    expect(volts).to.deep.equal([...volts].sort((a, b) => a - b));
    expect(curve.curve).to.deep.include(curve.mpp);
    await rest.refused('/dc-iv?points=15', 422, 'validation');
    await rest.refused('/dc-iv?port=9', 404, 'unknown-resource');
  });
});

describe('registers', () => {
  afterEach(close);

  const point = (reply: Json, name: string): Json => reply.points.find((each: Json) => each.name === name);

  it('lists models and decodes points', async () => {
    rest = await Rest.open();
    const { models } = await rest.get('/registers');
    expect(models[0]).to.include({ id: 1, address: 40002 });
    const reply = await rest.get('/registers/701');
    expect(point(reply, 'InvSt')).to.deep.include({
      type: 'enum16',
      value: 3,
      symbol: 'RUNNING',
      access: 'R',
      scale_factor: null,
      implemented: true,
    });
    const power = point(reply, 'W');
    expect(power.value / 1000).to.equal((await rest.get('/overview')).metrics.power_kw);
    expect(power).not.to.have.property('raw');
    const raw = point(await rest.get('/registers/701?raw=true'), 'W');
    expect(raw.raw).to.have.length(1);
    expect(raw.value).to.be.closeTo(raw.raw[0] * 10 ** raw.scale_factor, 1e-6);
    expect(point(await rest.get('/registers/1'), 'Mn')).to.deep.include({ type: 'string', unit: null });
  });

  it('answers with the points that the query names, in the order of the map, after a write too', async () => {
    rest = await Rest.open();
    const names = (reply: Json) => reply.points.map(({ name }: Json) => name as string);
    expect(names(await rest.get('/registers/704?points=PFWInj.PF,WMaxLimPctEna&points=PFWInj.PF'))).to.deep.equal([
      'WMaxLimPctEna',
      'PFWInj.PF',
    ]);
    const written = await rest.post('/registers/704?points=WMaxLimPct', { points: { WMaxLimPct: 40 } });
    expect(written.points).to.have.length(1);
    expect(written.points[0]).to.deep.include({ name: 'WMaxLimPct', value: 40, source: 'rest' });
    const curve = await rest.get(`/registers/705?points=${encodeURIComponent('Crv[1].Pt[0].V')}&raw=true`);
    expect(curve.points).to.have.length(1);
    expect(curve.points[0].raw).to.have.length(1);
    const refused = await rest.refused('/registers/704?points=WMaxLimPct,Nope,', 422, 'validation', {
      points: { WMaxLimPct: 30 },
    });
    expect(refused.errors).to.deep.equal([
      { in: 'query', name: 'points', detail: 'model 704 has no point "Nope"' },
      {
        in: 'query',
        name: 'points',
        detail: 'has an empty name: it is empty, or has a comma without a name beside it',
      },
    ]);
    expect(point(await rest.get('/registers/704'), 'WMaxLimPct').value, 'nothing is written').to.equal(40);
  });

  it('writes all or nothing, with provenance', async () => {
    rest = await Rest.open();
    const reply = await rest.post('/registers/704', {
      points: { WMaxLimPct: 50, 'PFWInj.PF': 0.95, PFWInjEna: 1, WMaxLimPctEna: 'ENABLED' },
    });
    expect(point(reply, 'WMaxLimPct')).to.include({
      value: 50,
      source: 'rest',
      changed_at: '2026-06-21T12:00:00.000Z',
    });
    expect(point(reply, 'PFWInj.PF').value).to.equal(0.95);
    expect(point(reply, 'PFWInjEna')).to.include({ value: 1, symbol: 'ENABLED' });
    expect(point(reply, 'VarSetEna')).to.include({ source: 'default', changed_at: null });
    const problem = await rest.refused('/registers/704', 422, 'validation', {
      points: { WMaxLimPct: 10, 'PFWInj.PF': 7 },
    });
    expect(problem.errors[0]).to.include({ in: 'body', name: '/points/PFWInj.PF' });
    expect(point(await rest.get('/registers/704'), 'WMaxLimPct').value).to.equal(50);
  });

  it('names the point that is at fault', async () => {
    rest = await Rest.open();
    const cases: [Json, string][] = [
      [{ WMaxLimPct: 101 }, '/points/WMaxLimPct'],
      [{ WMaxLimPct: 'x' }, '/points/WMaxLimPct'],
      [{ Nope: 1, WMaxLimPct: 1 }, '/points/Nope'],
      [{ WMaxLimPctEna: 'MAYBE' }, '/points/WMaxLimPctEna'],
      [{ WMaxLimPctEna: 2 }, '/points/WMaxLimPctEna'],
      [{ ID: 1 }, '/points/ID'],
      [{ WMaxLimPct: null }, '/points/WMaxLimPct'],
      [{ WMaxLimPct: 1e300 }, '/points/WMaxLimPct'],
      [{ 'a/b~c': 1 }, '/points/a~1b~0c'],
    ];
    for (const [points, name] of cases) {
      const problem = await rest.refused('/registers/704', 422, 'validation', { points });
      expect(
        problem.errors.map((each: Json) => each.name),
        JSON.stringify(points),
      ).to.include(name);
    }
    await rest.refused('/registers/701', 422, 'validation', { points: { W: 1 } });
    await rest.refused('/registers/704', 422, 'validation', { points: {} });
    await rest.refused('/registers/704', 422, 'validation', {});
  });

  it('takes back the points of a curve as it gave them, unused ones too', async () => {
    rest = await Rest.open();
    const isCurvePoint = ({ name, access }: Json) => access === 'RW' && /^Crv\[1\]\.Pt\[/.test(name);
    const read = async (): Promise<Json> =>
      Object.fromEntries(
        (await rest.get('/registers/705')).points.filter(isCurvePoint).map((each: Json) => [each.name, each.value]),
      );
    await rest.post('/registers/705', { points: { 'Crv[1].Pt[3].V': null, 'Crv[1].Pt[3].Var': null } });
    const points = await read();
    expect(points).to.include({ 'Crv[1].Pt[3].V': null, 'Crv[1].Pt[3].Var': null });
    expect(points['Crv[1].Pt[0].V']).to.be.a('number');
    await rest.post('/registers/705', { points: { 'Crv[1].Pt[3].V': 109, 'Crv[1].Pt[3].Var': -40 } });
    expect(await read()).to.include({ 'Crv[1].Pt[3].V': 109 });
    await rest.post('/registers/705', { points });
    expect(await read()).to.deep.equal(points);
    await rest.refused('/registers/705', 422, 'validation', { points: { ...points, AdptCrvReq: null } });
    await rest.refused('/registers/705', 422, 'validation', { points: { 'Crv[1].Pt[3].V': true } });
  });

  it('says which names an enumeration has', async () => {
    rest = await Rest.open();
    for (const value of ['MAYBE', 2]) {
      const { errors } = await rest.refused('/registers/704', 422, 'validation', { points: { WMaxLimPctEna: value } });
      expect(errors).to.have.length(1);
      expect(errors[0]).to.deep.include({
        in: 'body',
        name: '/points/WMaxLimPctEna',
        allowed: ['DISABLED', 'ENABLED'],
      });
    }
  });

  it('answers 404 for models that are not served', async () => {
    rest = await Rest.open();
    await rest.refused('/registers/103', 404, 'unknown-resource');
    await rest.refused('/registers/103', 404, 'unknown-resource', { points: { A: 1 } });
    await rest.refused('/registers/x', 422, 'validation');
    await rest.refused('/registers/704?raw=maybe', 422, 'validation');
  });
});

describe('registers of a map with meters', () => {
  afterEach(close);

  const meter = { meter: 203, of: 'site' } as const;
  const valueOf = ({ points }: Json, name: string): Json => points.find((each: Json) => each.name === name)?.value;
  const open = async () => {
    rest = await Rest.open(testPlant({ map: { chain: [{ model: 103 }, meter, { ...meter, of: 'load' }] } }));
    rest.plant.setSurroundings({ loadKw: 3 });
    await rest.plant.step(30);
  };

  it('list every place with its name and address', async () => {
    await open();
    const { models } = await rest.get('/registers');
    const places = models.map(({ id, place, address, hidden }: Json) => [place ?? id, address, hidden]);
    expect(places.slice(0, 6)).to.deep.equal([
      [1, 40_002, undefined],
      [103, 40_070, undefined],
      ['1:2', 40_122, undefined],
      [203, 40_190, undefined],
      ['1:3', 40_297, undefined],
      ['203:2', 40_365, undefined],
    ]);
    expect(places[6]).to.deep.equal([120, 40_474, true]);
    const plate = await rest.get('/nameplate');
    expect(plate.models.map(({ id, place }: Json) => place ?? id)).to.deep.equal([1, 103, '1:2', 203, '1:3', '203:2']);
  });

  it('read each place by its name', async () => {
    await open();
    const read = async (name: string, path: string) => {
      const reply = await rest.get(`/registers/${name}?points=${path}`);
      return [reply.id, reply.place, valueOf(reply, path)];
    };
    expect(await read('203', 'W')).to.deep.equal([203, undefined, -10 * Math.round(rest.plant.site.netW / 10)]);
    expect(await read('203:2', 'W')).to.deep.equal([203, '203:2', 3000]);
    expect(await read('203%3A2', 'W')).to.deep.equal([203, '203:2', 3000]);
    expect(await read('1:3', 'SN')).to.deep.equal([1, '1:3', 'DB-METER-LOAD']);
    const { detail } = await rest.refused('/registers/203:3', 404, 'unknown-resource');
    expect(detail).to.match(/does not serve model 203:3; it serves 1, 103, 1:2, 203, 1:3, 203:2, 120/);
    for (const name of ['203:1', '203:', '0', '65536', '203:x', '1:2:3'])
      await rest.refused(`/registers/${name}`, 422, 'validation');
    const { errors } = await rest.refused('/registers/203:2?points=Watt', 422, 'validation');
    expect(errors[0].detail).to.match(/^model 203:2 has no point "Watt"/);
  });

  it('refuse to write a meter or its common block', async () => {
    await open();
    for (const [name, path, value] of [
      ['1:2', 'Mn', 'x'],
      ['1:2', 'DA', 4],
      ['203:2', 'W', 1],
    ] as const) {
      const { errors } = await rest.refused(`/registers/${name}`, 422, 'validation', { points: { [path]: value } });
      expect(errors[0].name, name).to.equal(`/points/${path}`);
    }
  });

  it('hold no point of a meter', async () => {
    await open();
    await rest.refused('/controls/holds', 422, 'validation', { values: { '203:2.W': 1 } });
  });
});
