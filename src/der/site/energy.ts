/** Energies of the site and of each device, since the start and since local midnight. */
import type { AssetType } from '../../contract/device.ts';
import type { DeviceEnergy, EnergyCount, EnergySums, SiteEnergy } from '../../contract/energy.ts';
import { SimError } from '../../core/errors.ts';
import { keptCount, keptRecord, keptThen } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { microsPerSecond } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';

export interface CountedDevice {
  readonly index: number;
  readonly assetType: AssetType;
  readonly siteShare: {
    /** counters that never fall */
    readonly energy: EnergyCount;
  };
}

interface EnergyOptions {
  readonly devices: () => readonly CountedDevice[];
  readonly clock: Pick<SimClock, 'dayAt' | 'nextDayAt' | 'tickTime' | 'acting'>;
  /** `Plant.at` */
  readonly at: (t: SimTime, act: () => void) => () => void;
}

/** Export and import, and their values at midnight. */
interface GridCount {
  readonly exportedWh: number;
  readonly importedWh: number;
}

/** Energies of the removed devices of a kind. */
interface Departed {
  readonly kind: AssetType;
  readonly sinceStart: EnergyCount;
  readonly today: EnergyCount;
}

const none: EnergyCount = { producedWh: 0, absorbedWh: 0, loadWh: 0 };

const combine = (a: EnergyCount, b: EnergyCount, of: (a: number, b: number) => number): EnergyCount => ({
  producedWh: of(a.producedWh, b.producedWh),
  absorbedWh: of(a.absorbedWh, b.absorbedWh),
  loadWh: of(a.loadWh, b.loadWh),
});
const sumOf = (a: EnergyCount, b: EnergyCount) => combine(a, b, (x, y) => x + y);
const rise = (from: EnergyCount, to: EnergyCount) => combine(to, from, (x, y) => x - y);

/** Energy of all counters of a device, positive to the grid. */
function netWh({ siteShare: { energy } }: CountedDevice): number {
  return energy.producedWh - energy.absorbedWh - energy.loadWh;
}

interface KeptEnergy {
  readonly day: number;
  readonly grid: GridCount;
  readonly gridAtMidnight: GridCount;
  readonly netWh: number;
  readonly atMidnight: readonly ({ readonly index: number } & EnergyCount)[];
  readonly departed: readonly Departed[];
}

/** @throws SimError INTERNAL for a value that is no energy: a sum would never recover from it */
function checkKept({ grid, gridAtMidnight, netWh, atMidnight, departed }: KeptEnergy): void {
  const counts = [...atMidnight, ...departed.flatMap(({ today, sinceStart }) => [today, sinceStart])];
  const energies = [
    netWh,
    ...[grid, gridAtMidnight].flatMap(({ exportedWh, importedWh }) => [exportedWh, importedWh]),
    ...counts.flatMap(({ producedWh, absorbedWh, loadWh }) => [producedWh, absorbedWh, loadWh]),
  ];
  if (!energies.every(Number.isFinite)) throw new SimError('INTERNAL', 'a kept energy is no number');
}

/** Energy is netted over whole simulated seconds, as by the meter of the connection point, or over longer pieces. */
const intervalMicros = microsPerSecond;

export class EnergyBook {
  readonly #options: EnergyOptions;
  /** number of the local day that `today` counts */
  #day: number;
  #cancel: () => void = () => undefined;
  #grid: GridCount = { exportedWh: 0, importedWh: 0 };
  #gridAtMidnight: GridCount = this.#grid;
  /** counters of devices at midnight, by index; those that have joined since began at 0 */
  #atMidnight: ReadonlyMap<number, EnergyCount> = new Map();
  #departed: readonly Departed[] = [];
  /** energy to the grid in the running interval, negative: from it */
  #netWh = 0;
  /** the same of all counters, at the end of the last piece */
  #countedWh = 0;
  /** the same of the counters of devices that have advanced in the present piece */
  #takenWh = 0;

  constructor(options: EnergyOptions) {
    this.#options = options;
    this.#day = options.clock.dayAt(options.clock.tickTime);
    this.#countedWh = this.#countNow();
    this.#awaitMidnight(options.clock.tickTime);
  }

