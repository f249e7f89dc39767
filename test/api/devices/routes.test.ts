import { expect } from 'chai';
import { bundledEvseProfileNames, bundledProfileNames } from '../../../src/config/profile/bundled.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { deviceTypeNames } from '../../../src/config/profile/device-types.ts';
import { maxDevices } from '../../../src/config/profile/device-entry.ts';
import { createApi } from '../../../src/api/http/server.ts';
import { apiContext } from '../../support/api-context.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import type { Rest } from '../../support/rest.ts';
import { openDevices } from './support.ts';

let rest: Rest;

async function open(...args: Parameters<typeof openDevices>): Promise<Rest> {
  rest = await openDevices(...args);
  return rest;
}

const faultNames = (problem: Json) => problem.errors.map(({ name }: Json) => name);

describe('interface 13: POST devices', () => {
  afterEach(() => rest.api.stop());

  it('adds the device of the settings for an empty body; 201, Location, the entry of GET devices', async () => {
    await open({ flags: ['-d', 'PV-1Phase'] });
    const answer = await rest.call('/devices', { method: 'POST', body: {} });
    expect([answer.status, answer.headers['location']]).to.deep.equal([201, '/api/sim/devices?device=2']);
    const { devices } = await rest.get('/devices?device=2');
    expect(answer.json).to.deep.equal(devices[0]);
    expect(answer.json).to.include({
      device_index: 2,
      device_type: 'PV-1Phase',
      name: 'PV-1Phase 2',
      asset_type: 'pv',
      tick: 0,
    });
    expect((await rest.get('/devices')).devices).to.have.length(3);
    const overview = await rest.get('/overview?device=2');
    expect(overview.devices.map(({ device_index }: Json) => device_index)).to.deep.equal([0, 1, 2]);
    expect((await rest.get('/server-info')).device_count).to.equal(3);
  });

  it('takes type, name and bundled profile', async () => {
    await open();
    const entry = await rest.post(
      '/devices',
      { device_type: 'Batt-3Phase', name: 'Cellar', profile: 'Batt-LFP-100kW-3Phase' },
      201,
    );
    expect(entry).to.include({
      name: 'Cellar',
      device_profile_name: 'Batt-LFP-100kW-3Phase',
      asset_type: 'battery',
      dc_mode: 'battery',
    });
    expect((await rest.get('/nameplate?device=2')).ratings).to.include({ w_max_w: 100_000 });
    await rest.get('/battery?device=2');
  });

  it('takes an inline profile', async () => {
    await open();
    const profile = {
      models: { 702: { WMaxRtg: 7000, VAMaxRtg: 7000 }, 704: { WMaxLimPct: 60 } },
      battery: { capacity_wh: 9000, soc_pct: 33 },
    };
    const entry = await rest.post('/devices', { device_type: 'Batt', profile }, 201);
    expect([entry.metrics.state_of_charge_pct, entry.device_profile_name, entry.name]).to.deep.equal([
      33,
      null,
      'Batt 2',
    ]);
    const { points } = await rest.get('/registers/704?device=2');
    expect(points.find(({ name }: Json) => name === 'WMaxLimPct')).to.include({ value: 60, source: 'profile' });
  });

  for (const type of deviceTypeNames) {
    it(`adds a device of type ${type}, which works and leaves again`, async () => {
      await open({ types: ['PV'] });
      const entry = await rest.post('/devices', { device_type: type }, 201);
      await rest.post('/controls/time/step', { ticks: 3 });
      const {
        devices: [later],
      } = await rest.get('/devices?device=1');
      expect([later.tick, later.device_type, later.asset_type]).to.deep.equal([3, type, entry.asset_type]);
      await rest.post('/devices/1/remove', {});
    });
  }

  it('is an EVSE where the settings are those of one, and for an empty body the same as at the start', async () => {
    await open({ types: ['PV'], flags: ['--evse_profile', 'EVSE-AC-7.4kW-2port'] });
    expect(await rest.post('/devices', {}, 201)).to.include({
      device_type: 'EVSE',
      device_profile_name: 'EVSE-AC-7.4kW-2port',
    });
    expect(await rest.post('/devices', { device_type: 'PV' }, 201)).to.include({
      device_type: 'PV',
      device_profile_name: null,
    });
  });

  it('takes bundled names with the extension of a file, as the flags do', async () => {
    await open({ types: ['PV'] });
    for (const extension of ['.json', '.yaml', '']) {
      const evse = await rest.post('/devices', { evse_profile: `EVSE-AC-22kW-1port${extension}` }, 201);
      expect(evse).to.include({ device_type: 'EVSE', device_profile_name: 'EVSE-AC-22kW-1port' });
      const other = await rest.post('/devices', { device_type: 'Batt', profile: `Batt-10kW-3Phase${extension}` }, 201);
      expect(other).to.include({ device_profile_name: 'Batt-10kW-3Phase' });
    }
  });

  it('an EVSE has its identity at once; that of one that has left goes to nobody', async () => {
    await open({ types: ['PV'] });
    const first = await rest.post('/devices', { evse_profile: 'EVSE-AC-7.4kW-2port' }, 201);
    const second = await rest.post('/devices', { device_type: 'EVSE' }, 201);
    expect([first.charge_point_id, second.charge_point_id]).to.deep.equal(['SIM-CP-1', 'SIM-CP-1-2']);
    await rest.get('/evse/SIM-CP-1/connectors/2');
    await rest.post('/devices/1/remove', {});
    await rest.refused('/evse/SIM-CP-1', 404, 'unknown-resource');
    expect((await rest.post('/devices', { device_type: 'EVSE' }, 201)).charge_point_id).to.equal('SIM-CP-1-3');
    expect((await rest.get('/evse')).evses.map(({ id }: Json) => id)).to.deep.equal(['SIM-CP-1-2', 'SIM-CP-1-3']);
  });

  it('an EVSE may have an identity of its own, which no other station has', async () => {
    await open({ types: ['EVSE'] });
    const own = await rest.post('/devices', { device_type: 'EVSE', ocpp: { id: 'West' } }, 201);
    expect(own.charge_point_id).to.equal('West');
    expect(await rest.get('/evse/West')).to.include({ id: 'West', device_index: 1 });
    for (const id of ['West', 'SIM-CP-1'])
      expect(
        (await rest.refused('/devices', 409, 'conflict', { device_type: 'EVSE', ocpp: { id } })).detail,
      ).to.contain(`has the charge point identity "${id}"`);
    await rest.post('/devices', { device_type: 'EVSE' }, 201);
    expect((await rest.get('/evse')).evses.map(({ id }: Json) => id)).to.deep.equal(['SIM-CP-1', 'West', 'SIM-CP-1-2']);
    await rest.refused('/devices', 422, 'validation', { device_type: 'PV', ocpp: { id: 'Sun' } });
  });

  it('without OCPP a version or an address of a central system is refused, and nothing is added', async () => {
    await open({ types: ['EVSE'] });
    for (const ocpp of [{ version: 'ocpp2.1' }, { id: 'West', url: 'ws://b.example/' }]) {
      const refused = await rest.refused('/devices', 409, 'disabled', { device_type: 'EVSE', ocpp });
      expect(refused.detail).to.contain('OCPP is switched off');
    }
    expect((await rest.get('/evse')).evses).to.have.length(1);
  });

  it('the settings of the process hold for it, as for configured ones', async () => {
    await open({ flags: ['-d', 'HybridDC-3Phase', '--hybrid_batt_kwh', '44', '--hybrid_dispatch', 'manual'] });
    await rest.post('/devices', { profile: { hybrid: { policy: 'self_consumption' } } }, 201);
    expect(await rest.get('/hybrid-dc?device=2')).to.include({ policy: 'manual' });
  });

  describe('refuses', () => {
    it('whatever would name a file, in words, and opens nothing', async () => {
      await open();
      const files = { profile: '/etc/passwd', dc_profile: 'x.csv', load_profile: '../x.csv', vehicles: './cars.csv' };
      const problem = await rest.refused('/devices', 422, 'validation', files);
      expect(faultNames(problem)).to.have.members(['/profile', '/dc_profile', '/load_profile', '/vehicles']);
      for (const { detail } of problem.errors)
        expect(detail).to.contain('files can be named only in the configuration');
      expect(problem.errors.find(({ name }: Json) => name === '/profile').allowed).to.have.members([
        ...bundledProfileNames,
        ...bundledEvseProfileNames,
      ]);
      const evse = await rest.refused('/devices', 422, 'validation', { evse_profile: './own.yaml' });
      expect(evse.errors[0]).to.deep.include({ name: '/evse_profile', allowed: [...bundledEvseProfileNames] });
      // a file of the working directory is no profile either
      expect(faultNames(await rest.refused('/devices', 422, 'validation', { profile: 'package.json' }))).to.deep.equal([
        '/profile',
      ]);
    });

    it('count, unknown members, wrong types', async () => {
      await open();
      const problem = await rest.refused('/devices', 422, 'validation', {
        count: 2,
        colour: 'red',
        device_type: 'Nuclear',
        name: '',
      });
      expect(faultNames(problem)).to.have.members(['/count', '/colour', '/device_type', '/name']);
      expect(problem.errors.find(({ name }: Json) => name === '/count').detail).to.contain(
        'one device is added at a time',
      );
      expect(problem.errors.find(({ name }: Json) => name === '/device_type').allowed).to.include('Wind-T4-3Phase');
      for (const profile of [5, null, [], true]) {
        const wrong = await rest.refused('/devices', 422, 'validation', { profile });
        expect(wrong.errors).to.have.length(1);
        expect(wrong.errors[0])
          .to.include({ name: '/profile' })
          .and.to.have.property('detail')
          .that.contains('the name of a bundled profile, or a profile');
      }
    });

    it('a blank name', async () => {
      await open();
      for (const name of ['', ' ', '\t ', '\u3000']) {
        expect(
          faultNames(await rest.refused('/devices', 422, 'validation', { name })),
          JSON.stringify(name),
        ).to.deep.equal(['/name']);
      }
    });

    it('a name that no point can have, with the reason', async () => {
      await open();
      const { errors } = await rest.refused('/devices', 422, 'validation', {
        profile: { models: { 705: { 'Foo~/': 1 } } },
      });
      expect(errors).to.deep.equal([
        {
          in: 'body',
          name: '/profile/models/705/Foo~0~1',
          detail: 'is not a name that a member can have here; it must be a point name',
        },
      ]);
    });

    it('thousands of points that are not there, naming a hundred', async () => {
      await open();
      const points = Object.fromEntries(Array.from({ length: 3900 }, (_, i) => [`P${i}`, 1]));
      const { errors, detail } = await rest.refused('/devices', 422, 'validation', {
        profile: { models: { 705: points } },
      });
      expect(errors).to.have.length(100);
      expect(errors[0]).to.deep.equal({
        in: 'body',
        name: '/profile/models/705/P0',
        detail: 'given 1; there is no such point',
      });
      expect(detail).to.match(/^\/profile\/models\/705\/P0: given 1; there is no such point; .*; and 95 more$/);
    });

    it('limits of a hybrid by the member that gave them', async () => {
      await open();
      const device_type = 'HybridDC-3Phase';
      for (const [profile, name] of [
        [{ battery: { soc_max_pct: 0 } }, '/profile/battery/soc_max_pct'],
        [{ hybrid: { soc_max_pct: 0 } }, '/profile/hybrid/soc_max_pct'],
        [{ hybrid: { soc_max_pct: 50 }, battery: { soc_min_pct: 60 } }, '/profile/battery/soc_min_pct'],
      ] as const)
        expect(faultNames(await rest.refused('/devices', 422, 'validation', { device_type, profile }))).to.deep.equal([
          name,
        ]);
    });

    it('a profile with faults of form: all of them, each by its pointer', async () => {
      await open();
      const profile = {
        pv: { series: 'many', tilt_deg: 100, colour: 1 },
        models: { 713: {}, 702: { WMaxRtg: [] } },
        nonsense: {},
      };
      const problem = await rest.refused('/devices', 422, 'validation', { profile });
      expect(faultNames(problem)).to.have.members([
        '/profile/pv/series',
        '/profile/pv/tilt_deg',
        '/profile/pv/colour',
        '/profile/models/713',
        '/profile/models/702/WMaxRtg',
        '/profile/nonsense',
      ]);
    });

    it('a profile with faults across members, or against the map: all of them', async () => {
      await open();
      const across = await rest.refused('/devices', 422, 'validation', {
        device_type: 'Batt',
        profile: { pv: {}, models: { 702: { WMaxRtg: 0 } }, battery: { soc_min_pct: 80, soc_max_pct: 20 } },
      });
      expect(faultNames(across)).to.include.members(['/profile/pv', '/profile/models/702/WMaxRtg']);
      expect(across.errors).to.have.length(3);
      const map = await rest.refused('/devices', 422, 'validation', {
        profile: {
          models: { 705: { Nonsense: 1, 'Crv[0].Pt[0].V': 'x', Ena: 'MAYBE' }, 702: { VAMaxRtg: 1, WMaxRtg: 10 } },
        },
      });
      expect(faultNames(map)).to.include.members([
        '/profile/models/705/Nonsense',
        '/profile/models/705/Crv[0].Pt[0].V',
        '/profile/models/705/Ena',
        '/profile/models/702/VAMaxRtg',
      ]);
      expect(rest.plant.devices).to.have.length(2);
      expect(rest.plant.nextIndex).to.equal(2);
    });

    it('a profile of another kind, and evse_profile beside profile', async () => {
      await open();
      for (const [body, name] of [
        [{ device_type: 'Batt', profile: '10kW-3Phase' }, '/profile'],
        [{ profile: 'EVSE-AC-22kW-1port' }, '/profile'],
        [{ device_type: 'EVSE', profile: '10kW-3Phase' }, '/profile'],
        [{ device_type: 'PV', evse_profile: 'EVSE-AC-22kW-1port' }, '/evse_profile'],
        [{ evse_profile: 'EVSE-AC-22kW-1port', profile: {} }, '/evse_profile'],
      ] as const) {
        const problem = await rest.refused('/devices', 422, 'validation', body);
        expect(faultNames(problem), JSON.stringify(body)).to.deep.equal([name]);
        expect(problem.detail).to.not.contain('/work').and.not.contain('node_modules');
      }
    });

    it('a device that the settings cannot describe, without naming their files', async () => {
      const lines: string[] = [];
      const log = createLogBook({
        write: (line) => {
          lines.push(line);
        },
      }).logger('Lab');
      await open({ flags: ['-f', '10kW-3Phase'], changes: { log } });
      const problem = await rest.refused('/devices', 422, 'validation', { device_type: 'Batt' });
      expect(problem.errors).to.deep.equal([
        {
          in: 'body',
          name: '/device_type',
          detail:
            'the configuration gives such a device a profile or settings that do not fit; the log has the reason; give a profile',
        },
      ]);
      expect(lines.join('')).to.contain('10kW-3Phase');
      await rest.post('/devices', { device_type: 'Batt', profile: {} }, 201);
    });

    it('a device whose series cannot be read', async () => {
      await open({
        changes: {
          seriesOf: () => {
            throw new Error('ENOENT /home/somebody/sun.csv');
          },
        },
      });
      expect((await rest.refused('/devices', 409, 'conflict', {})).detail)
        .to.contain('the log has the reason')
        .and.not.contain('sun.csv');
      expect(rest.plant.devices).to.have.length(2);
    });

    it('one device too many: conflict, with the limit', async () => {
      await open({ changes: { maxDevices: 3 } });
      await rest.post('/devices', {}, 201);
      expect((await rest.refused('/devices', 409, 'conflict', {})).detail).to.equal(
        'there are 3 devices; allowed: up to 3',
      );
      await rest.post('/devices/0/remove', {});
      await rest.post('/devices', {}, 201);
      expect(maxDevices).to.equal(10_000);
    });
  });
});

describe('POST devices in the description', () => {
  it('describes profile blocks in full, and no member for files', async () => {
    const api = createApi(apiContext({ plant: testPlant() }));
    const document: Json = JSON.parse(JSON.stringify(await (await api.operations()).document()));
    const { $ref } = document.paths['/api/sim/devices'].post.requestBody.content['application/json'].schema;
    const { properties, additionalProperties } = document.components.schemas[$ref.split('/').at(-1)];
    const [names, profile] = properties.profile.anyOf;
    expect(names.enum).to.include('10kW-3Phase');
    expect(Object.keys(profile.properties)).to.include.members([
      'models',
      'inverter',
      'pv',
      'battery',
      'wind',
      'fuel_cell',
      'hybrid',
      'evse',
    ]);
    expect(profile.properties.battery.properties.capacity_wh.description).to.be.a('string');
    expect(Object.keys(properties)).to.have.members([
      'device_type',
      'name',
      'profile',
      'evse_profile',
      ...['ocpp', 'csip', 'dnp3', 'modbus'],
    ]);
    expect(additionalProperties).to.equal(false);
    expect(document.paths['/api/sim/devices'].post.responses['201'].headers).to.have.property('Location');
  });
});
