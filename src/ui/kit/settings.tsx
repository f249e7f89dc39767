/** Fields of settings, made from their declarations: a kind of field for each type. */
import { get } from '../api/call';
import type { BodyOf, ReplyOf } from '../api/call';
import { useLive } from '../store/live';
import { FieldInput } from './form';
import type { Field } from './form';

export type Setting = ReplyOf<'settings'>['settings'][number];
export type Certificate = ReplyOf<'certificates'>['certificates'][number];
type SettingValue = Setting['value'];
/** Body of a change: only what differs. */
export type SettingChanges = BodyOf<'settings', 'patch'>;
/** Typed inputs by key; null takes back the change of an earlier request. */
export type Inputs = Readonly<Record<string, string | boolean | null>>;

/** Scripts change settings and certificates too, ms. */
const paceMs = 3000;

export function useSettings(): ReplyOf<'settings'> | undefined {
  return useLive(get('settings'), paceMs).data;
}

export function useCertificates(): readonly Certificate[] | undefined {
  return useLive(get('certificates'), paceMs).data?.certificates;
}

/** The settings of a list of keys, in its order; a simulator may lack some. */
export function settingsOf(settings: readonly Setting[], keys: readonly string[]): readonly Setting[] {
  return keys.flatMap((key) => settings.find((setting) => setting.key === key) ?? []);
}

/** Why the settings of this simulator cannot be changed. null: they can. */
export function whyLocked({ locked }: Pick<ReplyOf<'settings'>, 'locked'>): string | null {
  return locked ? 'The settings are locked: the simulator was started with --settings_locked yes' : null;
}

const certificatePrefix = 'certificate:';

/** Value of a setting that chooses a certificate of the store. */
export const certificateValue = (name: string): string => `${certificatePrefix}${name}`;

/** Name of the chosen certificate. null: the value is none of the store, such as a path. */
export function certificateNameOf(value: SettingValue): string | null {
  return typeof value === 'string' && value.startsWith(certificatePrefix)
    ? value.slice(certificatePrefix.length)
    : null;
}

/** True for a setting that takes a certificate of the store in place of a PEM file. */
const takesCertificate = (key: string): boolean => /_(cert|key)$/.test(key);
const isAuthority = (key: string): boolean => key.endsWith('_root_cert');

/** Certificates that a setting can choose: authorities to check a peer against, otherwise those with a key. */
export function certificatesFor({ key }: Pick<Setting, 'key'>, all: readonly Certificate[]): readonly Certificate[] {
  return all.filter(({ kind, has_ca: hasAuthorities, has_key: hasKey }) =>
    isAuthority(key) ? kind === 'ca' || hasAuthorities : hasKey && kind !== 'ca',
  );
}

/** Adds the key of each certificate that the changes choose, for forms without a field for the key. */
export function withKeys(changes: SettingChanges): SettingChanges {
  const keys = Object.entries(changes).filter(
    ([key, value]) => key.endsWith('_cert') && !isAuthority(key) && certificateNameOf(value) !== null,
  );
  return { ...changes, ...Object.fromEntries(keys.map(([key, value]) => [key.replace(/_cert$/, '_key'), value])) };
}

/** Value as text: items of a list behind separators, empty without a value. */
export function settingText(value: SettingValue, separator: string | null = null): string {
  return Array.isArray(value) ? value.join(`${separator ?? ','} `) : String(value ?? '');
}

/** True for a switch that is either on or off, and for one that may also have no value. */
const isTwoWay = ({ type, default: preset }: Setting): boolean => type === 'switch' && preset !== null;

const yesOrNo = [['true', 'yes'] as const, ['false', 'no'] as const];

function certificateOptions(setting: Setting, certificates: readonly Certificate[]) {
  const options = certificatesFor(setting, certificates).map(({ name }) => [certificateValue(name), name] as const);
  const present = settingText(setting.value);
  const isListed = present === '' || options.some(([value]) => value === present);
  return isListed ? options : [[present, present] as const, ...options];
}

