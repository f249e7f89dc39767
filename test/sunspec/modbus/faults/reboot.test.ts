import { expect } from 'chai';
import { rebootFault } from '../../../../src/fault-kinds/device-effect.ts';
import { RawClient } from '../../../support/modbus-client.ts';
import { refusalAt } from './wire-rig.ts';
import { byTest } from '../../../support/rig.ts';
import { modbusEndpoint, startApp } from '../../../support/running-app.ts';
import type { RunningApp } from '../../../support/running-app.ts';

/** A read of the marker under this transaction id, and the answer to it. */
const read = (id: string) => `${id}0000000601039c400002`;
const answer = (id: string) => `${id}0000000701030453756e53`;

describe('a device that reboots, over Modbus', () => {
  let running: RunningApp;
  let ports: number[];
  const clients: RawClient[] = [];

  before(async () => {
    running = await startApp(['PV-3Phase', 'PV-3Phase']);
    ports = [0, 1].map((index) => modbusEndpoint(running.app, index).port);
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await running.app.stop();
  });

  async function open(device: number): Promise<RawClient> {
    const client = await RawClient.open(ports[device]!);
    clients.push(client);
    return client;
  }

  /** All that a device says to these requests and the end of the connection behind them. */
  async function said(device: number, ...requests: readonly string[]): Promise<string> {
    const client = await open(device);
    for (const request of requests) client.send(request);
    client.socket.end();
    return (await client.untilClosed()).toString('hex');
  }

  const reboot = (extras: { count?: number } = {}) => {
    running.app.faults.inject(
      [{ protocol: 'device', kind: rebootFault.kind, deviceIndex: 0, parameters: { off_s: 10 }, ...extras }],
      byTest,
    );
  };
  const limitRegister = () => running.app.plant.device(0).bank.layout.slot(704, 'WMaxLimPct')!;

  it('answers nobody for its time and takes no connection; open ones stay, and the other device goes on', async () => {
    const [before, writing] = [await open(0), await open(0)];
    expect(await before.request(read('0001'))).to.equal(answer('0001'));
    reboot();
    const write = `0003000000060106${limitRegister().address.toString(16)}1388`;
    writing.send(read('0002'));
    writing.send(write);
    writing.socket.end();
    expect((await writing.untilClosed()).toString('hex')).to.equal('');
    expect(await refusalAt(ports[0]!)).to.equal('ECONNREFUSED');
    expect(await said(1, read('0004'))).to.equal(answer('0004'));
    await running.app.plant.step(8);
    expect(await before.request(read('0005'))).to.equal(answer('0005'));
    expect(running.app.plant.device(0).bank.value(limitRegister()), 'the write was lost').to.equal(100);
  });

  it('also when the fault is over by its count', async () => {
    reboot({ count: 1 });
    expect(running.app.faults.ended[0]).to.deep.include({ end: 'count' });
    expect(await refusalAt(ports[0]!)).to.equal('ECONNREFUSED');
    await running.app.plant.step(8);
    expect(await said(0, read('0008'))).to.equal(answer('0008'));
  });
});
