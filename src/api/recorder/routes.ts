import { packetProtocols, recordedProtocols } from '../../contract/recorder.ts';
import type { RecordedCounts, RecordingFilter } from '../../contract/recorder.ts';
import { chosenWords } from '../common/list-param.ts';
import { isoOrNull } from '../common/schemas.ts';
import { writerReply } from '../common/writer-replies.ts';
import type { RouteContext } from '../http/context.ts';
import { invalidAll } from '../http/errors.ts';
import { asciiJson, joined } from '../http/pieces.ts';
import { Answer, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { z } from '../description/zod.ts';
import { downloadQuery, exampleLines, exampleRecorder, recorderBodySchema, recorderSchema } from './schemas.ts';

const path = '/recorder';
const tag = 'Core';
const linesType = 'application/x-ndjson';
const packetsType = 'application/vnd.tcpdump.pcap';

const countsReply = ({ entries, bytes, dropped }: RecordedCounts) => ({ entries, bytes, dropped });

function recorderReply({ plant, recorder }: RouteContext) {
  const { state } = recorder;
  const { enabled, limitMb, protocols, since, lastId, byProtocol, changedBy } = state;
  return {
    enabled,
    ...countsReply(state),
    limit_mb: limitMb,
    protocols: protocols === null ? null : [...protocols],
    since: isoOrNull(since?.wallMs),
    sim_start: since === null ? null : new Date(plant.dateMs(since.sim)).toISOString(),
    last_id: lastId,
    by_protocol: Object.fromEntries([...byProtocol].map(([name, counts]) => [name, countsReply(counts)])),
    changed_by: writerReply(plant, changedBy),
  };
}

const getRecorder = route({
  method: 'get',
  path,
  tag,
  operationId: 'get_recorder',
  summary: 'State of the recorder of all wire traffic',
  description:
    'The recorder keeps the messages of Modbus, CSIP, OCPP and DNP3 in their order on one time base, with the wall time and the ' +
    'simulated time of each. It is off at the start and costs nothing then. The messages that `modbus/messages` and its like keep ' +
    'are kept beside it.',
  reply: recorderSchema,
  examples: { reply: exampleRecorder },
  handle: (ctx) => recorderReply(ctx),
});

const setRecorder = route({
  method: 'post',
  path,
  tag,
  operationId: 'set_recorder',
  summary: 'Switches the recorder of all wire traffic on or off',
  description:
    'Also channels that come later are recorded, for example those of charging stations that join. Passwords, authorization ' +
    'keys and private keys are taken out before a message is recorded.',
  body: recorderBodySchema,
  reply: recorderSchema,
  examples: { body: { enabled: true, limit_mb: 64 }, reply: exampleRecorder },
  handle(ctx, { body: { enabled, limit_mb: limitMb, protocols, clear }, by }) {
    ctx.recorder.set(
      {
        enabled,
        ...(limitMb !== undefined && { limitMb }),
        ...(protocols !== undefined && { protocols }),
        ...(clear !== undefined && { clear }),
      },
      by,
    );
    return recorderReply(ctx);
  },
});

interface Download {
  readonly protocol?: string | string[] | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** @throws HttpProblem `validation` for protocols that are not known, or that a capture file cannot hold */
function filterOf({ protocol, since, until }: Download, allowed: readonly string[]): RecordingFilter {
  const chosen = protocol === undefined ? null : chosenWords('protocol', [protocol].flat(), allowed);
  if (chosen !== null && chosen.issues.length > 0) throw invalidAll(chosen.issues);
  return {
    protocols: chosen?.chosen ?? allowed,
    ...(since !== undefined && { sinceMs: since }),
    ...(until !== undefined && { untilMs: until }),
  };
}

function* inAscii(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield asciiJson(line);
}

const attachment = (name: string) => ({ headers: { 'Content-Disposition': `attachment; filename="${name}"` } });

const downloadRecorder = route({
  method: 'get',
  path: `${path}/download`,
  tag,
  operationId: 'download_recorder',
  summary: 'The recording as a file',
  description:
    'The first line of `jsonl` is the header, with version, build, simulated time of the start and devices; each other line is an ' +
    'entry, described in docs/recorder.md. The file is made while it is sent: entries that are dropped meanwhile are left out, and a ' +
    'gap in the ids tells so. `pcap` has link type Ethernet; addresses of peers, octets and wall times are those of the ' +
    'recording, everything else is made up: servers have the ports 502 and 20000, frames of the link layer of DNP3 are cut anew ' +
    'from fragments, and TLS is in clear. Messages of serial lines are left out.',
  query: downloadQuery,
  media: linesType,
  reply: z.string(),
  otherMedia: [{ type: packetsType, example: '(octets of a capture file)' }],
  examples: { reply: exampleLines },
  async handle({ recorder }, { query }) {
    if (query.format === 'pcap') {
      const packets = await recorder.packets(filterOf(query, packetProtocols));
      return new Answer<string>(new StreamedReply(packetsType, packets), attachment('recording.pcap'));
    }
    const lines = await recorder.lines(filterOf(query, recordedProtocols));
    // with a parameter, so that no further line end is put behind the last line
    const body = new StreamedReply(`${linesType}; charset=utf-8`, joined(inAscii(lines)));
    return new Answer<string>(body, attachment('recording.jsonl'));
  },
});

export const recorderRoutes: readonly Route[] = [getRecorder, setRecorder, downloadRecorder];
