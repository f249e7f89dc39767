/** The points of a simulated device, driven without a wire. */
import { expect } from 'chai';
import { createRandom } from '../../../src/core/random.ts';
import type { Dnp3Profile } from '../../../src/contract/dnp3-settings.ts';
import type { Device } from '../../../src/contract/device.ts';
import { createDevicePort } from '../../../src/dnp3/bridge.ts';
import { builtInRows } from '../../../src/dnp3/profile/binding.ts';
import { OutstationPoints } from '../../../src/dnp3/profile/outstation-points.ts';
import { profileParts } from '../../../src/dnp3/profile/parts.ts';
import type { PointName, PointRow } from '../../../src/dnp3/profile/types.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import { simulatedRemoteClock } from '../../support/remote-clock.ts';
import type { TestPlantOptions } from '../../support/plant.ts';

const master = { address: 4, peer: '4@127.0.0.1:50000' };

export interface PointRigOptions extends TestPlantOptions {
  readonly profile?: Dnp3Profile;
  readonly dnp3Seed?: number;
  /** in place of the built-in map */
  readonly rows?: readonly PointRow[];
}

export class PointRig {
  readonly plant: SimPlant;
  readonly device: Device;
  readonly points: OutstationPoints;

  constructor(type: string, { profile = 'an2018', dnp3Seed = 1, rows, ...options }: PointRigOptions = {}) {
    this.plant = testPlant({ types: [type], tickIntervalS: 1, ...options });
    const [device] = this.plant.devices;
    if (device === undefined) throw new Error('there is no device');
    this.device = device;
    this.points = new OutstationPoints({
      port: createDevicePort(device, this.plant),
      profile,
      rows: rows ?? builtInRows(profile),
      parts: profileParts,
      clock: simulatedRemoteClock(this.plant),
      random: (purpose) => createRandom(dnp3Seed, 'dnp3', device.index, purpose),
      log: { info: () => undefined, warning: () => undefined },
    });
    this.plant.onTick(() => {
      this.points.tick();
    });
  }

  /** Operates an output in wire units. @returns its status */
  operate(name: PointName, value: number | boolean, isSelect = false): number {
    const index = Number(name.slice(2));
    const control =
      typeof value === 'boolean'
        ? ({ kind: 'binary', index, state: value ? 1 : 0 } as const)
        : ({ kind: 'analog', index, value, isFloat: false } as const);
    return isSelect ? this.points.controls.select(control, master) : this.points.controls.operate(control, master);
  }

  /** Operates one output after the other; all have to succeed. */
  done(...orders: readonly (readonly [PointName, number | boolean])[]): void {
    for (const [name, value] of orders) expect(this.operate(name, value), `${name} = ${value}`).to.equal(0);
  }

  /** The value of a point as it is sent; null: absent or not online. */
  value(name: PointName): number | null {
    const [view] = this.points.views({
      type: name.replace(/\d+$/, '') as 'AI',
      from: Number(/\d+$/.exec(name)?.[0]),
      to: Number(/\d+$/.exec(name)?.[0]),
    });
    return view?.online === true ? view.value : null;
  }

  /** A register. */
  register(model: number, path: string): unknown {
    const slot = this.device.bank.layout.slot(model, path);
    return slot && this.device.bank.value(slot);
  }

  get activePowerW(): number {
    return Number(this.register(701, 'W'));
  }

  async pass(seconds: number): Promise<void> {
    await this.plant.step(seconds);
  }
}
