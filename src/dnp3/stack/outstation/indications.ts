/** Internal indications of one association, and the confirms that end them. IEEE 1815 4.2.4 */
import { iin } from '../application/types.ts';
import type { EventBuffer } from './events.ts';
import type { AssociationClock, Cast, OutstationOptions } from './types.ts';

/** Conditions reported by a fragment: a confirm ends a condition only as far as the fragment has reported it. */
export interface Report {
  /** as they are sent */
  readonly bits: number;
  /** without those that fault injection has added */
  readonly own: number;
  /** broadcasts, and events lost, since the start, when the fragment was built */
  readonly broadcasts: number;
  readonly lost: number;
}

export class Indications {
  readonly #outstation: Pick<OutstationOptions, 'conditions' | 'disturber'>;
  readonly #events: EventBuffer;
  readonly #time: AssociationClock;
  #cast: Cast = 'unicast';
  #broadcasts = 0;
  /** IIN1.7 */
  hasRestarted = true;

  constructor(
    outstation: Pick<OutstationOptions, 'conditions' | 'disturber'>,
    { events, time }: { readonly events: EventBuffer; readonly time: AssociationClock },
  ) {
    this.#outstation = outstation;
    this.#events = events;
    this.#time = time;
  }

  /** Bits of the next response, not yet reported. */
  get next(): number {
    return this.#own() | this.#outstation.disturber.iin(false);
  }

  /** True if the next response asks for a confirm because of a broadcast. */
  get asks(): boolean {
    return this.#cast === 'broadcast-confirm' || this.#cast === 'broadcast-confirm-optional';
  }

  broadcast(cast: Cast): void {
    this.#cast = cast;
    this.#broadcasts += 1;
  }

  /** The report of a fragment sent now; a broadcast without confirm is reported once. */
  report(): Report {
    const outstationBits = this.#own();
    const bits = outstationBits | this.#outstation.disturber.iin(true);
    if (!this.asks) this.#cast = 'unicast';
    return { bits, own: outstationBits, broadcasts: this.#broadcasts, lost: this.#events.lost };
  }

  /** The master has confirmed the fragment, and its events are gone. */
  confirmed({ own, broadcasts, lost }: Report): void {
    if ((own & iin.broadcast) !== 0 && broadcasts === this.#broadcasts) this.#cast = 'unicast';
    if ((own & iin.eventBufferOverflow) !== 0) this.#events.overflowTold(lost);
  }

  restart(): void {
    this.hasRestarted = true;
    this.#cast = 'unicast';
  }

  #own(): number {
    const { conditions } = this.#outstation;
    const events = this.#events;
    return (
      (this.#cast === 'unicast' ? 0 : iin.broadcast) |
      (events.hasWaiting(1) ? iin.class1 : 0) |
      (events.hasWaiting(2) ? iin.class2 : 0) |
      (events.hasWaiting(3) ? iin.class3 : 0) |
      (this.#time.needsTime ? iin.needTime : 0) |
      (conditions.localControl() ? iin.localControl : 0) |
      (conditions.trouble() ? iin.deviceTrouble : 0) |
      (this.hasRestarted ? iin.deviceRestart : 0) |
      (events.isOverflown ? iin.eventBufferOverflow : 0)
    );
  }
}
