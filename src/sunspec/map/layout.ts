import type { ModelDef, PointDef } from './types.ts';

/** One point at its place in a concrete map. */
export interface PointSlot {
  /** position in `Layout.slots` */
  readonly index: number;
  readonly modelId: number;
  /** path inside the model: `W`, `PFWInj.PF`, `Crv[0].Pt[3].V` (0-based) */
  readonly path: string;
  readonly def: PointDef;
  /** PDU address of the first register */
  readonly address: number;
  /** exponent of ten of the scale factor; 0 without one */
  readonly sf: number;
  readonly implemented: boolean;
}

/** One model at its place in a concrete map. */
export interface ModelPlace {
  readonly def: ModelDef;
  /** PDU address of the ID register */
  readonly address: number;
  /** the L register: registers after it */
  readonly length: number;
  readonly slots: readonly PointSlot[];
}

/** Where every point of a device lies; shared by all devices with the same shape. */
export interface Layout {
  /** PDU address of the `SunS` marker */
  readonly base: number;
  /** registers from the marker to the end model's L */
  readonly size: number;
  readonly models: readonly ModelPlace[];
  readonly slots: readonly PointSlot[];
}
