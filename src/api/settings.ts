/** The settings of the process: what each is, where it comes from, and how it changes. */
import {
  adapterEffects,
  changeWords,
  restartableAdapters,
  secretSettings,
  settingOrigins,
  settingTypes,
} from '../contract/settings.ts';
import type {
  AdapterEffect,
  RestartableAdapter,
  SettingReport,
  SettingsChange,
  SettingsControl,
} from '../contract/settings.ts';
import { memo } from '../core/lazy.ts';
import type { Origin } from '../core/origin.ts';
import { flag, list, member, members, text, word } from './common/members.ts';
import { z } from './description/zod.ts';
import { invalid } from './http/errors.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const path = '/settings';
const tag = 'Core';

/** as in configuration files */
const maxListLength = 64;
const single = z.union([z.string(), z.number(), z.boolean()]);
const settingValue = memo(() =>
  z.union([single, z.array(z.union([z.string(), z.number()])).max(maxListLength), z.null()]),
);
type SettingValue = z.output<ReturnType<typeof settingValue>>;
const valueMember = member(settingValue);
const bound = member(() => z.number());
const plainText = member(() => z.string());

const setting = members<SettingReport>()('Setting', () => ({
  key: text('Name in configuration files and for PATCH.'),
  group: text('Group in the help text.'),
  value: valueMember(
    'Value in force, paths absolute; null: none, or a secret.',
    ({ value }: SettingReport) => value as SettingValue,
  ),
  is_set: flag('False: the setting has no value.'),
  origin: word(settingOrigins)(
    'Source of the value. `profile`: the profiles of the devices have it; `file`: a configuration file, or the options of a ' +
      'script; `rest`: PATCH of settings.',
  ),
  changes: word(changeWords)(
    'How a change takes effect: at once, by a restart of an adapter, or only at the start of the simulator.',
    ({ changes }: SettingReport) => changes.by,
  ),
  adapter: word(restartableAdapters).orNull(
    'Adapter that a change restarts; null: none.',
    ({ changes }: SettingReport) => (changes.by === 'adapter' ? changes.adapter : null),
  ),
  why: text.orNull('Why a change needs a start; null: it does not.', ({ changes }: SettingReport) =>
    changes.by === 'start' ? changes.why : null,
  ),
  type: word(settingTypes)('Type of the value.'),
  min: bound.orNull('Minimum; null: no number.', ({ range }: SettingReport) => range?.min),
  max: bound.orNull('Maximum; null: no number.', ({ range }: SettingReport) => range?.max),
  choices: list({ schema: () => z.string() }).orNull('Words of a choice; null: another type.'),
  separator: text.orNull('Separator of the values of a list in one text; null: another type.'),
  allowed: text('Allowed values in words.'),
  unit: text.orNull('Unit of the number; null: none.'),
  default: valueMember('Default; null: none.', ({ default: preset }: SettingReport) => preset as SettingValue),
  secret: flag('True: the value is never shown.', ({ isSecret }) => isSecret),
  needs: text.orNull('Setting without which this one has no effect; null: none.'),
  flags: list({ schema: () => z.string() })('Spellings on the command line.'),
  doc: plainText('Meaning of the setting.'),
}));

const settings = members<SettingsControl>()('SettingsReport', () => ({
  locked: flag('True: PATCH is refused (`--settings_locked yes`).', ({ isLocked }) => isLocked),
  settings: list(setting)('In the order of the help text.', ({ reports }) => reports),
}));

type Changed = SettingsChange & { readonly reports: readonly SettingReport[] };

const adapterEffect = members<readonly [RestartableAdapter, AdapterEffect]>()('AdapterEffect', () => ({
  adapter: word(restartableAdapters)('Name of the adapter.', ([adapter]) => adapter),
  effect: word(adapterEffects)('What the change did to it.', ([, effect]) => effect),
}));

const settingsChange = members<Changed>()('SettingsChange', () => ({
  settings: list(setting)('The settings of the request, as they are now.', ({ reports }) => reports),
  restarts: list({ schema: () => z.enum(restartableAdapters) })(
    'Adapters that were restarted, switched on or switched off for the change.',
    ({ adapters }) => [...adapters.keys()],
  ),
  adapters: list(adapterEffect)('The same with what the change did to each.', ({ adapters }) => [...adapters]),
}));

export const settingsRequest = memo(() =>
  z.record(z.string().max(64), settingValue()).openapi('SettingsRequest', {
    description:
      'Values by key, as in a configuration file; null takes back what PATCH has set. At least one key is required.',
  }),
);

/** Schema of the answer to a change. */
export const settingsChanged = settingsChange.schema;

/** Changes settings, and says which. @throws HttpProblem, SimError */
export async function changeSettings(
  control: SettingsControl,
  values: Readonly<Record<string, unknown>>,
  by: Origin,
): Promise<z.output<ReturnType<typeof settingsChanged>>> {
  const change = await control.change(values, by);
  return settingsChange.reply({ ...change, reports: control.reports.filter(({ key }) => change.keys.includes(key)) });
}

export const settingsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'get_settings',
    summary: 'Every setting: its value, where the value comes from, and how it changes',
    description:
      'Values are those of the process. Members of an entry of `devices` in a configuration file override some of them for a ' +
      'device, and are not shown here. What operations such as POST controls/time change is shown by these.',
    reply: settings.schema,
    handle: ({ settings: control }) => settings.reply(control),
  }),
  route({
    method: 'patch',
    path,
    tag,
    operationId: 'change_settings',
    summary: 'Changes settings while the simulator runs, all of the request or none',
    description:
      'The values override flags, environment and configuration file, and are checked together with all others by the rules of a ' +
      'start. An adapter restarts for a setting with `changes` `adapter`: its connections close, and the answer comes when it is open ' +
      'again. With a state folder the values survive a restart, also over a configuration that has changed meanwhile. `conflict` for ' +
      'a setting with `changes` `start`, and for an adapter that does not start with the values: the former ones are in force again, ' +
      'but connections that it had may have closed.',
    body: settingsRequest,
    secretMembers: secretSettings,
    reply: settingsChanged,
    isSetup: true,
    problems: ['conflict'],
    async handle(ctx, { body, by }) {
      if (Object.keys(body).length === 0) throw invalid('body', '', 'at least one setting is required');
      return changeSettings(ctx.settings, body, by);
    },
  }),
];
