/** What faults make of the text and payload of a message. */
import type { Payload } from '../rpc/model.ts';

export type MalformedMode = 'truncated' | 'not_array' | 'wrong_type' | 'missing_payload' | 'null_members' | 'empty';

/** A message type that no version has. */
const unknownType = 9;

function nulls(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(Object.keys(payload).map((name) => [name, null]));
}

/** @param text a frame of OCPP-J, perhaps already changed by another fault */
export function malformed(text: string, mode: MalformedMode): string {
  if (mode === 'truncated') return text.slice(0, Math.ceil(text.length / 2));
  if (mode === 'empty') return '';
  const frame = arrayOf(text);
  if (frame === null) return text;
  if (mode === 'not_array') return JSON.stringify({ frame });
  if (mode === 'wrong_type') return JSON.stringify([unknownType, ...frame.slice(1)]);
  if (mode === 'missing_payload') return JSON.stringify(frame.slice(0, -1));
  return JSON.stringify([...frame.slice(0, -1), nulls(frame.at(-1))]);
}

function arrayOf(text: string): readonly unknown[] | null {
  try {
    const frame: unknown = JSON.parse(text);
    return Array.isArray(frame) ? frame : null;
  } catch {
    return null;
  }
}

function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry) => without(entry, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !names.includes(name))
      .map(([name, member]) => [name, without(member, names)]),
  );
}

/** The payload without members of these names at any depth; null: it has none of them. */
export function withoutMembers(payload: Payload, names: readonly string[]): Payload | null {
  const rest = without(payload, names) as Payload;
  return JSON.stringify(rest) === JSON.stringify(payload) ? null : rest;
}

/** The connector that a payload is about: `connectorId` of 1.6, the EVSE of 2.x; null: none. */
export function connectorOf({ connectorId, evseId, evse }: Payload): number | null {
  const ofEvse = typeof evse === 'object' && evse !== null ? (evse as Payload)['id'] : undefined;
  const id = evseId ?? ofEvse ?? connectorId;
  return typeof id === 'number' ? id : null;
}
