import { expect } from 'chai';
import type { Device } from '../../src/contract/device.ts';
import { noOcppCounters } from '../../src/contract/ocpp-counters.ts';
import { Runtime } from '../../src/ocpp/runtime.ts';
import type { ChargePoint } from '../../src/ocpp/station/charge-point.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';
import { settled } from './v16/fakes.ts';

/** A register of stations that write down what they are told, and are restored when a test says so. */
function runtimeOf() {
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
  const runtime = new Runtime({ make, later: new HandTimers(new HandWall()).later });
  const loadOf = (index: number) => {
    const load = loads.get(index);
    if (load === undefined) throw new Error(`station ${index} does not load`);
    return load;
  };
  /** As the plant adds a device. */
  const add = async (index: number) => {
    await runtime.join({ index } as Device);
    runtime.connect();
  };
  return { runtime, told, loadOf, add };
}

describe('the charge points of a process', () => {
  it('a station joins when its state is restored, and then connects', async () => {
    const { runtime, told, loadOf, add } = runtimeOf();
    const added = add(3);
    expect([runtime.list, runtime.ofDevice(3)]).to.deep.equal([[], null]);
    loadOf(3).resolve();
    await added;
    expect(runtime.list).to.deep.equal([runtime.station('CP-3')]);
    expect(told).to.deep.equal(['begin 3']);
  });

  it('a device that leaves while its station is restored leaves nothing behind', async () => {
    const { runtime, told, loadOf, add } = runtimeOf();
    const added = add(3);
    const left = runtime.leave(3);
    await settled();
    expect(told).to.deep.equal([]);
    loadOf(3).resolve();
    await Promise.all([added, left]);
    expect([runtime.list, runtime.ofDevice(3)]).to.deep.equal([[], null]);
    expect(told.at(-1)).to.equal('leave 3');
  });

  it('a station that has left before it was to connect does not connect', async () => {
    const { runtime, told, loadOf } = runtimeOf();
    const joined = runtime.join({ index: 3 } as Device);
    loadOf(3).resolve();
    await joined;
    await runtime.leave(3);
    runtime.connect();
    expect(told).to.deep.equal(['leave 3']);
  });

  it('a station whose state cannot be restored is stopped, and the failure is told', async () => {
    const { runtime, told, loadOf, add } = runtimeOf();
    const added = add(3).catch((error: unknown) => error);
    const left = runtime.leave(3);
    const failure = new Error('the store is broken');
    loadOf(3).reject(failure);
    expect(await added).to.equal(failure);
    await left;
    expect(runtime.list).to.deep.equal([]);
    expect(told).to.deep.equal(['stop 3']);
  });

  it('an end of the process meanwhile stops the station, which does not connect', async () => {
    const { runtime, told, loadOf, add } = runtimeOf();
    const added = add(3);
    const stopped = runtime.stop();
    loadOf(3).resolve();
    await Promise.all([added, stopped]);
    expect(told).to.deep.equal(['stop 3']);
  });
});
