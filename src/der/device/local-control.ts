/** Local control (715.LocRemCtl): the device takes no remote write or command. */
import { SimError } from '../../core/errors.ts';
import { remoteSources } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';

/** @throws SimError with `code` if the writer is remote and the device under local control */
export function admitWriter(by: Origin, localControl: boolean, code: 'MAP_LOCAL_CONTROL' | 'COMMAND_CONFLICT'): void {
  if (!localControl || !remoteSources.includes(by.source)) return;
  throw new SimError(code, 'the device is under local control and refuses remote writes and commands (715.LocRemCtl)');
}
