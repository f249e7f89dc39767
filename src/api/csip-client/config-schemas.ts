import { memo } from '../../core/memo.ts';
import { hasCheckDigit } from '../../core/check-digit.ts';
import { csipCertificateNames, csipIdentities, csipRevisions } from '../../contract/csip-client.ts';
import { writerSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';
import { flag, integerOrNull, numberOrNull, textOrNull, timeOrNull } from './members.ts';

/** Characters of a chain of certificates. */
export const maxPemLength = 32_768;
const maxHostLength = 253;
const maxPathLength = 500;
const maxPort = 65_535;
const maxRateS = 86_400;
const maxPin = 999_999;

const pem = (description: string) =>
  z
    .string()
    .min(1)
    .max(maxPemLength)
    .openapi({ description: `${description}, as PEM text of at most ${maxPemLength} characters; never a path.` });

const pemMembers = {
  cert_pem: pem('Certificate of this client with its intermediates'),
  key_pem: pem('Its private key, not encrypted'),
  root_cert_pem: pem('Root certificates that the certificate of the server must descend from'),
};
/** Shown nowhere. */
export const secretMembers = ['cert_pem', 'key_pem', 'root_cert_pem', 'pin'];

const rate = (description: string) =>
  z
    .int()
    .min(1)
    .max(maxRateS)
    .nullable()
    .optional()
    .openapi({
      description: `${description} in place of that of the server, 1 to ${maxRateS} s; null: that of the server.`,
    });

export const configPatchSchema = memo(() =>
  z
    .strictObject({
      server_host: z
        .string()
        .min(1)
        .max(maxHostLength)
        .optional()
        .openapi({ description: `Name or address of the server, at most ${maxHostLength} characters.` }),
      server_port: z
        .int()
        .min(1)
        .max(maxPort)
        .optional()
        .openapi({ description: `TCP port, 1 to ${maxPort}.` }),
      dcap: z
        .string()
        .regex(/^\/[!-~]*$/, { error: 'must begin with / and have visible ASCII characters only' })
        .max(maxPathLength)
        .optional()
        .openapi({ description: `Path of the DeviceCapability, at most ${maxPathLength} characters.` }),
      tls: z.boolean().optional().openapi({ description: 'Whether the connection is encrypted.' }),
      ...z.strictObject(pemMembers).partial().shape,
      revision: z.enum(csipRevisions).optional().openapi({ description: 'Revision that documents follow.' }),
      poll_rate_s: rate('Seconds between polls of every resource'),
      post_rate_s: rate('Seconds between reports and readings'),
      use_server_time: z.boolean().optional().openapi({ description: 'False: times of this machine are used.' }),
      subscribe: z.boolean().optional().openapi({ description: 'Whether resources are subscribed to.' }),
      pin: z
        .int()
        .min(0)
        .max(maxPin)
        .refine(hasCheckDigit, { error: 'must be 5 digits and their check digit, for example 111115' })
        .nullable()
        .optional()
        .openapi({ description: `PIN with its check digit, 0 to ${maxPin}; null: it is not checked. Shown nowhere.` }),
    })
    .openapi('CsipConfigRequest', { description: 'What is to change; what is absent stays.' }),
);
export type ConfigPatchRequest = z.output<ReturnType<typeof configPatchSchema>>;

export const configSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether the client was switched on with `--csip_client_enable`.'),
      server_host: textOrNull('Name or address of the server; null: disabled.'),
      server_port: z.int().nullable().openapi({ description: 'TCP port; null: disabled.' }),
      dcap: textOrNull('Path of the DeviceCapability; null: disabled.'),
      tls: z.boolean().nullable().openapi({ description: 'Whether the connection is encrypted; null: disabled.' }),
      revision: z.enum(csipRevisions).nullable().openapi({ description: 'Null: disabled.' }),
      poll_rate_s: numberOrNull('Seconds between polls; null: that of the server, or disabled.'),
      post_rate_s: numberOrNull('Seconds between reports; null: that of the server, or disabled.'),
      use_server_time: z.boolean().nullable().openapi({ description: 'Null: disabled.' }),
      subscribe: z.boolean().nullable().openapi({ description: 'Null: disabled.' }),
      pin_set: z.boolean().nullable().openapi({ description: 'Whether a PIN is checked; null: disabled.' }),
      check_hostname: z
        .boolean()
        .nullable()
        .openapi({ description: 'Whether the certificate of the server must name its host; null: disabled.' }),
      strict_cipher: z
        .boolean()
        .nullable()
        .openapi({ description: 'Whether CCM-8 is the only suite; null: disabled.' }),
      identity: z.enum(csipIdentities).nullable().openapi({ description: 'Null: disabled.' }),
      changed_by: writerSchema.nullable().openapi({ description: 'Last writer; null: as started.' }),
    })
    .openapi('CsipConfig'),
);
export type ConfigReply = z.output<ReturnType<typeof configSchema>>;

export const selectionSchema = memo(() =>
  z
    .union([
      z
        .strictObject({
          select: z
            .enum(csipCertificateNames)
            .openapi({ description: 'A chain of `--use_test_pki_certs`; `default`: as configured.' }),
        })
        .openapi('CsipCertificateName'),
      z.strictObject(pemMembers).openapi('CsipCertificateTexts'),
    ])
    .openapi('CsipCertificateRequest'),
);

export const certificatesSchema = memo(() =>
  z
    .strictObject({
      selected: z
        .enum(csipCertificateNames)
        .nullable()
        .openapi({ description: 'Null: texts were given, or disabled.' }),
      available: z.array(z.enum(csipCertificateNames)).openapi({ description: 'Chains that can be selected.' }),
      lfdi: textOrNull('LFDI, 40 hexadecimal digits; null: without TLS, or disabled.'),
      sfdi: textOrNull('SFDI in decimal digits; null: without TLS, or disabled.'),
      subject: textOrNull('Subject, empty in device certificates of the standard; null: without TLS, or disabled.'),
      issuer: textOrNull('Issuer; null: without TLS, or disabled.'),
      not_before: timeOrNull('Begin of its validity; null: without TLS, or disabled.'),
      not_after: timeOrNull('End of its validity; null: without TLS, or disabled.'),
      chain_length: integerOrNull('Certificates presented, its own included; null: without TLS, or disabled.'),
    })
    .openapi('CsipCertificates'),
);
