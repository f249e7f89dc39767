/** Heartbeat registers: what a device loses when a master no longer writes one. */
import type { PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';

type Settings = ReadonlyMap<PointSlot, AnyPointValue>;

/** The loss behind a heartbeat register. */
export interface Loss {
  /** simulated seconds after the last write */
  readonly afterS: number;
  readonly settings: Settings;
}

/** Simulated time of one device; a reset of the device drops its pending calls. */
export interface DeviceTime {
  nowS(): number;
  afterS(delayS: number, act: () => void): void;
}

/**
 * The heartbeat of one register. It is watched from the first write of a master to any register on, so that settings
 * without a heartbeat lapse too; after a loss from the next such write on.
 */
export class Watchdog {
  readonly #loss: Loss;
  readonly #time: DeviceTime;
  readonly #lose: (settings: Settings) => void;
  /** instant of the last beat; null: not watched */
  #beatS: number | null = null;
  /** only the call of the last beat acts */
  #round = 0;

  constructor(loss: Loss, time: DeviceTime, lose: (settings: Settings) => void) {
    this.#loss = loss;
    this.#time = time;
    this.#lose = lose;
  }

  /** A master has written. @param isBeat to the heartbeat register itself */
  written(isBeat: boolean): void {
    const nowS = this.#time.nowS();
    // the clock stands between two ticks: further beats there change nothing
    if (this.#beatS === nowS || (!isBeat && this.#beatS !== null)) return;
    this.#beatS = nowS;
    this.#round += 1;
    const round = this.#round;
    this.#time.afterS(this.#loss.afterS, () => {
      if (round !== this.#round) return;
      this.stop();
      this.#lose(this.#loss.settings);
    });
  }

  /** The device has been reset. */
  stop(): void {
    this.#beatS = null;
    this.#round += 1;
  }
}
