import { expect } from 'chai';
import { describeApi } from '../../../src/api/description/openapi.ts';
import { createFaultRoutes, faultRoutes } from '../../../src/api/faults/routes.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { disabledStatus } from '../../../src/core/adapter.ts';
import type { Adapter, CommName } from '../../../src/core/adapter.ts';
import { FaultRegistry } from '../../../src/core/faults/registry.ts';
import { protocolFaults, switchedOff } from '../../../src/fault-kinds/protocols.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { madeUpProtocols, MadeUpStation } from '../../support/made-up-faults.ts';
import { testPlant } from '../../support/plant.ts';
import { prefix } from '../../support/rest.ts';
import { HandWall } from '../../support/wall.ts';

// the made-up rows stand in for those of the same protocol
const others = protocolFaults.filter(({ protocol }) => madeUpProtocols.every((row) => row.protocol !== protocol));
const protocols = [...others, ...madeUpProtocols];
const routes = createFaultRoutes(protocols);
const station = '/ocpp/SIM-CP-1/fault';
const second = '/ocpp/SIM-CP-1-2/fault';

const adapter = (comm: CommName): Adapter => ({
  module: 'Lab',
  comm,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  status: () => disabledStatus,
  endpointOf: () => null,
});

let api: Api;
let port: number;
let faults: FaultRegistry;

async function open(comms: readonly CommName[]): Promise<void> {
  const plant = testPlant({ types: ['PV-3Phase', 'EVSE', 'EVSE'] });
  faults = new FaultRegistry({
    wall: new HandWall(),
    sim: () => plant.time.sim,
    seed: 1,
    deviceIndexes: () => plant.devices.map(({ index }) => index),
    later: () => () => undefined,
  });
  faults.define(protocols.flatMap(({ kinds }) => kinds));
  const profile = {
    name: 'mixed',
    title: 'Mixed',
    description: 'Of two protocols.',
    faults: [
      { protocol: 'ocpp' as const, kind: 'drop_socket' },
      { protocol: 'csip' as const, kind: 'clock_skew', skew_s: 1 },
    ],
  };
  const context = apiContext({ plant, faults, faultProfiles: [profile], adapters: comms.map(adapter) });
  api = createApi(context, { routes, checkReplies: true });
  ({ port } = await api.start());
}

const call = (path: string, body?: unknown) => ask(port, prefix + path, { body });

async function answered(path: string, body?: unknown): Promise<Json> {
  const answer = await call(path, body);
  expect(answer.status, answer.text).to.equal(200);
  return answer.json;
}

async function refused(path: string, status: number, body?: unknown): Promise<Json> {
  const answer = await call(path, body);
  expect(answer.status, answer.text).to.equal(status);
  return answer.json;
}

const places = async (path: string, body: unknown) =>
  (await refused(path, 422, body)).errors.map(({ name }: Json) => name);
const kindsOf = (reply: Json): string[] => reply.faults.map(({ kind }: Json) => kind);

