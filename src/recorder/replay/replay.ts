/** Replays a recording against a new build: its clients towards a server, its servers towards a client. */
import { SimError } from '../../core/errors.ts';
import { replayModbus } from './modbus.ts';
import type { ModbusTargets } from './modbus.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import type { ReplayReport } from './report.ts';

/** What is replayed, and where to; absent: nothing of that protocol. */
export interface ReplayTarget {
  readonly modbus?: ModbusTargets;
}

/**
 * Replays one protocol after the other.
 * @param say told what a user must know while it runs: where servers listen
 * @throws SimError CONFIG_INVALID when the recording has no message of a protocol asked for; PEER_ERROR, PEER_TIMEOUT
 */
export async function replay(
  messages: readonly RecordedMessage[],
  target: ReplayTarget,
  options: ReplayOptions,
  say: (line: string) => void = () => undefined,
): Promise<readonly ReplayReport[]> {
  const reports: ReplayReport[] = [];
  void say;
  const of = (protocol: string) => {
    const found = messages.filter((message) => message.protocol === protocol);
    if (found.length === 0) throw new SimError('CONFIG_INVALID', `the recording has no message of ${protocol}`);
    return found;
  };
  if (target.modbus) reports.push(await replayModbus(of('modbus'), target.modbus, options));
  return reports;
}
