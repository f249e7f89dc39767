import { errorText } from '../errors.ts';

/** Texts of the serial port library, with their meaning for the user. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/no such file|file not found|does not exist/i, 'there is no such device'],
  [/permission denied|access denied/i, 'no permission to use it'],
  [/lock|busy/i, 'another program uses it'],
  [/inappropriate ioctl|not a tty|no such device or address|is a directory/i, 'it is not a serial port'],
];

/** Why a serial port cannot be opened, in words for the user, without its path where the reason is a known one. */
export function serialReason(cause: unknown): string {
  const words = firstLine(cause);
  return reasons.find(([pattern]) => pattern.test(words))?.[1] ?? words;
}

/** The first line of the message of an error. */
export function firstLine(cause: unknown): string {
  const [line = ''] = errorText(cause).split('\n');
  return line;
}
