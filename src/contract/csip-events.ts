/** Events of IEEE 2030.5 for the other parts of the program. */

export const csipControlStates = ['scheduled', 'active', 'completed', 'cancelled', 'superseded', 'rejected'] as const;
export type CsipControlState = (typeof csipControlStates)[number];

/** An event at one moment, as one EndDevice knows it; members as in `CsipControl`. */
export interface CsipEvent {
  readonly mrid: string;
  readonly programHref: string;
  readonly primacy: number;
  readonly state: CsipControlState;
  readonly endDeviceLfdi: string;
  readonly deviceIndices: readonly number[];
  /** null: the server gives none */
  readonly programMrid: string | null;
  /** the device has carried it out at least once (response 2) */
  readonly started: boolean;
  /** simulated instant of its scheduled start or end; Infinity: none, or on the wall clock */
  readonly nextAt: number;
}

export interface CsipEvents {
  readonly enabled: boolean;
  /** Known events of all EndDevices of all clients. */
  events(): readonly CsipEvent[];
  /** Called within each change of a state, at the very instant. @returns ends it */
  onEvent(listener: (event: CsipEvent) => void): () => void;
}
