/** Models whose registers are computed when they are read. */
import type { Layout } from './layout.ts';
import { createMapView } from './view.ts';
import type { MapView, MeasurementView } from './view.ts';

/** A model whose registers are computed at each read: too costly for every tick, seldom read and never written. */
export interface OnDemandOptions {
  readonly modelId: number;
  /** Updates the registers through a view that does not call `update`. Each read calls it: cheap if nothing changed. */
  readonly update: (map: MeasurementView) => void;
}

export class OnDemandModel {
  readonly #from: number;
  readonly #end: number;
  readonly #raw: MeasurementView;
  readonly #update: (map: MeasurementView) => void;

  private constructor(from: number, end: number, raw: MeasurementView, update: (map: MeasurementView) => void) {
    this.#from = from;
    this.#end = end;
    this.#raw = raw;
    this.#update = update;
  }

  /**
   * Makes `map` update the model before it returns the view of it; a view returned earlier shows the last update.
   * @returns null for a layout without the model
   */
  static in(layout: Layout, image: Buffer, map: MapView, { modelId, update }: OnDemandOptions): OnDemandModel | null {
    const place = layout.models.find(({ def }) => def.id === modelId);
    if (!place) return null;
    const from = place.address - layout.base;
    const raw = createMapView(layout, image);
    const onDemand = new OnDemandModel(from, from + 2 + place.length, raw, update);
    const name = `m${modelId}`;
    Object.defineProperty(map, name, {
      get: () => {
        onDemand.update();
        return raw[name as keyof MapView];
      },
    });
    return onDemand;
  }

  /** Updates the model if it is read: call it before reading `count` registers from offset `first`. */
  updateIfRead(first: number, count: number): void {
    if (first < this.#end && first + count > this.#from) this.update();
  }

  update(): void {
    this.#update(this.#raw);
  }
}
