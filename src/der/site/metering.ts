/** All meters of the site: the meter of the connection point, and the meters in the maps of devices. */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { SiteFlows, MeteredDevice } from './flows.ts';
import type { ConnectionMeter } from './meter.ts';
import { MeterFace } from './meter-face.ts';
import type { MeterFaceOptions } from './meter-face.ts';

/** A device whose map may show meters. */
export interface DeviceWithMeters extends MeteredDevice {
  /** absent: none */
  readonly mapMeters?: readonly MeterFaceOptions[];
}

export class Metering {
  readonly #flows: SiteFlows;
  readonly #connection: ConnectionMeter | null;
  /** devices whose maps show meters, by index */
  #faces: ReadonlyMap<number, readonly MeterFace[]> = new Map();
  #devices: readonly DeviceWithMeters[] = [];
  /** the common grid at the last measurement; null: none yet */
  #grid: GridValues | null = null;

  /** @param connection null: the connection point has no meter with a separate map */
  constructor(flows: SiteFlows, connection: ConnectionMeter | null) {
    this.#flows = flows;
    this.#connection = connection;
  }

  /** State that a restart keeps. Restoring shows it in the registers of every meter. */
  kept(): Kept {
    return keptParts({
      flows: this.#flows.kept(),
      shown: keptRecord(
        () => ({ grid: this.#grid }),
        ({ grid }) => {
          this.#grid = grid;
          if (grid) this.#show(grid);
        },
      ),
    });
  }

  /** As `SiteFlows.begin`; returns `to` without any meter. */
  begin(devices: readonly DeviceWithMeters[], from: SimTime, to: SimTime): SimTime {
    this.#follow(devices);
    if (this.#isActive) return this.#flows.begin(devices, from, to);
    this.#flows.rest(from);
    return to;
  }

  /** Counts the energies of the piece, to whose end all devices have advanced. */
  advance(to: SimTime): void {
    if (this.#isActive) this.#flows.advance(to);
    else this.#flows.rest(to);
  }

  /** Measures, and shows the values in the registers of every meter. @param devices devices of the last tick */
  publish(devices: readonly DeviceWithMeters[]): void {
    this.#follow(devices);
    if (!this.#isActive) return;
    this.#grid = this.#flows.measure(devices);
    this.#show(this.#grid);
  }

  #show(grid: GridValues): void {
    this.#connection?.show(grid);
    for (const faces of this.#faces.values()) for (const face of faces) face.show(grid);
  }

  get #isActive(): boolean {
    return this.#connection !== null || this.#faces.size > 0;
  }

  #follow(devices: readonly DeviceWithMeters[]): void {
    if (devices === this.#devices) return;
    this.#devices = devices;
    this.#faces = new Map(
      devices
        .filter(({ mapMeters = [] }) => mapMeters.length > 0)
        .map(({ index, mapMeters = [] }) => [
          index,
          this.#faces.get(index) ?? mapMeters.map((options) => new MeterFace(options, this.#flows)),
        ]),
    );
  }
}
