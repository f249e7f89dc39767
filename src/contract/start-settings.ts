import type { AssetType } from './kinds/table.ts';

/** A number of the settings of the process that replaces a member in the profiles of all devices of some kinds. */
export interface StartSetting {
  readonly kinds: readonly AssetType[];
  /** point of model 702 (`702.VAMaxRtg`), or member of a block of the profile (`hybrid.pv_w`) */
  readonly member: string;
  /** `hybrid_pv_kw` */
  readonly name: string;
  /** value in the unit of the member */
  readonly value: number;
  /** null: no unit */
  readonly unit: string | null;
  /** the command line, or the configuration file or environment */
  readonly origin: 'flag' | 'config';
  /** `--hybrid_pv_kw` */
  readonly flag: string;
}