describe('a protocol with one row in the table of faults', () => {
  beforeEach(() => open(['ocpp', 'csip', 'dnp3']));
  afterEach(() => api.stop());

  it('has its own path with two operations, described by its name', () => {
    const { paths, components } = describeApi(routes, '1.0.0') as Json;
    const operation = ({ operationId, tags, summary, parameters = [] }: Json) => [
      operationId,
      tags[0],
      summary,
      parameters.map(({ name }: Json) => name),
    ];
    const own = (path: string) => Object.values(paths[prefix + path]).map(operation);
    expect(own('/ocpp/{id}/fault')).to.deep.equal([
      ['get_ocpp_faults', 'EVSE / OCPP', 'Faults of OCPP', ['id', 'limit', 'after_id']],
      ['set_ocpp_fault', 'EVSE / OCPP', 'Injects or ends faults of OCPP', ['id']],
    ]);
    expect(own('/csip/fault')).to.deep.equal([
      ['get_csip_faults', 'CSIP Client', 'Faults of CSIP', ['device', 'limit', 'after_id']],
      ['set_csip_fault', 'CSIP Client', 'Injects or ends faults of CSIP', ['device']],
    ]);
    expect(own('/dnp3/fault').map(([id]) => id)).to.deep.equal(['get_dnp3_faults', 'set_dnp3_fault']);
    expect(components.schemas).to.include.keys(
      'OcppCallErrorFault',
      'OcppCallErrorFaultBody',
      'OcppFaultRequest',
      'FaultAction',
    );
    expect(Object.keys(components.schemas.FaultTarget.properties)).to.deep.equal([
      'points',
      'address',
      'registers',
      'function',
      'action',
      'connector',
      'resource',
    ]);
    expect(components.schemas.FaultTarget.required).to.deep.equal(['points', 'address', 'registers', 'function']);
    expect(JSON.stringify(components.schemas.FaultRequest)).to.include('OcppCallErrorFault');
  });

  it('leaves the operations of the product as they are', () => {
    const before = faultRoutes.map(({ path, operationId }) => `${path} ${operationId}`);
    expect(routes.map(({ path, operationId }) => `${path} ${operationId}`)).to.include.members(before);
    expect(before).to.include('/modbus/fault set_modbus_fault');
    expect(before).to.include('/ocpp/{id}/fault set_ocpp_fault');
  });

  it('takes its faults with its targets, and shows them', async () => {
    const target = async (path: string, body: object) => (await answered(path, body)).faults.at(-1).target;
    const none = { points: null, address: null, registers: null, function: null };
    expect(await target(station, { protocol: 'ocpp', kind: 'call_error', action: 'Heartbeat' })).to.deep.equal({
      ...none,
      action: ['Heartbeat'],
    });
    const both = { protocol: 'ocpp', kind: 'call_error', action: ['Authorize', 'Reset'], connector: [0, 2] };
    expect(await target(station, both)).to.deep.equal({ ...none, action: ['Authorize', 'Reset'], connector: [0, 2] });
    const stale = { protocol: 'csip', kind: 'clock_skew', skew_s: 5, resource: ['DERControlList', '/dcap'] };
    expect(await target('/csip/fault', stale)).to.deep.equal({ ...none, resource: ['DERControlList', '/dcap'] });
    expect(await target('/dnp3/fault', { kind: 'no_confirm', function: 130 })).to.deep.equal({
      ...none,
      function: [130],
    });
    expect(kindsOf(await answered('/faults'))).to.deep.equal(['call_error', 'call_error', 'clock_skew', 'no_confirm']);
    expect(kindsOf(await answered('/csip/fault'))).to.deep.equal(['clock_skew']);
  });

  it('keeps nested parameters with their defaults', async () => {
    const body = { kind: 'call_error', waits: [{ octets: 3 }, { after_ms: 5, octets: 1 }] };
    expect((await answered(station, body)).faults[0].parameters).to.deep.equal({
      code: 'GenericError',
      waits: [
        { after_ms: 0, octets: 3 },
        { after_ms: 5, octets: 1 },
      ],
    });
  });

  it('refuses what its kinds do not take, each by its place', async () => {
    const error = { protocol: 'ocpp', kind: 'call_error' };
    expect(await places(station, { ...error, action: 'boot notification' })).to.deep.equal(['/action']);
    expect(await places(station, { ...error, connector: [1, -1] })).to.deep.equal(['/connector/1']);
    expect(await places(station, { ...error, code: 'Nothing' })).to.deep.equal(['/code']);
    expect(await places(station, { ...error, waits: [{ octets: 0 }] })).to.deep.equal(['/waits/0/octets']);
    expect(await places(station, { ...error, points: ['701.W'], function: 3 })).to.deep.equal(['/points', '/function']);
    expect(await places(station, { protocol: 'ocpp', kind: 'clock_skew' })).to.deep.equal(['/kind']);
    expect(
      await places('/csip/fault', { protocol: 'csip', kind: 'clock_skew', skew_s: 1, resource: 'derp list' }),
    ).to.deep.equal(['/resource']);
    expect(await places('/dnp3/fault', { protocol: 'dnp3', kind: 'no_confirm', function: 256 })).to.deep.equal([
      '/function',
    ]);
    expect(
      await places('/faults', {
        inject: [
          { protocol: 'ocpp', kind: 'call_error' },
          { ...error, action: 7 },
        ],
      }),
    ).to.deep.equal(['/inject/1/action']);
    expect((await answered('/faults')).count).to.equal(0);
  });

  it('with a station in its path is confined to it', async () => {
    const body = { protocol: 'ocpp', kind: 'drop_socket' };
    await answered(station, body);
    await answered(second, { ...body, device: 2 });
    const at = (reply: Json) => reply.faults.map(({ device_index: index }: Json) => index);
    expect(at(await answered(station))).to.deep.equal([1]);
    expect(at(await answered(second))).to.deep.equal([2]);
    for (const device of [0, 1, 'all']) expect(await places(second, { ...body, device })).to.deep.equal(['/device']);
    expect(await places(second, { profile: 'mixed', device: 1 })).to.deep.equal(['/device']);
    expect(await places(second, { clear: { device: 'all' } })).to.deep.equal(['/clear/device']);
    expect((await refused('/ocpp/nobody/fault', 404, body)).code).to.equal('unknown-resource');
    expect((await refused('/ocpp/nobody/fault', 404)).code).to.equal('unknown-resource');
    expect((await refused(`${station}?device=1`, 422)).code).to.equal('validation');
    await answered('/faults', { inject: [{ ...body, device: 'all' }] });
    expect(at(await answered(second, { clear: true }))).to.deep.equal([null]);
    expect(at(await answered('/faults'))).to.deep.equal([1, null]);
  });

  it('ends its own faults only, whatever the filter names', async () => {
    await answered('/csip/fault', { protocol: 'csip', kind: 'clock_skew', skew_s: 5 });
    await answered('/dnp3/fault', { protocol: 'dnp3', kind: 'no_confirm' });
    await answered('/csip/fault', { clear: { protocol: 'dnp3' } });
    await answered('/csip/fault', { clear: { id: 2 } });
    await answered('/csip/fault', { clear: { kind: 'no_confirm' } });
    expect((await answered('/faults')).count).to.equal(2);
    await answered('/csip/fault', { clear: true });
    expect(kindsOf(await answered('/faults'))).to.deep.equal(['no_confirm']);
  });

  it('injects nothing for a device that is not there', async () => {
    const body = { protocol: 'csip', kind: 'clock_skew', skew_s: 5, device: 0 };
    expect((await refused('/csip/fault?device=9', 404, body)).code).to.equal('unknown-device');
    expect((await answered('/faults')).count).to.equal(0);
  });

  it('is in the catalogue with schemas of its parameters and targets', async () => {
    const { kinds } = await answered('/faults/kinds');
    const row = kinds.find(({ kind }: Json) => kind === 'call_error');
    expect(row.targets).to.deep.equal(['action', 'connector']);
    expect(row.parameters_schema.properties.waits.items.properties).to.have.keys('after_ms', 'octets');
    expect(row.target_schema.properties).to.have.keys('action', 'connector');
  });

  it('is carried out by a component that asks for its targets', async () => {
    const one = new MadeUpStation(faults, 1);
    const other = new MadeUpStation(faults, 2);
    await answered(station, { kind: 'call_error', action: 'Reset', connector: 1, count: 2 });
    expect([one.answerTo('Authorize', 1), one.answerTo('Reset', 2), other.answerTo('Reset', 1)]).to.deep.equal([
      null,
      null,
      null,
    ]);
    expect([1, 2, 3].map(() => one.answerTo('Reset', 1))).to.deep.equal(['GenericError', 'GenericError', null]);
    expect((await answered(station)).ended[0]).to.include({ end: 'count', strikes: 2 });
  });
});

