/** Refusals of map and device as status of a control. */
import { SimError } from '../../core/errors.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { ControlStatus } from '../stack/outstation/types.ts';

const statusOfCode: Readonly<Record<string, ControlStatus>> = {
  MAP_BAD_VALUE: controlStatus.outOfRange,
  COMMAND_BAD_VALUE: controlStatus.outOfRange,
  MAP_LOCAL_CONTROL: controlStatus.local,
  MAP_NOT_SUPPORTED: controlStatus.notSupported,
  MAP_NOT_IMPLEMENTED: controlStatus.notSupported,
  MAP_READ_ONLY: controlStatus.notSupported,
  COMMAND_NOT_APPLICABLE: controlStatus.notSupported,
  COMMAND_CONFLICT: controlStatus.hardwareError,
};

/** The status of a refusal. */
export function statusOf(error: unknown): ControlStatus {
  return error instanceof SimError
    ? (statusOfCode[error.code] ?? controlStatus.hardwareError)
    : controlStatus.hardwareError;
}

/** Does something that the device may refuse. */
export function attempted(act: () => ControlStatus): ControlStatus {
  try {
    return act();
  } catch (error) {
    return statusOf(error);
  }
}
