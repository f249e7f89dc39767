/** Findings about connections, at a charge point on a real socket. */
import { expect } from 'chai';
import { openCentral } from '../rpc/rig.ts';
import { startRawServer, switching } from '../rpc/raw-server.ts';
import { StationRig } from '../station/rig.ts';

describe('findings about the connection of a central system', () => {
  let rig: StationRig;
  let close: () => Promise<void>;
  afterEach(async () => {
    await rig.station.stop();
    await close();
  });

  const peer = () => {
    const [first] = rig.findings.registry.peers.valid;
    if (first === undefined) throw new Error('there is no peer');
    return first;
  };

  async function answeredBy(head: (key: string) => string): Promise<void> {
    const raw = await startRawServer(head);
    close = () => raw.close();
    rig = new StationRig(raw.url);
    rig.station.begin();
    await rig.until('failed no_version');
  }

  it('come of a handshake that chooses what was not offered', async () => {
    await answeredBy((key) => switching(key, 'ocpp2.0.1'));
    expect(rig.findings.ids(peer())).to.deep.equal(['ocpp.subprotocol']);
    expect(peer().identity.address).to.match(/^ws:\/\/127\.0\.0\.1:\d+\/ocpp$/);
  });

  it('do not come of a handshake without a subprotocol, which is a refusal (OCPP-J 3.2)', async () => {
    await answeredBy((key) => switching(key, 'x').replace(/Sec-WebSocket-Protocol: x\r\n/, ''));
    expect(rig.findings.registry.peers.valid).to.deep.equal([]);
    expect(rig.findings.registry.peers.strangers).to.equal(0);
  });

  it('come of pings that are not answered while messages come', async () => {
    const central = await openCentral();
    close = () => central.close();
    rig = new StationRig(central.url);
    rig.station.begin();
    await rig.until('opened ocpp1.6');
    const station = central.station('CP-1');
    await station.call('ClearCache');
    station.connection.socket.pause();
    rig.timers.pass(30_000);
    rig.timers.pass(10_000);
    station.sendText('[2,"unread","GetLocalListVersion",{}]');
    await rig.until('ocpp1.6 handles GetLocalListVersion');
    rig.timers.pass(20_000);
    await rig.until('closed 1006');
    expect(rig.findings.ids(peer())).to.deep.equal(['ocpp.ping_unanswered']);
  });
});
