import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { RawClient, readRequest } from '../support/modbus-client.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

const base = 40_000;
const crowdSize = 500;
const limitMs = 250;
/** header, function, byte count, two registers */
const markerAnswer = 13;

/** Polls until it is stopped; returns the number of answered polls. */
async function pollSteadily(client: RawClient, going: () => boolean, polled: () => void): Promise<number> {
  let polls = 0;
  while (going()) {
    client.send(readRequest(polls & 0xffff, base, 125));
    const answer = await client.answer();
    if (answer.length !== 9 + 250 || answer.readUInt16BE(0) !== (polls & 0xffff))
      throw new Error(`wrong answer ${answer.toString('hex')}`);
    polls += 1;
    polled();
  }
  return polls;
}

describeWith(['pymodbus'], 'is served in a crowd', () => {
  let simulator: RunningSimulator;
  let master: PythonPeer;
  const clients: RawClient[] = [];

  before(async () => {
    simulator = await startSimulator(['--tick', '0.1']);
    master = new PythonPeer('modbus_master', simulator.modbusPort);
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await master.stop();
    expect(await simulator.stop()).to.equal(0);
  });

  async function open(): Promise<RawClient> {
    const client = await RawClient.open(simulator.modbusPort);
    clients.push(client);
    return client;
  }

  it(`of ${crowdSize} polling clients, one that sends byte by byte and one that never reads, within ${limitMs} ms`, async () => {
    const deaf = await open();
    deaf.socket.pause();
    // its answers, 26 MB, exceed the buffers of the operating system
    deaf.send(Buffer.concat(Array.from({ length: 100_000 }, (_, i) => readRequest(i & 0xffff, base, 125))));

    const slow = await open();
    const letters = [...readRequest(1, base, 2)];
    /** the slow client's next byte goes out when this many polls of the others have been answered */
    const pollsPerByte = 50;
    let polls = 0;
    const polled = () => {
      polls += 1;
      if (polls % pollsPerByte !== 0) return;
      const letter = letters.shift();
      if (letter !== undefined) slow.send(Buffer.from([letter]));
    };

    const crowd = await Promise.all(Array.from({ length: crowdSize }, open));
    // all connections are established once each has had an answer
    await Promise.all(crowd.map((client) => client.request(readRequest(0, base, 2))));
    let going = true;
    const crowding = Promise.all(crowd.map((client) => pollSteadily(client, () => going, polled)));
    const before = (await ask(simulator.httpPort, '/api/sim/health')).json.tick;
    const longestMs: number = await master.ask('timed_reads', { address: base, count: 125, times: 300 });
    const slowAnswer = await slow.answer();
    going = false;
    const counts = await crowding;

    expect(longestMs).to.be.lessThan(limitMs);
    expect(Math.min(...counts), 'minimum of polls per client').to.be.greaterThan(0);
    expect(slowAnswer).to.have.length(markerAnswer);
    expect(slowAnswer.subarray(9).toString('latin1')).to.equal('SunS');
    const health = await ask(simulator.httpPort, '/api/sim/health');
    expect(health.json).to.include({ status: 'ok' });
    expect(health.json.tick).to.be.greaterThan(before);
    expect(deaf.closed, 'the client that never reads').to.equal(false);
  });
});
