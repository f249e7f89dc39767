/** Interface of fault injection: called by the stack, implemented in `faults/`. */
import type { Buffer } from 'node:buffer';

/** Properties of a request, from its PDU. */
export interface RequestFacts {
  /** the device of the unit id, or one of the devices of a broadcast; undefined: none */
  readonly deviceIndex: number | undefined;
  readonly unitId: number;
  readonly functionCode: number;
  /** null: the PDU is too short */
  readonly address: number | null;
  readonly count: number | null;
  /** true if an answer leaves unless a fault prevents it */
  readonly answered: boolean;
}

/** The disturbance of one request. An empty object: serve normally. */
export interface Disturbance {
  /** answer with this exception; `carriedOut`: carry the request out first */
  readonly exception?: { readonly code: number; readonly carriedOut: boolean };
  /** no answer; `carriedOut`: carry the request out */
  readonly silence?: { readonly carriedOut: boolean };
  /** delay of the answer, ms; later answers of the connection wait behind it */
  readonly delayMs?: number;
  /**
   * Calls back once when the faults that cause the delays are removed, which ends the delays. The returned function
   * cancels.
   */
  readonly onTakenBack?: (then: () => void) => () => void;
  /** Replaces the ADU of the answer by any number of chunks. */
  readonly rewrite?: (adu: Buffer) => readonly Buffer[];
  /** pause between the chunks of `rewrite`, ms; absent: they leave together */
  readonly gapMs?: number;
  /** true: the connection ends behind the answer */
  readonly close?: boolean;
}

/** Time in which a new connection is not read: octets received meanwhile are lost. */
export interface Deafness {
  readonly ms: number;
  /** true if the faults that cause it are removed, which ends it */
  readonly isTakenBack: () => boolean;
}

/** Treatment of a new connection. */
export type Reception =
  | { readonly kind: 'serve' }
  /** close at once */
  | { readonly kind: 'refuse' }
  /** close the oldest connections of the listener until only `left` remain */
  | { readonly kind: 'replace_oldest'; readonly left: number; readonly deaf: Deafness | null }
  | { readonly kind: 'deaf'; readonly deaf: Deafness };

/** Called only while `active`. */
export interface Disturber {
  readonly active: boolean;
  /** @param open number of other connections of the listener, unfinished handshakes included */
  onConnect(deviceIndex: number | undefined, open: number): Reception;
  /** null: undisturbed */
  onRequest(request: RequestFacts, framing: 'mbap' | 'rtu'): Disturbance | null;
  /**
   * True if the open connections of a listener have to end now; called at each sweep.
   * @param deviceIndex undefined: several devices
   */
  cuts(deviceIndex: number | undefined): boolean;
  /**
   * The device that answers to a unit id not served by the listener; undefined: none.
   * @param deviceIndex as in `cuts`
   */
  aliasOf(deviceIndex: number | undefined, unitId: number): number | undefined;
}
