/** Certificates by name: those that TLS of the simulator presents and trusts. Private keys come in and never go out. */
import { certificateKinds, certificateNamePattern, maxCertificates, maxPemLength } from '../contract/certificates.ts';
import type { GeneratedPki, StoredCertificate } from '../contract/certificates.ts';
import { memo } from '../core/lazy.ts';
import { hostPattern, hostText, isHost } from '../core/net/host-name.ts';
import { camelCased, count, flag, integer, list, members, nested, text, time, word } from './common/members.ts';
import { pem } from './common/pem.ts';
import { z } from './description/zod.ts';
import { Answer, apiPrefix, route } from './http/route.ts';
import type { Route } from './http/route.ts';

const path = '/certificates';
const tag = 'Core';
/** Name of the operation below `certificates`, which no certificate can have. */
const generateWord = 'generate';
const maxPrefixLength = 32;
const maxDevices = 64;
const maxHosts = 16;
const maxHostLength = 253;

const sfdi = nested({ schema: () => z.string(), reply: String as (value: number) => string });

const certificate = members<StoredCertificate>()('Certificate', () => ({
  name: text('Name of the certificate, by which settings choose it.'),
  kind: word(certificateKinds)('`device`: a client presents it; `server`: a server does; `ca`: an authority.'),
  subject: text('Distinguished name; empty in certificates of devices of IEEE 2030.5.'),
  issuer: text('Distinguished name of the authority that issued it.'),
  not_before: time('Begin of its validity.', ({ notBeforeMs }) => notBeforeMs),
  not_after: time('End of its validity.', ({ notAfterMs }) => notAfterMs),
  serial: text('Serial number, hexadecimal digits.'),
  chain_length: count('Certificates of its chain: itself and its intermediates.'),
  has_key: flag('True: its private key is kept.'),
  has_ca: flag('True: it comes with authorities that the other end must descend from.', ({ caPem }) => caPem !== null),
  lfdi: text.orNull('LFDI of IEEE 2030.5, 40 hexadecimal digits; null: not of kind `device`.'),
  sfdi: sfdi.orNull('SFDI of IEEE 2030.5 in decimal digits; null: not of kind `device`.'),
  warnings: list(text())('Why peers may refuse it now: it has expired, or is not valid yet.'),
  used_by: list(text())('Settings that use it; DELETE is refused meanwhile.'),
  added_at: time('Wall time.', ({ addedAtMs }) => addedAtMs),
}));

const certificateWithPem = members<StoredCertificate>()('CertificateWithPem', () => ({
  ...certificate.members(),
  cert_pem: text('The certificate, followed by its intermediates, PEM.'),
  ca_pem: text.orNull('Authorities that the other end must descend from, PEM; null: none were given.'),
}));

const certificateList = members<readonly StoredCertificate[]>()('Certificates', () => ({
  max_certificates: integer('Maximum number of certificates.', () => maxCertificates),
  certificates: list(certificate)('By name.', (all) => all),
}));

const generated = members<GeneratedPki>()('GeneratedCertificates', () => ({
  created: list(certificate)('The new certificates, authorities before what they issue.'),
  kept: list(text())('Names that were there before: they stay, and have issued the new ones.'),
}));

const nameError = 'must have 1 to 64 letters, digits, "-", "_" and ".", the first one a letter, a digit or "_"';
const certificateName = () =>
  z
    .string()
    .regex(certificateNamePattern, { error: nameError })
    .refine((name) => name !== generateWord, { error: `must not be "${generateWord}"` });

const certificateBodySchema = memo(() =>
  z
    .strictObject({
      name: certificateName().openapi({
        description: 'Name of the certificate: 1 to 64 letters, digits, `-`, `_` and `.`; not `generate`.',
      }),
      cert_pem: pem('Certificate, followed by its intermediates'),
      key_pem: pem('Private key of the certificate, not encrypted').optional(),
      ca_pem: pem('Authorities that the other end must descend from').optional(),
    })
    .openapi('CertificateRequest'),
);

