import { packetProtocols, recordedProtocols, recorderLimitMb } from '../../contract/recorder.ts';
import { memo } from '../../core/memo.ts';
import { listParam } from '../common/list-param.ts';
import { exampleTime, isoParam, isoTime } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';

const counts = {
  entries: z.int().min(0).openapi({ description: 'Entries kept now.' }),
  bytes: z.int().min(0).openapi({ description: 'Memory that they take, about.' }),
  dropped: z
    .int()
    .min(0)
    .openapi({ description: 'Entries that had to go for newer ones since the recording was cleared last.' }),
};

const limitSchema = z.int().min(recorderLimitMb.min).max(recorderLimitMb.max);
const protocolSchema = z.enum(recordedProtocols);

export const recorderSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({ description: 'Whether messages are recorded now.' }),
      ...counts,
      limit_mb: limitSchema.openapi({ description: 'Memory of the recording, MiB; beyond, the oldest entries go.' }),
      protocols: z.array(protocolSchema).nullable().openapi({ description: 'Protocols that are recorded; null: all.' }),
      since: isoTime
        .nullable()
        .openapi({ description: 'Wall time at which the recording was switched on or cleared last; null: never on.' }),
      sim_start: isoTime
        .nullable()
        .openapi({ description: 'Simulated time of the same instant, by the current simulated clock.' }),
      last_id: z.int().min(0).openapi({ description: 'Id of the last entry; 0: there was none.' }),
      by_protocol: z
        .record(z.string(), z.strictObject(counts).openapi('RecorderCounts'))
        .openapi({ description: 'The counts of each protocol of which there was a message.' }),
      changed_by: writerSchema.nullable().openapi({ description: 'Last writer of these settings; null: as started.' }),
    })
    .openapi('Recorder'),
);

export const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z
        .boolean()
        .openapi({ description: 'Whether messages are recorded from now on. Off: the entries that are kept stay.' }),
      limit_mb: limitSchema.optional().openapi({
        description:
          `Memory of the recording, ${recorderLimitMb.min} to ${recorderLimitMb.max} MiB; at the start ` +
          `${recorderLimitMb.byDefault}. Default unchanged.`,
      }),
      protocols: z
        .array(protocolSchema)
        .min(1)
        .max(recordedProtocols.length)
        .nullable()
        .optional()
        .openapi({ description: 'Protocols to record from now on; null: all. Default unchanged.' }),
      clear: z
        .boolean()
        .optional()
        .openapi({ description: 'True: forgets the entries that are kept, and their counts. Default false.' }),
    })
    .openapi('RecorderRequest'),
);

export const recordingFormats = ['jsonl', 'pcap'] as const;

export const downloadQuery = z.strictObject({
  format: z
    .enum(recordingFormats)
    .optional()
    .openapi({
      param: { name: 'format' },
      description:
        '`jsonl`: a line of JSON for the header, then one for each entry. `pcap`: a capture file of ' +
        `${packetProtocols.join(' and ')} over TCP, with frames made up around the octets. Default \`jsonl\`.`,
    }),
  protocol: listParam('protocol', recordedProtocols, 'Only these protocols; default all.').optional(),
  since: isoParam('since', 'Wall time of the first entry, inclusive. Default: the oldest entry kept.').optional(),
  until: isoParam('until', 'Wall time after the last entry, exclusive. Default: no bound.').optional(),
});

const exampleCounts = { entries: 412, bytes: 268_312, dropped: 0 };

export const exampleRecorder = {
  enabled: true,
  ...exampleCounts,
  limit_mb: 64,
  protocols: null,
  since: '2026-03-01T09:31:12.018Z',
  sim_start: exampleTime,
  last_id: 412,
  by_protocol: { modbus: exampleCounts },
  changed_by: exampleWriter,
};

export const exampleLines = [
  {
    recording: 'derbench',
    format: 1,
    version: '0.3.0',
    build_id: 'ceff791',
    started_at: '2026-03-01T09:30:00.000Z',
    since: '2026-03-01T09:31:12.018Z',
    sim_start: exampleTime,
    clock: { mode: 'wall_clock', rate: 1, timezone: 'UTC' },
    protocols: null,
    limit_mb: 64,
    entries: 1,
    dropped: 0,
    devices: [
      {
        index: 0,
        name: 'PV-3Phase-1',
        type: 'PV-3Phase',
        kind: 'pv',
        endpoints: [{ protocol: 'modbus_tcp', host: '127.0.0.1', port: 8502, tls: false, unit_id: 1 }],
      },
    ],
  },
  {
    id: 1,
    wall_ms: 1772357472519,
    wall_time: '2026-03-01T09:31:12.519Z',
    sim_time: '2026-06-21T12:00:00.501Z',
    sim_s: 0.501,
    protocol: 'modbus',
    key: '',
    message_id: 1,
    direction: 'in',
    peer: '127.0.0.1:50124',
    device_index: 0,
    kind: 'request',
    summary: 'read holding registers 40000..40001, unit 1',
    cut: false,
    encoding: 'base64',
    raw: 'AAcAAAAGAQOcQAAC',
    details: {
      exchange_id: 1,
      interface: 'modbus_tcp',
      framing: 'mbap',
      unit_id: 1,
      function: 3,
      address: 40_000,
      count: 2,
      points: {},
      whole: true,
      values: null,
    },
  },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');
