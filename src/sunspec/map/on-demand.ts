/** A model whose registers are computed at each read: too costly for every tick, seldom read and never written. */
import type { Layout } from './layout.ts';
import { createMapView } from './view.ts';
import type { MapView, MeasurementView } from './view.ts';

export interface OnDemandOptions {
  readonly modelId: number;
  /** Updates the registers through a view that does not draw itself; called at every read, so it must be cheap. */
  readonly draw: (map: MeasurementView) => void;
}

export class OnDemandModel {
  readonly #from: number;
  readonly #end: number;
  readonly #raw: MeasurementView;
  readonly #draw: (map: MeasurementView) => void;

  private constructor(from: number, end: number, raw: MeasurementView, draw: (map: MeasurementView) => void) {
    this.#from = from;
    this.#end = end;
    this.#raw = raw;
    this.#draw = draw;
  }

  /**
   * From now on `map` draws before it returns the view of that model; a view returned earlier shows the last drawing.
   * @returns null for a layout without the model
   */
  static in(layout: Layout, image: Buffer, map: MapView, { modelId, draw }: OnDemandOptions): OnDemandModel | null {
    const place = layout.models.find(({ def }) => def.id === modelId);
    if (!place) return null;
    const from = place.address - layout.base;
    const raw = createMapView(layout, image);
    const onDemand = new OnDemandModel(from, from + 2 + place.length, raw, draw);
    const name = `m${modelId}`;
    Object.defineProperty(map, name, {
      get: () => {
        onDemand.draw();
        return raw[name as keyof MapView];
      },
    });
    return onDemand;
  }

  /** Call it before reading `count` registers from offset `first`. */
  lookAt(first: number, count: number): void {
    if (first < this.#end && first + count > this.#from) this.draw();
  }

  draw(): void {
    this.#draw(this.#raw);
  }
}
