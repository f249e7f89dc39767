import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { App } from '../../../../src/app/start-stop.ts';
import type { ProxyAdapter } from '../../../../src/sunspec/modbus/proxy/bridge.ts';
import { adu, RawClient } from '../../../support/modbus-client.ts';
import { startApp } from '../../../support/running-app.ts';

const map = {
  name: 'heartbeat',
  registers: [
    {
      address: 0,
      type: 'uint16',
      name: 'heartbeat',
      keeps: 0,
      watchdog_s: 60,
      lost: { '704.WMaxLimPctEna': 'DISABLED' },
    },
    {
      address: 1,
      type: 'uint16',
      access: 'rw',
      name: 'limit',
      point: '704.WMaxLimPct',
      also: { '704.WMaxLimPctEna': 'ENABLED' },
    },
  ],
};

describe('a heartbeat register of a proxy map', () => {
  let folder: string;
  let app: App;
  let client: RawClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heartbeat-'));
    const file = join(folder, 'map.json');
    await writeFile(file, JSON.stringify(map));
    ({ app } = await startApp(['PV-3Phase'], ['--proxy', file, '--proxy_port', '0']));
    const proxy = app.adapters.find(({ comm }) => comm === 'modbus_proxy') as ProxyAdapter;
    client = await RawClient.open(proxy.port);
  });
  afterEach(async () => {
    client.destroy();
    await app.stop();
    await rm(folder, { recursive: true });
  });

  const write = async (address: number, value: number): Promise<void> => {
    const pdu = `06000${address}${value.toString(16).padStart(4, '0')}`;
    expect((await client.request(adu(1, 1, pdu))).slice(14)).to.equal(pdu);
  };
  const bank = () => app.plant.device(0).bank;
  const isOn = () => bank().map.m704.WMaxLimPctEna === 'ENABLED';
  /** Simulated seconds in ticks of one. */
  async function pass(seconds: number): Promise<void> {
    app.plant.setTime({ rate: 1 / app.plant.time.tickIntervalS });
    await app.plant.step(seconds);
  }

  it('keeps set-points in force while it is written, and no longer', async () => {
    await write(1, 50);
    for (let i = 1; i <= 3; i += 1) {
      await pass(50);
      await write(0, i);
    }
    await pass(59);
    expect(isOn()).to.equal(true);
    await pass(2);
    expect(isOn()).to.equal(false);
    const slot = bank().layout.slot(704, 'WMaxLimPctEna')!;
    expect(bank().provenance(slot)).to.include({ source: 'reversion' });
  });

  it('lets a set-point lapse that never had a heartbeat, which other writes do not prolong', async () => {
    await write(1, 50);
    await pass(40);
    await write(1, 40);
    await pass(21);
    expect(isOn()).to.equal(false);
    await write(1, 30);
    await pass(59);
    expect(isOn()).to.equal(true);
    await pass(2);
    expect(isOn()).to.equal(false);
  });

  it('is not missed after a reset of the device, until a master writes again', async () => {
    await write(0, 1);
    app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    const { layout } = bank();
    bank().assign({ source: 'rest' }, [{ slot: layout.slot(704, 'WMaxLimPctEna')!, value: 'ENABLED' }]);
    await pass(120);
    expect(isOn()).to.equal(true);
    await write(1, 50);
    await pass(61);
    expect(isOn()).to.equal(false);
  });
});
