/** Fragments as sent and received, for REST, scenarios and recorders. */
import type { Buffer } from 'node:buffer';
import type { Dnp3Message, Dnp3MessageFilter, Dnp3Control } from '../contract/dnp3.ts';
import type { WireChannel, WireEntry, WireLog } from '../core/wire/wire-log.ts';
import { iinNames } from './device-outstation.ts';
import type { FragmentReport } from './server/context.ts';
import { describe, functionName } from './stack/application/describe.ts';
import { analogOutputOctets, analogValue, crobOctets, stateOfCode } from './stack/objects.ts';

const controlRequests: ReadonlySet<number> = new Set([3, 4, 5, 6]);
const responseCode = 129;
/** Octets before the first object header; a response has IIN among them. */
const [requestHeader, responseHeader] = [2, 4];
const crobGroup = 12;
const analogGroup = 41;

function controlOf(group: number, variation: number, index: number, octets: Buffer): Dnp3Control {
  const status = octets.at(-1) ?? 0;
  if (group !== crobGroup) return { type: 'AO', index, value: analogValue(variation, octets), status };
  const state = stateOfCode(octets[0] ?? 0);
  return { type: 'BO', index, value: state === null ? null : state === 1, status };
}

/**
 * The controls of a request, or of the response that repeats them with a status; empty for any other fragment. The list
 * ends at the first object that is not a control.
 */
function controlsIn(fragment: Buffer): readonly Dnp3Control[] {
  const code = fragment[1] ?? 0;
  const controls: Dnp3Control[] = [];
  if (code !== responseCode && !controlRequests.has(code)) return controls;
  let at = code === responseCode ? responseHeader : requestHeader;
  while (at + 4 <= fragment.length) {
    const [group = 0, variation = 0, qualifier = 0] = fragment.subarray(at, at + 3);
    const size = group === crobGroup && variation === 1 ? crobOctets : analogOutputOctets[variation];
    const width = { 0x17: 1, 0x28: 2 }[qualifier];
    if ((group !== crobGroup && group !== analogGroup) || size === undefined || width === undefined) return controls;
    if (at + 3 + width > fragment.length) return controls;
    const count = fragment.readUIntLE(at + 3, width);
    at += 3 + width;
    for (let n = 0; n < count; n += 1, at += width + size) {
      if (at + width + size > fragment.length) return controls;
      const index = fragment.readUIntLE(at, width);
      controls.push(controlOf(group, variation, index, fragment.subarray(at + width, at + width + size)));
    }
  }
  return controls;
}

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
  readonly #channel: WireChannel<Facts, Dnp3Message>;

  constructor(log: WireLog) {
    this.#channel = log.lasting<Facts, Dnp3Message>({
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

  list({
    afterId,
    toId,
    deviceIndex,
    direction,
    function: name,
    limit,
  }: Dnp3MessageFilter = {}): readonly Dnp3Message[] {
    const entries = this.#channel.list({
      ...(afterId !== undefined && { afterId }),
      ...(toId !== undefined && { toId }),
      ...(limit !== undefined && { limit }),
      where: (entry) =>
        (deviceIndex === undefined || entry.deviceIndex === deviceIndex) &&
        (direction === undefined || entry.direction === direction) &&
        (name === undefined || entry.kind === name),
    });
    return entries.map(messageOf);
  }
}
