import { expect } from 'chai';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { connectGapMs, DeviceAdapter } from '../../src/core/device-adapter.ts';
import type { DeviceAdapterOptions, LoadedAdapter } from '../../src/core/device-adapter.ts';
import { SimError } from '../../src/core/errors.ts';

interface Item {
  readonly index: number;
}
interface View {
  readonly served: readonly number[];
}

/** A protocol that writes down the calls of the skeleton. */
class Protocol implements LoadedAdapter<Item, View> {
  readonly served: number[] = [];
  readonly view = this;
  readonly calls: string[] = [];
  failure: Error | null = null;
  state: 'connected' | undefined;

  open(devices: readonly Item[]): Promise<void> {
    this.calls.push('open');
    for (const { index } of devices) this.served.push(index);
    return this.failure === null ? Promise.resolve() : Promise.reject(this.failure);
  }
  join({ index }: Item): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.served.push(index);
    return Promise.resolve();
  }
  leave(index: number): Promise<void> {
    this.calls.push(`leave ${index}`);
    return Promise.resolve();
  }
  close(): Promise<void> {
    this.calls.push('close');
    return Promise.resolve();
  }
  release(): Promise<void> {
    this.calls.push('release');
    return Promise.resolve();
  }
  reload(): void {
    this.calls.push('reload');
  }
  startLines(): readonly string[] {
    return [`serves ${this.served.join()}`];
  }
  status() {
    return { peers: this.served.length, ...(this.state && { state: this.state }) };
  }
}

function adapterOf(options: Partial<DeviceAdapterOptions<Item, View>> = {}) {
  const protocol = new Protocol();
  const alarms = new CommAlarms(() => 0);
  const adapter = new DeviceAdapter<Item, View>({
    module: 'OCPP',
    comm: 'ocpp',
    service: 'OCPP charge point',
    alarm: 'ocpp_connection_lost',
    commAlarms: alarms,
    devices: () => [{ index: 0 }, { index: 1 }],
    standIn: { served: [] },
    load: () => Promise.resolve(protocol),
    ...options,
  });
  return { adapter, protocol, alarms };
}

describe('the skeleton of adapters with something for each device', () => {
  it('loads the protocol when it starts; its interface stands in from then on', async () => {
    const { adapter, protocol } = adapterOf();
    const { view } = adapter;
    expect(adapter.status()).to.include({ enabled: true, state: 'stopped', peers: 0 });
    expect([view.served, adapter.startLines(), adapter.endpointOf(0)]).to.deep.equal([[], [], null]);
    await adapter.start();
    expect([view.served, adapter.startLines()]).to.deep.equal([[0, 1], ['serves 0,1']]);
    expect(adapter.status()).to.include({ state: 'listening', peers: 2 });
    await Promise.all([adapter.stop(), adapter.stop()]);
    expect(protocol.calls).to.deep.equal(['open', 'close']);
  });

  it('shows the state of the protocol while it runs, and stopped afterwards', async () => {
    const { adapter, protocol } = adapterOf();
    await adapter.start();
    protocol.state = 'connected';
    expect(adapter.status().state).to.equal('connected');
    await adapter.stop();
    expect(adapter.status().state).to.equal('stopped');
  });

  it('closes the protocol when it does not open, and keeps the error', async () => {
    const { adapter, protocol } = adapterOf();
    protocol.failure = new Error('the port is in use');
    expect(await adapter.start().catch((error: unknown) => error)).to.equal(protocol.failure);
    expect(protocol.calls).to.deep.equal(['open', 'close']);
    expect([adapter.view.served, adapter.status().detail]).to.deep.equal([[], 'the port is in use']);
    await adapter.stop();
    expect(protocol.calls).to.deep.equal(['open', 'close']);
  });

  it('opens nothing when it is stopped while the protocol loads', async () => {
    const protocol = new Protocol();
    let endLoad: () => void = () => undefined;
    const loading = new Promise<Protocol>((resolve) => {
      endLoad = () => {
        resolve(protocol);
      };
    });
    const { adapter } = adapterOf({ load: () => loading });
    const start = adapter.start();
    const stop = adapter.stop();
    endLoad();
    await Promise.all([start, stop]);
    expect(protocol.calls).to.deep.equal([]);
    expect(adapter.status().state).to.equal('stopped');
  });

  it('refuses a device in words of its service; the alarm of a device ends when it leaves', async () => {
    const { adapter, protocol, alarms } = adapterOf();
    await adapter.addDevice({ index: 7 });
    await adapter.start();
    await adapter.addDevice({ index: 2 });
    protocol.failure = new Error('the port is in use');
    const refusal: unknown = await adapter.addDevice({ index: 3 }).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(SimError).and.include({
      code: 'COMMAND_CONFLICT',
      message: 'device 3 has no OCPP charge point: the port is in use',
    });
    alarms.raise(2, 'ocpp_connection_lost', 'gone');
    await adapter.removeDevice(2);
    expect([protocol.served, protocol.calls.at(-1), alarms.of(2)]).to.deep.equal([[0, 1, 2], 'leave 2', []]);
  });

  it('reloads only where the protocol has files', async () => {
    expect(adapterOf().adapter.reload).to.equal(undefined);
    const { adapter, protocol } = adapterOf({ reloads: true });
    adapter.reload?.();
    await adapter.start();
    adapter.reload?.();
    expect(protocol.calls).to.deep.equal(['open', 'reload']);
  });

  it('spreads the first connections of devices by 50 ms, and by 10 s in all', () => {
    expect([0, 1, 200, 1000].map(connectGapMs)).to.deep.equal([50, 50, 50, 10]);
  });
});
