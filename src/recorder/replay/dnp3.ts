/** Replays the requests of DNP3 masters and compares the responses. */
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { describe } from '../../dnp3/stack/application/describe.ts';
import { readControl } from '../../dnp3/stack/application/types.ts';
import { contentOf } from './dnp3-objects.ts';
import type { Dnp3Content, Dnp3Value } from './dnp3-objects.ts';
import { Pacer } from './options.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { counted, Findings } from './report.ts';
import type { ReplayReport } from './report.ts';
import { Links } from './targets.ts';
import type { DeviceTargets } from './targets.ts';
import { encodeFrame, linkBit, primaryFunction, secondaryFunction, LinkParser } from '../../dnp3/stack/link.ts';
import type { LinkFrame } from '../../dnp3/stack/link.ts';
import { Reassembler } from '../../dnp3/stack/transport.ts';
import { LinkFrames } from '../link-frames.ts';

/** A master and an outstation. */
interface Dnp3Pair {
  readonly master: number;
  readonly outstation: number;
}

const responseFunction = 129;
const controlBits = { firFin: 0xc0, uns: 0x10, sequence: 0x0f } as const;

interface Waiting {
  readonly pair: Dnp3Pair;
  readonly sequence: number;
  readonly fragments: Buffer[];
  done: () => void;
}

class Dnp3Link {
  readonly #socket: Socket;
  readonly #parser = new LinkParser();
  readonly #frames = new LinkFrames();
  readonly #reassemblers = new Map<string, Reassembler>();
  #waiting: Waiting | null = null;
  #closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#parser.push(chunk)) this.#take(frame);
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#waiting?.done();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a request and collects the fragments of its response until the last one or the timeout; sends requested
   * confirmations.
   */
  async ask(pair: Dnp3Pair, request: Buffer, timeoutMs: number): Promise<readonly Buffer[]> {
    const fragments: Buffer[] = [];
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, timeoutMs);
      const done = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting = { pair, sequence: (request[0] ?? 0) & controlBits.sequence, fragments, done };
      this.#send(pair, request);
      if (this.#closed) done();
    });
    this.#waiting = null;
    return fragments;
  }

  close(): void {
    this.#socket.destroy();
  }

  #send({ master, outstation }: Dnp3Pair, fragment: Buffer): void {
    this.#socket.write(this.#frames.of(fragment, { source: master, destination: outstation, fromMaster: true }));
  }

  #take({ control, destination: master, source: outstation, data }: LinkFrame): void {
    const code = control & 0x0f;
    if ((control & linkBit.primary) === 0 || (control & linkBit.fromMaster) !== 0) return;
    if (code === primaryFunction.requestLinkStatus) {
      const status = linkBit.fromMaster | secondaryFunction.linkStatus;
      this.#socket.write(encodeFrame({ control: status, destination: outstation, source: master }));
    }
    if (code !== primaryFunction.unconfirmedUserData && code !== primaryFunction.confirmedUserData) return;
    const key = `${master} ${outstation}`;
    const reassembler = this.#reassemblers.get(key) ?? new Reassembler();
    this.#reassemblers.set(key, reassembler);
    const fragment = reassembler.push(data);
    if (fragment !== null) this.#hear({ master, outstation }, fragment);
  }

  #hear(pair: Dnp3Pair, fragment: Buffer): void {
    const [octet, code] = fragment;
    if (octet === undefined || code === undefined) return;
    const { fin, con, uns, seq } = readControl(octet);
    if (con) this.#send(pair, Buffer.from([controlBits.firFin | (uns ? controlBits.uns : 0) | seq, confirmFunction]));
    const waiting = this.#waiting;
    if (waiting === null || uns || code !== responseFunction) return;
    const isOurs = waiting.pair.master === pair.master && waiting.pair.outstation === pair.outstation;
    // the sequence number increases with each fragment of a response
    const expected = (waiting.sequence + waiting.fragments.length) & controlBits.sequence;
    if (!isOurs || seq !== expected) return;
    waiting.fragments.push(fragment);
    if (fin) waiting.done();
  }
}

interface Dnp3Request {
  readonly n: number;
  readonly message: RecordedMessage;
  readonly pair: Dnp3Pair;
  readonly responses: Buffer[];
}

const confirmFunction = 0;
/** Internal indications that do not depend on events, the start time or the clock. */
const comparedIin: readonly (readonly [number, string])[] = [
  [0x0020, 'local_control'],
  [0x0040, 'device_trouble'],
  [0x0100, 'function_not_supported'],
  [0x0200, 'object_unknown'],
  [0x0400, 'parameter_error'],
  [0x1000, 'already_executing'],
  [0x2000, 'configuration_corrupt'],
];

function pairOf({ details: { master, outstation } }: RecordedMessage): Dnp3Pair {
  return {
    master: typeof master === 'number' ? master : 0,
    outstation: typeof outstation === 'number' ? outstation : 0,
  };
}

