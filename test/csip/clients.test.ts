import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CommAlarms } from '../../src/core/comm-alarms.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { simTimeFromMs, systemClock } from '../../src/core/time/clock.ts';
import { remoteClocks } from '../../src/core/time/remote-clock.ts';
import { callLater } from '../../src/core/time/timers.ts';
import type { Later } from '../../src/core/time/timers.ts';
import { WireLog } from '../../src/core/wire/wire-log.ts';
import { Clients } from '../../src/csip/clients.ts';
import type { ClientsOptions } from '../../src/csip/clients.ts';
import { undisturbed } from '../../src/csip/transport/exchange.ts';
import { csipChannel } from '../../src/csip/transport/messages.ts';
import { buildDocument, parseDocument } from '../../src/csip/xml/codec.ts';
import { SimError } from '../../src/core/errors.ts';
import { fileIo } from '../../src/core/tls/watch.ts';
import { FindingsRig } from '../support/findings.ts';
import { headEndPki } from '../support/head-end.ts';
import { configOf } from '../support/configured.ts';
import { testPlant } from '../support/plant.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

type Found = Awaited<ReturnType<ClientsOptions['discover']>>;

/** A client that searches for its server; nothing listens at the address of its settings. */
function clientsWith(
  cert: string,
  discover: () => Promise<Found>,
  later: Later = callLater,
): { clients: Clients; warnings: string[] } {
  const { csip: settings, seed } = configOf(
    ...['--csip_client_enable', 'yes', '--csip_discover', 'yes', '--csip_enc', 'no', '--csip_server_port', '1'],
    ...['--csip_cert', cert, '--csip_subscribe', 'yes', '--csip_notify_port', '0', '--csip_notify_enc', 'no'],
  );
  if (settings === null) throw new Error('CSIP is off');
  const plant = testPlant({});
  const warnings: string[] = [];
  const log = { ...silentLogger, warning: (line: string) => void warnings.push(line) };
  const clock = systemClock;
  const timeline = {
    sim: () => plant.time.sim,
    dateMs: () => clock.nowMs(),
    rate: () => 1,
    paused: () => false,
    at: () => () => undefined,
  };
  const clients = new Clients({
    settings,
    seed,
    plant,
    clock,
    later,
    store: createMemoryStore(),
    log,
    remoteClock: remoteClocks({ mode: 'wall', wall: clock, later, timeline, log }),
    commAlarms: new CommAlarms(() => clock.nowMs()),
    channel: csipChannel(new WireLog({ clock, sim: () => simTimeFromMs(0), log })),
    codecOf: () => ({
      parse: (octets) => parseDocument(octets),
      build: (document) => buildDocument(document, { revision: '2018', aus: null }),
    }),
    disturber: undisturbed,
    findings: new FindingsRig().registry,
    pem: fileIo,
    discover,
  });
  clients.add(plant.devices);
  return { clients, warnings };
}

const found = (members: object): Found[number] => ({
  name: 'head-end',
  host: 'head-end.local',
  addresses: ['127.0.0.1'],
  port: 80,
  httpsPort: null,
  dcap: null,
  level: null,
  permitted: true,
  ...members,
});

describe('clients that search for their server (csip_discover)', () => {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-clients-'));
  const cert = join(directory, 'cert.pem');
  let server: Server;
  let asked: Promise<string | undefined>;
  let running: Clients | null = null;

  before(async () => writeFileSync(cert, (await headEndPki()).device.cert));
  after(() => rmSync(directory, { recursive: true }));
  beforeEach(async () => {
    asked = new Promise((resolve) => {
      server = createServer((request, response) => {
        resolve(request.url);
        response.writeHead(404).end();
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await running?.stop();
    running = null;
    server.close();
  });

  it('connect to the first that the outbound rules permit, at its DeviceCapability', async () => {
    const { port } = server.address() as AddressInfo;
    const { clients } = clientsWith(cert, () =>
      Promise.resolve([
        found({ addresses: ['169.254.169.254'], permitted: false }),
        found({ port, dcap: '/sep2/dcap' }),
      ]),
    );
    running = clients;
    clients.connect();
    expect(await asked).to.equal('/sep2/dcap');
    expect(clients.inForce.server).to.deep.equal({ host: '127.0.0.1', port, tls: false });
    expect(clients.inForce.anywhere).to.equal(false);
  });

  it('use that of the settings where nothing is found, or nothing can be searched', async () => {
    const { port } = server.address() as AddressInfo;
    let tell: () => void = () => undefined;
    const again = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const answers = [
      () => Promise.resolve([]),
      () => {
        tell();
        return Promise.reject(new SimError('PEER_ERROR', 'multicast DNS is not possible'));
      },
    ];
    const { clients, warnings } = clientsWith(cert, () => answers.shift()?.() ?? Promise.resolve([]));
    running = clients;
    clients.inForce.server = { host: '127.0.0.1', port, tls: false };
    clients.connect();
    expect(await asked).to.equal('/dcap');
    await clients.restart();
    await again;
    expect(clients.inForce.anywhere).to.equal(true);
    expect(warnings[0]).to.match(/DNS-SD has found no server; that of the settings is used/);
  });
});

describe('clients that stop', () => {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-clients-'));
  const cert = join(directory, 'cert.pem');
  before(async () => writeFileSync(cert, (await headEndPki()).device.cert));
  after(() => rmSync(directory, { recursive: true }));

  it('do not connect again at the end of a restart under way', async () => {
    const timers = new HandTimers(new HandWall());
    const { clients } = clientsWith(cert, () => Promise.resolve([]), timers.later);
    clients.connect();
    expect(timers.waiting).to.be.greaterThan(0);
    const restart = clients.restart();
    await clients.stop(false);
    await restart;
    expect(clients.connections.map(({ client }) => client.state)).to.deep.equal(['stopped']);
    expect(timers.waiting).to.equal(0);
  });

  it('close a listener for notifications that is just opening', async () => {
    const { clients } = clientsWith(cert, () => Promise.resolve([]));
    const { notifications } = clients;
    const listening = clients.listen();
    await notifications.close();
    await listening;
    const { base } = notifications;
    await notifications.close();
    expect(base).to.equal(null);
  });
});
