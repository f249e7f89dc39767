/** Texts of `derbench help TOPIC`. */
import { exitRows, groupText } from '../../config/layers/help.ts';
import { listeners } from '../../config/settings/listeners.ts';
import { flagOf, settingGroups, settingKeys, settingOf, variableOf } from '../../config/settings/settings.ts';
import { SimError } from '../../core/errors.ts';
import { unknown } from './arguments.ts';
import { commandNames } from './table/commands.ts';
import { topics } from './short-help.ts';
import type { Topic } from './short-help.ts';

const wrongUse = (detail: string) => new SimError('CONFIG_INVALID', detail);

/** @throws SimError CONFIG_INVALID */
function flagsText([topic, ...more]: readonly string[]): readonly string[] {
  const names = settingGroups.map((group) => group.topic);
  if (topic === undefined)
    return [
      'derbench help flags TOPIC',
      '',
      ...settingGroups.map((group) => `  ${group.topic.padEnd(12)}${group.title}`),
    ];
  const group = settingGroups.find((each) => each.topic === topic);
  if (group === undefined || more.length > 0)
    throw wrongUse(
      `derbench help flags: ${unknown('topic', [topic, ...more].join(' '), names)} Topics: ${names.join(', ')}.`,
    );
  return groupText(group).slice(1);
}

const portsText = (): readonly string[] => [
  'Ports that a simulator opens, with their defaults; 0 is any free port. Each must be set apart for a second simulator.',
  ...listeners.map(({ port }) => {
    const { default: preset, doc } = settingOf(port);
    return `  ${flagOf(port).padEnd(22)}${String(preset).padEnd(7)}${doc}`;
  }),
];

const texts: Readonly<Record<Topic, (words: readonly string[]) => readonly string[]>> = {
  flags: flagsText,
  config: () => [
    'derbench --config FILE reads a configuration: YAML or JSON with the long names of flags as keys, and the blocks',
    '"devices", "grid", "faults" and "findings". derbench init writes one by questions, config/default.yaml of the',
    'package has every key, and "derbench list configs" the configurations that come with derbench.',
    'A flag overrides its environment variable, which overrides the file.',
  ],
  environment: () => [
    'Every flag has a variable. DERBENCH_URL is the address for commands that ask a running simulator; DERBENCH_COMMAND',
    'is what the Python client starts. NO_COLOR and FORCE_COLOR=1 rule colours.',
    ...settingKeys.map((key) => `  ${variableOf(key)}`),
  ],
  points: () => [
    'A point is MODEL.NAME: 701.W, 704.WMaxLimPct, 705.Crv[0].Pt[1].V. 704.* is the whole model. Values are in',
    'engineering units, enumerations have a name and a number. "derbench list points 701" lists those of a model.',
  ],
  'exit-codes': exitRows,
  ports: portsText,
};

/** @param words topic, and its own words @throws SimError CONFIG_INVALID */
export function topicText([topic = '', ...words]: readonly string[]): string {
  const names = [...Object.keys(topics), ...commandNames];
  if (!Object.hasOwn(texts, topic) || (topic !== 'flags' && words.length > 0))
    throw wrongUse(
      `derbench help: ${unknown('topic or command', [topic, ...words].join(' '), names)} There are: ${names.join(', ')}.`,
    );
  return texts[topic as Topic](words).join('\n');
}
