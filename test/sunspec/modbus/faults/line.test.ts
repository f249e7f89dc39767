import { expect } from 'chai';
import type { App } from '../../../../src/app/start-stop.ts';
import type { FaultRequest } from '../../../../src/core/faults/kinds.ts';
import type { ModbusAdapter } from '../../../../src/sunspec/modbus/bridge.ts';
import { RawClient } from '../../../support/modbus-client.ts';
import { rtuRead, rtuWrite } from '../../../support/rtu.ts';
import { startApp } from '../../../support/running-app.ts';

const broadcast = 0;

describe('faults of devices on one line', () => {
  let app: App;
  let modbus: ModbusAdapter;
  let client: RawClient;
  beforeEach(async () => {
    ({ app } = await startApp(['PV-3Phase', 'PV-3Phase'], ['--mb_framing', 'rtu_over_tcp', '--mb_shared_port', 'yes']));
    modbus = app.adapters.find(({ comm }) => comm === 'modbus_tcp') as ModbusAdapter;
    client = await RawClient.open(modbus.endpointOf(0)?.port ?? 0);
  });
  afterEach(async () => {
    client.destroy();
    await app.stop();
  });

  const inject = (kind: string, more: Partial<FaultRequest> = {}) =>
    app.faults.inject([{ protocol: 'modbus', kind, ...more }], { source: 'rest' })[0]!;
  const register = (name: string) => {
    const [model = '', path = ''] = name.split('.');
    return app.plant.device(0).bank.layout.slot(Number(model), path)!.address;
  };
  const limits = () => app.plant.devices.map(({ bank }) => bank.map.m704.WMaxLimPct);
  const addresses = () => app.plant.devices.map(({ bank }) => bank.map.m1.DA);

  /** Sends what nobody answers, and waits until it has been served. */
  async function tell(request: Buffer): Promise<void> {
    const before = modbus.counters.requests;
    client.send(request);
    while (modbus.counters.requests === before)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    expect(client.received.length).to.equal(0);
    expect(modbus.counters.internalErrors).to.equal(0);
  }

  /** A device answers a read of the map's marker. */
  async function answers(address: number): Promise<boolean> {
    client.send(rtuRead(address, 40_000, 2));
    return (await client.take(9)).subarray(3, 7).toString() === 'SunS';
  }

  it('a broadcast reaches those that are not off', async () => {
    app.faults.inject([{ protocol: 'device', kind: 'reboot', deviceIndex: 0, parameters: { off_s: 1000 } }], {
      source: 'rest',
    });
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct'), 5000));
    expect(limits()).to.deep.equal([100, 50]);
  });

  it('a broadcast meets the faults of each device by itself', async () => {
    const outage = inject('outage', { deviceIndex: 0 });
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct'), 5000));
    expect(limits()).to.deep.equal([100, 50]);
    app.faults.clear({ id: outage.facts.id });
    inject('exception', { parameters: { code: 1 }, target: { functions: [6] }, deviceIndex: 1 });
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct'), 6000));
    expect(limits()).to.deep.equal([60, 50]);
    inject('drop', { parameters: { carried_out: true } });
    app.faults.clear({ kind: 'exception' });
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct'), 7000));
    expect(limits()).to.deep.equal([70, 70]);
  });

  it('nothing is delayed or changed where no answer leaves', async () => {
    const delay = inject('delay', { parameters: { delay_ms: 600_000 } });
    const duplicate = inject('duplicate');
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct'), 5000));
    expect([delay.occasions, duplicate.occasions]).to.deep.equal([0, 0]);
    app.faults.clear();
    expect(await answers(1)).to.equal(true);
  });

  it('a broadcast sets no address, wherever a structure fault shows it', async () => {
    const spare = 3;
    inject('base', { parameters: { address: 0 } });
    await tell(rtuWrite(broadcast, register('1.DA') - 40_000, 9));
    expect(addresses()).to.deep.equal([1, 2]);
    // nothing but 1.DA is kept from it
    await tell(rtuWrite(broadcast, register('704.WMaxLimPct') - 40_000, 5000));
    expect(limits()).to.deep.equal([50, 50]);
    client.send(rtuWrite(2, register('1.DA') - 40_000, spare));
    expect(await client.take(8)).to.deep.equal(rtuWrite(2, register('1.DA') - 40_000, spare));
    expect(addresses()).to.deep.equal([1, spare]);
  });

  it('two devices at one address meet their own faults as well, and stay silent', async () => {
    client.send(rtuWrite(2, register('1.DA'), 1));
    await client.take(8);
    inject('outage', { deviceIndex: 1 });
    await tell(rtuWrite(1, register('704.WMaxLimPct'), 5000));
    expect(limits()).to.deep.equal([50, 100]);
  });
});
