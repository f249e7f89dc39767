/** Replays the IEEE 2030.5 server of a recording to the clients of a new build, over plain HTTP. */
import { hostAndPort, listen } from '../../core/net/listen.ts';
import { csipScriptOf } from './csip-script.ts';
import { CsipServer } from './csip-server.ts';
import { firstClientMs, Idle } from './idle.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { Findings } from './report.ts';
import type { ReplayReport } from './report.ts';
import type { Target } from './targets.ts';

/**
 * Listens until every recorded request has come, or no new one comes.
 * @param messages of CSIP only
 * @param say called with the address
 * @throws SimError LISTEN_FAILED
 */
export async function replayCsip(
  messages: readonly RecordedMessage[],
  { host, port }: Target,
  options: ReplayOptions,
  say: (line: string) => void,
): Promise<ReplayReport> {
  const findings = new Findings();
  const script = csipScriptOf(messages);
  findings.notes.push(...script.notes);
  let over: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (over = resolve));
  const idle = new Idle(firstClientMs, options.timeoutMs, () => {
    over();
  });
  const csip = new CsipServer(script, options, findings, () => {
    idle.touch();
    if (csip.done) setTimeout(over, options.silenceMs);
  });
  const address = await listen(csip.server, host, port, 'the replayed server of IEEE 2030.5');
  const origin = `http://${hostAndPort(address.address, address.port)}`;
  csip.at(origin);
  say(`the IEEE 2030.5 server of the recording listens on ${origin}/`);
  await ended;
  idle.stop();
  csip.finish();
  csip.server.close();
  csip.server.closeAllConnections();
  return findings.report('csip');
}
