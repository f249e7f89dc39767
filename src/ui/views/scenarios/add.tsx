import { useRef, useState } from 'preact/hooks';
import { post } from '../../api/call';
import type { Problem } from '../../api/perform';
import { Action, Curl, Refused, useDo } from '../../kit/action';
import { Panel } from '../../kit/panel';
import { say } from '../../store/notices';
import { setParam } from '../../store/route';
import { lineOf, linesOf } from './lines';
import type { Listing, Scenario } from './types';

/** Limit of the daemon, bytes. */
const maxFileBytes = 5 * 1024 * 1024;
/** Maximum length of a text in a command line. */
const maxCurlLength = 20_000;

const choose = (added: unknown) => setParam('scenario', (added as Scenario).id);

/** Scenarios that come with the simulator. */
export function Bundled({ bundled }: { readonly bundled: Listing['bundled'] }) {
  return (
    <Panel title="Come with derbench">
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
  const take = async (file: File | undefined) => {
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
              void take(event.currentTarget.files?.[0]);
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
              void take(file);
            }}
          />
        </label>
        {parsed !== null && 'wrong' in parsed && (
          <p class="problem" role="status">
            REST takes JSON, and this is not: {parsed.wrong}. A YAML file runs with <code>derbench run FILE</code>.
          </p>
        )}
        <div class="row">
          <button class="primary" disabled={busy || call === null}>
            Add scenario
          </button>
          {call !== null && text.length < maxCurlLength && <Curl call={call} />}
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
