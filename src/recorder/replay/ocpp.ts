/** Replays the central system of a recording to the stations of a new build. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { hostAndPort, listen } from '../../core/net/listen.ts';
import { firstClientMs, Idle } from './options.ts';
import { scriptOf, ReplayedStation } from './ocpp-station.ts';
import type { ReplayOptions } from './options.ts';
import type { RecordedMessage } from './recording.ts';
import { Findings } from './report.ts';
import type { ReplayReport } from './report.ts';
import type { Target } from './targets.ts';

/** Maximum octets of one message of a station. */
const maxPayload = 1024 * 1024;

function stationsOf(messages: readonly RecordedMessage[], options: ReplayOptions, findings: Findings) {
  const byKey = new Map<string, RecordedMessage[]>();
  for (const message of messages) {
    const stationMessages = byKey.get(message.key) ?? [];
    byKey.set(message.key, stationMessages);
    stationMessages.push(message);
  }
  const stations = [...byKey].map(
    ([id, stationMessages]) => new ReplayedStation(scriptOf(id, stationMessages), options, findings),
  );
  return new Map(stations.map((station) => [station.id, station]));
}

/** The identity at the end of the path; empty if it is invalid. */
function identityIn(url: string): string {
  try {
    return decodeURIComponent((url.split('?')[0] ?? '').split('/').at(-1) ?? '');
  } catch {
    return '';
  }
}

/** The stations of a replay and their sockets. */
class CentralSystem {
  readonly server = createServer((_request, response) => {
    response.writeHead(426).end();
  });
  readonly #stations: ReadonlyMap<string, ReplayedStation>;
  readonly #findings: Findings;
  readonly #sockets: WebSocketServer;
  /** identities that are not in the recording */
  readonly #strangers = new Set<string>();
  readonly #onActivity: () => void;

  /** @param onActivity called at each connection, and after each message */
  constructor(stations: ReadonlyMap<string, ReplayedStation>, findings: Findings, onActivity: () => void) {
    this.#stations = stations;
    this.#findings = findings;
    this.#onActivity = onActivity;
    this.#sockets = new WebSocketServer({
      server: this.server,
      maxPayload,
      handleProtocols: (offered) => [...offered].find((name) => name.startsWith('ocpp')) ?? false,
    });
    this.#sockets.on('connection', (socket, { url }) => {
      this.#accept(socket, identityIn(url ?? ''));
    });
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.server.close();
  }

  #accept(socket: WebSocket, id: string): void {
    this.#onActivity();
    socket.on('error', () => undefined);
    const station = this.#stations.get(id);
    if (station === undefined) {
      if (!this.#strangers.has(id)) this.#findings.differ(`station ${id}: is not in the recording`);
      this.#strangers.add(id);
      socket.close();
      return;
    }
    const send = (text: string) => {
      socket.send(text);
    };
    socket.on('message', (data: Buffer) => {
      station.hear(data.toString());
      this.#onActivity();
    });
    socket.on('close', () => {
      station.disconnect(send);
    });
    station.connect(send);
  }
}

/**
 * Listens until every station has sent its recorded messages, or no further message arrives. Actions at the stations,
 * such as plugging in, are not replayed.
 * @param messages of OCPP only
 * @param say called with the address
 * @throws SimError LISTEN_FAILED
 */
export async function replayOcpp(
  messages: readonly RecordedMessage[],
  { host, port }: Target,
  options: ReplayOptions,
  say: (line: string) => void,
): Promise<ReplayReport> {
  const findings = new Findings();
  const stations = stationsOf(messages, options, findings);
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const idle = new Idle(firstClientMs, options.timeoutMs, () => {
    // each station advances to its next call, if any
    const unfinished = [...stations.values()].filter((station) => station.skip());
    if (unfinished.length > 0) idle.touch();
    else end();
  });
  const central = new CentralSystem(stations, findings, () => {
    idle.touch();
    if ([...stations.values()].every(({ done }) => done)) setTimeout(end, options.silenceMs);
  });
  const address = await listen(central.server, host, port, 'the replayed central system');
  say(`the central system of the recording listens on ws://${hostAndPort(address.address, address.port)}/`);
  await ended;
  idle.stop();
  for (const station of stations.values()) while (station.skip());
  central.close();
  return findings.report('ocpp');
}
