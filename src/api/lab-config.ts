/** The running lab as a configuration file. */
import { maxConfigBytes } from '../contract/lab-config.ts';
import type { LabConfig } from '../contract/lab-config.ts';
import { memo } from '../core/lazy.ts';
import { yamlText } from '../core/yaml.ts';
import { z } from './description/zod.ts';
import { HttpProblem } from './http/errors.ts';
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
    handle({ labConfig }, { query: { format = 'json' } }) {
      const lab = labConfig();
      const headers = { 'Content-Disposition': attachment(`lab.${format}`) };
      if (format === 'yaml')
        return new Answer<never>(new TextReply('application/yaml', checked(yamlOf(lab))), { headers });
      return new Answer(new JsonText(Buffer.from(checked(jsonOf(lab)))), { headers });
    },
  }),
];
