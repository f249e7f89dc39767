import type { Gathered } from '../layers/gather.ts';
import type { SettingKey } from '../settings/settings.ts';

/** The settings as given, and the number of devices. */
export interface Run extends Gathered {
  readonly count: number;
}

/** A row of the table of settings that conflict. */
export interface Conflict {
  /** the setting that the issue is named after */
  readonly setting: SettingKey;
  /** another name of the issue */
  readonly name?: (run: Run) => string;
  readonly when: (run: Run) => boolean;
  /** the value given and the values allowed */
  readonly detail: (run: Run) => string;
}
