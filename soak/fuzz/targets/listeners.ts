/** Listeners of a whole simulator in this process, over sockets of loopback. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import { examplesOf } from '../../../src/api/description/openapi.ts';
import { apiPrefix } from '../../../src/api/http/route.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { callLater } from '../../../src/core/time/timers.ts';
import { NotificationListener } from '../../../src/csip/notify/listener.ts';
import { parseDocument } from '../../../src/csip/xml/codec.ts';
import { fragmentFrames, hex } from '../../../test/dnp3/rig/frames.ts';
import { TestMaster } from '../../../test/dnp3/rig/master.ts';
import { cutAnswers, expectSound, talk, wire } from '../../../test/support/hostile.ts';
import { RawClient, readRequest } from '../../../test/support/modbus-client.ts';
import { modbusEndpoint, startApp } from '../../../test/support/running-app.ts';
import { nothing } from '../target.ts';
import type { Subject, Target } from '../target.ts';

/** for an answer, or for the end of a connection, ms */
const answerMs = 250;

/** Sends octets on a connection of their own, and ends it when an answer has come, or none in time. */
async function send(port: number, input: Buffer, hello: Buffer = Buffer.alloc(0)): Promise<Buffer> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', nothing);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, answerMs);
    const end = () => {
      clearTimeout(late);
      resolve();
    };
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      end();
    });
    socket.on('close', end);
    socket.on('connect', () => {
      socket.write(Buffer.concat([hello, input]));
      // half of all inputs are whole requests, so that waiting for a silent one is seldom
      socket.end();
    });
  });
  socket.destroy();
  return Buffer.concat(chunks);
}

function expectNoErrors({ logBook }: App): void {
  const [entry] = logBook.entries({ levels: ['error'] });
  if (entry !== undefined) throw new Error(`the log says: ${entry.message}`);
}

const dnp3Port = ({ adapters }: App): number => {
  const endpoint = adapters.find(({ comm }) => comm === 'dnp3')?.endpointOf?.(0);
  if (endpoint?.protocol !== 'dnp3') throw new Error('DNP3 is off');
  return endpoint.port;
};

/** A target that is one listener of a simulator. */
function listener(
  name: string,
  samples: () => readonly Buffer[],
  of: (app: App, port: number) => Pick<Subject, 'feed' | 'alive'>,
  isText = false,
): Target {
  return {
    name,
    isText,
    samples,
    async open() {
      const flags = ['--dnp3_enable', 'yes', '--dnp3_port', '0'];
      const { app, port } = await startApp(['PV-3Phase', 'Batt-3Phase', 'EVSE'], flags, { described: name === 'rest' });
      // an incomplete request is answered soon, and a connection that stays open after its answer is closed soon
      app.api.server.headersTimeout = 200;
      app.api.server.requestTimeout = 200;
      app.api.server.keepAliveTimeout = 200;
      const { feed, alive } = of(app, port);
      return {
        async feed(input) {
          await feed(input);
          expectNoErrors(app);
        },
        alive,
        close: () => app.stop(),
      };
    },
  };
}

async function modbusAlive(port: number): Promise<void> {
  const client = await RawClient.open(port);
  try {
    const answer = await client.request(readRequest(7, 40_000, 2));
    if (!answer.endsWith('53756e53')) throw new Error(`a valid read is answered with ${answer}`);
  } finally {
    client.destroy();
  }
}

const modbusSamples = () => [
  readRequest(1, 40_000, 125),
  Buffer.from('000200000006010600c80005', 'hex'),
  Buffer.from('00030000000b0110ae620002040001ffff', 'hex'),
  Buffer.concat([readRequest(4, 40_070, 50), readRequest(5, 40_072, 1)]),
];

const dnp3Samples = () =>
  [
    'c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06',
    'c5 05 29 01 28 01 00 57 00 f4 01 00 00 00',
    'c2 02 50 01 00 07 07 00',
    'c9 17',
  ].map((request) => Buffer.concat(fragmentFrames(hex(request), 1, 4)));

/** Operations that end the process, run for minutes or connect to others are not fuzzed. */
const excluded = ['/stop', '/controls/time/step', '/controls/time', '/sunspec-client/connect', '/scenarios'];

