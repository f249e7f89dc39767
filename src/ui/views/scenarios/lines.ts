/** Line numbers of values in a JSON text, for objections of the daemon. */

/** An object or list around the current position. */
interface Frame {
  readonly pointer: string;
  /** index of the next value in a list; null: an object */
  index: number | null;
  key: string;
  awaitsKey: boolean;
}

const tokens = /\n|"(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function pointerOf(frame: Frame | undefined): string {
  if (frame === undefined) return '';
  return `${frame.pointer}/${frame.index ?? frame.key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function keyOf(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** Line numbers, from 1, by JSON pointer; in an invalid text as far as possible. */
export function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const frames: Frame[] = [];
  let line = 1;
  for (const [token] of text.matchAll(tokens)) {
    const frame = frames.at(-1);
    if (token === '\n') line += 1;
    else if (token === '}' || token === ']') frames.pop();
    else if (token === ',' && frame) {
      if (frame.index === null) frame.awaitsKey = true;
      else frame.index += 1;
    } else if (token === ':' && frame) frame.awaitsKey = false;
    else if (frame?.awaitsKey) {
      frame.key = keyOf(token);
      lines.set(pointerOf(frame), line);
    } else {
      const pointer = pointerOf(frame);
      // the line of a member is that of its key
      if (!lines.has(pointer)) lines.set(pointer, line);
      if (token === '{') frames.push({ pointer, index: null, key: '', awaitsKey: true });
      if (token === '[') frames.push({ pointer, index: 0, key: '', awaitsKey: false });
    }
  }
  return lines;
}

/** Line of a value, or of the innermost existing value around it. */
export function lineOf(lines: ReadonlyMap<string, number>, pointer: string): number {
  const line = lines.get(pointer);
  if (line !== undefined) return line;
  return pointer === '' ? 1 : lineOf(lines, pointer.slice(0, pointer.lastIndexOf('/')));
}
