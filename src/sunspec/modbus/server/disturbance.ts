/** Interface of fault injection in connections and requests: called by the stack, implemented in `faults/`. */
import type { Buffer } from 'node:buffer';

/** A request as far as it can be told from its PDU. */
export interface RequestFacts {
  /** the device behind the unit id, or one of those that a broadcast reaches; undefined: none */
  readonly deviceIndex: number | undefined;
  readonly unitId: number;
  readonly functionCode: number;
  /** null where the PDU is too short to have one */
  readonly address: number | null;
  readonly count: number | null;
  /** whether an answer leaves unless something keeps it back */
  readonly answered: boolean;
}

/** The disturbance of one request. An empty object means: serve normally. */
export interface Disturbance {
  /** the answer is this exception; `carriedOut`: the request is carried out before */
  readonly exception?: { readonly code: number; readonly carriedOut: boolean };
  /** no answer leaves, whether or not the request is carried out */
  readonly silence?: { readonly carriedOut: boolean };
  /** delay of the answer; later answers on the connection wait behind it */
  readonly delayMs?: number;
  /**
   * Calls back once when the faults that cause the delays are taken back, which ends the delays. The returned function
   * cancels.
   */
  readonly onTakenBack?: (then: () => void) => () => void;
  /** Replaces the ADU of the answer by any number of chunks of octets, or by none. */
  readonly rewrite?: (adu: Buffer) => readonly Buffer[];
  /** pause between the chunks that `rewrite` gives; absent: they leave together */
  readonly gapMs?: number;
  /** the connection ends when the answer has left */
  readonly close?: boolean;
}

/** Time for which a new connection is not read: what arrives meanwhile is lost. */
export interface Deafness {
  readonly ms: number;
  /** whether the faults that cause it were taken back, which ends it */
  readonly isTakenBack: () => boolean;
}

/** How a new connection is received. */
export type Reception =
  | { readonly kind: 'serve' }
  /** closed at once */
  | { readonly kind: 'refuse' }
  /** the oldest connections of the listener are closed for it, until only so many are left */
  | { readonly kind: 'replace_oldest'; readonly left: number; readonly deaf: Deafness | null }
  | { readonly kind: 'deaf'; readonly deaf: Deafness };

/** Called only while `active`. */
export interface Disturber {
  readonly active: boolean;
  /** @param open connections of the listener, unfinished handshakes included and the new one not */
  onConnect(deviceIndex: number | undefined, open: number): Reception;
  /** null: undisturbed */
  onRequest(request: RequestFacts, framing: 'mbap' | 'rtu'): Disturbance | null;
  /**
   * Whether the open connections of a listener have to end now; asked with each sweep.
   * @param deviceIndex undefined: the listener serves several devices
   */
  cuts(deviceIndex: number | undefined): boolean;
  /**
   * The device that answers to a unit id which the listener does not serve by itself; undefined: none.
   * @param deviceIndex as for `cuts`
   */
  aliasOf(deviceIndex: number | undefined, unitId: number): number | undefined;
}
