/** The running lab as a configuration file. */
import { maxConfigBytes } from '../contract/lab-config.ts';
import type { LabConfig, LabContent, LabControl, PreparedLab } from '../contract/lab-config.ts';
import { secretSettings } from '../contract/settings.ts';
import { memo } from '../core/lazy.ts';
import { yamlText } from '../core/yaml.ts';
import { count, flag, list, members, text } from './common/members.ts';
import { beginRestart } from './common/restart.ts';
import { z } from './description/zod.ts';
import { HttpProblem, invalid } from './http/errors.ts';
import { Answer, JsonText, route, TextReply } from './http/route.ts';
import type { Route } from './http/route.ts';

const configSchema = memo(() =>
  z
    .object({
      left_out: z
        .array(z.string())
        .optional()
        .openapi({ description: 'Settings with a secret, which are not in the configuration; absent: none.' }),
      notes: z
        .array(z.string())
        .optional()
        .openapi({ description: 'Other differences from the running lab, in words; absent: none.' }),
      devices: z
        .array(z.record(z.string(), z.unknown()))
        .openapi({ description: 'One entry per device or group of equal devices.' }),
    })
    .catchall(z.unknown())
    .openapi('LabConfiguration', {
      description:
        'A configuration file: settings by their keys, and the blocks `grid` and `faults`. `config/schema/config.schema.json` ' +
        'describes all members.',
    }),
);

/** @throws HttpProblem `conflict` for a text that no start reads */
function checked(text: string): string {
  if (Buffer.byteLength(text) <= maxConfigBytes) return text;
  throw new HttpProblem('conflict', `The configuration is larger than the ${maxConfigBytes} bytes that a start reads.`);
}

function yamlOf({ content, leftOut, notes }: LabConfig): string {
  const secrets = leftOut.map(({ key, variable }) => `left out: ${key}, a secret; give ${variable} at the start`);
  return yamlText(content, [...secrets, ...notes]);
}

function jsonOf({ content, leftOut, notes }: LabConfig): string {
  return JSON.stringify({
    ...(leftOut.length > 0 && { left_out: leftOut.map(({ key }) => key) }),
    ...(notes.length > 0 && { notes }),
    ...content,
  });
}

const attachment = (name: string) => `attachment; filename="${name}"`;

const loadBodySchema = memo(() =>
  z
    .strictObject({
      config: z
        .record(z.string().max(64), z.unknown())
        .nullable()
        .optional()
        .openapi({ description: 'Content of a configuration file; null: the lab that the process was started with.' }),
      yaml: z
        .string()
        .max(maxConfigBytes)
        .optional()
        .openapi({ description: 'A configuration file in YAML, in place of `config`.' }),
      dry_run: z.boolean().optional().openapi({ description: 'True: checks alone. Default false.' }),
    })
    .openapi('LabLoadRequest'),
);

interface Loading {
  readonly prepared: PreparedLab;
  readonly isDryRun: boolean;
}

const loading = members<Loading>()('LabLoading', () => ({
  dry_run: flag('True: nothing has changed.', ({ isDryRun }) => isDryRun),
  restarting: flag('True: the lab begins after this answer.', ({ isDryRun }) => !isDryRun),
  devices: count('Devices of the lab.', ({ prepared }) => prepared.devices),
  changes: list(text())('Settings with another value than now.', ({ prepared }) => prepared.changes),
  notices: list(text())('Remarks of a start: risks, and settings without effect.', ({ prepared }) => prepared.notices),
  can_restart: flag('True: this process can load labs.', ({ prepared }) => prepared.begin !== null),
}));

/** @throws HttpProblem `validation` */
async function contentOf(
  control: LabControl,
  { config, yaml }: z.output<ReturnType<typeof loadBodySchema>>,
): Promise<LabContent | null> {
  if ((config === undefined) === (yaml === undefined)) throw invalid('body', '', 'must have one of config and yaml');
  return yaml === undefined ? (config ?? null) : control.read(yaml);
}

export const labConfigRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/config',
    tag: 'Core',
    operationId: 'get_config',
    summary: 'The running lab as a configuration file that starts the same lab',
    description:
      'For `--config`: the settings in force that differ from their defaults, whatever they come from, every device with the ' +
      'entry or request that has made it, the grid, and the faults of the configuration. Removed devices are left out; gaps ' +
      'between indexes are closed, which `notes` has. Secrets are left out and named: in `left_out`, in YAML by comments. Paths ' +
      'are absolute. Registers, energy, the clock and commands are no part of it: `state/snapshot` keeps them. `conflict` for a ' +
      'simulator without devices, and for a text of more than 1 MiB.',
    query: z.strictObject({
      format: z
        .enum(['json', 'yaml'])
        .optional()
        .openapi({ param: { name: 'format' }, description: 'Form of the file. Default `json`.' }),
    }),
    reply: configSchema,
    otherMedia: ['application/yaml'],
    problems: ['conflict'],
    replyHeaders: { 'Content-Disposition': { description: 'Name of a file.', example: attachment('lab.json') } },
    handle({ lab: control }, { query: { format = 'json' } }) {
      const lab = control.current();
      const headers = { 'Content-Disposition': attachment(`lab.${format}`) };
      if (format === 'yaml')
        return new Answer<never>(new TextReply('application/yaml', checked(yamlOf(lab))), { headers });
      return new Answer(new JsonText(Buffer.from(checked(jsonOf(lab)))), { headers });
    },
  }),
  route({
    method: 'post',
    path: '/config',
    tag: 'Core',
    operationId: 'load_config',
    summary: 'Loads a configuration file as the lab, in place of the running one',
    description:
      'The lab is checked and built for a trial, then the answer is sent, then the simulator stops and begins anew with it in the ' +
      'same process, on the same HTTP port: registers, energy and commands of the former lab end, certificates and scenarios stay. ' +
      'If it cannot start, for example because a port is in use, the former lab starts again, with the reason in the log. With a ' +
      'state folder the lab survives a restart, until `{"config": null}` returns to that of the start. Flags and variables have no ' +
      'effect on it, but settings that no request changes keep their values, and it may name files only that the process was ' +
      'started with. `dry_run` checks alone. `conflict` while a scenario runs, and in a simulator that a script or `derbench run` ' +
      'has started. One lab is checked at a time and a few wait; `too-many-requests` beyond.',
    isImport: true,
    maxTextLength: maxConfigBytes,
    secretMembers: [...secretSettings, 'yaml', 'pin'],
    body: loadBodySchema,
    reply: loading.schema,
    isSetup: true,
    problems: ['conflict', 'too-many-requests'],
    async handle(ctx, { body, by }) {
      const isDryRun = body.dry_run ?? false;
      const prepared = await ctx.lab.prepare(await contentOf(ctx.lab, body));
      if (isDryRun) return loading.reply({ prepared, isDryRun });
      const { begin } = prepared;
      if (begin === null)
        throw new HttpProblem('conflict', 'Only a simulator of the command line can load another lab.');
      beginRestart(ctx);
      return new Answer(loading.reply({ prepared, isDryRun }), {
        afterwards() {
          begin(`${by.source} request`);
        },
      });
    },
  }),
];
