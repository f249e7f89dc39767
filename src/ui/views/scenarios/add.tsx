/** Forms that add a scenario: a bundled one, or a text, with the lines to which the daemon objects. */
import { useRef, useState } from 'preact/hooks';
import { post } from '../../api/call';
import type { Problem } from '../../api/call';
import { Action, Refused, useDo } from '../../kit/action';
import { CallLine } from '../../kit/api-switch';
import { Panel } from '../../kit/panel';
import { say } from '../../kit/notice';
import { setParam } from '../../store/route';
import type { Listing, Scenario } from './run';

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
function linesOf(text: string): ReadonlyMap<string, number> {
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
      // the line of a member is the line of its key
      if (!lines.has(pointer)) lines.set(pointer, line);
      if (token === '{') frames.push({ pointer, index: null, key: '', awaitsKey: true });
      if (token === '[') frames.push({ pointer, index: 0, key: '', awaitsKey: false });
    }
  }
  return lines;
}

/** Line of a value, or of the innermost existing value around it. */
function lineOf(lines: ReadonlyMap<string, number>, pointer: string): number {
  const line = lines.get(pointer);
  if (line !== undefined) return line;
  return pointer === '' ? 1 : lineOf(lines, pointer.slice(0, pointer.lastIndexOf('/')));
}

/** Maximum size of a scenario in the daemon, bytes. */
const maxFileBytes = 5 * 1024 * 1024;
/** Maximum characters of a text for which the curl command is offered. */
const maxCurlLength = 20_000;

const choose = (added: unknown) => setParam('scenario', (added as Scenario).id);

/** Scenarios bundled with the simulator. */
export function Bundled({ bundled }: { readonly bundled: Listing['bundled'] }) {
  return (
    <Panel title="Bundled with derbench">
      <ul class="bundled">
        {bundled.map(({ name, description }) => (
          <li key={name}>
            <Action call={post('scenarios', { body: { bundled: name } })} title={`Add ${name}`} onDone={choose}>
              Add <span class="visually-hidden">{name}</span>
            </Action>
            <span>
              <code>{name}</code> {description}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

type Parsed = { readonly content: Record<string, unknown> } | { readonly wrong: string };

function parse(text: string): Parsed {
  try {
    // the daemon refuses anything but an object
    return { content: JSON.parse(text) as Record<string, unknown> };
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

/** Adds the user's own scenario: a file or a text. */
export function AddOwn() {
  const [text, setText] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  const { busy, problem, run, forget } = useDo<Scenario>();
  const parsed = text.trim() === '' ? null : parse(text);
  const call = parsed && 'content' in parsed ? post('scenarios', { body: { scenario: parsed.content } }) : null;
  const loadFile = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > maxFileBytes) say(`${file.name} is larger than 5 MB`);
    else {
      forget();
      setText(await file.text());
    }
  };
  const add = async (event: Event) => {
    event.preventDefault();
    const added = call && (await run(call));
    if (added) choose(added);
  };
  return (
    <Panel title="Add your own">
      <form class="form" onSubmit={(event) => void add(event)}>
        <label class="field">
          <span>File</span>
          <input
            type="file"
            accept=".json,.yaml,.yml"
            onChange={(event) => {
              void loadFile(event.currentTarget.files?.[0]);
              // permits choosing the same file again after a change
              event.currentTarget.value = '';
            }}
          />
        </label>
        <label class="field">
          <span>Scenario as JSON: paste it, or drop a file here</span>
          <textarea
            ref={area}
            class="mono"
            rows={10}
            wrap="off"
            spellcheck={false}
            value={text}
            aria-invalid={problem !== null || (parsed !== null && 'wrong' in parsed)}
            onInput={(event) => setText(event.currentTarget.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              const file = event.dataTransfer?.files[0];
              if (file === undefined) return;
              event.preventDefault();
              void loadFile(file);
            }}
          />
        </label>
        {parsed !== null && 'wrong' in parsed && (
          <p class="problem" role="status">
            REST accepts JSON only, and this text is not JSON: {parsed.wrong}. A YAML file runs with{' '}
            <code>derbench run FILE</code>.
          </p>
        )}
        <div class="row">
          <button class="primary" disabled={busy || call === null}>
            Add scenario
          </button>
          {call !== null && text.length < maxCurlLength && <CallLine call={call} />}
        </div>
        <div role="alert">{problem !== null && <Objections problem={problem} text={text} area={area.current} />}</div>
      </form>
    </Panel>
  );
}

interface ObjectionsProps {
  readonly problem: Problem;
  readonly text: string;
  readonly area: HTMLTextAreaElement | null;
}

/** The daemon's objections with line numbers. */
function Objections({ problem, text, area }: ObjectionsProps) {
  if (problem.issues.length === 0) return <Refused problem={problem} />;
  const places = linesOf(text);
  const lines = text.split('\n');
  const mark = (line: number) => {
    if (area === null) return;
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    area.focus();
    area.setSelectionRange(before, before + (lines[line - 1]?.length ?? 0));
    area.scrollTop = ((line - 3) * area.scrollHeight) / lines.length;
  };
  return (
    <ol class="objections" aria-label="Objections">
      {problem.issues.map(({ name, detail }) => {
        const pointer = name.replace(/^\/scenario/, '');
        const line = lineOf(places, pointer);
        return (
          <li key={name + detail}>
            <button type="button" class="quiet" onClick={() => mark(line)}>
              line {line}
            </button>
            <code>{pointer || '/'}</code>
            <span class="issue">{detail}</span>
            <pre>{lines[line - 1]?.trim()}</pre>
          </li>
        );
      })}
    </ol>
  );
}
