/** All settings by group: value, origin, and how a change takes effect; one request changes those that were edited. */
import { useState } from 'preact/hooks';
import { patch } from '../../api/call';
import type { Problem, ReplyOf } from '../../api/call';
import { Refused, useDo } from '../../kit/action';
import { CallLine } from '../../kit/api-switch';
import { submitting } from '../../kit/form';
import { Empty, Panel } from '../../kit/panel';
import { Loading } from '../../kit/states';
import {
  changesOf,
  SettingInput,
  settingText,
  useCertificates,
  useSettings,
  whyLocked,
  withoutSecretValues,
} from '../../kit/settings';
import type { Certificate, Inputs, Setting } from '../../kit/settings';
import { dash, words } from '../../look/format';
import { param, setParam } from '../../store/route';

type Report = ReplyOf<'settings'>;
type Change = ReplyOf<'settings', 'patch'>;

const origins: Readonly<Record<Setting['origin'], string>> = {
  default: 'the default',
  profile: 'the profiles of the devices',
  file: 'a configuration file',
  environment: 'the environment',
  flag: 'a flag',
  rest: 'a request',
};

function effectOf({ changes, adapter, why }: Setting): string {
  if (changes === 'start') return `Changes at a start only: ${why ?? 'no request changes it'}`;
  return changes === 'live' ? 'Takes effect at once.' : `A change restarts ${adapter ?? 'its adapter'}.`;
}

/** Source of the value, and the default where it differs. */
function originOf({ origin, default: preset, secret, needs }: Setting): string {
  const source = origin === 'default' ? 'The default.' : `From ${origins[origin]}.`;
  const isPresetShown = origin !== 'default' && !secret;
  return [
    source,
    isPresetShown ? `Default: ${settingText(preset) || 'none'}.` : '',
    needs === null ? '' : `Needs ${needs}.`,
  ].join(' ');
}

/** Allowed values; a switch and a choice show theirs, and a list of names stands in the description already. */
function rangeOf({ type, min, max, allowed, doc }: Setting): string {
  if (type === 'switch' || type === 'choice') return '';
  const [, names] = /\((.*)\)/.exec(allowed) ?? [];
  if (names !== undefined && doc.includes(names)) return '';
  return min === null || max === null ? `Allowed: ${allowed}.` : `From ${min} to ${max}.`;
}

/** Case does not matter, nor a space in place of an underscore. */
function matches({ key, group, doc, origin }: Setting, text: string): boolean {
  return `${key} ${words(key)} ${group} ${doc} ${origins[origin]}`.toLowerCase().includes(text.toLowerCase());
}

export function SettingsForm() {
  const report = useSettings();
  if (report === undefined) return <Loading heights={[40, 480]} />;
  if (report.settings.length === 0) return <Empty>This simulator has no settings.</Empty>;
  return <Groups report={report} />;
}

function Groups({ report }: { readonly report: Report }) {
  const { settings } = report;
  const certificates = useCertificates() ?? [];
  const [inputs, setInputs] = useState<Inputs>({});
  const [outcome, setOutcome] = useState<string | null>(null);
  const { busy, problem, run, forget } = useDo<Change>();
  const groups = [...new Set(settings.map(({ group }) => group))];
  const text = param('settings-find') ?? '';
  const group = groups.find((each) => each === param('settings-group')) ?? groups[0];
  const changes = changesOf(settings, inputs);
  const call = patch('settings', { body: withoutSecretValues(settings, changes) });
  const send = async () => {
    const answer = await run(patch('settings', { body: changes }));
    if (answer === undefined) return;
    setInputs({});
    setOutcome(outcomeText(answer));
  };
  const enter = (key: string, input: string | boolean | null | undefined) => {
    setOutcome(null);
    setInputs((before) => {
      const others = Object.entries(before).filter(([name]) => name !== key);
      return Object.fromEntries(input === undefined ? others : [...others, [key, input]]);
    });
  };
  const isShown = (setting: Setting) =>
    (text === '' ? setting.group === group : matches(setting, text)) || problem?.about(`/${setting.key}`) != null;
  const shownGroups = groups.filter((each) => settings.some((setting) => setting.group === each && isShown(setting)));
  return (
    <form class="settings" noValidate onSubmit={submitting(send)}>
      <GroupList groups={groups} chosen={text === '' ? group : undefined} text={text} />
      <div class="stack">
        <Refused problem={problem} />
        {report.locked && <p class="problem">{whyLocked(report)}.</p>}
        {shownGroups.length === 0 && <Empty>No setting has “{text}” in its name or meaning.</Empty>}
        {shownGroups.map((each) => (
          <Panel key={each} title={each}>
            <div class="stack">
              {settings
                .filter((setting) => setting.group === each && isShown(setting))
                .map((setting) => (
                  <SettingRow
                    key={setting.key}
                    setting={setting}
                    isLocked={report.locked}
                    inputs={inputs}
                    onInput={enter}
                    certificates={certificates}
                    problem={problem}
                  />
                ))}
            </div>
          </Panel>
        ))}
        <Bar
          changed={Object.keys(changes)}
          busy={busy}
          outcome={outcome}
          onDiscard={() => {
            setInputs({});
            forget();
          }}
        >
          <CallLine call={call} />
        </Bar>
      </div>
    </form>
  );
}

