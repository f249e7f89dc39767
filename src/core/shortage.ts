/** Lack of file descriptors: its error codes, and the remedy. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { SimError } from './errors.ts';

/** Texts of the system's codes: the limit of the process, the limit of the machine. */
export const shortageTexts: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files (raise the limit of open files, or serve fewer ports and connections)',
  ENFILE: 'the machine has too many open files',
};

/** A lack of file descriptors as an error for the user; null for any other error. Its cause counts as well. */
export function shortageOf(error: unknown): SimError | null {
  if (error instanceof SimError && error.code === 'SHORTAGE') return error;
  if (!(error instanceof Error)) return null;
  const text = 'code' in error ? shortageTexts[String(error.code)] : undefined;
  if (text !== undefined) return new SimError('SHORTAGE', text);
  return error.cause === undefined ? null : shortageOf(error.cause);
}

/** Descriptors that loading a part of the program may use at once, with room for connections accepted meanwhile. */
const reserve = 32;

/** `require` opens one file after the other and runs in one go: no connection takes a descriptor meanwhile. */
const requireReserve = 4;

/** @throws SimError SHORTAGE unless this many descriptors are free now */
export function checkFreeDescriptors(count: number = reserve): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
  } catch (error) {
    throw shortageOf(error) ?? error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The check before a library is loaded by `require` alone. @throws SimError SHORTAGE */
export const checkDescriptorsToRequire = (): void => {
  checkFreeDescriptors(requireReserve);
};
