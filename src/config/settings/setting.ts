/** The declaration of one setting. */
import type { AssetType } from '../../contract/kinds/table.ts';
import type { Kind } from './value-kinds.ts';

/** The switches that other settings need. */
export const switches = [
  'mb_enc',
  'rtu_enable',
  'csip_client_enable',
  'ocpp_enable',
  'dnp3_enable',
  'dnp3_enc',
] as const;

/**
 * One setting. Flags, environment, files, help and published schema are made from it. Its name in the list is the key
 * in files; the environment variable is `DERBENCH_` and the key in upper case.
 */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** null: not set */
  readonly default: NoInfer<T> | null;
  /** accepted on the command line; a setting without spellings has no flag */
  readonly flags?: readonly string[];
  /** not a key of configuration files */
  readonly noFile?: true;
  /** never shown in issues, logs or answers */
  readonly secret?: true;
  /** a path whose file must exist */
  readonly mustExist?: true;
  /** kinds of devices that it is for; absent: all */
  readonly kinds?: readonly AssetType[];
  /** the member of device profiles that it replaces */
  readonly member?: ReplacedMember;
  /** the switch without which it has no effect */
  readonly needs?: (typeof switches)[number];
  /** for help and files: unit, and the effect of an unset setting */
  readonly doc: string;
}

/** A member of a device profile that takes the value of a setting; paths are dotted. */
export interface ReplacedMember {
  readonly path: string;
  /** value of the member per value of the setting; default 1 */
  readonly factor?: number;
  /** members that would override this one and are removed */
  readonly replaces?: readonly string[];
}

type Preset<T> = Setting<T> & { readonly default: NoInfer<T> };

/** A setting that always has a value. */
export function setting<T>(of: Preset<T>): Preset<T> {
  return of;
}

/** A setting that may stay unset. */
export function unset<T>(of: Omit<Setting<T>, 'default'>): Setting<T> {
  return { ...of, default: null };
}

/** The value of a setting in force. */
export type ValueOf<S> = S extends { readonly default: infer D; readonly kind: Kind<infer T> }
  ? null extends D
    ? T | null
    : T
  : never;
