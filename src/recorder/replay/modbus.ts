/** Replays the requests of Modbus masters and compares the answers. */
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { compareAnswer, exchangesOf } from './modbus-compare.ts';
import type { Received } from './modbus-compare.ts';
import { Pacer } from './options.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { counted, Findings } from './report.ts';
import type { ReplayReport } from './report.ts';
import { Links } from './targets.ts';
import type { DeviceTargets } from './targets.ts';

type Limits = Pick<ReplayOptions, 'timeoutMs' | 'silenceMs'>;

const lengthEnd = 6;

class ModbusLink {
  readonly #socket: Socket;
  readonly #limits: Limits;
  #octets: Buffer = Buffer.alloc(0);
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket, limits: Limits) {
    this.#socket = socket;
    this.#limits = limits;
    socket.on('data', (chunk: Buffer) => {
      this.#octets = Buffer.concat([this.#octets, chunk]);
      this.#wake();
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a request and waits for a frame that is at least as long as the recorded answer.
   * @param recorded octets of the recorded answer; 0: none
   */
  async ask(request: Buffer, recorded: number): Promise<Received> {
    // octets of a late answer belong to an earlier request
    this.#octets = Buffer.alloc(0);
    this.#socket.write(request);
    const { timeoutMs, silenceMs } = this.#limits;
    const end = performance.now() + (recorded === 0 ? silenceMs : timeoutMs);
    while (!this.#closed && !this.#isWhole(recorded)) {
      const began = this.#octets.length > 0;
      const leftMs = Math.min(end - performance.now(), began ? silenceMs : Infinity);
      if (leftMs <= 0) break;
      const more = await this.#awaitChange(leftMs);
      if (!more && began) break;
    }
    const octets = this.#octets;
    this.#octets = Buffer.alloc(0);
    return { octets, closed: this.#closed };
  }

  close(): void {
    this.#socket.destroy();
  }

  #isWhole(recorded: number): boolean {
    const { length } = this.#octets;
    return length >= lengthEnd && length >= Math.max(recorded, lengthEnd + this.#octets.readUInt16BE(4));
  }

  /** @returns false: timeout without a change */
  #awaitChange(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const limit = setTimeout(() => {
        resolve(false);
      }, ms);
      this.#wake = () => {
        clearTimeout(limit);
        resolve(true);
      };
    });
  }
}

/**
 * Each recorded peer is replayed by one connection; requests are sent one after another, in recorded order.
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
  findings.notes.push(...links.unusedTargets());
  const pacer = new Pacer(options);
  let withoutTarget = 0;
  try {
    for (const exchange of exchanges) {
      const { request, answer, noAnswer } = exchange;
      await pacer.until(request);
      const link = await links.of(request);
      if (link === null) {
        withoutTarget += 1;
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
  if (withoutTarget > 0)
    findings.notes.push(`left out: ${counted(withoutTarget, 'request')} to devices without an address`);
  return findings.report('modbus');
}
