/** Replays a recording against a new build: recorded clients to its servers, recorded servers to its clients. */
import { SimError } from '../../core/errors.ts';
import { replayCsip } from './csip.ts';
import { replayDnp3 } from './dnp3.ts';
import { replayModbus } from './modbus.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import type { ReplayReport } from './report.ts';
import type { DeviceTargets, Target } from './targets.ts';

/** The protocols to replay and their targets; absent: not replayed. */
export interface ReplayTarget {
  readonly modbus?: DeviceTargets;
  readonly dnp3?: DeviceTargets;
  /** address of the replayed central system */
  readonly ocpp?: Target;
  /** address of the replayed IEEE 2030.5 server */
  readonly csip?: Target;
}

/**
 * Replays one protocol after the other.
 * @param say called with the address of each server
 * @throws SimError CONFIG_INVALID if the recording has no message of a requested protocol; PEER_ERROR, PEER_TIMEOUT,
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
    const ofProtocol = messages.filter((message) => message.protocol === protocol);
    if (ofProtocol.length === 0) throw new SimError('CONFIG_INVALID', `the recording has no message of ${protocol}`);
    return ofProtocol;
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
