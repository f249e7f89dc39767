import { expect } from 'chai';
import type { Snapshot } from '../../src/contract/snapshot.ts';
import type { Origin } from '../../src/core/origin.ts';
import type { SimDevice } from '../../src/der/device/device.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { MapView, WritableMapView } from '../../src/sunspec/map/view.ts';
import { testPlant } from './plant.ts';
import type { TestPlantOptions } from './plant.ts';

export const byTest: Origin = { source: 'rest', peer: 'test' };

/** Ticks of 100 ms at rate 1: a rate of 0.01 to 3600 makes one tick any length from 1 ms to 6 minutes. */
const baseTickS = 0.1;
const longestTickS = 360;

/** One paused plant and its first device, which a test runs over any span of simulated time. */
export class Rig {
  readonly plant: SimPlant;
  readonly device: SimDevice;
  readonly map: MapView;

  constructor(options: TestPlantOptions = {}) {
    this.plant = testPlant({ tickIntervalS: baseTickS, ...options });
    this.device = this.plant.devices[0]!;
    this.map = this.device.bank.map;
  }

  /** A rig under bright sun at a fixed cell temperature: the source gives more than the rating, and has settled. */
  static async sunny(options: TestPlantOptions = {}): Promise<Rig> {
    const rig = new Rig(options);
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rig.run(30);
    return rig;
  }

  /** Passes simulated seconds in as few ticks as can be. */
  async run(seconds: number): Promise<void> {
    for (let left = seconds; left > 1e-9; ) {
      const next = Math.min(left, longestTickS);
      this.plant.setTime({ rate: next / baseTickS });
      await this.plant.step(1);
      left -= next;
    }
  }

  /** Passes simulated seconds in ticks of `tickS`, calling back after each. */
  async watch(seconds: number, tickS: number, seen: () => void): Promise<void> {
    this.plant.setTime({ rate: tickS / baseTickS });
    for (let i = 0; i < Math.round(seconds / tickS); i += 1) {
      await this.plant.step(1);
      seen();
    }
  }

  set(change: (tx: WritableMapView) => void): void {
    this.device.bank.transact(byTest, change);
  }

  get snapshot(): Snapshot {
    return this.plant.latest.published[0]!.snapshot;
  }

  get w(): number {
    return this.map.m701.W!;
  }

  get q(): number {
    return this.map.m701.Var!;
  }

  /** `St InvSt ConnSt` of the registers in the words of the snapshot; fails where the two differ. */
  get state(): string {
    const { St, InvSt, ConnSt } = this.map.m701;
    const words = `${St!} ${InvSt!} ${ConnSt!}`.toLowerCase();
    const { service_state, inverter_state, connection_state } = this.snapshot.status;
    expect(`${service_state} ${inverter_state} ${connection_state}`).to.equal(words);
    return words;
  }

  /** Names of the set bits of 701.Alrm. */
  get alarmBits(): number[] {
    const alarms = Number(this.map.m701.Alrm);
    return Array.from({ length: 31 }, (_, bit) => bit).filter((bit) => Math.floor(alarms / 2 ** bit) % 2 === 1);
  }

  get alarmCodes(): string[] {
    return this.device.alarms.map((alarm) => alarm.code);
  }

  /** Registers of the whole bank, as a copy. */
  dump(): Buffer {
    const { base, size } = this.device.bank.layout;
    return Buffer.from(this.device.bank.read(base, size));
  }
}

/** Enter service with neither delay nor ramp, unless given. */
export function quickEntry(rig: Rig, { delayS = 0, randomS = 0, rampS = 0 } = {}): void {
  rig.set((tx) => {
    Object.assign(tx.m703, { ESDlyTms: delayS, ESRndTms: randomS, ESRmpTms: rampS });
  });
}
