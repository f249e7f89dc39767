import type { DeviceDetail } from '../../contract/device.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DcSource } from '../source/source.ts';

/** The detail of a device with the instant that it shows. */
export class ShownDetail {
  readonly #source: Pick<DcSource, 'detail'>;
  #at: SimTime;
  #detail: DeviceDetail;

  constructor(source: Pick<DcSource, 'detail'>, now: SimTime) {
    this.#source = source;
    this.#at = now;
    this.#detail = source.detail();
  }

  get at(): SimTime {
    return this.#at;
  }

  get last(): DeviceDetail {
    return this.#detail;
  }

  /** Made anew where it shows another instant. */
  of(now: SimTime): DeviceDetail {
    return this.#at === now ? this.#detail : this.renew(now);
  }

  renew(now: SimTime): DeviceDetail {
    this.#at = now;
    this.#detail = this.#source.detail();
    return this.#detail;
  }
}
