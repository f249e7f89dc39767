import type { DeviceDetail, IvCurve } from '../../core/device.ts';
import type { WeatherNow } from '../environment.ts';

/** What a 714 port is, and what it shows of its source; power is positive into the inverter. */
export interface DcPort {
  readonly type: 'PV' | 'ESS' | 'EV' | 'INJ' | 'ABS' | 'BIDIR' | 'DC_DC';
  readonly name: string;
  readonly voltageV: number;
  readonly currentA: number;
  readonly powerW: number;
}

/** The primary source behind an inverter. Per sub-step: `prepare`, then `draw`. */
export interface DcSource {
  /** Brings the source to the end of a sub-step of `dtS` under this weather. */
  prepare(dtS: number, weather: WeatherNow): void;
  /** Jumps to the steady state of this weather: a fresh process starts settled. */
  settle(weather: WeatherNow): void;
  /** DC power that can be drawn now, W */
  readonly availableDcW: number;
  /** DC power that can be taken in now, W; 0 for a source that only gives */
  readonly absorbableDcW: number;
  /** on the way from standstill to full readiness */
  readonly starting: boolean;
  /** nothing moves by itself any more: long sub-steps are exact */
  readonly settled: boolean;
  /** Works at this DC power, -`absorbableDcW`..`availableDcW`. @param energized false: the input is open */
  draw(dcW: number, energized: boolean): void;
  /** the ports of model 714, in order */
  readonly ports: readonly DcPort[];
  detail(): DeviceDetail;
  /** @throws SimError COMMAND_NOT_APPLICABLE */
  curve(port: number | undefined, points: number): IvCurve;
}
