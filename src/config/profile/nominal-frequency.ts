/** The nominal frequency of the grid: as the configuration says, else as the profiles of its devices do. */
import type { Issue } from '../../core/errors.ts';
import type { DeviceConfig } from '../settings/app-config.ts';
import type { Gathered } from '../layers/gather.ts';
import type { DeviceProfile } from './device-profile.ts';

const defaultHz = 60;

/** Nominal frequency of the grid with its origin, for an issue. */
export interface NominalFrequency {
  readonly hz: number;
  readonly from: string;
}

/** The frequency of a plant at its start. */
export interface StartFrequency extends NominalFrequency {
  /** lines for the log when a profile moves the grid of devices whose profiles say nothing */
  readonly notices: readonly string[];
}

/** An issue when a profile is made for another grid; null: it fits. @param where put before the key */
export function frequencyIssue(
  { nominalFrequencyHz }: Pick<DeviceProfile, 'nominalFrequencyHz'>,
  { hz, from }: NominalFrequency,
  where: string,
): Issue | null {
  if (nominalFrequencyHz === null || nominalFrequencyHz === hz) return null;
  return {
    name: `${where}: nominal_frequency_hz`,
    detail: `given ${nominalFrequencyHz}; allowed: ${hz}, as ${from} says`,
  };
}

/**
 * Finds the frequency of the grid; without any statement it is 60 Hz.
 * @param issues receives one issue for each profile that is made for another grid
 */
export function nominalFrequency(
  { file }: Gathered,
  devices: readonly DeviceConfig[],
  issues: Issue[],
): StartFrequency {
  const labels = new Map<DeviceProfile, string>();
  for (const { profile, profileName, name } of devices)
    if (!labels.has(profile))
      labels.set(profile, profileName === null ? `profile of ${name}` : `profile ${profileName} of ${name}`);
  const [first] = [...labels].filter(([{ nominalFrequencyHz }]) => nominalFrequencyHz !== null);
  const stated = file?.grid.nominal_frequency_hz;
  const frequency: NominalFrequency =
    stated !== undefined
      ? { hz: stated, from: 'grid.nominal_frequency_hz' }
      : { hz: first?.[0].nominalFrequencyHz ?? defaultHz, from: first?.[1] ?? 'the default of the grid' };
  for (const [profile, label] of labels) {
    const issue = frequencyIssue(profile, frequency, label);
    if (issue) issues.push(issue);
  }
  const others = [...labels].filter(([{ nominalFrequencyHz }]) => nominalFrequencyHz === null).length;
  const isMoved = stated === undefined && first !== undefined && frequency.hz !== defaultHz && others > 0;
  return { ...frequency, notices: isMoved ? [movedInWords(frequency, others)] : [] };
}

function movedInWords({ hz, from }: NominalFrequency, others: number): string {
  const whose = others === 1 ? 'one other profile that says' : `${others} other profiles that say`;
  return (
    `the nominal frequency of the grid is ${hz} Hz in the place of ${defaultHz} Hz, as ${from} says, also for the devices ` +
    `of ${whose} none; grid.nominal_frequency_hz in the configuration file decides`
  );
}
