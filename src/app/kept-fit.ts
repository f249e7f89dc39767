/** Parts of the kept state of a device that fit its configuration, which may have changed since. */
import { createHash } from 'node:crypto';
import type { AppConfig, DeviceConfig } from '../config/settings/app-config.ts';

/** Marks of the configuration of a device, kept with its state. */
export interface Marks {
  /** differs if anything of the configuration does */
  readonly configuration: string;
  /** marks of the device, its source and its inverter; absent: form 1 of the state, which had none */
  readonly fits?: readonly string[];
}

/** Which parts of a state fit a device. */
interface Fit {
  readonly sameStart: boolean;
  readonly source: boolean;
  readonly inverter: boolean;
  /** parts that are restored, for the log */
  readonly words: string;
}

/**
 * @param kept marks of the configuration under which a state was kept
 * @param present marks of the present configuration
 * @returns null: another device, of which nothing is restored
 */
export function fitOf(kept: Marks, present: Marks): Fit | null {
  if (kept.configuration === present.configuration)
    return { sameStart: true, source: true, inverter: true, words: 'everything is restored' };
  const [device, source, inverter] = kept.fits ?? [];
  if (device === undefined || device !== present.fits?.[0]) return null;
  const [sameSource, sameInverter] = [source === present.fits[1], inverter === present.fits[2]];
  const anew = [...(sameSource ? [] : ['the source']), ...(sameInverter ? [] : ['the inverter'])];
  return {
    sameStart: false,
    source: sameSource,
    inverter: sameInverter,
    words:
      anew.length === 0
        ? 'settings that were written are kept, within their ranges'
        : `settings that were written, charge and counters are kept; the rest of ${anew.join(' and ')} starts anew`,
  };
}

/** Characters of a mark of a part. */
const markLength = 12;

/** Marks of configurations; a profile is long, and a thousand devices share it. */
export function configurationMarks(config: AppConfig): (device: DeviceConfig) => Marks {
  const { grid, simModels, deviceSpreadPct } = config;
  const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('base64url');
  const mark = (value: unknown) => digest(value).slice(0, markLength);
  const markProfile = ({ source, inverter, models }: DeviceConfig['profile']) =>
    [mark(source), mark([inverter, models['702'] ?? null])] as const;
  const marksOf = ({ deviceType, phases, profile }: DeviceConfig): Marks => {
    const device = [deviceType, phases, grid.nominalFrequencyHz];
    return {
      configuration: digest([...device, simModels, deviceSpreadPct, digest(profile)]),
      fits: [mark(device), ...markProfile(profile)],
    };
  };
  const ofProfile = new WeakMap<object, Map<string, Marks>>();
  return (config) => {
    const ofTypes = ofProfile.get(config.profile) ?? new Map<string, Marks>();
    ofProfile.set(config.profile, ofTypes);
    const key = `${config.deviceType} ${config.phases}`;
    const marks = ofTypes.get(key) ?? marksOf(config);
    ofTypes.set(key, marks);
    return marks;
  };
}
