/** The lab as a file: download the running one, and load another in its place. */
import { useRef, useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import type { Problem, ReplyOf } from '../../api/call';
import { Refused, useDo } from '../../kit/action';
import { CallLine } from '../../kit/api-switch';
import { say } from '../../kit/notice';
import { Facts, Panel } from '../../kit/panel';
import { settingText, useSettings } from '../../kit/settings';
import { useOverview } from '../../store/site';
import { lineOf } from './yaml-lines';

type Loading = ReplyOf<'config', 'post'>;

export function LabFile() {
  return (
    <>
      <SaveLab />
      <LoadLab />
    </>
  );
}

function SaveLab() {
  const yaml = get('config', { query: { format: 'yaml' } });
  const json = get('config', { query: { format: 'json' } });
  return (
    <Panel title="Lab as a file" tools={<CallLine call={yaml} />}>
      <div class="stack">
        <p>
          The running lab as a configuration file: every setting that differs from its default, the devices, the grid
          and the faults of the configuration. A start with <code>--config lab.yaml</code> makes the same lab again.
          Passwords and PINs are left out, and so is state such as energy and the clock.
        </p>
        <div class="row">
          <a href={yaml.address} download="lab.yaml">
            Download lab.yaml
          </a>
          <a href={json.address} download="lab.json">
            Download lab.json
          </a>
        </div>
      </div>
    </Panel>
  );
}

const example = `devices:
  - device_type: Batt-3Phase
    count: 2`;

/** null: the lab of the start */
type Text = string | null;

const bodyOf = (text: Text) => (text === null ? { config: null } : { yaml: text });
const checkCall = (text: Text) => post('config', { body: { ...bodyOf(text), dry_run: true } });
const loadCall = (text: Text) => post('config', { body: bodyOf(text) });

const question =
  'Load this lab? The simulator begins anew with it: peers lose their connections; registers, energy and commands end.';

/** A file is checked first; only the text that was checked is loaded. */
function LoadLab() {
  const [text, setText] = useState('');
  const [checked, setChecked] = useState<{ readonly text: Text; readonly answer: Loading } | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const { busy, problem, run, forget } = useDo<Loading>();
  const enter = (next: string) => {
    setText(next);
    setChecked(null);
    forget();
  };
  const enterFile = async (file: File | undefined) => {
    if (file !== undefined) enter(await file.text());
  };
  const check = async (what: Text) => {
    setChecked(null);
    const answer = await run(checkCall(what));
    if (answer !== undefined) setChecked({ text: what, answer });
  };
  const load = async (what: Text) => {
    if (!confirm(question)) return;
    if ((await run(loadCall(what))) === undefined) return;
    setChecked(null);
    say('The simulator begins anew with this lab.');
  };
  const select = (line: number) => {
    const start =
      text
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0);
    box.current?.focus();
    box.current?.setSelectionRange(start, start + (text.split('\n')[line - 1]?.length ?? 0));
  };
  return (
    <Panel title="Load another lab">
      <div class="stack">
        <label class="field">
          <span>Configuration file, YAML or JSON</span>
          <input
            type="file"
            accept=".yaml,.yml,.json"
            onChange={({ currentTarget: { files } }) => void enterFile(files?.[0])}
          />
        </label>
        <label class="field">
          <span>or its text</span>
          <textarea
            ref={box}
            name="lab"
            class="mono"
            rows={12}
            spellcheck={false}
            placeholder={example}
            aria-invalid={problem !== null && problem.issues.length > 0}
            value={text}
            onInput={(event) => enter(event.currentTarget.value)}
          />
        </label>
        {problem !== null && <Issues problem={problem} text={text} onLine={select} />}
        <div class="row">
          <button
            type="button"
            class={checked === null ? 'primary' : undefined}
            disabled={busy || text.trim() === ''}
            onClick={() => void check(text)}
          >
            Check
          </button>
          <button type="button" disabled={busy} onClick={() => void check(null)}>
            Check the lab of the start
          </button>
          <CallLine call={checkCall(text)} />
        </div>
        {checked !== null && (
          <>
            <Outcome answer={checked.answer} isStart={checked.text === null} />
            <div class="row">
              <button
                type="button"
                class="primary"
                disabled={busy || !checked.answer.can_restart}
                title={checked.answer.can_restart ? undefined : 'A script or a scenario has started this simulator.'}
                onClick={() => void load(checked.text)}
              >
                {checked.text === null ? 'Return to the lab of the start' : 'Load this lab'}
              </button>
              <CallLine call={loadCall(checked.text)} />
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}

interface IssuesProps {
  readonly problem: Problem;
  readonly text: string;
  readonly onLine: (line: number) => void;
}

/** The daemon's objections, each with the line of the text that it is about. */
function Issues({ problem, text, onLine }: IssuesProps) {
  if (problem.issues.length === 0) return <Refused problem={problem} />;
  return (
    <ul class="problem" role="alert">
      {problem.issues.map(({ name, detail }) => {
        const line = lineOf(text, name, detail);
        return (
          <li key={`${name} ${detail}`}>
            {line !== null && (
              <>
                <button type="button" class="link" onClick={() => onLine(line)}>
                  Line {line}
                </button>
                {': '}
              </>
            )}
            {name !== '' && <code>{name}</code>} {detail}
          </li>
        );
      })}
    </ul>
  );
}

/** Differences of a checked lab from the running one. */
function Outcome({ answer, isStart }: { readonly answer: Loading; readonly isStart: boolean }) {
  const deviceCount = useOverview()?.devices.length ?? 0;
  const settings = useSettings()?.settings ?? [];
  const { devices, changes, notices } = answer;
  const valueOf = (key: string) => {
    const setting = settings.find((each) => each.key === key);
    return setting === undefined || setting.secret ? '' : ` (now ${settingText(setting.value) || 'none'})`;
  };
  return (
    <div role="status" class="stack">
      <p class="good">{isStart ? 'The lab of the start can be loaded.' : 'This lab can be loaded.'}</p>
      <Facts
        rows={[
          ['Devices', devices === deviceCount ? `${devices}, as now` : `${devices} in place of ${deviceCount}`],
          [
            'Settings that change',
            changes.length === 0 ? 'none' : changes.map((key) => `${key}${valueOf(key)}`).join(', '),
          ],
        ]}
      />
      {notices.length > 0 && (
        <ul>
          {notices.map((notice) => (
            <li key={notice}>{notice}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