/** Requests with the fragments of their responses; the link sends confirmations itself. */
function requestsOf(messages: readonly RecordedMessage[]): readonly Dnp3Request[] {
  const requests: Dnp3Request[] = [];
  const open = new Map<string, Dnp3Request>();
  for (const message of messages) {
    const pair = pairOf(message);
    const key = `${message.peer} ${pair.outstation}`;
    const control = readControl(message.raw[0] ?? 0);
    if (message.direction === 'out') {
      if (!control.uns) open.get(key)?.responses.push(message.raw);
    } else if (message.raw[1] !== confirmFunction && !message.cut) {
      const request = { n: requests.length + 1, message, pair, responses: [] };
      open.set(key, request);
      requests.push(request);
    }
  }
  return requests;
}

/** `request 3, read g60v1 all of outstation 1` */
function requestInWords({ n, message, pair }: Dnp3Request): string {
  const { function: name, objects } = describe(message.raw);
  const listed = objects.length > 3 ? [...objects.slice(0, 3), `and ${objects.length - 3} more`] : objects;
  return `request ${n}, ${[name.replaceAll('_', ' '), ...listed].join(' ')} of outstation ${pair.outstation}`;
}

type Rules = Pick<ReplayOptions, 'measurementTolerance' | 'ignore'>;

function mayDiffer(
  recorded: Dnp3Value,
  replayed: Dnp3Value,
  { measurementTolerance: tolerance, ignore }: Rules,
): boolean {
  if (ignore.includes(recorded.name)) return true;
  if (!recorded.moves || tolerance === 'exact' || recorded.number === null || replayed.number === null) return false;
  return (
    tolerance === 'any' || Math.abs(replayed.number - recorded.number) <= (Math.abs(recorded.number) * tolerance) / 100
  );
}

function compareContents(
  request: Dnp3Request,
  recorded: Dnp3Content,
  replayed: Dnp3Content,
  rules: Rules,
  to: Findings,
): void {
  const differ = (text: string) => {
    to.differ(`${requestInWords(request)}: ${text}`);
  };
  for (const [bit, name] of comparedIin)
    if ((recorded.iin & bit) !== (replayed.iin & bit))
      differ(`the indication ${name} was ${setOrNot(recorded.iin & bit)}, is ${setOrNot(replayed.iin & bit)}`);
  for (const [name, before] of recorded.values) {
    const after = replayed.values.get(name);
    if (after?.text === before.text) continue;
    if (after !== undefined && mayDiffer(before, after, rules)) to.ignored += 1;
    else
      differ(
        after === undefined ? `${name} was ${before.text}, is missing` : `${name} was ${before.text}, is ${after.text}`,
      );
  }
  for (const [name, after] of replayed.values)
    if (!recorded.values.has(name)) differ(`${name} was missing, is ${after.text}`);
}

const setOrNot = (bit: number) => (bit === 0 ? 'not set' : 'set');

function compare(request: Dnp3Request, fragments: readonly Buffer[], rules: Rules, to: Findings): void {
  if (fragments.length === 0) {
    to.differ(`${requestInWords(request)}: was answered, is not answered`);
    return;
  }
  compareContents(request, contentOf(request.responses), contentOf(fragments), rules, to);
}

/**
 * Each recorded connection is replayed by one connection; requests are sent one after another, in recorded order.
 * Events, unsolicited responses and times are not compared.
 * @param messages of DNP3 only
 * @throws SimError PEER_ERROR, PEER_TIMEOUT if the target cannot be reached
 */
export async function replayDnp3(
  messages: readonly RecordedMessage[],
  targets: DeviceTargets,
  options: ReplayOptions,
): Promise<ReplayReport> {
  const requests = requestsOf(messages);
  const findings = new Findings();
  const links = new Links(
    requests.map(({ message }) => message),
    {
      targets,
      timeoutMs: options.timeoutMs,
      make: (socket) => new Dnp3Link(socket),
      connectionOf: ({ peer }) => peer.slice(peer.indexOf('@') + 1),
    },
  );
  findings.notes.push(...links.unusedTargets());
  const pacer = new Pacer(options);
  let withoutTarget = 0;
  try {
    for (const request of requests) {
      const { message, pair, responses } = request;
      await pacer.until(message);
      const link = await links.of(message);
      if (link === null) {
        withoutTarget += 1;
        continue;
      }
      const isSilent = responses.length === 0;
      const fragments = await link.ask(pair, message.raw, isSilent ? options.silenceMs : options.timeoutMs);
      findings.requests += 1;
      if (isSilent) findings.uncompared += 1;
      else compare(request, fragments, options, findings);
      links.done(message);
    }
  } finally {
    links.close();
  }
  const { uncompared } = findings;
  if (uncompared > 0)
    findings.notes.push(`not compared: ${counted(uncompared, 'request')} without a recorded response`);
  if (withoutTarget > 0)
    findings.notes.push(`left out: ${counted(withoutTarget, 'request')} to devices without an address`);
  return findings.report('dnp3');
}
