/** Checks stored parts of documents against the tables of the schema, as `Received` describes them. */
import { documentType } from './schema.ts';
import type { Member } from './schema.ts';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fitsOne({ scalar, type }: Member, value: unknown): boolean {
  if (scalar === null) return isReceived(type, value);
  if (scalar.kind === 'boolean') return typeof value === 'boolean';
  if (scalar.kind !== 'integer') return typeof value === 'string';
  const { min = -Infinity, max = Infinity } = scalar;
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

const isUnread = (value: unknown) => isObject(value) && Object.values(value).every(isObject);

/** True for a value of a type whose members may be missing; members that the type does not have count for nothing. */
export function isReceived(type: string, value: unknown): boolean {
  if (!isObject(value)) return false;
  const { byName } = documentType(type);
  return Object.entries(value).every(([name, member]) => {
    if (name === 'unread') return isUnread(member);
    const row = byName.get(name);
    if (row === undefined) return true;
    if (row.maxOccurs === 1) return fitsOne(row, member);
    return Array.isArray(member) && member.every((each) => fitsOne(row, each));
  });
}