/** The field of a setting. @param label default: its key */
export function fieldOfSetting(setting: Setting, certificates: readonly Certificate[], label = setting.key): Field {
  const { key: name, type, value, unit, min, max, choices, separator, secret, is_set: isSet } = setting;
  const base = { name, label };
  // a choice without a default also has the empty option
  const chosen = setting.default === null ? {} : { value: settingText(value, separator) };
  if (secret) return { ...base, kind: 'text', secret, hint: `${isSet ? 'Set' : 'Not set'}, and never shown.` };
  if (takesCertificate(name)) return { ...base, kind: 'choice', options: certificateOptions(setting, certificates) };
  if (isTwoWay(setting)) return { ...base, kind: 'check' };
  switch (type) {
    case 'switch':
      return { ...base, kind: 'choice', options: yesOrNo };
    case 'choice':
      return { ...base, ...chosen, kind: 'choice', options: choices ?? [] };
    case 'integer':
    case 'number':
      return {
        ...base,
        kind: 'number',
        ...(unit !== null && { unit }),
        ...(min !== null && { min }),
        ...(max !== null && { max }),
        ...(type === 'integer' && { step: 1 }),
      };
    case 'list':
      return {
        ...base,
        kind: 'text',
        hint: `Separate several values by ${separator === ';' ? 'semicolons' : 'commas'}.`,
      };
    case 'text':
      return { ...base, kind: 'text' };
  }
}

/** Content of the field while nothing is typed. */
function startInput(setting: Setting): string | boolean {
  return isTwoWay(setting) ? setting.value === true : settingText(setting.value, setting.separator);
}

function listOf({ default: preset, separator }: Setting, text: string): (string | number)[] {
  const items = text
    .split(separator ?? ',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const isNumeric = Array.isArray(preset) && typeof preset[0] === 'number';
  return isNumeric ? items.map((item) => (Number.isNaN(Number(item)) ? item : Number(item))) : items;
}

/** The value of an input in the form of the request. null: none, which takes a change of an earlier request back. */
function valueOfInput(setting: Setting, input: string | boolean | null): SettingValue {
  if (input === null || typeof input === 'boolean') return input;
  if (input === '') return setting.type === 'list' && setting.default !== null ? [] : null;
  switch (setting.type) {
    case 'integer':
    case 'number':
      return Number(input);
    case 'switch':
      return input === 'true';
    case 'list':
      return listOf(setting, input);
    default:
      return input;
  }
}

/** The settings that the inputs change. */
export function changesOf(settings: readonly Setting[], inputs: Inputs): SettingChanges {
  const changes: SettingChanges = {};
  for (const setting of settings) {
    const { key, origin, value: present } = setting;
    const input = inputs[key];
    // an empty field of a secret leaves the secret as it is
    if (input === undefined || (setting.secret && input === '')) continue;
    const value = valueOfInput(setting, input);
    // only what a request has set can be taken back
    const isChanged = value === null ? origin === 'rest' : JSON.stringify(value) !== JSON.stringify(present);
    if (isChanged) changes[key] = value;
  }
  return changes;
}

/** The changes for the call that is shown, without secrets. */
export function withoutSecretValues(settings: readonly Setting[], changes: SettingChanges): SettingChanges {
  const secrets = settings.filter(({ key, secret }) => secret && typeof changes[key] === 'string');
  return { ...changes, ...Object.fromEntries(secrets.map(({ key }) => [key, '...'])) };
}

interface SettingInputProps {
  readonly setting: Setting;
  readonly inputs: Inputs;
  readonly onInput: (key: string, input: string | boolean) => void;
  readonly certificates: readonly Certificate[];
  readonly issue: string | null;
  /** default: the key */
  readonly label?: string;
}

/** The labelled input of a setting, which follows its value until it is edited. */
export function SettingInput({ setting, inputs, onInput, certificates, issue, label }: SettingInputProps) {
  return (
    <FieldInput
      field={fieldOfSetting(setting, certificates, label)}
      typed={inputs[setting.key] ?? startInput(setting)}
      issue={issue}
      onTyped={(input) => onInput(setting.key, input)}
    />
  );
}
