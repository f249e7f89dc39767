/** Places in scenario files, for messages. */
import { pointerStep } from '../core/errors.ts';

/** A place in a file, or in the body of a request. */
export interface Place {
  /** file name as the user gave it; null: a request */
  readonly file: string | null;
  /** from 1; null: unknown */
  readonly line: number | null;
  readonly path: readonly PropertyKey[];
}

/** `steps[3].grid` */
function keyText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** `storm.yaml:12: steps[3].grid`; in a request the JSON pointer `/steps/3/grid`. */
export function placeText({ file, line, path }: Place): string {
  if (file === null) return path.map(pointerStep).join('');
  const where = line === null ? file : `${file}:${line}`;
  return [where, ...(path.length === 0 ? [] : [keyText(path)])].join(': ');
}
