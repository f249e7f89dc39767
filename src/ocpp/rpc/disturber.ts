/** Where faults act on the frames of a station; without faults `active` is false and nothing is asked. */
import type { Payload } from './model.ts';

/** A frame about to go out, or one that has come in. */
export interface DisturbableFrame {
  readonly deviceIndex: number;
  readonly direction: 'in' | 'out';
  readonly type: 'call' | 'result' | 'error' | 'send';
  /** of the call, also for its answer */
  readonly action: string;
  readonly payload: Payload;
}

/** What happens to one frame; absent members: nothing. */
export interface FrameDisturbance {
  /** closes the socket without a close frame instead */
  readonly drop?: true;
  /** not sent at all; of an incoming call: it is read and never answered */
  readonly suppress?: true;
  readonly delayMs?: number;
  /** answers the call of the central system so, in place of its handler */
  readonly callError?: { readonly code: string; readonly description: string };
  /** answers the call of the central system so, and does not carry it out */
  readonly pretence?: Payload;
  /** the text in its place */
  readonly rewrite?: (text: string) => string;
  readonly twice?: true;
  readonly messageId?: string;
  readonly payload?: Payload;
}

/** What a meter shows in place of the truth: energies times `factor`, then plus `offsetWh`. */
export interface MeterDistortion {
  readonly factor: number;
  readonly offsetWh: number;
}

export interface FrameDisturber {
  readonly active: boolean;
  disturb(frame: DisturbableFrame): FrameDisturbance | null;
  /** whether pings of the central system stay unanswered now */
  noPong(deviceIndex: number): boolean;
  /** how long after its opening a connection may be dropped (flapping); null: never. No occasion of the fault yet */
  dropsAfterMs(deviceIndex: number): number | null;
  /** Whether the connection is dropped now that this time has passed: an occasion of its fault. */
  drops(deviceIndex: number): boolean;
  /** added to every time stamp that is sent, s */
  skewS(deviceIndex: number): number;
  /**
   * Of the energy registers as a message shows them; null: the truth. Each call is an occasion of its faults.
   * @param connectorId 0: the meter of the station
   * @param action message that the reading is for: StartTransaction, MeterValues, StopTransaction; of 2.x
   * TransactionEvent, MeterValues
   */
  readings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null;
  /** What `readings` would give now; no occasion of any fault. */
  peekReadings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null;
  /** Calls back when a fault of OCPP begins or ends. */
  onChange(listener: () => void): () => void;
}

export const noDisturber: FrameDisturber = {
  active: false,
  disturb: () => null,
  noPong: () => false,
  dropsAfterMs: () => null,
  drops: () => false,
  skewS: () => 0,
  readings: () => null,
  peekReadings: () => null,
  onChange: () => () => undefined,
};
