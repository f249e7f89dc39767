/** Replays the requests of Modbus masters and compares the answers. */
import { compareAnswer } from './modbus-compare.ts';
import { exchangesOf } from './modbus-exchange.ts';
import { ModbusLink } from './modbus-link.ts';
import { Pacer } from './options.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { counted, Findings } from './report.ts';
import type { ReplayReport } from './report.ts';
import { Links } from './targets.ts';
import type { DeviceTargets } from './targets.ts';

/**
 * Each recorded peer is replayed by one connection; requests go one after the other, in recorded order.
 * @param messages of Modbus only
 * @throws SimError PEER_ERROR, PEER_TIMEOUT if the target cannot be reached
 */
export async function replayModbus(
  messages: readonly RecordedMessage[],
  targets: DeviceTargets,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const { exchanges, notes } = exchangesOf(messages);
  const findings = new Findings();
  findings.notes.push(...notes);
  const links = new Links(
    exchanges.map(({ request }) => request),
    {
      targets,
      timeoutMs: options.timeoutMs,
      make: (socket) => new ModbusLink(socket, options),
      connectionOf: ({ peer }) => peer,
    },
  );
  findings.notes.push(...links.unasked());
  const pacer = new Pacer(options);
  let homeless = 0;
  try {
    for (const exchange of exchanges) {
      const { request, answer, noAnswer } = exchange;
      await pacer.until(request);
      const link = await links.of(request);
      if (link === null) {
        homeless += 1;
        continue;
      }
      const received = await link.ask(request.raw, answer?.length ?? 0);
      findings.requests += 1;
      if (answer === null && noAnswer === null) findings.uncompared += 1;
      else compareAnswer(exchange, received, options, findings);
      links.done(request);
    }
  } finally {
    links.close();
  }
  const { uncompared } = findings;
  if (uncompared > 0) findings.notes.push(`not compared: ${counted(uncompared, 'request')} without a recorded answer`);
  if (homeless > 0) findings.notes.push(`left out: ${counted(homeless, 'request')} to devices without an address`);
  return findings.report('modbus');
}
