/** Replays what masters of Modbus have asked, and compares the answers. */
import { compareAnswer } from './modbus-compare.ts';
import { exchangesOf } from './modbus-exchange.ts';
import type { RecordedExchange } from './modbus-exchange.ts';
import { ModbusLink, openLink } from './modbus-link.ts';
import { Pacer } from './options.ts';
import type { ReplayOptions, Target } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { counted, Findings } from './report.ts';
import type { ReplayReport } from './report.ts';

/** Where devices are reached: one address for all, or one for each index. */
export interface ModbusTargets {
  /** of devices without an address of their own */
  readonly all: Target | null;
  readonly byDevice: ReadonlyMap<number, Target>;
}

/** The device that a recorded connection belongs to: the first one that it asked. */
function devicesByPeer(exchanges: readonly RecordedExchange[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { request } of exchanges)
    if (request.deviceIndex !== null && !found.has(request.peer)) found.set(request.peer, request.deviceIndex);
  return found;
}

/** The last exchange of each peer: its connection ends there, since a server may take only so many at one time. */
function lastOnes(exchanges: readonly RecordedExchange[]): ReadonlySet<RecordedExchange> {
  return new Set(new Map(exchanges.map((exchange) => [exchange.request.peer, exchange])).values());
}

/** The connections of a replay, one for each recorded peer. */
class Links {
  readonly #open = new Map<string, ModbusLink>();
  readonly #devices: ReadonlyMap<string, number>;
  readonly #targets: ModbusTargets;
  readonly #options: ReplayOptions;

  constructor(devices: ReadonlyMap<string, number>, targets: ModbusTargets, options: ReplayOptions) {
    this.#devices = devices;
    this.#targets = targets;
    this.#options = options;
  }

  /** null: no address is known for the device. @throws SimError PEER_ERROR, PEER_TIMEOUT */
  async of(peer: string): Promise<ModbusLink | null> {
    const known = this.#open.get(peer);
    if (known !== undefined && !known.closed) return known;
    const { byDevice, all } = this.#targets;
    const target = byDevice.get(this.#devices.get(peer) ?? -1) ?? all;
    if (target === null) return null;
    const link = new ModbusLink(await openLink(target, this.#options.timeoutMs), this.#options);
    this.#open.set(peer, link);
    return link;
  }

  /** The master has asked all that it had to ask. */
  end(peer: string): void {
    this.#open.get(peer)?.close();
    this.#open.delete(peer);
  }

  close(): void {
    for (const link of this.#open.values()) link.close();
  }
}

/**
 * Each recorded peer gets a connection of its own; requests are sent one after the other, in the recorded order.
 * @param messages of Modbus alone
 * @throws SimError PEER_ERROR, PEER_TIMEOUT when the target cannot be reached
 */
export async function replayModbus(
  messages: readonly RecordedMessage[],
  targets: ModbusTargets,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const { exchanges, notes } = exchangesOf(messages);
  const findings = new Findings();
  findings.notes.push(...notes);
  const links = new Links(devicesByPeer(exchanges), targets, options);
  const pacer = new Pacer(options);
  const last = lastOnes(exchanges);
  let unknown = 0;
  let homeless = 0;
  try {
    for (const exchange of exchanges) {
      const { request, answer, noAnswer } = exchange;
      await pacer.until(request);
      const link = await links.of(request.peer);
      if (link === null) {
        homeless += 1;
        continue;
      }
      const received = await link.ask(request.raw, answer?.length ?? 0);
      findings.requests += 1;
      if (answer === null && noAnswer === null) unknown += 1;
      else compareAnswer(exchange, received, options, findings);
      if (last.has(exchange)) links.end(request.peer);
    }
  } finally {
    links.close();
  }
  if (unknown > 0) findings.notes.push(`not compared: ${counted(unknown, 'request')} without a recorded answer`);
  if (homeless > 0) findings.notes.push(`left out: ${counted(homeless, 'request')} to devices without an address`);
  return findings.report('modbus');
}
