/** Faults of an IEEE 2030.5 client, as its server sees them. */
import { z } from 'zod';
import { faultKind, noParameters, waitMs } from './rows.ts';

const csip = { protocol: 'csip', layer: 'transport' } as const;
const resources = ['resources'] as const;

/** Maximum skew of a clock, s: a year. */
const maxSkewS = 31_536_000;
const hex = (digits: number, words: string) =>
  z.string().regex(new RegExp(`^[0-9A-Fa-f]{${digits}}$`), { error: `must be ${words}` });

export const delayFault = faultKind({
  ...csip,
  kind: 'delay',
  summary: 'The request is sent late; at DERControlResponse, responses are late.',
  targets: resources,
  parameters: z.strictObject({
    delay_ms: waitMs.meta({ description: 'Delay, wall ms.' }),
    jitter_ms: waitMs.default(0).meta({ description: 'Random addition from 0 to this many wall ms; default 0.' }),
  }),
});

export const dropFault = faultKind({
  ...csip,
  kind: 'drop',
  summary: 'The request is lost, and the client repeats it like any other without an answer.',
  targets: resources,
  parameters: noParameters,
});

export const suppressFault = faultKind({
  ...csip,
  kind: 'suppress',
  summary:
    'The PUT, POST or DELETE is never sent, and the client treats it as accepted; at DERControlResponse, responses ' +
    'are missing.',
  targets: resources,
  parameters: noParameters,
});

export const tlsFailureFault = faultKind({
  ...csip,
  kind: 'tls_failure',
  summary: 'The TLS handshake of the request fails.',
  targets: resources,
  parameters: z.strictObject({
    mode: z.enum(['no_certificate', 'server_not_trusted', 'wrong_version']).default('no_certificate').meta({
      description:
        'No certificate of the client is presented, that of the server is refused, or TLS 1.3 alone is offered; default no_certificate.',
    }),
  }),
});

export const clockSkewFault = faultKind({
  ...csip,
  kind: 'clock_skew',
  summary: 'Times in the documents that are sent are wrong by a constant.',
  targets: resources,
  parameters: z.strictObject({
    skew_s: z
      .int()
      .min(-maxSkewS)
      .max(maxSkewS)
      .meta({ description: `Seconds added to each time, -${maxSkewS} to ${maxSkewS}.` }),
  }),
});

export const wrongLfdiFault = faultKind({
  ...csip,
  kind: 'wrong_lfdi',
  summary: 'Responses, EndDevices, DeviceInformation and MirrorUsagePoints carry another LFDI.',
  targets: resources,
  parameters: z.strictObject({
    lfdi: hex(40, '40 hexadecimal digits')
      .optional()
      .meta({ description: 'LFDI, 40 hexadecimal digits; default: the LFDI of the client with another last digit.' }),
  }),
});

export const wrongStatusFault = faultKind({
  ...csip,
  kind: 'wrong_status',
  summary: 'Responses carry another status.',
  targets: resources,
  parameters: z.strictObject({
    status: z.int().min(0).max(255).meta({ description: 'DERControlResponse.status, 0 to 255.' }),
  }),
});

export const wrongSubjectFault = faultKind({
  ...csip,
  kind: 'wrong_subject',
  summary: 'Responses name another event.',
  targets: resources,
  parameters: z.strictObject({
    mrid: hex(32, '32 hexadecimal digits')
      .optional()
      .meta({ description: 'The mRID, 32 hexadecimal digits; default: that of the event with another first digit.' }),
  }),
});

export const staleFault = faultKind({
  ...csip,
  kind: 'stale',
  summary: 'Each PUT repeats the document that was sent first to its address while the fault is in force.',
  targets: resources,
  parameters: noParameters,
});

export const missingElementFault = faultKind({
  ...csip,
  kind: 'missing_element',
  summary: 'Elements are missing in the documents that are sent.',
  targets: resources,
  parameters: z.strictObject({
    elements: z
      .array(z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,63}$/))
      .min(1)
      .max(20)
      .meta({ description: 'Names such as readingTime, 1 to 20, at any depth.' }),
  }),
});

export const wrongMultiplierFault = faultKind({
  ...csip,
  kind: 'wrong_multiplier',
  summary: 'Powers of ten (multiplier, powerOfTenMultiplier) in the documents that are sent are wrong.',
  targets: resources,
  parameters: z.strictObject({
    shift: z.int().min(-9).max(9).default(3).meta({ description: 'Added to each power, -9 to 9; default 3.' }),
  }),
});

export const malformedXmlFault = faultKind({
  ...csip,
  kind: 'malformed_xml',
  summary: 'The document that is sent is not well-formed XML, or not valid by the schema.',
  targets: resources,
  parameters: z.strictObject({
    mode: z.enum(['truncated', 'not_closed', 'wrong_namespace', 'empty']).default('truncated').meta({
      description: 'Half of it, without its last end tag, in another namespace, or no octet at all; default truncated.',
    }),
  }),
});

export const wrongContentTypeFault = faultKind({
  ...csip,
  kind: 'wrong_content_type',
  summary: 'The document that is sent has another Content-Type.',
  targets: resources,
  parameters: z.strictObject({
    content_type: z
      .string()
      .regex(/^[a-z]+\/[a-z0-9.+-]{1,60}$/)
      .default('text/xml')
      .meta({ description: 'Media type; default text/xml.' }),
  }),
});

export const duplicateFault = faultKind({
  ...csip,
  kind: 'duplicate',
  summary: 'The PUT, POST or DELETE is sent twice, and the second answer counts.',
  targets: resources,
  parameters: noParameters,
});

export const csipFaults = [
  delayFault,
  dropFault,
  suppressFault,
  tlsFailureFault,
  clockSkewFault,
  wrongLfdiFault,
  wrongStatusFault,
  wrongSubjectFault,
  staleFault,
  missingElementFault,
  wrongMultiplierFault,
  malformedXmlFault,
  wrongContentTypeFault,
  duplicateFault,
];
