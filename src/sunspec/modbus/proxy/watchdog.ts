/** Heartbeat registers: settings that a device gets when a master no longer writes one. */
import type { PointSlot } from '../../map/layout.ts';
import type { AnyPointValue } from '../../map/types.ts';

type Settings = ReadonlyMap<PointSlot, AnyPointValue>;

/** The settings for the loss of a heartbeat. */
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
 * The heartbeat of one register. A watch begins with the first write of a master to any register, so that a master that
 * never writes the heartbeat register counts too; after a loss with the next write.
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

  /** Follows a write of a master. @param isBeat true: to the heartbeat register itself */
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

  /** Ends the watch: after a loss, or a reset of the device. */
  stop(): void {
    this.#beatS = null;
    this.#round += 1;
  }
}
