import { expect } from 'chai';
import { readFaultProfiles } from '../../../src/config/profile/fault-profiles.ts';
import type { Adapter } from '../../../src/core/adapter.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const faultProfiles = readFaultProfiles();
let rest: Rest;

/** Modbus as far as the interface asks for it; nothing listens. */
function modbusOf(plant: ReturnType<typeof testPlant>): Adapter {
  return createModbusAdapter({ devices: plant.devices, host: '127.0.0.1', port: 0, sharedPort: false });
}

async function open(types: readonly string[] = ['PV-3Phase', 'PV-3Phase'], withModbus = true): Promise<void> {
  const plant = testPlant({ types });
  rest = await Rest.open(plant, { adapters: withModbus ? [modbusOf(plant)] : [], faultProfiles });
}

const kindsOf = (reply: Json): string[] => reply.faults.map(({ kind }: Json) => kind);
const namesOf = (problem: Json): string[] => problem.errors.map(({ name }: Json) => name);

describe('faults (13)', () => {
  beforeEach(() => open());
  afterEach(() => rest.api.stop());

  it('are none at first', async () => {
    expect(await rest.get('/faults')).to.deep.equal({ faults: [], count: 0, total: 0, ended: [], limit: 1000 });
  });

  it('are shown all, oldest first, or page by page; a long list is made while it is sent', async () => {
    const flat = { protocol: 'modbus', kind: 'scale', factor: 1.01 };
    const inject = Array.from({ length: 100 }, () => flat);
    await rest.post('/faults', { inject });
    const all = await rest.post('/faults', { inject });
    const ids = ({ faults }: Json): number[] => faults.map(({ id }: Json) => id);
    expect(ids(all)).to.deep.equal(Array.from({ length: 200 }, (_, i) => i + 1));
    expect(await rest.get('/faults')).to.deep.equal(all);
    const page = await rest.get('/faults?limit=30&after_id=150');
    expect(ids(page)).to.deep.equal(Array.from({ length: 30 }, (_, i) => i + 151));
    expect([page.count, page.total, page.limit]).to.deep.equal([30, 200, 1000]);
    expect((await rest.get('/modbus/fault?after_id=199')).faults).to.have.length(1);
    expect((await rest.get('/modbus')).faults).to.have.length(200);
    await rest.refused('/faults?limit=1001', 422, 'validation');
  });

  it('shows all of a fault, and who put it in', async () => {
    const { faults, count } = await rest.post('/faults', {
      inject: [
        {
          protocol: 'modbus',
          kind: 'exception',
          code: 6,
          function: [6, 16],
          address: 40_300,
          registers: 4,
          points: ['704.WMaxLimPct'],
          when: { point: '701.W', above: 1000 },
          count: 3,
          duration_s: 60,
          probability: 0.5,
          every: 2,
          seed: 11,
          device: 1,
        },
      ],
    });
    expect(count).to.equal(1);
    const { began_at, source_detail, ...others } = faults[0];
    expect(others).to.deep.equal({
      id: 1,
      protocol: 'modbus',
      kind: 'exception',
      layer: 'acceptance',
      device_index: 1,
      target: { points: ['704.WMaxLimPct'], address: 40_300, registers: 4, function: [6, 16] },
      parameters: { code: 6, carried_out: false },
      when: { point: '701.W', above: 1000 },
      count: 3,
      remaining: 3,
      duration_s: 60,
      remaining_s: 60,
      probability: 0.5,
      every: 2,
      seed: 11,
      profile: null,
      device_profile: null,
      occasions: 0,
      strikes: 0,
      source: 'rest',
    });
    expect(Date.parse(began_at)).to.be.closeTo(Date.now(), 60_000);
    expect(source_detail).to.match(/^127\.0\.0\.1:\d+$/);
  });

  it('injects several at once, new ones last, or none of them', async () => {
    await rest.post('/faults', { inject: [{ kind: 'drop', every: 2 }] });
    expect(
      kindsOf(
        await rest.post('/faults', {
          inject: [{ kind: 'duplicate' }, { protocol: 'device', kind: 'second_limiter', limit_pct: 50 }],
        }),
      ),
    ).to.deep.equal(['drop', 'duplicate', 'second_limiter']);
    const bad = await rest.refused('/faults', 422, 'validation', {
      inject: [{ kind: 'duplicate' }, { kind: 'delay' }, { kind: 'nothing' }],
    });
    expect(namesOf(bad)).to.deep.equal(['/inject/1/delay_ms', '/inject/2/kind']);
    expect(bad.errors[1].allowed).to.include.members(['exception', 'freeze', 'base']);
    expect(kindsOf(await rest.get('/faults'))).to.have.length(3);
  });

  it('refuses points, groups, models and conditions that the device lacks, each by its place', async () => {
    const bad = await rest.refused('/faults', 422, 'validation', {
      inject: [
        { kind: 'not_implemented', points: ['701.W', '701.Nothing'] },
        { kind: 'freeze', points: ['299'] },
        { kind: 'ignore_write', address: 100 },
        { kind: 'drop', when: { point: '713.Nothing', below: 1 } },
      ],
    });
    expect(namesOf(bad)).to.deep.equal([
      '/inject/0/points/1',
      '/inject/1/points/0',
      '/inject/2/address',
      '/inject/3/when/point',
    ]);
    expect((await rest.get('/faults')).count).to.equal(0);
  });

  it('takes registers beyond the map where requests are struck', async () => {
    const reply = await rest.post('/faults', {
      inject: [
        { kind: 'drop', address: 100 },
        { kind: 'exception', code: 11, address: 0, registers: 10 },
      ],
    });
    expect(kindsOf(reply)).to.deep.equal(['drop', 'exception']);
    expect(reply.faults.map(({ target }: Json) => [target.address, target.registers])).to.deep.equal([
      [100, 1],
      [0, 10],
    ]);
  });

  describe('devices', () => {
    const devicesOf = (reply: Json) => reply.faults.map(({ device_index }: Json) => device_index);

    it('is the one of the fault, else of the query, else the first; all is all', async () => {
      await rest.post('/faults', {
        inject: [
          { kind: 'drop' },
          { kind: 'drop', device: 1 },
          { kind: 'drop', device: 'all' },
          { kind: 'drop', device: null },
        ],
      });
      expect(devicesOf(await rest.get('/faults'))).to.deep.equal([0, 1, null, 0]);
      await rest.post('/faults?device=1', { inject: [{ kind: 'drop' }] });
      expect(devicesOf(await rest.get('/faults'))).to.deep.equal([0, 1, null, 0, 1]);
    });

    it('of the query shows and ends only its own', async () => {
      await rest.post('/faults', {
        inject: [{ kind: 'drop' }, { kind: 'drop', device: 1 }, { kind: 'drop', device: 'all' }],
      });
      expect(devicesOf(await rest.get('/faults?device=1'))).to.deep.equal([1, null]);
      expect(devicesOf(await rest.post('/faults?device=1', { clear: true }))).to.deep.equal([null]);
      expect((await rest.get('/faults?device=0')).ended).to.deep.equal([]);
      expect(devicesOf(await rest.post('/faults', { clear: { device: 'all' } }))).to.deep.equal([0]);
    });

    it('that are not there answer 404', async () => {
      await rest.refused('/faults?device=2', 404, 'unknown-device');
      await rest.refused('/faults?device=2', 404, 'unknown-device', { clear: true });
      await rest.refused('/faults', 404, 'unknown-device', { inject: [{ kind: 'drop', device: 2 }] });
      await rest.refused('/faults', 404, 'unknown-device', { clear: { device: 2 } });
      await rest.refused('/faults', 404, 'unknown-device', { profile: 'slow-answers', device: 2 });
      await rest.refused('/modbus?device=2', 404, 'unknown-device');
    });
  });

  describe('ends', () => {
    beforeEach(() =>
      rest.post('/faults', {
        inject: [
          { kind: 'drop' },
          { kind: 'delay', delay_ms: 5 },
          { protocol: 'device', kind: 'second_limiter', limit_pct: 50 },
          { kind: 'drop', duration_s: 10, count: 2 },
        ],
      }),
    );

    it('all with clear true', async () => {
      const { faults, ended } = await rest.post('/faults', { clear: true });
      expect(faults).to.deep.equal([]);
      expect(ended.map(({ id, end }: Json) => [id, end])).to.deep.equal([
        [4, 'cleared'],
        [3, 'cleared'],
        [2, 'cleared'],
        [1, 'cleared'],
      ]);
      expect(ended[0]).to.include({ remaining_s: 0, remaining: 2 });
      expect((await rest.post('/faults', { clear: true })).ended).to.have.length(4);
    });

    it('those that a filter names', async () => {
      expect(kindsOf(await rest.post('/faults', { clear: { id: 2 } }))).to.deep.equal([
        'drop',
        'second_limiter',
        'drop',
      ]);
      expect(kindsOf(await rest.post('/faults', { clear: { kind: 'drop', protocol: 'modbus' } }))).to.deep.equal([
        'second_limiter',
      ]);
      expect(kindsOf(await rest.post('/faults', { clear: { protocol: 'modbus' } }))).to.deep.equal(['second_limiter']);
      expect(kindsOf(await rest.post('/faults', { clear: { protocol: 'device' } }))).to.deep.equal([]);
    });

    it('none where the number is not that of an active fault, or the filter says nothing', async () => {
      await rest.refused('/faults', 404, 'unknown-resource', { clear: { id: 9 } });
      for (const clear of [{}, false, 'all', { id: 0 }, { layer: 'reading' }, { kind: 'dorp' }])
        await rest.refused('/faults', 422, 'validation', { clear });
      expect((await rest.get('/faults')).count).to.equal(4);
    });
  });

  it('end by simulated time with the tick', async () => {
    await rest.post('/faults', { inject: [{ kind: 'freeze', duration_s: 4 }] });
    await rest.plant.step(2);
    expect((await rest.get('/faults')).faults[0]).to.include({ duration_s: 4, remaining_s: 1 });
    await rest.plant.step(1);
    const { faults, ended } = await rest.get('/faults');
    expect([faults, ended[0].end]).to.deep.equal([[], 'duration']);
  });

  it('refuses a body that is none of the three, or two of them', async () => {
    for (const body of [
      {},
      { clear: true, inject: [{ kind: 'drop' }] },
      { kind: 'drop' },
      { inject: [] },
      { inject: {} },
      { profile: '' },
      { profile: 'slow-answers', count: 1 },
    ]) {
      await rest.refused('/faults', 422, 'validation', body);
    }
    await rest.refused('/faults', 422, 'validation', { inject: Array.from({ length: 101 }, () => ({ kind: 'drop' })) });
  });

  it('has a limit of active faults', async () => {
    const hundred = { inject: Array.from({ length: 100 }, () => ({ kind: 'duplicate' })) };
    for (let k = 0; k < 10; k += 1) await rest.post('/faults', hundred);
    await rest.refused('/faults', 409, 'conflict', { inject: [{ kind: 'drop' }] });
    expect((await rest.post('/faults', { clear: true })).ended).to.have.length(100);
  });
});

