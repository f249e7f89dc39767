/** The controls of a fragment as it went over the wire: of a request, or of the answer that repeats them with a status. */
import type { Buffer } from 'node:buffer';
import type { Dnp3Control } from '../../contract/dnp3.ts';
import { analogOutputOctets, analogValue, crobOctets, stateOfCode } from '../stack/objects/controls.ts';

const requests: ReadonlySet<number> = new Set([3, 4, 5, 6]);
const responseCode = 129;
/** Octets in front of the first object header: of a response IIN is among them. */
const [requestHeader, responseHeader] = [2, 4];
const crobGroup = 12;
const analogGroup = 41;

function controlOf(group: number, variation: number, index: number, octets: Buffer): Dnp3Control {
  const status = octets.at(-1) ?? 0;
  if (group !== crobGroup) return { type: 'AO', index, value: analogValue(variation, octets), status };
  const state = stateOfCode(octets[0] ?? 0);
  return { type: 'BO', index, value: state === null ? null : state === 1, status };
}

/** @returns empty for any other fragment, and from the first object on that is no control */
export function controlsIn(fragment: Buffer): readonly Dnp3Control[] {
  const code = fragment[1] ?? 0;
  const controls: Dnp3Control[] = [];
  if (code !== responseCode && !requests.has(code)) return controls;
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
