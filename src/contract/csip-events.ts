/** Events of IEEE 2030.5 as the rest of the program follows them. */
import type { CsipControl } from './csip-client.ts';

/** An event at one moment, as one EndDevice knows it. */
export interface CsipEvent
  extends Pick<CsipControl, 'mrid' | 'programHref' | 'primacy' | 'state' | 'endDeviceLfdi' | 'deviceIndices'> {
  /** null: the server gives none */
  readonly programMrid: string | null;
  /** the device has carried it out at least once (response 2) */
  readonly started: boolean;
  /** simulated instant at which it starts or ends by itself; Infinity: never, or on the clock of the machine */
  readonly nextAt: number;
}

export interface CsipEvents {
  readonly enabled: boolean;
  /** Those that are known, of all EndDevices of all clients. */
  events(): readonly CsipEvent[];
  /** Called within each change of a state, at the very instant. @returns ends it */
  onEvent(listener: (event: CsipEvent) => void): () => void;
}
