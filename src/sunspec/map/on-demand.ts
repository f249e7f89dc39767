/** A model whose registers are worked out only when somebody looks: dear, seldom read, and never written. */
import type { Layout } from './layout.ts';
import { createMapView } from './view.ts';
import type { MapView, MeasurementView } from './view.ts';

export interface OnDemandOptions {
  readonly modelId: number;
  /** Writes what the registers have to show, through a view that asks nobody; called often, most times for nothing. */
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
   * From now on `map` draws before it gives the view of that model; what has been got from it shows what was drawn last.
   * @returns null for a layout without the model
   */
  static in(layout: Layout, image: Buffer, map: MapView, { modelId, draw }: OnDemandOptions): OnDemandModel | null {
    const place = layout.models.find(({ def }) => def.id === modelId);
    if (!place) return null;
    const from = place.address - layout.base;
    const raw = createMapView(layout, image);
    const made = new OnDemandModel(from, from + 2 + place.length, raw, draw);
    const name = `m${modelId}`;
    Object.defineProperty(map, name, {
      get: () => {
        made.draw();
        return raw[name as keyof MapView];
      },
    });
    return made;
  }

  /** Before `count` registers from offset `first` are looked at. */
  lookAt(first: number, count: number): void {
    if (first < this.#end && first + count > this.#from) this.draw();
  }

  draw(): void {
    this.#draw(this.#raw);
  }
}
