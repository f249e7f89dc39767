import { SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import type { PvModule } from './module.ts';
import type { PvShading } from '../../../contract/kinds/pv.ts';
import type { PvTracker } from './shading.ts';

/** Cell temperature after Faiman, with thermal inertia. */
export interface PvThermalConfig {
  /** heat loss in still air, W/(m2 K) */
  readonly u0: number;
  /** heat loss per wind speed, W s/(m3 K) */
  readonly u1: number;
  readonly timeConstantS: number;
}

/** An array of equal modules on one DC input. Instances may share one object. */
export interface PvConfig {
  readonly module: PvModule;
  /** modules in one string */
  readonly seriesCount: number;
  /** number of strings; a fraction scales the array to any power */
  readonly parallelCount: number;
  /** lower end of the DC window: minimum operating voltage of the input */
  readonly minDcVoltageV: number;
  /** upper end: only reported, see `overVoltage` */
  readonly maxDcVoltageV: number;
  /** open-circuit voltage at which the input starts; default 1.1 times the lower end of the window */
  readonly startVoltageV?: number;
  /** power at the maximum power point from which on the input starts, W; default 0 */
  readonly startPowerW?: number;
  /** time constant of the tracker; default 1 */
  readonly mpptTimeConstantS?: number;
  /** time from open circuit to the maximum power point; default 10 */
  readonly startSeconds?: number;
  readonly thermal?: PvThermalConfig;
  /** shading of every string; default none */
  readonly shading?: PvShading | null;
  /** default global */
  readonly tracker?: PvTracker;
}

/** @throws SimError CONFIG_INVALID with every issue of `config` */
export function checkConfig(config: PvConfig, startVoltageV: number): void {
  const issues: Issue[] = [];
  const positive = (name: string, value: number | undefined): void => {
    if (value !== undefined && !(value > 0 && Number.isFinite(value))) {
      issues.push({ name, detail: `${value} is not a positive number` });
    }
  };
  const { module } = config;
  positive('module.iLRef', module.iLRef);
  positive('module.i0Ref', module.i0Ref);
  positive('module.rShRef', module.rShRef);
  positive('module.aRef', module.aRef);
  positive('module.egRef', module.egRef);
  positive('seriesCount', config.seriesCount);
  positive('parallelCount', config.parallelCount);
  positive('maxDcVoltageV', config.maxDcVoltageV);
  positive('mpptTimeConstantS', config.mpptTimeConstantS);
  positive('thermal.u0', config.thermal?.u0);
  positive('thermal.timeConstantS', config.thermal?.timeConstantS);
  const fromZero = (name: string, value: number | undefined): void => {
    if (value !== undefined && !(value >= 0 && Number.isFinite(value))) {
      issues.push({ name, detail: `${value} is not a number from 0 up` });
    }
  };
  fromZero('module.rS', module.rS);
  fromZero('startSeconds', config.startSeconds);
  fromZero('startPowerW', config.startPowerW);
  fromZero('thermal.u1', config.thermal?.u1);
  fromZero('minDcVoltageV', config.minDcVoltageV);
  if (config.shading) checkShading(config.shading, issues);
  if (config.minDcVoltageV >= config.maxDcVoltageV) {
    issues.push({ name: 'minDcVoltageV', detail: `${config.minDcVoltageV} is not below maxDcVoltageV` });
  }
  if (!(startVoltageV >= config.minDcVoltageV && Number.isFinite(startVoltageV))) {
    issues.push({ name: 'startVoltageV', detail: `${startVoltageV} is not a voltage from minDcVoltageV up` });
  }
  if (issues.length > 0)
    throw new SimError('CONFIG_INVALID', 'The PV array cannot be built from this configuration', issues);
}

function checkShading(shading: PvShading, issues: Issue[]): void {
  for (const name of ['shadedShare', 'irradianceShare'] as const) {
    if (!(shading[name] >= 0 && shading[name] <= 1))
      issues.push({ name: `shading.${name}`, detail: `${shading[name]} is not a share from 0 to 1` });
  }
}