  get site(): SiteEnergy {
    return { today: this.#sumsOf('today'), sinceStart: this.#sumsOf('sinceStart') };
  }

  of({ index, siteShare: { energy } }: CountedDevice): DeviceEnergy {
    return { today: rise(this.#atMidnight.get(index) ?? none, energy), sinceStart: energy };
  }

  /** State that a restart keeps; the devices have been restored. */
  kept(): Kept {
    const record = keptRecord<KeptEnergy>(
      () => ({
        day: this.#day,
        grid: this.#grid,
        gridAtMidnight: this.#gridAtMidnight,
        netWh: this.#netWh,
        atMidnight: Array.from(this.#atMidnight, ([index, count]) => ({ index, ...count })),
        departed: this.#departed,
      }),
      (saved) => {
        checkKept(saved);
        this.#day = keptCount(saved.day, 'day of the energies');
        this.#grid = saved.grid;
        this.#gridAtMidnight = saved.gridAtMidnight;
        this.#netWh = saved.netWh;
        this.#departed = saved.departed;
        const devices = new Map(this.#options.devices().map((device) => [device.index, device.siteShare.energy]));
        // a device that starts anew has counted less than at midnight
        this.#atMidnight = new Map(
          saved.atMidnight.map(({ index, ...count }) => [index, combine(count, devices.get(index) ?? none, Math.min)]),
        );
      },
    );
    return keptThen(record, () => {
      this.#countedWh = this.#countNow();
      this.follow();
    });
  }

  /** Takes the counters of a device that has advanced; call it for all devices, in their order, before `advanced`. */
  count(device: CountedDevice): void {
    this.#takenWh += netWh(device);
  }

  /** Counts a piece of time, to whose end all devices have advanced. */
  advanced(from: SimTime, to: SimTime): void {
    const countedWh = this.#takenWh;
    this.#takenWh = 0;
    this.#netWh += countedWh - this.#countedWh;
    this.#countedWh = countedWh;
    if (to % intervalMicros !== 0 && to - from < intervalMicros) return;
    this.#grid = this.#settled;
    this.#netWh = 0;
  }

  /** The clock may show another day, or reach the next one at another instant. All devices are at one instant. */
  follow(): void {
    const { clock } = this.#options;
    const at = clock.acting();
    const day = clock.dayAt(at);
    // a clock set back goes on with the count of the day: nothing is subtracted
    if (day > this.#day) this.#beginDay();
    this.#day = day;
    this.#awaitMidnight(at);
  }

  /** After a tick: a clock that follows the wall may have passed midnight at another instant than was expected. */
  tickEnded(end: SimTime): void {
    if (this.#options.clock.dayAt(end) !== this.#day) this.follow();
  }

  /** A device has left; its energies stay in those of the site. */
  forget(device: CountedDevice): void {
    const { assetType: kind, index } = device;
    const { today, sinceStart } = this.of(device);
    const former = this.#departed.find((each) => each.kind === kind);
    this.#departed = [
      ...this.#departed.filter((each) => each !== former),
      {
        kind,
        today: sumOf(former?.today ?? none, today),
        sinceStart: sumOf(former?.sinceStart ?? none, sinceStart),
      },
    ];
    this.#atMidnight = new Map([...this.#atMidnight].filter(([other]) => other !== index));
  }

  /** Takes over other devices, whose counters are no energy of a piece. */
  begin(): void {
    this.#countedWh = this.#countNow();
  }

  #beginDay(): void {
    this.#gridAtMidnight = this.#settled;
    this.#atMidnight = new Map(this.#options.devices().map(({ index, siteShare }) => [index, siteShare.energy]));
    this.#departed = this.#departed.map((each) => ({ ...each, today: none }));
  }

  #awaitMidnight(from: SimTime): void {
    this.#cancel();
    this.#cancel = this.#options.at(this.#options.clock.nextDayAt(from), () => {
      this.follow();
    });
  }

  /** Export and import with those of the running interval. */
  get #settled(): GridCount {
    const { exportedWh, importedWh } = this.#grid;
    return {
      exportedWh: exportedWh + Math.max(0, this.#netWh),
      importedWh: importedWh + Math.max(0, -this.#netWh),
    };
  }

  #countNow(): number {
    let wh = 0;
    for (const device of this.#options.devices()) wh += netWh(device);
    return wh;
  }

  #sumsOf(span: 'today' | 'sinceStart'): EnergySums {
    const byKind: Partial<Record<AssetType, EnergyCount>> = {};
    let all = none;
    const add = (kind: AssetType, count: EnergyCount) => {
      byKind[kind] = sumOf(byKind[kind] ?? none, count);
      all = sumOf(all, count);
    };
    for (const device of this.#options.devices()) add(device.assetType, this.of(device)[span]);
    for (const departed of this.#departed) add(departed.kind, departed[span]);
    const { exportedWh, importedWh } = this.#settled;
    const from = span === 'today' ? this.#gridAtMidnight : { exportedWh: 0, importedWh: 0 };
    return { ...all, exportedWh: exportedWh - from.exportedWh, importedWh: importedWh - from.importedWh, byKind };
  }
}
