import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { createModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import type { SerialChannel } from '../../../src/sunspec/modbus/serial-line.ts';
import { testPlant } from '../../support/plant.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

/** A port without traffic. */
class QuietPort extends EventEmitter implements SerialChannel {
  readonly writableLength = 0;
  readonly readableLength = 0;
  isOpen = true;

  write(): boolean {
    return true;
  }

  drain(then: () => void): void {
    then();
  }

  pause(): this {
    return this;
  }

  resume(): this {
    return this;
  }

  close(then: () => void): void {
    this.isOpen = false;
    then();
  }

  unplug(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('Communication alarms of a serial line', () => {
  let wall: HandWall;
  let timers: HandTimers;
  let plant: SimPlant;
  let alarms: CommAlarms;
  let adapter: ModbusRtuAdapter;
  /** null: there is no port to open */
  let port: QuietPort | null;

  const shown = (index: number) => alarms.of(index).map(({ code, message }) => `${code}: ${message}`);
  const counts = (...indexes: number[]) => indexes.map((index) => alarms.of(index).length);

  function lose(): void {
    port?.unplug();
    port = null;
  }

  async function pass(ms: number): Promise<void> {
    timers.pass(ms);
    await turn();
  }

  beforeEach(async () => {
    wall = new HandWall();
    timers = new HandTimers(wall);
    alarms = new CommAlarms(() => wall.nowMs());
    plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], unitAddressOf: (index) => 1 + index });
    port = new QuietPort();
    adapter = createModbusRtuAdapter({
      devices: plant.devices,
      line: { path: 'COM9', baudRate: 9600, parity: 'even', stopBits: 1 },
      clock: wall,
      later: timers.later,
      commAlarms: alarms,
      open: () =>
        port
          ? Promise.resolve(port)
          : Promise.reject(new SimError('LISTEN_FAILED', 'cannot open the serial port COM9')),
    });
    await adapter.start();
  });

  afterEach(() => adapter.stop());

  it('stand at every device from the loss of the port on, with the latest reason, until it is back', async () => {
    expect(counts(0, 1)).to.deep.equal([0, 0]);
    const lostMs = wall.nowMs();
    lose();
    const lost = 'rtu_port_lost: the serial port COM9 has disappeared';
    expect([shown(0), shown(1)]).to.deep.equal([[lost], [lost]]);
    await pass(1000);
    expect(shown(0)).to.deep.equal(['rtu_port_lost: cannot open the serial port COM9']);
    expect(alarms.of(0)[0]?.sinceMs).to.equal(lostMs);
    port = new QuietPort();
    await pass(30_000);
    expect(adapter.status().state).to.equal('listening');
    expect(counts(0, 1)).to.deep.equal([0, 0]);
  });

  it('a device that joins meanwhile has one too, and one that leaves has none', async () => {
    lose();
    await adapter.addDevice({ index: 2, bank: plant.device(0).bank });
    await adapter.removeDevice(1);
    expect(counts(0, 1, 2)).to.deep.equal([1, 0, 1]);
    port = new QuietPort();
    await pass(30_000);
    expect(counts(0, 1, 2)).to.deep.equal([0, 0, 0]);
  });

  it('a stop ends them, and no later attempt raises them again', async () => {
    lose();
    await adapter.stop();
    await pass(30_000);
    expect(counts(0, 1)).to.deep.equal([0, 0]);
  });
});