function outcomeText({ settings, adapters }: Change): string {
  const effects = adapters.map(({ adapter, effect }) => `${adapter} ${effect.replace('_', ' ')}`);
  return [`Changed ${settings.map(({ key }) => key).join(', ')}`, ...effects].join('; ').concat('.');
}

interface GroupListProps {
  readonly groups: readonly string[];
  readonly chosen: string | undefined;
  readonly text: string;
}

function GroupList({ groups, chosen, text }: GroupListProps) {
  return (
    <div class="stack">
      <input
        type="search"
        aria-label="Find settings"
        placeholder="Find settings"
        value={text}
        onInput={(event) => setParam('settings-find', event.currentTarget.value)}
      />
      <ul class="panel groups" aria-label="Groups of settings">
        {groups.map((group) => (
          <li key={group}>
            <button
              type="button"
              class="quiet"
              aria-pressed={group === chosen}
              onClick={() => {
                setParam('settings-find', null);
                setParam('settings-group', group);
              }}
            >
              {group}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SettingRowProps {
  readonly setting: Setting;
  readonly isLocked: boolean;
  readonly inputs: Inputs;
  /** undefined drops the typed input */
  readonly onInput: (key: string, input: string | boolean | null | undefined) => void;
  readonly certificates: readonly Certificate[];
  readonly problem: Problem | null;
}

function SettingRow({ setting, isLocked, inputs, onInput, certificates, problem }: SettingRowProps) {
  const { key, changes, origin, doc } = setting;
  const isTakenBack = inputs[key] === null;
  return (
    <div class="setting">
      {changes === 'start' || isLocked || isTakenBack ? (
        <ReadOnly setting={setting} text={isTakenBack ? 'as at the start' : valueText(setting)} />
      ) : (
        <SettingInput
          setting={setting}
          inputs={inputs}
          onInput={onInput}
          certificates={certificates}
          issue={problem?.about(`/${key}`) ?? null}
        />
      )}
      <div>
        <p>{doc}</p>
        <p class="muted">
          {originOf(setting)} {rangeOf(setting)} {effectOf(setting)}
        </p>
        {origin === 'rest' && !isLocked && (
          <button type="button" class="quiet" onClick={() => onInput(key, isTakenBack ? undefined : null)}>
            {isTakenBack ? 'Keep' : 'Take back'} <span class="visually-hidden">{key}</span>
          </button>
        )}
      </div>
    </div>
  );
}

function valueText({ value, secret, is_set: isSet }: Setting): string {
  if (secret) return isSet ? 'set' : 'not set';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return settingText(value) || dash;
}

function ReadOnly({ setting: { key, unit }, text }: { readonly setting: Setting; readonly text: string }) {
  return (
    <div class="field">
      <span>
        {key}
        {unit === null ? '' : `, ${unit}`}
      </span>
      <code data-test={key}>{text}</code>
    </div>
  );
}

interface BarProps {
  readonly changed: readonly string[];
  readonly busy: boolean;
  readonly outcome: string | null;
  readonly onDiscard: () => void;
  readonly children: preact.ComponentChildren;
}

/** The button that sends the edited settings, which may be in several groups. */
function Bar({ changed, busy, outcome, onDiscard, children }: BarProps) {
  const count = changed.length;
  return (
    <div class="panel bar row">
      <button class="primary" disabled={busy || count === 0}>
        {count === 0 ? 'Change settings' : `Change ${count} ${count === 1 ? 'setting' : 'settings'}`}
      </button>
      {count > 0 && (
        <>
          {children}
          <button type="button" onClick={onDiscard}>
            Discard
          </button>
          <span class="muted">{changed.join(', ')}</span>
        </>
      )}
      {outcome !== null && (
        <span class="good" role="status">
          {outcome}
        </span>
      )}
    </div>
  );
}
