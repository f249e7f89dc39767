/** The declaration of one setting. */
import type { Changes } from '../../contract/settings.ts';
import type { AssetType } from '../../contract/kinds/table.ts';
import type { Kind } from './value-kinds.ts';

/** Switches without which other settings have no effect. */
export const switches = [
  'mb_enc',
  'rtu_enable',
  'csip_client_enable',
  'ocpp_enable',
  'dnp3_enable',
  'dnp3_enc',
  'state_history',
  'findings_enable',
] as const;

/**
 * One setting: source of flags, environment, files, help and the published schema. The key in files is its name in the
 * list; the environment variable is `DERBENCH_` and the key in upper case.
 */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** how a change takes effect while the simulator runs */
  readonly changes: Changes;
  /** null: none */
  readonly default: NoInfer<T> | null;
  /** spellings on the command line; absent: no flag */
  readonly flags?: readonly string[];
  /** not a key of configuration files */
  readonly noFile?: true;
  /** never shown in issues, logs or answers */
  readonly secret?: true;
  /** a path whose file must exist */
  readonly mustExist?: true;
  /** kinds of devices that have the setting; absent: all */
  readonly kinds?: readonly AssetType[];
  /** member of device profiles that the setting replaces */
  readonly member?: ReplacedMember;
  /** switch without which the setting has no effect */
  readonly needs?: (typeof switches)[number];
  /** unit of a number, where the end of its name does not show it */
  readonly unit?: string;
  /** text for help and files: unit, and the effect of an unset setting */
  readonly doc: string;
}

/** A member of a device profile that a setting replaces; paths are dotted. */
export interface ReplacedMember {
  readonly path: string;
  /** value of the member per value of the setting; default 1 */
  readonly factor?: number;
  /** members that would override this one; they are removed */
  readonly replaces?: readonly string[];
}

type Preset<T> = Setting<T> & { readonly default: NoInfer<T> };

/** A setting that always has a value. */
export function setting<T, const C extends Changes>(
  spec: Preset<T> & { readonly changes: C },
): Preset<T> & { readonly changes: C } {
  return spec;
}

/** A setting without a default. */
export function optionalSetting<T, const C extends Changes>(
  spec: Omit<Setting<T>, 'default'> & { readonly changes: C },
): Setting<T> & { readonly changes: C } {
  return { ...spec, default: null };
}

/** The value of a setting in force. */
export type ValueOf<S> = S extends { readonly default: infer D; readonly kind: Kind<infer T> }
  ? null extends D
    ? T | null
    : T
  : never;
