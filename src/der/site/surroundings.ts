/** Devices and their surroundings, as a connection point has them. */
import type { SimTime } from '../../core/time/clock.ts';
import type { SiteShare } from '../inverter/site-share.ts';
import type { MeterFaceOptions } from './meter-face.ts';

export interface SiteDevice {
  readonly index: number;
  /** meters in the map of the device */
  readonly mapMeters?: readonly MeterFaceOptions[];
  /** the public members only: any object with them serves */
  readonly siteShare: Pick<SiteShare, keyof SiteShare>;
}

/** Part of the environment that the site uses. */
export interface SiteSurroundings {
  /** local load beside a device, W */
  loadW(deviceIndex: number, t: SimTime): number;
  /** the next instant after `t` at which a value of the surroundings jumps or bends */
  nextEvent(deviceIndex: number, t: SimTime): number;
}
