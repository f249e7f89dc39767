/** The running lab as the content of a configuration file, and another lab in its place. */
import { SimError } from '../core/errors.ts';

/** Octets of a configuration file that a start accepts. */
export const maxConfigBytes = 1024 * 1024;

export type LabContent = Readonly<Record<string, unknown>>;

export interface LabConfig {
  /** settings and blocks, by their keys */
  readonly content: LabContent;
  /** secrets that have a value and are not in `content`, with the environment variable of each */
  readonly leftOut: readonly { readonly key: string; readonly variable: string }[];
  /** sentences about other differences from the running lab */
  readonly notes: readonly string[];
}

/** A lab that was checked and may take the place of the running one. */
export interface PreparedLab {
  readonly devices: number;
  /** settings with another value than now */
  readonly changes: readonly string[];
  /** remarks of a start: risks, and settings without effect */
  readonly notices: readonly string[];
  /** Stops the running lab and starts this one; null: this simulator cannot be built anew. */
  readonly begin: ((reason: string) => void) | null;
}

export interface LabControl {
  /** The running lab. @throws SimError COMMAND_CONFLICT for a lab without devices */
  current(): LabConfig;
  /** The content of a YAML text. @throws SimError COMMAND_BAD_VALUE with an issue */
  read(yaml: string): Promise<LabContent>;
  /**
   * Builds another lab for a check, and binds nothing; one lab at a time.
   * @param content null: the lab that the process was started with
   * @throws SimError COMMAND_BAD_VALUE with issues named by JSON pointers, COMMAND_QUEUE_FULL, STOPPING
   */
  prepare(content: LabContent | null): Promise<PreparedLab>;
}

const none = (): never => {
  throw new SimError('MAP_NOT_SUPPORTED', 'there is no configuration here');
};

/** An interface without a lab. */
export const noLab: LabControl = { current: none, read: none, prepare: none };
