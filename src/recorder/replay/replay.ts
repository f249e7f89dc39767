/** Replays a recording against a new build: its clients towards a server, its servers towards a client. */
import { SimError } from '../../core/errors.ts';
import { replayCsip } from './csip.ts';
import { replayDnp3 } from './dnp3.ts';
import { replayModbus } from './modbus.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import type { ReplayReport } from './report.ts';
import type { DeviceTargets, Target } from './targets.ts';

/** What is replayed, and where to; absent: nothing of that protocol. */
export interface ReplayTarget {
  readonly modbus?: DeviceTargets;
  readonly dnp3?: DeviceTargets;
  /** where the central system of the recording listens */
  readonly ocpp?: Target;
  /** where the server of IEEE 2030.5 of the recording listens */
  readonly csip?: Target;
}

/**
 * Replays one protocol after the other.
 * @param say told where servers listen
 * @throws SimError CONFIG_INVALID when the recording has no message of a protocol asked for; PEER_ERROR, PEER_TIMEOUT,
 * LISTEN_FAILED
 */
export async function replay(
  messages: readonly RecordedMessage[],
  target: ReplayTarget,
  options: ReplayOptions,
  say: (line: string) => void = () => undefined,
): Promise<readonly ReplayReport[]> {
  const reports: ReplayReport[] = [];
  const of = (protocol: string) => {
    const found = messages.filter((message) => message.protocol === protocol);
    if (found.length === 0) throw new SimError('CONFIG_INVALID', `the recording has no message of ${protocol}`);
    return found;
  };
  if (target.modbus) reports.push(await replayModbus(of('modbus'), target.modbus, options));
  if (target.dnp3) reports.push(await replayDnp3(of('dnp3'), target.dnp3, options));
  if (target.ocpp) {
    const { replayOcpp } = await import('./ocpp.ts');
    reports.push(await replayOcpp(of('ocpp'), target.ocpp, options, say));
  }
  if (target.csip) reports.push(await replayCsip(of('csip'), target.csip, options, say));
  return reports;
}
