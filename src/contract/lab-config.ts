/** The running lab as the content of a configuration file. */
import { SimError } from '../core/errors.ts';

/** Octets of a configuration file that a start accepts. */
export const maxConfigBytes = 1024 * 1024;

export interface LabConfig {
  /** settings and blocks, by their keys */
  readonly content: Readonly<Record<string, unknown>>;
  /** secrets that have a value and are not in `content`, with the environment variable of each */
  readonly leftOut: readonly { readonly key: string; readonly variable: string }[];
  /** sentences about other differences from the running lab */
  readonly notes: readonly string[];
}

/** @throws SimError COMMAND_CONFLICT for a lab without devices */
export type LabConfigOf = () => LabConfig;

/** An interface without a lab. */
export const noLabConfig: LabConfigOf = () => {
  throw new SimError('MAP_NOT_SUPPORTED', 'there is no configuration here');
};