/** First line: path; the rest: body. */
const restSamples = () =>
  allRoutes
    .filter(({ method, path }) => method === 'post' && !excluded.includes(path))
    .map((route) => {
      const path = apiPrefix + route.path.replaceAll(/\{\w+\}/g, '1');
      return Buffer.from(`${path}\n${JSON.stringify(examplesOf(route).body ?? {})}`);
    });

async function restFeed(port: number, input: Buffer): Promise<void> {
  const end = input.indexOf(10);
  const target = (end < 0 ? input : input.subarray(0, end)).toString('latin1').replaceAll(/[^\x21-\x7e]/g, '');
  if (excluded.some((path) => target.includes(path))) return;
  const body = end < 0 ? Buffer.alloc(0) : input.subarray(end + 1);
  const answers = cutAnswers(await talk(port, wire(target || '/', { method: 'POST', body })));
  if (answers.length !== 1) throw new Error(`${answers.length} answers`);
  for (const answer of answers) {
    if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}`);
    expectSound(answer);
  }
}

const upgrade = (port: number) =>
  Buffer.from(
    `GET /api/sim/ws/telemetry HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n',
  );

/** Masked frames of a client: text, ping, close, fragments, a long one. */
const webSocketSamples = () =>
  [
    '8185010203046968636868',
    '898001020304',
    '888201020304 02ea'.replace(' ', ''),
    '018101020304600080810102030460',
    '81fe010001020304',
  ].map((text) => Buffer.from(text, 'hex'));

async function streamAlive(port: number): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
  try {
    await once(socket, 'message');
  } finally {
    socket.terminate();
  }
}

const notification =
  '<Notification xmlns="urn:ieee:std:2030.5:ns"><subscribedResource>/derc</subscribedResource><status>0</status>' +
  '<subscriptionURI>/edev/1/sub/1</subscriptionURI></Notification>';

const notifications: Target = {
  name: 'csip-notification',
  isText: true,
  samples: () => [Buffer.from(notification)],
  async open() {
    const server = new NotificationListener({
      host: '127.0.0.1',
      port: 0,
      gate: null,
      uri: null,
      parse: (body) => parseDocument(body),
      clock: systemClock,
      later: callLater,
      log: { info: nothing, warning: nothing },
    });
    await server.open();
    server.take('abc', nothing);
    const { port } = server;
    const status = async (body: Buffer | string) => {
      const headers = { 'Content-Type': 'application/sep+xml' };
      const answer = await send(port ?? 0, wire('/notify/abc', { method: 'POST', body, headers }));
      return Number(answer.toString('latin1', 9, 12));
    };
    return {
      async feed(input) {
        const code = await status(input);
        if (code !== 204 && (code < 400 || code > 499)) throw new Error(`the answer is ${code}`);
      },
      async alive() {
        const code = await status(notification);
        if (code !== 204) throw new Error(`a valid notification is answered with ${code}`);
      },
      close: () => server.close(),
    };
  },
};

export const listenerTargets: readonly Target[] = [
  listener('modbus-listener', modbusSamples, (app) => {
    const { port } = modbusEndpoint(app, 0);
    return { feed: async (input) => void (await send(port, input)), alive: () => modbusAlive(port) };
  }),
  listener('dnp3-listener', dnp3Samples, (app) => {
    const port = dnp3Port(app);
    return {
      feed: async (input) => void (await send(port, input)),
      async alive() {
        const master = await TestMaster.connect({ port });
        await master.request(1, hex('3c 01 06'));
        await master.close();
      },
    };
  }),
  listener(
    'rest',
    restSamples,
    (_, port) => ({
      feed: (input) => restFeed(port, input),
      async alive() {
        const [answer] = cutAnswers(await talk(port, wire('/api/sim/health')));
        if (answer?.status !== 200) throw new Error(`health is answered with ${String(answer?.status)}`);
      },
    }),
    true,
  ),
  listener('stream', webSocketSamples, (_, port) => ({
    feed: async (input) => void (await send(port, input, upgrade(port))),
    alive: () => streamAlive(port),
  })),
  notifications,
];
