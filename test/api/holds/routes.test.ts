import { expect } from 'chai';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import type { Json } from '../../support/http.ts';
import { byModbus, named } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const limit = (pct: number) => ({ '704.WMaxLimPct': pct, '704.WMaxLimPctEna': 'ENABLED' });
const hold = (id: string, values: Json = limit(30), durationS = 60) => ({ id, values, duration_s: durationS });

describe('controls/holds', () => {
  let rest: Rest;
  let plant: SimPlant;

  beforeEach(async () => {
    plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], tickIntervalS: 1 });
    rest = await Rest.open(plant);
  });
  afterEach(() => rest.api.stop());

  const bank = (index = 0) => plant.device(index).bank;
  const value = (name: string, index = 0) => bank(index).value(named(bank(index).layout, name));
  const write = (values: Json, index = 0) => {
    bank(index).assign(
      byModbus,
      Object.entries<Json>(values).map(([name, each]) => ({ slot: named(bank(index).layout, name), value: each })),
    );
  };
  const begin = (body: Json, device = 0) => rest.post(`/controls/holds?device=${device}`, body);
  const end = (id: string, device = 0) => rest.post(`/controls/holds/${id}/end?device=${device}`, undefined);
  const all = async (query = '') => (await rest.get(`/controls/holds${query}`)).holds;
  const only = async (id: string) => (await all()).find((each: Json) => each.id === id);

  describe('begin, time, end', () => {
    it('holds for its time, to the instant, and puts back what was there before', async () => {
      write({ '704.WMaxLimPct': 80 });
      const reply = await begin(hold('a'));
      expect(reply).to.deep.include({
        id: 'a',
        device_index: 0,
        state: 'active',
        begun_at: '2026-06-21T12:00:00.000Z',
        ends_at: '2026-06-21T12:01:00.000Z',
        remaining_s: 60,
        reason: null,
        left: null,
        restored: null,
        points: [
          { name: '704.WMaxLimPct', value: 30, base: 80, overwritten: false, added: false },
          { name: '704.WMaxLimPctEna', value: 'ENABLED', base: 'DISABLED', overwritten: false, added: false },
          { name: '704.WMaxLimPctRvrtTms', value: 0, base: 0, overwritten: false, added: true },
        ],
      });
      expect(reply.writer).to.include({ source: 'rest', changed_at: '2026-06-21T12:00:00.000Z' });
      expect(bank().provenance(named(bank().layout, '704.WMaxLimPct'))).to.include({ source: 'rest', peer: 'a' });
      await plant.step(59);
      expect(await only('a')).to.include({ state: 'active', remaining_s: 1 });
      expect(value('704.WMaxLimPct')).to.equal(30);
      await plant.step(1);
      expect([value('704.WMaxLimPct'), value('704.WMaxLimPctEna')]).to.deep.equal([80, 'DISABLED']);
      expect(await only('a')).to.deep.include({
        state: 'ended',
        reason: 'expired',
        ended_at: '2026-06-21T12:01:00.000Z',
        ended_by: null,
        remaining_s: null,
        left: [],
        handed_over: [],
        restored: ['704.WMaxLimPct', '704.WMaxLimPctEna', '704.WMaxLimPctRvrtTms'],
      });
      const [{ source, source_detail: peer }] = (await rest.get('/registers/704')).points.filter(
        (each: Json) => each.name === 'WMaxLimPct',
      );
      expect([source, peer]).to.deep.equal([byModbus.source, byModbus.peer]);
    });

    it('until: a simulated date', async () => {
      await begin({ id: 'a', values: limit(30), until: '2026-06-21T14:00:02.500+02:00' });
      await plant.step(2);
      expect(await only('a')).to.include({ remaining_s: 0.5, ends_at: '2026-06-21T12:00:02.500Z' });
      await plant.step(1);
      expect(await only('a')).to.include({ reason: 'expired', ended_at: '2026-06-21T12:00:02.500Z' });
    });

    it('ends by request, with the request as its writer; the timer has no effect any more', async () => {
      await begin(hold('a'));
      await plant.step(10);
      const ended = await end('a');
      expect(ended).to.include({ state: 'ended', reason: 'ended', ended_at: '2026-06-21T12:00:10.000Z' });
      expect(ended.ended_by).to.include({ source: 'rest', changed_at: '2026-06-21T12:00:10.000Z' });
      expect(value('704.WMaxLimPctEna')).to.equal('DISABLED');
      await begin(hold('b', limit(40), 600));
      await plant.step(60);
      expect(value('704.WMaxLimPct')).to.equal(40);
      await rest.refused('/controls/holds/a/end', 404, 'unknown-resource', {});
    });

    it('the dashboard is a source of its own, and both are one owner', async () => {
      const headers = { 'X-Derbench-Client': 'dashboard' };
      const answer = await rest.call('/controls/holds', { body: hold('a'), headers });
      expect(answer.json.writer.source).to.equal('dashboard');
      expect(bank().provenance(named(bank().layout, '704.WMaxLimPct'))).to.include({ source: 'dashboard', peer: 'a' });
      await begin(hold('b', limit(20)));
      expect((await end('a')).handed_over).to.have.lengthOf(3);
      await end('b');
      expect(value('704.WMaxLimPct')).to.equal(100);
    });

    it('functions: the members of grid-support', async () => {
      const points = [
        { v_pct: 92, var_pct: 30 },
        { v_pct: 108, var_pct: -30 },
      ];
      const before = await rest.get('/grid-support/volt-var');
      const reply = await begin({
        id: 'a',
        functions: { volt_var: { enabled: true, points, response_time_s: 2 }, max_power: { limit_pct: 70 } },
        duration_s: 5,
      });
      expect(reply.points.map(({ name }: Json) => name)).to.include.members([
        '705.Crv[0].Pt[1].Var',
        '704.WMaxLimPct',
        '704.VarSetEna',
        '705.RvrtTms',
      ]);
      expect((await rest.get('/grid-support/volt-var')).points).to.deep.equal(points);
      await plant.step(5);
      expect(await rest.get('/grid-support/volt-var')).to.deep.equal(before);
    });
  });

  describe('points of somebody else', () => {
    it('a point that a master has written is left, and the answer names it', async () => {
      await begin(hold('a'));
      write({ '704.WMaxLimPct': 50 });
      expect((await only('a')).points.map((each: Json) => each.overwritten)).to.deep.equal([true, false, false]);
      const ended = await end('a');
      expect([ended.left, value('704.WMaxLimPct')]).to.deep.equal([['704.WMaxLimPct'], 50]);
      expect(ended.points[0]).to.include({ value: 30, base: 100, overwritten: true });
    });

    it('a second hold takes over, and its end goes back to the first base', async () => {
      write({ '704.WMaxLimPct': 80 });
      await begin(hold('a', limit(50)));
      await begin(hold('b', limit(30), 90));
      expect((await only('b')).points[0].base).to.equal(80);
      await plant.step(60);
      expect(await only('a')).to.deep.include({ reason: 'expired', left: [], restored: [] });
      expect(value('704.WMaxLimPct')).to.equal(30);
      await plant.step(30);
      expect(value('704.WMaxLimPct')).to.equal(80);
    });
  });

  describe('devices', () => {
    it('each has its own holds and ids', async () => {
      await begin(hold('a'));
      await begin(hold('a', limit(20)), 1);
      expect(await all()).to.have.lengthOf(2);
      expect((await all('?device=1')).map((each: Json) => each.device_index)).to.deep.equal([1]);
      await end('a', 1);
      expect([value('704.WMaxLimPct'), value('704.WMaxLimPct', 1)]).to.deep.equal([30, 100]);
      await rest.refused('/controls/holds?device=7', 404, 'unknown-device');
      await rest.refused('/controls/holds?device=7', 404, 'unknown-device', hold('a'));
    });

    it('a reset ends all holds without a write', async () => {
      await begin(hold('a'));
      await begin(hold('b', { '704.WRmp': 20 }));
      plant.device(0).command({ kind: 'reset', scope: 'device' }, byModbus);
      expect(value('704.WMaxLimPctEna')).to.equal('DISABLED');
      write({ '704.WMaxLimPct': 60 });
      await plant.step(61);
      expect(value('704.WMaxLimPct')).to.equal(60);
      for (const record of await all()) {
        expect(record).to.deep.include({ state: 'ended', reason: 'reset', restored: [], left: [], ended_by: null });
      }
      await begin(hold('a'));
    });

    it('a device that leaves takes its holds along', async () => {
      await begin(hold('a'), 1);
      await begin(hold('b'));
      await plant.remove(1);
      expect((await all()).map(({ id, reason }: Json) => [id, reason])).to.deep.equal([
        ['b', null],
        ['a', 'device_removed'],
      ]);
      await plant.step(61);
    });
  });

  describe('refusals', () => {
    const issues = async (body: Json) =>
      (await rest.refused('/controls/holds', 422, 'validation', body)).errors.map(({ name, detail }: Json) => [
        name,
        detail,
      ]);
    const values = limit(30);

    it('values or functions, duration or date: exactly one of each', async () => {
      const functions = { max_power: { limit_pct: 30 } };
      expect(await issues({ id: 'a', duration_s: 5 })).to.deep.equal([
        ['/values', 'exactly one of values and functions is required'],
      ]);
      expect(await issues({ id: 'a', values, functions, duration_s: 5 })).to.have.lengthOf(1);
      expect(await issues({ id: 'a', values })).to.deep.equal([
        ['/duration_s', 'exactly one of duration_s and until is required'],
      ]);
      expect(await issues({ id: 'a', values, duration_s: 5, until: '2026-06-21T12:00:05Z' })).to.have.lengthOf(1);
      expect(await issues({ id: 'a', functions: {}, duration_s: 5 })).to.deep.equal([
        ['/functions', 'at least one setting is required'],
      ]);
      expect((await issues({ id: 'a', values: {}, duration_s: 5 }))[0][0]).to.equal('/values');
    });

    it('durations and dates', async () => {
      for (const durationS of [0, -1, 2_592_000.1, 'x']) {
        expect((await issues({ id: 'a', values, duration_s: durationS }))[0][0]).to.equal('/duration_s');
      }
      for (const until of ['2026-06-21T12:00:00.000Z', '2026-07-21T12:00:00.001Z', '2026-06-21', 'x']) {
        expect((await issues({ id: 'a', values, until }))[0][0], until).to.equal('/until');
      }
      await begin({ id: 'a', values, until: '2026-07-21T12:00:00.000Z' });
      await begin(hold('b', values, 2_592_000));
    });

    it('ids', async () => {
      for (const id of ['', 'a b', '.a', 'a:1', 'x'.repeat(65), 7]) {
        expect((await issues({ ...hold('a'), id }))[0][0]).to.equal('/id');
      }
      await begin(hold('x'.repeat(64)));
      await rest.refused('/controls/holds', 409, 'conflict', hold('x'.repeat(64), { '704.WRmp': 33 }));
      await rest.refused('/controls/holds/y/end', 404, 'unknown-resource', {});
      expect(value('704.WRmp')).not.to.equal(33);
    });

    it('points: by pointer into the request, all or nothing', async () => {
      expect(await issues(hold('a', { '704.Foo': 1, '9.9': 1, x: 1, ...limit(30) }))).to.deep.equal(
        ['704.Foo', '9.9', 'x'].map((name) => [`/values/${name}`, 'the device has no such point']),
      );
      expect((await issues(hold('a', { ...limit(130) })))[0]).to.deep.equal([
        '/values/704.WMaxLimPct',
        '130 is outside 0..100',
      ]);
      expect((await issues(hold('a', { '715.AlarmReset': 1 })))[0][1]).to.include('cannot be held');
      expect((await issues(hold('a', { '701.W': 1 })))[0]).to.deep.equal(['/values/701.W', 'read only']);
      expect((await issues(hold('a', { '705.Crv[0].Pt[0].V': 150 })))[0][0]).to.equal('/values');
      expect(
        await issues({ ...hold('a'), values: undefined, functions: { max_power: { limit_pct: 130 } } }),
      ).to.have.lengthOf(1);
      expect(
        (
          await issues({
            ...hold('a'),
            values: undefined,
            functions: {
              volt_var: {
                points: [
                  { v_pct: 110, var_pct: 0 },
                  { v_pct: 90, var_pct: 0 },
                ],
              },
            },
          })
        )[0][0],
      ).to.equal('/functions/volt_var/points/1/v_pct');
      const { errors } = await rest.refused('/controls/holds', 409, 'disabled', {
        ...hold('a'),
        values: undefined,
        functions: { pf: { absorb: { enabled: true } } },
      });
      expect(errors).to.equal(undefined);
      expect(await all()).to.deep.equal([]);
      expect(value('704.WMaxLimPctEna')).to.equal('DISABLED');
    });

    it('by a check as by a begin; a check that passes changes nothing', async () => {
      const checked = await rest.post('/controls/holds/check', hold('a'));
      expect(checked).to.deep.equal({ device_index: 0, id: 'a', points: Object.keys(limit(30)) });
      expect([value('704.WMaxLimPctEna'), (await rest.get('/controls/holds')).count]).to.deep.equal(['DISABLED', 0]);
      await begin(hold('a'));
      for (const body of [hold('a'), hold('b', { '704.WMaxLimPct': 101 }), hold('b', { '704.None': 1 })]) {
        const refusals = [];
        for (const path of ['/controls/holds', '/controls/holds/check']) {
          const { status, json } = await rest.call(path, { method: 'POST', body });
          refusals.push([status, json.detail, json.errors]);
        }
        expect(refusals[0]?.[0]).to.be.oneOf([409, 422]);
        expect(refusals[1]).to.deep.equal(refusals[0]);
      }
    });

    it('64 points by values or functions, and 64 holds of a device', async () => {
      const many = Object.fromEntries(
        bank()
          .layout.slots.filter(({ modelId, writable, path }) => modelId === 707 && writable && path.includes('Pt['))
          .slice(0, 65)
          .map(({ path }) => [`707.${path}`, null]),
      );
      expect(Object.keys(many)).to.have.lengthOf(65);
      expect(await issues(hold('a', many))).to.deep.equal([['/values', 'a hold has at most 64 points']]);
      const trip = Array.from({ length: 5 }, (_, i) => ({ v_pct: 40 + i, time_s: 1 }));
      const high = Array.from({ length: 5 }, (_, i) => ({ v_pct: 140 + i, time_s: 1 }));
      const curves = (points: Json) => ({
        must_trip: { points },
        may_trip: { points },
        momentary_cessation: { points },
      });
      const [problem] = await issues({
        ...hold('a'),
        values: undefined,
        functions: { lv_trip: curves(trip), hv_trip: curves(high) },
      });
      expect(problem).to.deep.equal(['/functions', 'has 66 points; a hold has at most 64']);
      for (let i = 0; i < 64; i += 1) await begin(hold(`h${i}`, { '704.WRmp': 20 + i }));
      const { detail } = await rest.refused('/controls/holds', 409, 'conflict', hold('a'));
      expect(detail).to.include('64 holds');
      expect((await rest.refused('/controls/holds/check', 409, 'conflict', hold('a'))).detail).to.equal(detail);
      await begin(hold('a'), 1);
      await end('h3');
      await begin(hold('a'));
    });

    it('keeps the last 64 ended holds of each device', async () => {
      await begin(hold('first', { '704.WRmp': 20 }), 1);
      await end('first', 1);
      for (let i = 0; i < 70; i += 1) {
        await begin(hold(`h${i}`, { '704.WRmp': 20 }));
        await end(`h${i}`);
      }
      const ids = (await all()).map(({ id }: Json) => id);
      expect(ids).to.have.lengthOf(65);
      expect([ids[0], ids[63], ids[64]]).to.deep.equal(['h69', 'h6', 'first']);
    });
  });

  describe('a device that is off', () => {
    let rig: FaultyRig;

    beforeEach(async () => {
      await rest.api.stop();
      rig = new FaultyRig({ tickIntervalS: 1 });
      plant = rig.plant;
      rest = await Rest.open(plant, { faults: rig.faults });
    });

    it('the end waits for its return; requests are refused meanwhile', async () => {
      await begin(hold('a', limit(30), 5));
      await begin(hold('b', { '704.WRmp': 20 }, 600));
      rig.inject(rebootFault, { off_s: 20, forget: false });
      await plant.step(10);
      expect(await only('a')).to.deep.include({ state: 'waiting', remaining_s: 0, reason: null, left: null });
      await rest.refused('/controls/holds/a/end', 409, 'conflict', {});
      await rest.refused('/controls/holds/b/end', 409, 'conflict', {});
      await rest.refused('/controls/holds', 409, 'conflict', hold('c'));
      expect(value('704.WMaxLimPct')).to.equal(30);
      await plant.step(15);
      expect(value('704.WMaxLimPct')).to.equal(100);
      expect(await only('a')).to.include({ state: 'ended', reason: 'expired' });
      expect(await only('b')).to.include({ state: 'active' });
      expect((await end('b')).restored).to.deep.equal(['704.WRmp']);
    });

    it('one that forgets its settings forgets its holds', async () => {
      await begin(hold('a', limit(30), 5));
      rig.inject(rebootFault, { off_s: 20 });
      expect(await only('a')).to.include({ state: 'ended', reason: 'reset' });
      await plant.step(30);
      expect(value('704.WMaxLimPctEna')).to.equal('DISABLED');
    });

    it('a reset that brings it back ends what waited', async () => {
      await begin(hold('a', limit(30), 5));
      rig.inject(rebootFault, { off_s: 20, forget: false });
      await plant.step(10);
      plant.device(0).command({ kind: 'reset', scope: 'device' }, byModbus);
      expect(await only('a')).to.include({ state: 'ended', reason: 'reset' });
      expect(value('704.WMaxLimPctEna')).to.equal('DISABLED');
    });
  });
});
