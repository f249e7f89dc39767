import type { DeviceDetail } from '../../contract/device.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DcSource } from '../source/source.ts';

/** The detail of a device with its instant. */
export class ShownDetail {
  readonly #source: Pick<DcSource, 'detail'>;
  #at: SimTime;
  #detail: DeviceDetail;

  constructor(source: Pick<DcSource, 'detail'>, instant: SimTime) {
    this.#source = source;
    this.#at = instant;
    this.#detail = source.detail();
  }

  get at(): SimTime {
    return this.#at;
  }

  get last(): DeviceDetail {
    return this.#detail;
  }

  /** The detail at an instant, computed only if the instant is new. */
  of(instant: SimTime): DeviceDetail {
    return this.#at === instant ? this.#detail : this.renew(instant);
  }

  renew(instant: SimTime): DeviceDetail {
    this.#at = instant;
    this.#detail = this.#source.detail();
    return this.#detail;
  }
}
