import { memo } from '../core/lazy.ts';
import { packetProtocols, recordedProtocols, recorderLimitMb } from '../contract/recorder.ts';
import type { RecordedCounts, RecorderState, RecordingFilter } from '../contract/recorder.ts';
import { chosenWords, listParam, isoParam } from './common/schemas.ts';
import { camelCased, count, flag, list, member, members, nested, time, word } from './common/members.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import type { RouteContext } from './http/context.ts';
import { invalidAll } from './http/errors.ts';
import { asciiJson, joined } from './http/streaming.ts';
import { Answer, route, StreamedReply } from './http/route.ts';
import type { Route } from './http/route.ts';

const path = '/recorder';
const tag = 'Core';
const linesType = 'application/x-ndjson';
const packetsType = 'application/vnd.tcpdump.pcap';

const counts = members<RecordedCounts>()('RecorderCounts', () => ({
  entries: count('Entries kept now.'),
  bytes: count('Approximate memory that they take, bytes.'),
  dropped: count('Entries dropped for newer ones since the recording was last cleared.'),
}));

const countsByName = nested({
  schema: () => z.record(z.string(), counts.schema()),
  reply: (byName: ReadonlyMap<string, RecordedCounts>) =>
    Object.fromEntries([...byName].map(([name, recorded]) => [name, counts.reply(recorded)])),
});

const limitSchema = z.int().min(recorderLimitMb.min).max(recorderLimitMb.max);

const recorder = members<RecorderState, Pick<RouteContext, 'plant'>>()('Recorder', () => ({
  enabled: flag('True while messages are recorded.'),
  ...counts.members(),
  limit_mb: member(() => limitSchema)('Maximum memory of the recording, MiB; above it the oldest entries are dropped.'),
  protocols: list(word(recordedProtocols)()).orNull('Protocols that are recorded, `findings` among them; null: all.'),
  since: time.orNull(
    'Wall time at which the recording was last switched on, or cleared while on; null: never on.',
    ({ since }) => since?.wallMs,
  ),
  sim_start: time.orNull(
    'Simulated time of the same instant, by the current simulated clock.',
    ({ since }, { plant }) => since && plant.dateMs(since.sim),
  ),
  last_id: count('Id of the last entry; 0: there was none.'),
  by_protocol: countsByName('Counts by protocol, for each protocol with a recorded message.'),
  changed_by: writer.orNull('Last writer of these settings; null: as started.'),
}));

const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({
        description: 'True: messages are recorded from now on. False: recording stops, and the entries are kept.',
      }),
      limit_mb: limitSchema.optional().openapi({
        description:
          `Memory of the recording, ${recorderLimitMb.min} to ${recorderLimitMb.max} MiB; at the start ` +
          `${recorderLimitMb.byDefault}. Default unchanged.`,
      }),
      protocols: z.array(z.enum(recordedProtocols)).min(1).max(recordedProtocols.length).nullable().optional().openapi({
        description: 'Protocols to record from now on, and `findings` about their peers; null: all. Default unchanged.',
      }),
      clear: z
        .boolean()
        .optional()
        .openapi({ description: 'True: removes the entries, and resets their counts. Default false.' }),
    })
    .openapi('RecorderRequest'),
);

const downloadQuery = z.strictObject({
  format: z
    .enum(['jsonl', 'pcap'])
    .optional()
    .openapi({
      param: { name: 'format' },
      description:
        '`jsonl`: a line of JSON for the header, then one for each entry. `pcap`: a capture file of ' +
        `${packetProtocols.join(' and ')} over TCP, with simulated frames around the octets. Default \`jsonl\`.`,
    }),
  protocol: listParam(
    'protocol',
    recordedProtocols,
    'Only these protocols, `findings` among them; default all.',
  ).optional(),
  since: isoParam('since', 'Wall time of the first entry, inclusive. Default: the oldest entry kept.').optional(),
  until: isoParam('until', 'Wall time after the last entry, exclusive. Default: no bound.').optional(),
});
type Download = z.output<typeof downloadQuery>;

/** @throws HttpProblem `validation` for unknown protocols, and for those that a capture file cannot hold */
function filterOf({ protocol, since, until }: Download, allowed: readonly string[]): RecordingFilter {
  const protocols = protocol === undefined ? null : chosenWords('protocol', [protocol].flat(), allowed);
  if (protocols !== null && protocols.issues.length > 0) throw invalidAll(protocols.issues);
  return {
    protocols: protocols?.chosen ?? allowed,
    ...camelCased({ since_ms: since, until_ms: until }),
  };
}

function* inAscii(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield asciiJson(line);
}

const attachment = (name: string) => ({ headers: { 'Content-Disposition': `attachment; filename="${name}"` } });

export const recorderRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'get_recorder',
    summary: 'State of the recorder of all wire traffic',
    description:
      'The recorder keeps the messages of Modbus, CSIP, OCPP and DNP3, and the findings about peers, in their order on one time base, ' +
      'with the wall time and the simulated time of each. It is off at the start and costs nothing then. `modbus/messages` and the ' +
      'message lists of the other protocols do not depend on it.',
    reply: recorder.schema,
    handle: (ctx) => recorder.reply(ctx.recorder.state, ctx),
  }),
  route({
    method: 'post',
    path,
    tag,
    operationId: 'set_recorder',
    summary: 'Switches the recorder of all wire traffic on or off',
    description:
      'Channels that open later are recorded too, for example those of charging stations that join. Passwords, authorization ' +
      'keys and private keys are taken out before a message is recorded.',
    body: recorderBodySchema,
    reply: recorder.schema,
    handle(ctx, { body, by }) {
      ctx.recorder.set(camelCased(body), by);
      return recorder.reply(ctx.recorder.state, ctx);
    },
  }),
  route({
    method: 'get',
    path: `${path}/download`,
    tag,
    operationId: 'download_recorder',
    summary: 'The recording as a file',
    description:
      'The first line of `jsonl` is the header, with version, build, simulated time of the start and devices; each other line is an ' +
      'entry, described in docs/how-to/recorder.md. The file is made while it is sent: entries that are dropped meanwhile ' +
      'are left out, and a ' +
      'gap in the ids shows this. `pcap` has link type Ethernet; addresses of peers, octets and wall times are those of the ' +
      'recording, everything else is made up: servers have the ports 502 and 20000, frames of the DNP3 link layer are rebuilt ' +
      'from fragments, and TLS is decrypted. Messages of serial lines are left out.',
    query: downloadQuery,
    media: linesType,
    reply: z.string(),
    otherMedia: [packetsType],
    async handle({ recorder: recording }, { query }) {
      if (query.format === 'pcap') {
        const packets = await recording.packets(filterOf(query, packetProtocols));
        return new Answer<string>(new StreamedReply(packetsType, packets), attachment('recording.pcap'));
      }
      const lines = await recording.lines(filterOf(query, recordedProtocols));
      // the charset avoids a second line end, which is added to bodies whose type ends with `json`
      const body = new StreamedReply(`${linesType}; charset=utf-8`, joined(inAscii(lines)));
      return new Answer<string>(body, attachment('recording.jsonl'));
    },
  }),
];
