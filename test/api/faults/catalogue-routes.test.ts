import { expect } from 'chai';
import type { Adapter } from '../../../src/core/adapter.ts';
import { faultKinds } from '../../../src/fault-kinds/protocols.ts';
import { readFaultProfiles } from '../../../src/config/profile/fault-profiles.ts';
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

describe('catalogue and profiles of faults (13)', () => {
  before(() => open(['PV-3Phase']));
  after(() => rest.api.stop());

  it('has every kind with its parameters and the members by which it can be aimed', async () => {
    const { kinds, count } = await rest.get('/faults/kinds');
    expect(kinds.map(({ protocol, kind }: Json) => `${protocol} ${kind}`)).to.deep.equal(
      faultKinds.map(({ protocol, kind }) => `${protocol} ${kind}`),
    );
    expect(count).to.equal(faultKinds.length);
    for (const { protocol, kind, parameters } of kinds) {
      const row = faultKinds.find((each) => each.kind === kind && each.protocol === protocol);
      expect(
        parameters.map(({ name }: Json) => name),
        kind,
      ).to.deep.equal(Object.keys(row?.parameters.shape ?? {}));
      for (const { name, description, type } of parameters) {
        expect(description, `${kind} ${name}`).to.match(/\.$/);
        expect(type, `${kind} ${name}`).to.match(/^(number|integer|string|boolean|array|object)(\|\w+)*$/);
      }
    }
    expect(kinds.find(({ kind }: Json) => kind === 'connection_limit')).to.deep.include({
      protocol: 'modbus',
      layer: 'transport',
      targets: [],
      parameters: [
        {
          name: 'connections',
          type: 'integer',
          required: true,
          default: null,
          minimum: 0,
          maximum: 4096,
          allowed: null,
          description: 'Maximum number of open connections.',
        },
        {
          name: 'policy',
          type: 'string',
          required: false,
          default: 'refuse',
          minimum: null,
          maximum: null,
          allowed: ['refuse', 'replace_oldest'],
          description: 'A further connection is not accepted, or the oldest one is closed instead; default refuse.',
        },
      ],
    });
    expect(kinds.find(({ kind }: Json) => kind === 'delay').targets).to.deep.equal([
      'function',
      'address',
      'registers',
      'points',
    ]);
  });

  it('lists ready sets as `inject` takes them', async () => {
    const { profiles, count } = await rest.get('/faults/profiles');
    expect(count).to.equal(profiles.length);
    expect(profiles.map(({ name }: Json) => name)).to.include.members([
      'slow-answers',
      'one-connection',
      'night-shut-off',
      'length-65',
      'reboot-that-forgets',
    ]);
    for (const { name, title, description, faults } of profiles) {
      expect([title, description], name).to.satisfy((texts: string[]) => texts.every((text) => text.length > 10));
      await rest.post('/faults', { clear: true });
      expect((await rest.post('/faults', { inject: faults })).count, name).to.equal(faults.length);
    }
    await rest.post('/faults', { clear: true });
  });

  it('puts a set in under its name, and ends it by the name', async () => {
    const { faults } = await rest.post('/faults', { profile: 'dynamic-scale-factors' });
    expect(faults.map(({ profile, device_index: device }: Json) => [profile, device])).to.deep.equal([
      ['dynamic-scale-factors', 0],
    ]);
    expect((await rest.post('/faults', { profile: 'no-fc6', device: 'all' })).faults[1]).to.include({
      profile: 'no-fc6',
      device_index: null,
    });
    expect((await rest.post('/faults', { clear: { profile: 'dynamic-scale-factors' } })).count).to.equal(1);
    await rest.post('/faults', { clear: true });
  });

  it('refuses a set that is not there', async () => {
    const bad = await rest.refused('/faults', 422, 'validation', { profile: './slow-answers.yaml' });
    expect(bad.errors[0]).to.include({ name: '/profile' });
    expect(bad.errors[0].allowed).to.include('slow-answers');
  });
});
