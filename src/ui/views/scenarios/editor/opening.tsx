/** Texts that the editor begins with: of the library, of kept scenarios, and from files. */
import { useEffect } from 'preact/hooks';
import { get, perform, Problem } from '../../../api/call';
import { Menu } from '../../../kit/menu';
import { say } from '../../../kit/notice';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { useClock } from '../../../store/site';
import { draft, isChanged, setDraft, template } from './draft';
import type { Draft } from './draft';

/** Shows another text. A changed draft can be taken back. */
function open(text: string, keptId: string | null, title: string): void {
  const before: Draft = draft.peek();
  setDraft({ text, keptId, saved: text });
  say(`Opened ${title}`, isChanged(before) ? () => setDraft(before) : null);
}

/** A scenario of the library, a kept one, or the text of a run. */
type Choice = { readonly bundled: string } | { readonly id: string } | { readonly run: string };

async function openText(query: Choice, title: string): Promise<void> {
  try {
    const text = (await perform(get('scenarios/text', { query }))) as string;
    open(text, 'id' in query ? query.id : null, title);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
}

/** The source of a draft. */
type DraftQuery = { readonly capture: number } | { readonly since: string } | { readonly ids: number[] };

async function openDraft(query: DraftQuery, title: string): Promise<void> {
  try {
    open(await perform(get('scenarios/draft', { query })), null, title);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
}

/** Opens the scenario that the address names, once. */
export function useOpenFromAddress(): void {
  const [bundled, kept, run, capture] = [param('bundled'), param('kept'), param('run'), param('capture')];
  const entries = param('entries');
  useEffect(() => {
    if (bundled !== null) void openText({ bundled }, bundled);
    else if (kept !== null) void openText({ id: kept }, `scenario ${kept}`);
    else if (run !== null) void openText({ run }, `the text of run ${run}`);
    else if (capture !== null) void openDraft({ capture: Number(capture) }, `capture ${capture}`);
    else if (entries !== null) void openDraft({ ids: entries.split(',').map(Number) }, 'entries of the timeline');
    // a reload of the page must not open it again over what is typed
    setParam('bundled', null);
    setParam('kept', null);
    setParam('run', null);
    setParam('capture', null);
    setParam('entries', null);
  }, [bundled, kept, run, capture, entries]);
}

/** Maximum size of a file, bytes: that of a text in the daemon, with characters of several bytes. */
const maxFileBytes = 400_000;

export async function openFile(file: File | undefined): Promise<void> {
  if (file === undefined) return;
  if (file.size > maxFileBytes) say(`${file.name} is larger than 400 kB`);
  else open(await file.text(), null, file.name);
}

interface DraftMenuProps {
  readonly label: string;
  readonly entries: readonly { readonly title: string; readonly query: DraftQuery }[];
  /** shown without entries */
  readonly empty: string;
}

function DraftMenu({ label, entries, empty }: DraftMenuProps) {
  return (
    <Menu label={label} face={label}>
      {(close) =>
        entries.length === 0 ? (
          <p class="muted">{empty}</p>
        ) : (
          <div class="menu-list open-scenario">
            {entries.map(({ title, query }) => (
              <button
                key={title}
                type="button"
                onClick={() => {
                  close();
                  void openDraft(query, title);
                }}
              >
                {title}
              </button>
            ))}
          </div>
        )
      }
    </Menu>
  );
}

export function CaptureMenu() {
  const captures = useLive(get('captures'), 'change').data?.captures ?? [];
  const entries = captures
    .filter(({ state }) => state !== 'recording')
    .map(({ id, title }) => ({ title: `Capture ${id}: ${title}`, query: { capture: id } }));
  return <DraftMenu label="From a capture" entries={entries} empty="No capture yet. A sag or an outage makes one." />;
}

/** Spans of the timeline, simulated seconds. */
const spans = [
  ['The last minute', 60],
  ['The last 10 minutes', 600],
  ['The last hour', 3600],
  ['The last day', 86_400],
] as const;

export function TimelineMenu() {
  const simTime = useClock()?.sim_time;
  const entries =
    simTime === undefined
      ? []
      : spans.map(([title, seconds]) => ({
          title,
          query: { since: new Date(Date.parse(simTime) - 1000 * seconds).toISOString() },
        }));
  return <DraftMenu label="From the timeline" entries={entries} empty="The clock is not read yet." />;
}

export function OpenMenu() {
  const { data } = useLive(get('scenarios'), 5000);
  return (
    <Menu label="Open a scenario" face="Open">
      {(close) => {
        const entry = (key: string, title: string, act: () => unknown) => (
          <button
            key={key}
            type="button"
            onClick={() => {
              close();
              void act();
            }}
          >
            {title}
          </button>
        );
        return (
          <div class="menu-list open-scenario">
            {entry('new', 'New scenario', () => open(template, null, 'a new scenario'))}
            <label class="file">
              From a file
              <input
                type="file"
                class="visually-hidden"
                accept=".yaml,.yml,.json"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0];
                  close();
                  void openFile(file);
                }}
              />
            </label>
            {(data?.scenarios ?? []).length > 0 && <h3>Your scenarios</h3>}
            {data?.scenarios.map(({ id, name }) => entry(id, name, () => openText({ id }, name)))}
            <h3>Copy of the library</h3>
            {data?.bundled.map(({ name, title }) => entry(name, title, () => openText({ bundled: name }, title)))}
          </div>
        );
      }}
    </Menu>
  );
}
