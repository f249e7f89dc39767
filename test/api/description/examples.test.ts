import { expect } from 'chai';
import { gridFunctionNames } from '../../../src/api/grid-support/functions.ts';
import { commNames } from '../../../src/core/adapter.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const close = () => rest.api.stop();

const exampleOf = (operationId: string): Json => examples(operationId).reply;

/** A reply without the members that depend on the hour and on chance. */
function without(reply: Json, ...names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(reply).filter(([name]) => !names.includes(name)));
}

/** A reply as if the peer of the example had written. */
function samePeer(live: Json, { changed_by: { source_detail: peer } }: Json): Json {
  return { ...live, changed_by: { ...live.changed_by, source_detail: peer } };
}

/** The examples are of one three-phase PV device at the start of its day. */
describe('OpenAPI examples against a real device', () => {
  beforeEach(async () => {
    rest = await Rest.open();
  });
  afterEach(close);

  it('list_register_models is the map', async () => {
    expect(exampleOf('list_register_models')).to.deep.equal(await rest.get('/registers'));
  });

  for (const operation of ['get_registers', 'set_registers']) {
    it(`${operation} shows points of the map after the example request`, async () => {
      const answer = await rest.post('/registers/704', examples('set_registers').body);
      const { points, ...model } = exampleOf(operation);
      expect(model).to.deep.equal(without(answer, 'points'));
      for (const point of points) {
        const live = answer.points.find((each: Json) => each.name === point.name);
        expect(point).to.deep.equal({ ...live, source_detail: point.source_detail });
      }
    });
  }

  it('list_register_changes shows what the example request of set_registers leaves behind', async () => {
    await rest.post('/registers/704', examples('set_registers').body);
    const live = await rest.get('/registers/changes');
    const { changes, ...example } = exampleOf('list_register_changes');
    expect(example).to.deep.equal(without(live, 'changes'));
    expect(changes).to.deep.equal(live.changes.map((each: Json, i: number) => samePeer(each, changes[i])));
  });

  it('get_stored_sets is a curve that a master is staging', async () => {
    const points = { 'Crv[1].Pt[1].V': 105 };
    await rest.post('/registers/706', { points });
    const { volt_watt: live } = await rest.get('/grid-support/sets?function=volt_watt');
    const { volt_watt: example } = exampleOf('get_stored_sets');
    live.sets[1].changed_by = example.sets[1].changed_by;
    expect(example).to.deep.equal(live);
  });

  it('get_regions is that of the device, and the overview shows what decides', async () => {
    expect(exampleOf('get_regions')).to.deep.equal(await rest.get('/grid-support/regions'));
    const [summary] = (await rest.get('/overview')).devices;
    const [example] = exampleOf('get_overview').devices;
    for (const member of ['decided_by', 'last_write']) expect(example[member]).to.deep.equal(summary[member]);
  });

  it('get_nameplate and get_configured_settings are those of a device whose WMax was set', async () => {
    await rest.post('/registers/702', { points: { WMax: 9000 } });
    expect(exampleOf('get_nameplate')).to.deep.equal(await rest.get('/nameplate'));
    const [written] = (await rest.get('/nameplate/configured-settings')).overrides;
    expect(exampleOf('get_configured_settings').overrides).to.deep.equal([{ ...written, origin: 'modbus' }]);
  });

  it('get_grid and set_grid are answers of the common grid', async () => {
    expect(exampleOf('get_grid')).to.deep.equal(await rest.get('/controls/grid'));
    const { body, reply } = examples('set_grid');
    expect(reply).to.deep.equal(samePeer(await rest.post('/controls/grid', body), reply));
  });

  it('set_environment is the answer to its request', async () => {
    const { body, reply } = examples('set_environment');
    const live = samePeer(await rest.post('/controls/environment', body), reply);
    expect(reply).to.deep.equal({ ...live, ambient_temperature_c: reply.ambient_temperature_c });
  });

  it('step_time and get_time show one clock', async () => {
    const { body, reply } = examples('step_time');
    const { time, snapshot } = await rest.post('/controls/time/step', body);
    expect(without(reply.time, 'wall_time', 'stepped_by')).to.deep.equal(without(time, 'wall_time', 'stepped_by'));
    for (const member of [
      'tick',
      'clock_time',
      'device_type',
      'asset_type',
      'dc_mode',
      'dc_port_count',
      'device_index',
    ] as const) {
      expect(reply.snapshot[member], member).to.equal(snapshot[member]);
    }
    expect(reply.snapshot.metrics.timestamp).to.equal(snapshot.metrics.timestamp);
    const { body: setBody, reply: setReply } = examples('set_time');
    const answer = await rest.post('/controls/time', setBody);
    // the clock runs on while the request is answered
    const running = (time: Json) => without(time, 'wall_time', 'sim_time', 'clock_time', 'changed_by', 'stepped_by');
    expect(running(setReply)).to.deep.equal(running(answer));
    expect(Date.parse(answer.sim_time)).to.be.at.least(Date.parse(setReply.sim_time));
    for (const { sim_time: at, clock_time: clock } of [answer, setReply]) expect(at.slice(11, 19)).to.equal(clock);
  });

  it('get_controls says which functions the device has', async () => {
    await rest.post('/registers/704', { points: { WMaxLimPctEna: 'ENABLED' } });
    const modes = (reply: Json) =>
      Object.entries<Json>(reply.modes).map(([name, { supported, enabled }]) => [name, supported, enabled]);
    expect(modes(exampleOf('get_controls'))).to.deep.equal(modes(await rest.get('/controls')));
  });

  it('get_grid_support is that of a device at its start', async () => {
    const live = await rest.get('/grid-support');
    expect(exampleOf('get_grid_support')).to.deep.equal(live);
    for (const name of gridFunctionNames) expect(exampleOf(`get_${name}`), name).to.deep.equal(live[name]);
  });

  for (const name of gridFunctionNames) {
    it(`set_${name} is the answer to its request`, async () => {
      const { body, reply } = examples(`set_${name}`);
      expect(reply).to.deep.equal(await rest.post(`/grid-support/${name.replaceAll('_', '-')}`, body));
    });
  }

  it('set_grid_support is the answer to its request', async () => {
    const { body, reply } = examples('set_grid_support');
    expect(reply).to.deep.equal(await rest.post('/grid-support', body));
  });

  it('get_dc_curve has the curve of the device in full sun', async () => {
    rest.plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
    await rest.plant.step(60);
    const live = await rest.get('/dc-iv?points=16');
    const reply = exampleOf('get_dc_curve');
    expect(reply).to.include({ kind: live.kind, port: live.port, irradiance_w_m2: 1000, cell_temperature_c: 25 });
    expect(reply.v_oc_v).to.be.closeTo(live.v_oc_v, 0.1);
    expect(reply.i_sc_a).to.be.closeTo(live.i_sc_a, 0.01);
    for (const point of [reply.mpp, reply.operating_point, ...reply.curve])
      expect(point.p).to.be.closeTo(point.v * point.i, 15);
    expect(reply.mpp.p).to.be.closeTo(live.mpp.p, 1);
    for (const point of reply.curve) {
      const same = live.curve.find(({ v }: Json) => Math.abs(v - point.v) < 0.1);
      expect(point.i).to.be.closeTo(same.i, 0.01);
    }
  });

  it('get_server_info and get_overview have the members and limits of this build', async () => {
    const { limits, license, name, version, api_version } = await rest.get('/server-info');
    expect(exampleOf('get_server_info')).to.deep.include({ limits, license, name, version, api_version });
    expect(Object.keys(exampleOf('get_overview').comm_status)).to.deep.equal([...commNames]);
  });
});

describe('the example snapshot', () => {
  const { metrics, pq } = exampleOf('get_overview');

  it('holds together on the AC side', () => {
    expect(metrics.current_a).to.be.closeTo((metrics.apparent_power_kva * 1000) / metrics.voltage_ln_v, 0.01);
    expect(metrics.voltage_ln_v).to.be.closeTo(metrics.voltage_ll_v / Math.sqrt(3), 0.1);
    expect([pq.active_kw, pq.reactive_kvar, pq.apparent_kva]).to.deep.equal([
      metrics.power_kw,
      metrics.reactive_power_kvar,
      metrics.apparent_power_kva,
    ]);
  });

  it('holds together on the DC side', () => {
    expect(metrics.dc_power_kw).to.be.closeTo((metrics.dc_voltage_v * metrics.dc_current_a) / 1000, 0.005);
    expect(metrics.power_kw / metrics.dc_power_kw).to.be.within(0.9, 1);
  });

  it('shows the sum of the phase currents, as the real one', async () => {
    const plant = testPlant();
    await plant.step(20);
    const live = plant.latest.published[0]!.snapshot.metrics;
    expect(live.current_a).to.be.closeTo((live.apparent_power_kva * 1000) / live.voltage_ln_v, 0.1);
  });
});