const generateBodySchema = memo(() =>
  z
    .strictObject({
      devices: z
        .int()
        .min(0)
        .max(maxDevices)
        .optional()
        .openapi({ description: `Number of devices, 0 to ${maxDevices}; default 1.` }),
      hosts: z
        .array(
          z
            .string()
            .max(maxHostLength)
            .regex(hostPattern, { error: `must be ${hostText}` })
            .refine(isHost, { error: `must be ${hostText}` }),
        )
        .max(maxHosts)
        .optional()
        .openapi({
          description:
            `Names and addresses of the server besides those of this machine, at most ${maxHosts}, each of at most ` +
            `${maxHostLength} characters. A server certificate that exists keeps its names.`,
        }),
      prefix: z
        .string()
        .max(maxPrefixLength)
        .regex(/^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$/, { error: nameError })
        .optional()
        .openapi({ description: `Text before each name, at most ${maxPrefixLength} characters; default none.` }),
    })
    .openapi('CertificatesGenerateRequest'),
);

const certificateParams = z.object({
  name: z.string().max(64).openapi({ description: 'Name of the certificate, as in `certificates`.' }),
});

const whoMay = 'Only for clients of this machine, or over TLS.';

export const certificateRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'list_certificates',
    summary: 'Certificates that the simulator keeps',
    description: 'Certificates of the flags are files, and not listed here.',
    reply: certificateList.schema,
    handle: ({ certificates }) => certificateList.reply(certificates.list()),
  }),
  route({
    method: 'post',
    path,
    tag,
    operationId: 'add_certificate',
    summary: 'Adds a certificate with its chain and its key',
    description:
      `The key must belong to the certificate, and each certificate of the chain be issued by the next one. ${whoMay} ` +
      `\`conflict\` for a name in use, and for more than ${maxCertificates} certificates.`,
    isPrivate: true,
    isSetup: true,
    maxTextLength: maxPemLength,
    secretMembers: ['key_pem'],
    body: certificateBodySchema,
    reply: certificate.schema,
    status: 201,
    problems: ['conflict'],
    replyHeaders: {
      Location: { description: 'Address of the certificate.', example: `${apiPrefix}${path}/utility-root` },
    },
    async handle({ certificates }, { body }) {
      const added = await certificates.add(camelCased(body));
      return new Answer(certificate.reply(added), { headers: { Location: `${apiPrefix}${path}/${added.name}` } });
    },
  }),
  route({
    method: 'post',
    path: `${path}/${generateWord}`,
    tag,
    operationId: 'generate_certificates',
    summary: 'Generates a test hierarchy of IEEE 2030.5: authorities, server, aggregator, devices',
    description:
      'The certificates of `derbench pki`, with the chains of COMM-004, which a head-end must refuse. Names that exist stay: a second ' +
      `request adds devices. \`GET certificates/{name}\` has the root for the head-end. ${whoMay} ` +
      '`conflict` for an existing authority without its key, and for a full store.',
    isPrivate: true,
    isSetup: true,
    body: generateBodySchema,
    reply: generated.schema,
    problems: ['conflict', 'shortage'],
    handle: async ({ certificates }, { body: { devices = 1, hosts = [], prefix = '' } }) =>
      generated.reply(await certificates.generate({ devices, hosts, prefix })),
  }),
  route({
    method: 'get',
    path: `${path}/{name}`,
    tag,
    operationId: 'get_certificate',
    summary: 'A certificate with its PEM text, without its key',
    params: certificateParams,
    reply: certificateWithPem.schema,
    problems: ['unknown-resource'],
    handle: ({ certificates }, { params }) => certificateWithPem.reply(certificates.get(params.name)),
  }),
  route({
    method: 'delete',
    path: `${path}/{name}`,
    tag,
    operationId: 'delete_certificate',
    summary: 'Deletes a certificate and its key',
    description: `${whoMay} \`conflict\` while it is in use.`,
    isPrivate: true,
    isSetup: true,
    params: certificateParams,
    reply: certificate.schema,
    problems: ['unknown-resource', 'conflict'],
    handle: async ({ certificates }, { params }) => certificate.reply(await certificates.remove(params.name)),
  }),
];
