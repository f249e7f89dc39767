// A central system on plain `ws` for charge points below the paths /ours/ and /bare/, which it drives in 1.6. It accepts
// everything and answers from memory, so that it costs both the same.
// Prints one line of JSON with its port. Then it reads one line of JSON for each request and answers with one:
// {"what":"stations"}: how many are connected and have booted, by path;
// {"what":"samples"}: the newest answer and call of a charge point below /ours/, by action;
// {"what":"drive","paths":[...],"seconds":s,"rate":r}: sends a mix of calls, r per second and charge point, and counts
// the frames that came and went by path, until all calls are answered.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

const paths = ['ours', 'bare'];
/** Between two looks at what is due. */
const stepMs = 10;
/** For the last answers, and then for what was triggered last. */
const [lateMs, triggeredMs] = [5000, 200];

const now = () => new Date().toISOString();
const answers = {
  // no heartbeats of the charge points' own while anything is measured
  BootNotification: () => ({ status: 'Accepted', currentTime: now(), interval: 3600 }),
  Heartbeat: () => ({ currentTime: now() }),
};

let limitA = 0;
/** The limit is another one each time, so that it has an effect. */
const profile = () => {
  limitA = limitA % 20 + 1;
  return {
    connectorId: 1,
    csChargingProfiles: {
      chargingProfileId: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: { chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 + limitA }] },
    },
  };
};
let intervalS = 0;
const mix = [
  ['GetConfiguration', () => ({ key: ['HeartbeatInterval'] })],
  ['TriggerMessage', () => ({ requestedMessage: 'Heartbeat' })],
  ['ChangeConfiguration', () => {
    intervalS = intervalS % 60 + 1;
    return { key: 'MeterValueSampleInterval', value: String(60 + intervalS) };
  }],
  ['TriggerMessage', () => ({ requestedMessage: 'MeterValues', connectorId: 1 })],
  ['SetChargingProfile', profile],
];

/** Of one charge point. */
class Station {
  asked = null;
  askedAction = '';
  booted = false;
  turn = 0;
  #nextId = 0;

  constructor(path, socket) {
    this.path = path;
    this.socket = socket;
    this.counts = { in: 0, out: 0, refused: 0, late: 0 };
    socket.on('message', (data) => this.#received(JSON.parse(data.toString())));
    socket.on('close', () => stations.delete(this));
  }

  ask() {
    if (this.asked !== null) {
      this.counts.late += 1;
      return;
    }
    const [action, payload] = mix[this.turn++ % mix.length];
    this.asked = `c${++this.#nextId}`;
    this.askedAction = action;
    this.#send([2, this.asked, action, payload()]);
  }

  #send(frame) {
    this.counts.out += 1;
    this.socket.send(JSON.stringify(frame));
  }

  #received([type, id, ...rest]) {
    this.counts.in += 1;
    if (type === 2) {
      const [action, payload] = rest;
      if (this.path === 'ours') samples.calls[action] = payload;
      this.#send([3, id, answers[action]?.() ?? {}]);
      if (action === 'BootNotification') this.booted = true;
      return;
    }
    const accepted = type === 3 && (rest[0].status ?? 'Accepted') === 'Accepted';
    if (!accepted || id !== this.asked) {
      this.counts.refused += 1;
      process.stderr.write(`ocpp-central: ${this.path} answers ${this.askedAction} with ${JSON.stringify([type, ...rest])}\n`);
    } else if (this.path === 'ours') samples.answers[this.askedAction] = rest[0];
    this.asked = null;
  }
}

const stations = new Set();
const samples = { calls: {}, answers: {} };
const of = (path) => [...stations].filter((each) => each.path === path);

async function drive({ paths: driven, seconds, rate }) {
  const all = driven.flatMap(of);
  for (const each of all) each.counts = { in: 0, out: 0, refused: 0, late: 0 };
  const begin = performance.now();
  let due = 0;
  for (let ms = 0; ms < seconds * 1000; ms = performance.now() - begin) {
    // in turn, so that the calls are spread over time
    for (; due < all.length * rate * ms / 1000; due += 1) all[due % all.length].ask();
    await wait(stepMs);
  }
  const end = performance.now() + lateMs;
  while (all.some(({ asked }) => asked !== null) && performance.now() < end) await wait(stepMs);
  await wait(triggeredMs);
  const sum = (path, name) => of(path).reduce((total, { counts }) => total + counts[name], 0);
  return Object.fromEntries(paths.map((path) => [path, {
    frames: sum(path, 'in') + sum(path, 'out'),
    refused: sum(path, 'refused'),
    late: sum(path, 'late'),
  }]));
}

const requests = {
  stations: () => Object.fromEntries(paths.map((path) => [path, {
    connected: of(path).length,
    booted: of(path).filter(({ booted }) => booted).length,
  }])),
  samples: () => samples,
  drive,
};

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false, handleProtocols: (offered) => [...offered][0] });
sockets.on('connection', (socket, { url }) => stations.add(new Station(url.split('/')[1], socket)));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));

for await (const line of createInterface(process.stdin)) {
  const request = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await requests[request.what](request))}\n`);
}
process.exit(0);
