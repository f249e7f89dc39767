/** The editor of scenarios: the daemon checks the text while it is typed. */
import { useId, useRef } from 'preact/hooks';
import { del, get, perform, post, Problem } from '../../../api/call';
import { Refused, useDo } from '../../../kit/action';
import { download } from '../../../kit/download';
import { say } from '../../../kit/notice';
import { Chip, Panel } from '../../../kit/panel';
import { NeedsPeer } from '../library/cards';
import { Differs } from '../library/differs';
import { openRunOf, RunButton, useStart } from '../library/starting';
import { CodeArea, linePx } from './area';
import { useCheck } from './checking';
import type { Verdict } from './checking';
import { proposalsAt } from './completion';
import type { Schema } from './completion';
import { contextAt } from './context';
import { draft, isChanged, setDraft } from './draft';
import { CaptureMenu, openFile, OpenMenu, TimelineMenu, useOpenFromAddress } from './opening';
import type { LineProblem } from './problems';

/** Read with the first completion: it is long, and constant while the daemon runs. */
let schemaRead: Promise<Schema> | undefined;

const nothing = { all: [], typed: '', isKey: false };

async function propose(text: string, caret: number) {
  const context = contextAt(text, caret);
  if (context === null) return nothing;
  schemaRead ??= perform(get('scenarios/schema')) as Promise<Schema>;
  try {
    return { all: proposalsAt(await schemaRead, context), typed: context.typed, isKey: context.valueOf === null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    schemaRead = undefined;
    say(`No completion: ${error.message}`);
    return nothing;
  }
}

export function Editor() {
  useOpenFromAddress();
  const area = useRef<HTMLTextAreaElement>(null);
  const problemsId = useId();
  const { text } = draft.value;
  const verdict = useCheck(text);
  const marked = new Set(verdict.problems.flatMap(({ line }) => line ?? []));
  return (
    <Panel title="Scenario" tools={<Tools verdict={verdict} />}>
      <div class="stack">
        <div
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            const file = event.dataTransfer?.files[0];
            if (file === undefined) return;
            event.preventDefault();
            void openFile(file);
          }}
        >
          <CodeArea
            text={text}
            label="Scenario as YAML"
            area={area}
            marked={marked}
            describedBy={problemsId}
            onText={(typed) => setDraft({ text: typed })}
            propose={propose}
          />
        </div>
        <div id={problemsId}>
          <VerdictText verdict={verdict} />
          <Problems
            problems={verdict.problems}
            onLine={(line) => area.current !== null && select(area.current, line)}
          />
        </div>
        <small class="muted">
          <kbd>Ctrl</kbd> <kbd>Space</kbd> completes keys. The draft stays in this tab over a reload. Files:{' '}
          <code>derbench run FILE</code>.
        </small>
      </div>
    </Panel>
  );
}

/** Selects a line, and scrolls to it. */
function select(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(before, before + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, (line - 4) * linePx);
}

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;

function VerdictText({ verdict: { isCurrent, checked, problems } }: { readonly verdict: Verdict }) {
  const count = problems.length;
  return (
    <div role="status" class={isCurrent ? 'stack' : 'stack stale'}>
      {!isCurrent && <Chip tone="muted">checking</Chip>}
      {isCurrent && count > 0 && <Chip tone="bad">{plural(count, 'problem')}</Chip>}
      {isCurrent && checked !== null && (
        <>
          <p class="row">
            {checked.fits ? <Chip tone="good">Fits</Chip> : <Chip tone="off">Needs a simulator of its own</Chip>}
            {checked.needs_peer && <NeedsPeer />}
            <span>{contentsText(checked)}</span>
          </p>
          {!checked.fits && <Differs differs={checked.differs} />}
          {checked.fits && checked.unused_settings.length > 0 && (
            <p class="muted">Not applied here: {checked.unused_settings.join(', ')}</p>
          )}
        </>
      )}
    </div>
  );
}

/** `3 steps, 1 rule, 5 assertions` */
function contentsText({ steps, rules, assertions }: NonNullable<Verdict['checked']>): string {
  const rulesText = rules === 0 ? [] : [plural(rules, 'rule')];
  return [plural(steps, 'step'), ...rulesText, plural(assertions, 'assertion')].join(', ');
}

interface ProblemsProps {
  readonly problems: readonly LineProblem[];
  readonly onLine: (line: number) => void;
}

function Problems({ problems, onLine }: ProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <ol class="line-problems" aria-label="Problems">
      {problems.map(({ line, text }) => (
        <li key={`${line} ${text}`}>
          {line === null ? (
            <span class="muted">text</span>
          ) : (
            <button type="button" class="quiet" onClick={() => onLine(line)}>
              line {line}
            </button>
          )}
          <span class="issue">{text}</span>
        </li>
      ))}
    </ol>
  );
}

/** Keeps the text in the daemon in place of the one that was opened. */
function useSave() {
  const { busy, problem, run } = useDo();
  const save = async (): Promise<string | undefined> => {
    const { text, keptId } = draft.peek();
    const added = (await run(post('scenarios', { body: { yaml: text } }))) as { readonly id: string } | undefined;
    if (added === undefined) return undefined;
    setDraft({ keptId: added.id, saved: text });
    if (keptId !== null) await run(del('scenarios/{id}', { params: { id: keptId } }));
    return added.id;
  };
  return { busy, problem, run, save };
}

function Tools({ verdict: { isCurrent, checked } }: { readonly verdict: Verdict }) {
  const { text, keptId } = draft.value;
  const hasChanges = isChanged(draft.value);
  const { busy, problem, run, save } = useSave();
  const title = checked?.name ?? 'scenario';
  const scenario = { title, addition: { yaml: text }, keptId: null, takesS: null };
  const beside = useStart(scenario);
  const isValid = isCurrent && checked !== null;
  const startHere = async () => {
    const id = keptId === null || hasChanges ? await save() : keptId;
    if (id !== undefined && (await run(post('scenarios/{id}/start', { params: { id }, body: {} }))) !== undefined)
      await openRunOf(id);
  };
  const starting = {
    busy: busy || beside.busy,
    problem: problem ?? beside.problem,
    start: (place: 'here' | 'beside') => (place === 'here' ? startHere() : beside.start('beside')),
  };
  const invalid = isValid ? null : 'the text has problems, or is being checked';
  const fits = checked?.fits ?? true;
  return (
    <>
      {hasChanges && <span class="muted">changed</span>}
      <OpenMenu />
      <CaptureMenu />
      <TimelineMenu />
      <button
        type="button"
        disabled={busy || invalid !== null || !fits || (keptId !== null && !hasChanges)}
        title={fits ? (invalid ?? undefined) : 'only scenarios for this simulator are kept in it: download the text'}
        onClick={() => void save().then((id) => id !== undefined && say('Saved among your scenarios'))}
      >
        Save
      </button>
      <button
        type="button"
        onClick={() =>
          download(new Blob([text], { type: 'application/yaml' }), `${title.replace(/[^\w-]+/g, '-')}.yaml`)
        }
      >
        Download
      </button>
      {fits && <RunButton scenario={scenario} place="here" starting={starting} unable={invalid} />}
      {(!fits || isValid) && (
        <RunButton scenario={scenario} place="beside" starting={starting} unable={invalid} primary={!fits} />
      )}
      <Refused problem={starting.problem} />
    </>
  );
}
