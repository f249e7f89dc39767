/** Descriptions of fragments for people; any octets have one. */
import type { Buffer } from 'node:buffer';
import { analogOutputOctets, crobOctets, objectType } from '../objects.ts';
import { readControl } from './types.ts';

const functionWords: Readonly<Record<number, string>> = {
  0: 'confirm',
  1: 'read',
  2: 'write',
  3: 'select',
  4: 'operate',
  5: 'direct_operate',
  6: 'direct_operate_nr',
  7: 'immediate_freeze',
  8: 'immediate_freeze_nr',
  9: 'freeze_clear',
  10: 'freeze_clear_nr',
  11: 'freeze_at_time',
  12: 'freeze_at_time_nr',
  13: 'cold_restart',
  14: 'warm_restart',
  15: 'initialize_data',
  16: 'initialize_application',
  17: 'start_application',
  18: 'stop_application',
  19: 'save_configuration',
  20: 'enable_unsolicited',
  21: 'disable_unsolicited',
  22: 'assign_class',
  23: 'delay_measure',
  24: 'record_current_time',
  129: 'response',
  130: 'unsolicited_response',
};
const firstResponse = 129;
/** Functions of masters whose objects carry values. */
const withValues: ReadonlySet<number> = new Set([2, 3, 4, 5, 6]);

export interface Described {
  readonly function: string;
  /** null: the fragment is empty */
  readonly sequence: number | null;
  /** IIN1 in the low octet; null: a request */
  readonly iin: number | null;
  /** object headers with their points: `g30v1 536..537` */
  readonly objects: readonly string[];
}

/** Name of a function. */
export function functionName(code: number | undefined): string {
  return code === undefined ? 'none' : (functionWords[code] ?? `function_${code}`);
}

export function describe(fragment: Buffer): Described {
  const [control, code] = fragment;
  const isResponse = code !== undefined && code >= firstResponse;
  const iin = isResponse && fragment.length >= 4 ? fragment.readUInt16LE(2) : null;
  const carries = isResponse || (code !== undefined && withValues.has(code));
  return {
    function: functionName(code),
    sequence: control === undefined ? null : readControl(control).seq,
    iin,
    objects: headersFrom(fragment, isResponse ? 4 : 2, carries),
  };
}

/** Octets of times and delays by group and variation. */
const timeOctets: Readonly<Record<string, number>> = {
  '50.1': 6,
  '50.2': 10,
  '50.3': 6,
  '50.4': 11,
  '51.1': 6,
  '51.2': 6,
  '52.1': 2,
  '52.2': 2,
};

/** Octets of one object; 0: packed, null: unknown. */
function sizeOf(group: number, variation: number): number | null {
  if (group === 12) return variation === 1 ? crobOctets : null;
  if (group === 41) return analogOutputOctets[variation] ?? null;
  if (group === 34) return { 1: 2, 2: 4, 3: 4 }[variation] ?? null;
  if (group === 80) return 0;
  if (group === 110 || group === 111) return variation;
  return timeOctets[`${group}.${variation}`] ?? objectType(group, variation)?.size ?? null;
}

interface Header {
  readonly text: string;
  readonly end: number;
}

function headersFrom(fragment: Buffer, begin: number, carries: boolean): readonly string[] {
  const texts: string[] = [];
  for (let at = begin; at + 3 <= fragment.length; ) {
    const header = headerAt(fragment, at, carries);
    if (header === null) {
      texts.push(`${fragment.length - at} octets more`);
      break;
    }
    texts.push(header.text);
    at = header.end;
  }
  return texts;
}

function headerAt(fragment: Buffer, at: number, carries: boolean): Header | null {
  const [group = 0, variation = 0, qualifier = 0] = fragment.subarray(at, at + 3);
  const name = `g${group}v${variation}`;
  const size = carries ? sizeOf(group, variation) : 0;
  if (size === null) return null;
  const field = at + 3;
  const width = { 0x00: 1, 0x01: 2, 0x07: 1, 0x08: 2, 0x17: 1, 0x28: 2 }[qualifier];
  if (qualifier === 0x06) return { text: `${name} all`, end: field };
  if (width === undefined) return null;
  const isSpan = qualifier <= 0x01;
  if (field + width * (isSpan ? 2 : 1) > fragment.length) return null;
  const startOrCount = fragment.readUIntLE(field, width);
  if (isSpan) {
    const stop = fragment.readUIntLE(field + width, width);
    const spanCount = Math.max(0, stop - startOrCount + 1);
    const octets = !carries ? 0 : size === 0 ? Math.ceil(spanCount / (group === 3 ? 4 : 8)) : spanCount * size;
    return { text: `${name} ${startOrCount}..${stop}`, end: field + 2 * width + octets };
  }
  const begin = field + width;
  const count = startOrCount;
  if (qualifier <= 0x08) return { text: `${name} first ${count}`, end: begin + count * size };
  const entryOctets = width + size;
  const indexes: number[] = [];
  for (let i = 0; i < count && begin + (i + 1) * entryOctets <= fragment.length && i < 8; i += 1)
    indexes.push(fragment.readUIntLE(begin + i * entryOctets, width));
  const more = count > indexes.length ? ` and ${count - indexes.length} more` : '';
  return { text: `${name} [${indexes.join(', ')}]${more}`, end: begin + count * entryOctets };
}
