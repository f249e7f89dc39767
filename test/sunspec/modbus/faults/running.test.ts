import { expect } from 'chai';
import type { App } from '../../../../src/app/start-stop.ts';
import type { FaultRequest } from '../../../../src/core/faults/kinds.ts';
import { RawClient, adu, readRequest } from '../../../support/modbus-client.ts';
import { modbusEndpoint, startApp } from '../../../support/running-app.ts';
import { until } from './wire-rig.ts';

describe('Modbus faults in the running simulator', () => {
  let app: App;
  const clients: RawClient[] = [];
  beforeEach(async () => {
    ({ app } = await startApp(['PV-3Phase', 'PV-1Phase']));
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await app.stop();
  });

  async function open(index: number): Promise<RawClient> {
    const client = await RawClient.open(modbusEndpoint(app, index).port);
    clients.push(client);
    return client;
  }

  const modbus = () => {
    const status = app.adapters.find(({ comm }) => comm === 'modbus_tcp')?.status();
    return { peers: status?.peers, rxCount: status?.rxCount };
  };
  const inject = (kind: string, more: Partial<FaultRequest> = {}) =>
    app.faults.inject([{ protocol: 'modbus', kind, ...more }], { source: 'rest' });
  const addressOf = (name: string) => app.plant.device(0).bank.layout.slot(704, name)!.address;
  const write = (value: number) =>
    adu(
      1,
      1,
      Buffer.from([6, addressOf('WMaxLimPct') >> 8, addressOf('WMaxLimPct') & 0xff, value >> 8, value & 0xff]).toString(
        'hex',
      ),
    );

  it('a delayed answer comes, and the other device is not delayed', async () => {
    inject('delay', { parameters: { delay_ms: 30 }, deviceIndex: 0 });
    const [first, second] = [await open(0), await open(1)];
    first.send(readRequest(1, 40_000, 2));
    expect(await second.request(readRequest(1, 40_000, 2))).to.equal('000100000007010304' + '53756e53');
    expect(first.received.length).to.equal(0);
    expect((await first.answer()).toString('hex')).to.equal('000100000007010304' + '53756e53');
  });

  it('an exception hits the points of one device', async () => {
    inject('exception', { parameters: { code: 6 }, target: { points: ['704.WMaxLimPct'] }, deviceIndex: 0 });
    const [first, second] = [await open(0), await open(1)];
    expect(await first.request(write(5000))).to.equal('000100000003018606');
    expect((await second.request(readRequest(1, addressOf('WMaxLimPct'), 1))).slice(14, 16)).to.equal('03');
    expect(app.plant.device(0).bank.map.m704.WMaxLimPct).to.equal(100);
  });

  it('an exception hits points where structure faults show them, and nothing that stands at their true address', async () => {
    inject('exception', { parameters: { code: 6 }, target: { points: ['704.WMaxLimPct'] } });
    const client = await open(0);
    const at = addressOf('WMaxLimPct');
    const codeAt = async (address: number) => {
      const answer = await client.request(readRequest(1, address, 1));
      return answer.slice(14, 16) === '83' ? Number.parseInt(answer.slice(16, 18), 16) : null;
    };
    expect([await codeAt(at), await codeAt(at - 1)]).to.deep.equal([6, null]);
    inject('shift', { parameters: { model: 704, registers: 3 } });
    expect([await codeAt(at), await codeAt(at + 3)]).to.deep.equal([null, 6]);
    inject('base', { parameters: { address: 0 } });
    expect([await codeAt(at), await codeAt(at + 3 - 40_000)]).to.deep.equal([2, 6]);
    inject('hide_model', { parameters: { model: 704 }, when: { point: '701.Hz', above: 50 } });
    expect([await codeAt(at + 3 - 40_000), await codeAt(0)]).to.deep.equal([null, null]);
    // a structure fault meets the requests that reach the map, once each
    expect(app.faults.active.map(({ occasions }) => occasions)).to.deep.equal([3, 4, 3, 2]);
  });

  it('a late write lands in simulated time, and a reset of the device prevents it', async () => {
    inject('late_write', { parameters: { delay_s: 60 }, target: { points: ['704.WMaxLimPct'] } });
    const client = await open(0);
    const { map } = app.plant.device(0).bank;
    await client.request(write(5000));
    await app.plant.step(30);
    expect(map.m704.WMaxLimPct).to.equal(100);
    await app.plant.step(10);
    expect(map.m704.WMaxLimPct).to.equal(50);
    await client.request(write(4000));
    app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await app.plant.step(50);
    expect(map.m704.WMaxLimPct).to.equal(100);
  });

  it('a late write whose time comes while the device is off is lost, and one behind it lands', async () => {
    inject('late_write', { parameters: { delay_s: 10 }, target: { points: ['704.WMaxLimPct'] } });
    const client = await open(0);
    const { map } = app.plant.device(0).bank;
    await client.request(write(5000));
    await app.plant.step(5);
    await client.request(write(4000));
    app.faults.inject(
      [{ protocol: 'device', kind: 'reboot', parameters: { off_s: 7, forget: false }, deviceIndex: 0, count: 1 }],
      { source: 'rest' },
    );
    await app.plant.step(6);
    expect(map.m704.WMaxLimPct).to.equal(100);
    await app.plant.step(5);
    expect(map.m704.WMaxLimPct).to.equal(40);
  });

  it('a device that reboots answers nothing, and neither carries out nor disturbs others', async () => {
    const [first, second] = [await open(0), await open(1)];
    await until(() => modbus().peers === 2);
    app.faults.inject([{ protocol: 'device', kind: 'reboot', parameters: { off_s: 30 }, deviceIndex: 0 }], {
      source: 'rest',
    });
    first.send(write(5000));
    expect(await second.request(readRequest(1, 40_000, 2))).to.equal('000100000007010304' + '53756e53');
    await until(() => modbus().rxCount === 2);
    await app.plant.step(30);
    first.send(readRequest(9, 40_000, 2));
    expect((await first.answer()).readUInt16BE(0)).to.equal(9);
    expect(app.plant.device(0).bank.map.m704.WMaxLimPct).to.equal(100);
  });

  it('a lock answers its code, and what is refused changes nothing', async () => {
    inject('write_lock', { parameters: { code: 5 }, count: 1 });
    const client = await open(0);
    expect(await client.request(write(5000))).to.equal('000100000003018605');
    expect(app.plant.device(0).bank.map.m704.WMaxLimPct).to.equal(100);
    expect((await client.request(write(5000))).slice(14, 16)).to.equal('06');
    expect(app.plant.device(0).bank.map.m704.WMaxLimPct).to.equal(50);
  });

  it('refuses what could never strike, with the member that is wrong', () => {
    const pointerOf = (action: () => unknown): unknown => {
      try {
        return action();
      } catch (error) {
        return (error as { issues: readonly { name: string }[] }).issues[0]?.name;
      }
    };
    expect(pointerOf(() => inject('ignore_write', { target: { points: ['701.W'] } }))).to.equal('/0/target/points');
    expect(pointerOf(() => inject('alter_write', { parameters: { value: 3 } }))).to.equal('/0/target/points');
    expect(pointerOf(() => inject('alter_write'))).to.equal('/0/parameters/factor');
    expect(
      pointerOf(() => inject('exception', { parameters: { code: 2 }, target: { points: ['704.Nothing'] } })),
    ).to.equal('/0/target/points/0');
  });
});
