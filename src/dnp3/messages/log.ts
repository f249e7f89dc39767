/** Fragments as they went over the wire, for REST, scenarios and recorders. */
import type { Dnp3Message, Dnp3MessageFilter } from '../../contract/dnp3.ts';
import type { WireChannel, WireEntry, WireLog } from '../../core/wire/wire-log.ts';
import { iinNames } from '../device-outstation.ts';
import type { FragmentReport } from '../server/context.ts';
import { describe, functionName } from '../stack/application/describe.ts';
import { controlsIn } from './controls.ts';

interface Facts {
  readonly outstation: number;
  readonly master: number;
}

const entries = 1000;
const bytes = 1024 * 1024;
const messageBytes = 2048;

function messageOf(entry: WireEntry<Facts>): Dnp3Message {
  const { function: name, sequence, iin, objects } = describe(entry.raw);
  return {
    id: entry.id,
    atMs: entry.wallMs,
    at: entry.sim,
    direction: entry.direction,
    deviceIndex: entry.deviceIndex,
    peer: entry.peer,
    function: name,
    sequence,
    iin: iin === null ? null : iinNames(iin),
    objects,
    controls: controlsIn(entry.raw),
    hex: entry.raw.toString('hex'),
    truncated: entry.rawLength > entry.raw.length,
  };
}

export class Dnp3Messages {
  readonly #log: WireLog;
  readonly #channel: WireChannel<Facts, Dnp3Message>;

  constructor(log: WireLog) {
    this.#log = log;
    this.#channel = log.channel<Facts, Dnp3Message>({
      protocol: 'dnp3',
      key: '',
      entries,
      bytes,
      messageBytes,
      decode: messageOf,
      report: (entry) => {
        const { function: name, sequence, iin, objects } = messageOf(entry);
        return { ...entry.facts, function: name, sequence, iin, objects };
      },
    });
  }

  get active(): boolean {
    return this.#channel.active;
  }

  get channel(): WireChannel<Facts, Dnp3Message> {
    return this.#channel;
  }

  push({ direction, peer, deviceIndex, outstation, master, octets }: FragmentReport): void {
    const kind = functionName(octets[1]);
    this.#channel.push({
      direction,
      peer,
      deviceIndex,
      kind,
      summary: kind,
      raw: octets,
      facts: { outstation, master },
    });
  }

  list({ afterId, deviceIndex, direction, function: name, limit }: Dnp3MessageFilter = {}): readonly Dnp3Message[] {
    const entries = this.#channel.list({
      ...(afterId !== undefined && { afterId }),
      ...(limit !== undefined && { limit }),
      where: (entry) =>
        (deviceIndex === undefined || entry.deviceIndex === deviceIndex) &&
        (direction === undefined || entry.direction === direction) &&
        (name === undefined || entry.kind === name),
    });
    return entries.map(messageOf);
  }

  close(): void {
    this.#log.remove(this.#channel);
  }
}
