/** Who decides about the sessions of a device while the client runs. */
import { errorText } from '../../core/errors.ts';
import type { StackOptions } from './stack.ts';

/**
 * The central system decides from the start to the end of the client; then the device returns to its profile.
 * @param central false: the client ends
 */
export function setAuthority({ device, log }: Pick<StackOptions, 'device' | 'log'>, central: boolean): void {
  try {
    device.command({ kind: 'evse.authority', central });
    if (central) return;
    device.command({
      kind: 'evse.behaviour',
      connectionTimeoutS: null,
      authorizationTimeoutS: null,
      endOnEvDisconnect: null,
      unlockOnEvDisconnect: null,
      autoAuthorize: null,
    });
  } catch (error) {
    // at the end the device may have left already
    if (central) log.warning(`the station keeps its own authority: ${errorText(error)}`, device.deviceIndex);
  }
}