describe('a protocol that is switched off', () => {
  beforeEach(() => open(['csip', 'modbus_proxy']));
  afterEach(() => api.stop());

  it('refuses every POST at its path and every fault of it elsewhere, and still shows and ends', async () => {
    const drop = { protocol: 'ocpp', kind: 'drop_socket' };
    for (const body of [drop, { clear: true }, { profile: 'mixed' }]) {
      const { code, detail } = await refused(station, 409, body);
      expect([code, detail]).to.deep.equal(['disabled', 'OCPP is switched off.']);
    }
    expect((await refused('/faults', 409, { inject: [drop] })).code).to.equal('disabled');
    expect((await refused('/faults', 409, { profile: 'mixed' })).detail).to.equal('OCPP is switched off.');
    expect((await refused('/dnp3/fault', 409, { protocol: 'dnp3', kind: 'no_confirm' })).detail).to.equal(
      'DNP3 is switched off.',
    );
    expect((await refused('/modbus/fault', 409, { kind: 'drop' })).detail).to.equal('Modbus is switched off.');
    expect((await answered(station)).count).to.equal(0);
    expect((await answered('/csip/fault', { protocol: 'csip', kind: 'clock_skew', skew_s: 1 })).count).to.equal(1);
    expect((await answered('/faults', { clear: true })).count).to.equal(0);
  });

  it('is told by the adapters that run; devices are always there', () => {
    const off = (protocol: Parameters<typeof switchedOff>[1], ...comms: CommName[]) =>
      switchedOff(protocols, protocol, comms.map(adapter))?.name ?? null;
    expect(off('modbus')).to.equal('Modbus');
    expect(off('modbus', 'modbus_proxy', 'websocket')).to.equal('Modbus');
    expect(off('modbus', 'modbus_rtu')).to.equal(null);
    expect(off('ocpp', 'csip')).to.equal('OCPP');
    expect(off('device')).to.equal(null);
  });
});