describe('modbus/fault (13)', () => {
  afterEach(() => rest.api.stop());

  it('takes a fault flat, as its own body', async () => {
    await open();
    const { faults } = await rest.post('/modbus/fault', {
      kind: 'delay',
      delay_ms: 250,
      function: 3,
      address: 40_000,
      registers: 10,
      count: 4,
      duration_s: 30,
      device: 1,
    });
    expect(faults).to.have.length(1);
    expect(faults[0]).to.deep.include({
      kind: 'delay',
      device_index: 1,
      parameters: { delay_ms: 250, jitter_ms: 0 },
      target: { points: null, address: 40_000, registers: 10, function: [3] },
      count: 4,
      duration_s: 30,
    });
    expect((await rest.get('/faults')).faults[0].id).to.equal(faults[0].id);
  });

  for (const body of [
    { kind: 'exception', code: 2 },
    { kind: 'delay', delay_ms: 100 },
    { kind: 'drop' },
    { kind: 'truncate' },
    { kind: 'wrong_unit' },
    { kind: 'garbage' },
  ]) {
    it(`has the kind ${body.kind} with function, address, count and duration`, async () => {
      await open();
      const { faults } = await rest.post('/modbus/fault', {
        ...body,
        function: 3,
        address: 40_002,
        count: 2,
        duration_s: 5,
      });
      expect(kindsOf({ faults })).to.deep.equal([body.kind]);
    });
  }

  it('names what is wrong by members of the body', async () => {
    await open();
    const refused = async (body: unknown) => namesOf(await rest.refused('/modbus/fault', 422, 'validation', body));
    expect(await refused({ kind: 'exception' })).to.deep.equal(['/code']);
    expect(await refused({ kind: 'exception', code: 300, functions: [3] })).to.deep.equal(['/code', '/functions']);
    expect(await refused({ kind: 'nothing' })).to.deep.equal(['/kind']);
    expect((await rest.refused('/modbus/fault', 422, 'validation', { kind: 'reboot' })).errors[0]).to.include({
      name: '/kind',
      detail: 'a kind of the protocol modbus; reboot is one of the protocol device',
    });
    expect(await refused({ kind: 'freeze', points: ['701.W', 'W'] })).to.deep.equal(['/points/1']);
    expect(await refused({ kind: 'drop', registers: 2 })).to.deep.equal(['/registers']);
    expect(await refused({ kind: 'drop', count: 0, probability: 1.1 })).to.deep.equal(['/count', '/probability']);
    expect(await refused({})).to.deep.equal(['']);
    const details = async (body: unknown) => (await rest.refused('/modbus/fault', 422, 'validation', body)).detail;
    for (const body of [[], 5]) expect(await details(body)).to.equal('body: must be an object');
    expect(await details({ kind: 'falsify' })).to.equal('/switch: is required');
    expect(await details({ kind: 'value', points: ['701.W'], value: null })).to.equal(
      '/value: must be a number or a string',
    );
    expect(await details({ kind: 'lag', delay_s: 1e12 })).to.equal(
      '/delay_s: must be more than 0 and at most 3600; given 1000000000000',
    );
    expect((await rest.refused('/modbus/fault', 404, 'unknown-device', { kind: 'drop', device: 5 })).detail).to.match(
      /^there is no device 5; devices: 0-\d$/,
    );
    expect((await rest.get('/modbus/fault')).count).to.equal(0);
  });

  it('refuses what could never have an effect', async () => {
    await open();
    const details = async (body: unknown) => (await rest.refused('/modbus/fault', 422, 'validation', body)).detail;
    expect(await details({ kind: 'drop', address: 65_535, registers: 10 })).to.equal(
      '/registers: must be at most 1 from address 65535 on',
    );
    expect(await details({ kind: 'drop', probability: 0 })).to.equal(
      '/probability: must be more than 0 and at most 1; given 0',
    );
    expect(await details({ kind: 'lag', delay_s: 0 })).to.equal('/delay_s: must be more than 0; given 0');
    const steps = [
      { above_pct: 10, shift: 1 },
      { above_pct: 10, shift: 2 },
    ];
    for (const given of [steps, [{ above_pct: 60, shift: 2 }, { shift: 1 }], [{ shift: 1 }, { shift: 2 }]]) {
      expect(await details({ kind: 'dynamic_scale', scale_factor: '701.W_SF', steps: given })).to.equal(
        '/steps: above_pct must rise from step to step',
      );
    }
    await rest.post('/modbus/fault', { kind: 'drop', address: 65_535, registers: 1 });
    await rest.post('/modbus/fault', { clear: true });
    expect((await rest.get('/modbus/fault')).count).to.equal(0);
  });

  it('shows and ends those of Modbus only', async () => {
    await open();
    await rest.post('/faults', {
      inject: [{ protocol: 'device', kind: 'second_limiter', limit_pct: 50 }, { kind: 'drop' }],
    });
    expect(kindsOf(await rest.get('/modbus/fault'))).to.deep.equal(['drop']);
    expect((await rest.post('/modbus/fault', { clear: true })).faults).to.deep.equal([]);
    expect(kindsOf(await rest.get('/faults'))).to.deep.equal(['second_limiter']);
    await rest.post('/modbus/fault', { profile: 'slow-answers' });
    expect(kindsOf(await rest.get('/modbus/fault'))).to.deep.equal(['delay']);
  });

  it('answers 409 where Modbus is off, as faults does for its kinds, and still shows and ends', async () => {
    await open(['PV-3Phase'], false);
    for (const body of [{ kind: 'drop' }, { profile: 'slow-answers' }])
      await rest.refused('/modbus/fault', 409, 'disabled', body);
    await rest.refused('/faults', 409, 'disabled', { inject: [{ kind: 'drop' }] });
    await rest.refused('/faults', 409, 'disabled', { profile: 'slow-answers' });
    expect(
      (await rest.post('/faults', { inject: [{ protocol: 'device', kind: 'second_limiter', limit_pct: 50 }] })).count,
    ).to.equal(1);
    expect((await rest.get('/modbus/fault')).count).to.equal(0);
    expect((await rest.post('/faults', { clear: true })).count).to.equal(0);
  });
});
