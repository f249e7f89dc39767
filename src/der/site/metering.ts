/** All meters of the site: the meter of the connection point, and the meters in the maps of devices. */
import { keptParts, keptRecord, keptThen } from '../../core/kept.ts';
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
  /** the common grid of the last `measure`; null: none */
  #grid: GridValues | null = null;

  /** @param connection null: the connection point has no meter with a separate map */
  constructor(flows: SiteFlows, connection: ConnectionMeter | null) {
    this.#flows = flows;
    this.#connection = connection;
  }

  /** State that a restart keeps. Restoring shows it in the registers of every meter. */
  kept(): Kept {
    const shown = keptRecord(
      () => ({ grid: this.#grid }),
      ({ grid }) => {
        this.#grid = grid;
      },
    );
    return keptParts({
      flows: this.#flows.kept(),
      ...(this.#connection && { connection: this.#connection.kept() }),
      faces: this.#keptFaces(),
      shown: keptThen(shown, () => {
        this.#showAll();
      }),
    });
  }

  /** Of the present meters, as far as they were there. */
  #keptFaces(): Kept {
    return keptRecord(
      () => ({
        devices: Array.from(this.#faces, ([index, faces]) => ({
          index,
          states: faces.map((face) => face.kept().save()),
        })),
      }),
      ({ devices }) => {
        for (const { index, states } of devices)
          for (const [i, face] of (this.#faces.get(index) ?? []).entries()) {
            const state = states[i];
            if (state !== undefined) face.kept().restore(state);
          }
      },
    );
  }

  /** As `SiteFlows.begin`; returns `to` without any meter. */
  begin(devices: readonly DeviceWithMeters[], from: SimTime, to: SimTime): SimTime {
    this.#follow(devices);
    if (this.#isActive) return this.#flows.begin(devices, from, to);
    this.#flows.rest(from);
    return to;
  }

  /** The instant at which `begin` ends a piece from `from` at the latest; Infinity without a meter when devices last changed. */
  nextCut(from: SimTime): number {
    return this.#isActive ? this.#flows.intervalEnd(from) : Infinity;
  }

  /** Counts the energies of the piece, to whose end all devices have advanced. */
  advance(to: SimTime): void {
    if (this.#isActive) this.#flows.advance(to);
    else this.#flows.rest(to);
  }

  /** Measures the flows at the end of the last piece. @param devices devices of the last tick */
  measure(devices: readonly DeviceWithMeters[]): void {
    this.#follow(devices);
    this.#grid = this.#isActive ? this.#flows.measure(devices) : null;
  }

  /**
   * Shows the measured values in the map of a device, in the turn of the event loop in which the device shows its own:
   * a read sees both of one instant.
   */
  showIn(deviceIndex: number): void {
    if (this.#grid === null) return;
    for (const face of this.#faces.get(deviceIndex) ?? []) face.show(this.#grid);
  }

  /** Shows the measured values in the map of the connection point. */
  showConnection(): void {
    if (this.#grid !== null) this.#connection?.show(this.#grid);
  }

  /** Measures, and shows the values in the registers of every meter. @param devices devices of the last tick */
  publish(devices: readonly DeviceWithMeters[]): void {
    this.measure(devices);
    this.#showAll();
  }

  #showAll(): void {
    this.showConnection();
    for (const index of this.#faces.keys()) this.showIn(index);
  }

  get #isActive(): boolean {
    return this.#connection !== null || this.#faces.size > 0;
  }

  #follow(devices: readonly DeviceWithMeters[]): void {
    if (devices === this.#devices) return;
    this.#devices = devices;
    const former = this.#faces;
    this.#faces = new Map(
      devices
        .filter(({ mapMeters = [] }) => mapMeters.length > 0)
        .map(({ index, mapMeters = [] }) => [
          index,
          former.get(index) ?? mapMeters.map((options) => new MeterFace(options, this.#flows)),
        ]),
    );
    for (const [index, faces] of former) if (!this.#faces.has(index)) for (const face of faces) face.close();
  }
}
