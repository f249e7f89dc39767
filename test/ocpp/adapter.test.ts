import { expect } from 'chai';
import type { Device } from '../../src/contract/device.ts';
import { noOcppCounters } from '../../src/contract/ocpp-disabled.ts';
import { OcppAdapter } from '../../src/ocpp/adapter.ts';
import type { ChargePoint } from '../../src/ocpp/station/charge-point.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';
import { settled } from './v16/fakes.ts';

/** A register of stations that write down what they are told, and are restored when a test says so. */
function adapterOf() {
  const told: string[] = [];
  const loads = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  const make = ({ index }: Device) => {
    const tell = (what: string) => () => {
      told.push(`${what} ${index}`);
      return Promise.resolve();
    };
    const station: Partial<ChargePoint> = {
      id: `CP-${index}`,
      counters: noOcppCounters,
      load: () =>
        new Promise((resolve, reject) => {
          loads.set(index, { resolve, reject });
        }),
      begin: () => {
        told.push(`begin ${index}`);
      },
      leave: tell('leave'),
      stop: tell('stop'),
    };
    return station as ChargePoint;
  };
  const adapter = new OcppAdapter({
    endpoint: 'ws://central/',
    make,
    later: new HandTimers(new HandWall()).later,
    isReplaced: () => false,
  });
  const loadOf = (index: number) => {
    const load = loads.get(index);
    if (load === undefined) throw new Error(`station ${index} does not load`);
    return load;
  };
  /** As the plant adds a device. */
  const add = async (index: number) => {
    await adapter.join({ index } as Device);
  };
  return { adapter, told, loadOf, add };
}

describe('the charge points of a process', () => {
  it('a station joins when its state is restored, and then connects', async () => {
    const { adapter, told, loadOf, add } = adapterOf();
    const added = add(3);
    expect([adapter.list, adapter.ofDevice(3)]).to.deep.equal([[], null]);
    loadOf(3).resolve();
    await added;
    expect(adapter.list).to.deep.equal([adapter.station('CP-3')]);
    expect(told).to.deep.equal(['begin 3']);
  });

  it('a device that leaves while its station is restored leaves nothing behind', async () => {
    const { adapter, told, loadOf, add } = adapterOf();
    const added = add(3);
    const left = adapter.leave(3);
    await settled();
    expect(told).to.deep.equal([]);
    loadOf(3).resolve();
    await Promise.all([added, left]);
    expect([adapter.list, adapter.ofDevice(3)]).to.deep.equal([[], null]);
    expect(told.at(-1)).to.equal('leave 3');
  });

  it('a station that has left before it was to connect does not connect', async () => {
    const { adapter, told, loadOf } = adapterOf();
    const joined = adapter.add({ index: 3 } as Device);
    loadOf(3).resolve();
    await joined;
    await adapter.leave(3);
    adapter.connect();
    expect(told).to.deep.equal(['leave 3']);
  });

  it('a station whose state cannot be restored is stopped, and the failure is told', async () => {
    const { adapter, told, loadOf, add } = adapterOf();
    const added = add(3).catch((error: unknown) => error);
    const left = adapter.leave(3);
    const failure = new Error('the store is broken');
    loadOf(3).reject(failure);
    expect(await added).to.equal(failure);
    await left;
    expect(adapter.list).to.deep.equal([]);
    expect(told).to.deep.equal(['stop 3']);
  });

  it('an end of the process meanwhile stops the station, which does not connect', async () => {
    const { adapter, told, loadOf, add } = adapterOf();
    const added = add(3);
    const stopped = adapter.close();
    loadOf(3).resolve();
    await Promise.all([added, stopped]);
    expect(told).to.deep.equal(['stop 3']);
  });
});
