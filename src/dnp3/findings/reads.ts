/** Data that a READ asks for. */
import { functionCodes } from '../stack/application/types.ts';
import type { Request } from '../stack/application/types.ts';

const classGroup = 60;
const staticGroups: ReadonlySet<number> = new Set([1, 3, 10, 20, 21, 30, 31, 40]);
const eventGroups: ReadonlySet<number> = new Set([2, 4, 11, 13, 22, 23, 32, 33, 42, 43]);

/** Bits of the classes 1, 2 and 3. */
export const allClasses = 0b111;

const isRead = ({ functionCode }: Request) => functionCode === functionCodes.read;

/** True if it reads class 0. */
export function readsClass0(request: Request): boolean {
  return isRead(request) && request.headers.some(({ group, variation }) => group === classGroup && variation === 1);
}

/** True if it reads present values, of class 0 or of a type. */
export function readsStatic(request: Request): boolean {
  return readsClass0(request) || (isRead(request) && request.headers.some(({ group }) => staticGroups.has(group)));
}

/** Classes whose objects a request names, bit 0 for class 1. */
export function classesNamed({ headers }: Request): number {
  let bits = 0;
  for (const { group, variation } of headers)
    if (group === classGroup && variation >= 2 && variation <= 4) bits |= 1 << (variation - 2);
  return bits;
}

/** Classes whose events it reads, bit 0 for class 1. A read by type reads all of them. */
export function eventClassesRead(request: Request): number {
  if (!isRead(request)) return 0;
  return request.headers.some(({ group }) => eventGroups.has(group)) ? allClasses : classesNamed(request);
}
