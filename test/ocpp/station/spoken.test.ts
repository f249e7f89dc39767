import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { ChargePointOptions } from '../../../src/ocpp/station/charge-point.ts';
import type { Central } from '../central/central.ts';
import { openCentral } from '../rpc/rig.ts';
import { StationRig } from './rig.ts';

describe('a charge point that offers several versions (OCPP-J 3.1.2)', () => {
  let central: Central;
  let rig: StationRig;
  const lines: string[] = [];
  const log = {
    ...silentLogger,
    info: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  };
  const rigOf = (more: Partial<ChargePointOptions> = {}, store = createMemoryStore()) => {
    rig = new StationRig(central.url, { log, ...more }, ['ocpp2.0.1j', 'ocpp1.6j'], store);
    return rig;
  };
  const open = async (subprotocol: string) => {
    central.subprotocols = [subprotocol];
    rigOf().station.begin();
    await rig.until(`opened ${subprotocol}`);
  };
  /** The central system ends the connection, and chooses another version for the next one. */
  const choose = async (subprotocol: string) => {
    central.subprotocols = [subprotocol];
    central.station('CP-1').cut();
    await rig.until('closed 1006');
    rig.passWait();
  };
  /** The wait before the next attempt, s, once the connection has ended. */
  const waitS = async () => {
    for (let turns = 0; rig.station.status.reconnectInS === null && turns < 20_000; turns += 1) await nextTurn();
    return rig.station.status.reconnectInS ?? NaN;
  };
  const offers = () => central.requests.map(({ headers }) => headers['sec-websocket-protocol']?.replaceAll(' ', ''));

  beforeEach(async () => {
    central = await openCentral();
    lines.length = 0;
  });
  afterEach(async () => {
    rig.restored();
    await rig.station.stop();
    await central.close();
  });

  it('works by the first one until the central system has chosen', async () => {
    await rigOf().loaded;
    expect(rig.station.status).to.deep.include({
      version: 'ocpp2.0.1j',
      versions: ['ocpp2.0.1j', 'ocpp1.6j'],
      subprotocol: null,
    });
  });

  it('speaks the second one where that is chosen; the first one gives way before anything of the second', async () => {
    central.subprotocols = ['ocpp1.6'];
    rigOf().station.begin();
    await rig.until('ocpp2.0.1 gives way');
    await rig.until('opened ocpp1.6');
    expect(offers()).to.deep.equal(['ocpp2.0.1,ocpp1.6']);
    expect(rig.station.status).to.deep.include({
      version: 'ocpp1.6j',
      versions: ['ocpp2.0.1j', 'ocpp1.6j'],
      subprotocol: 'ocpp1.6',
    });
    expect(lines).to.include('CP-1: ocpp1.6j is spoken in place of ocpp2.0.1j');
  });

  it('offers the whole list again, and speaks what is chosen then', async () => {
    await open('ocpp2.0.1');
    expect(rig.told).to.deep.equal([]);
    await choose('ocpp1.6');
    await rig.until('ocpp2.0.1 gives way');
    await rig.until('opened ocpp1.6');
    await choose('ocpp1.6');
    // the same version again: nothing gives way
    await rig.until('opened ocpp1.6');
    expect(rig.told).to.deep.equal([]);
    await choose('ocpp2.0.1');
    await rig.until('ocpp1.6 gives way');
    await rig.until('opened ocpp2.0.1');
    expect(offers()).to.deep.equal(Array.from({ length: 4 }, () => 'ocpp2.0.1,ocpp1.6'));
  });

  it('a connection without a version that was offered opens nothing; the version at work stays', async () => {
    await open('ocpp1.6');
    await choose('ocpp2.1');
    await rig.until('failed no_version');
    expect(rig.station.status).to.deep.include({ version: 'ocpp1.6j', subprotocol: null });
    expect(rig.told).to.deep.equal([]);
  });

  it('a call that comes during the change waits, and the version that is spoken answers it', async () => {
    rigOf().slow.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('load ocpp1.6');
    const station = central.station('CP-1');
    const answered = station.call('TriggerMessage', { requestedMessage: 'Heartbeat' });
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    expect(rig.told).to.deep.equal([]);
    station.judged = false;
    rig.restored();
    expect((await answered).kind).to.equal('result');
    expect(rig.told).to.deep.equal(['opened ocpp1.6', 'ocpp1.6 handles TriggerMessage']);
  });

  it('a connection that has ended during the change is not opened for the version, and its calls are not carried out', async () => {
    rigOf().slow.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('load ocpp1.6');
    const lost = central.station('CP-1').call('TriggerMessage', { requestedMessage: 'Heartbeat' });
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    central.station('CP-1').cut();
    await lost;
    for (let turns = 0; rig.station.status.connectionState === 'connected' && turns < 20_000; turns += 1)
      await nextTurn();
    rig.restored();
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    expect(rig.told).to.deep.equal([]);
    rig.passWait();
    await rig.until('opened ocpp1.6');
  });

  it('a station that stops during the change stops the version that was begun', async () => {
    rigOf().slow.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('load ocpp1.6');
    const stopped = rig.station.stop();
    rig.restored();
    await stopped;
    expect(rig.told).to.deep.equal(['stop']);
  });

  it('a version whose state cannot be restored ends the connection, and is begun again with the next one', async () => {
    rigOf().broken.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('stop');
    expect(lines).to.include('CP-1: ocpp1.6j could not be begun: the store is broken');
    const { closed } = await central.station('CP-1').nextConnection();
    expect(await closed).to.deep.equal({ code: 1011, reason: 'the station has failed' });
    expect(lines.filter((line) => line.includes('in place of'))).to.have.lengthOf(0);
    rig.broken.clear();
    await waitS();
    rig.passWait();
    await rig.until('opened ocpp1.6');
    expect(lines.filter((line) => line.includes('in place of'))).to.have.lengthOf(1);
  });

  it('waits go on growing while the chosen version cannot be restored', async () => {
    rigOf().broken.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    for (let failures = 0; failures < 4; failures += 1) {
      await rig.until('stop');
      // 1 s and a random second, then twice the wait before and a random second
      expect(await waitS()).to.be.within(2 ** failures, 3 * 2 ** failures - 1);
      rig.passWait();
    }
  });

  it('a version that fails with its first connection is stopped, and made anew for the next one', async () => {
    rigOf().failing.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('opened ocpp1.6');
    await rig.until('stop');
    expect(lines).to.include('CP-1: ocpp1.6j could not be begun: the version is broken');
    await waitS();
    rig.failing.clear();
    rig.slow.add('ocpp1.6');
    rig.passWait();
    await rig.until('load ocpp1.6');
    rig.restored();
    await rig.until('opened ocpp1.6');
    expect(rig.told).to.deep.equal([]);
  });

  it('REST reads the former version until the next one is restored, and nothing is carried out meanwhile', async () => {
    const codeOf = async (act: () => unknown) => {
      try {
        await act();
        return 'done';
      } catch (error) {
        return error instanceof SimError ? error.code : String(error);
      }
    };
    const by = { source: 'rest' } as const;
    rigOf().slow.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('load ocpp1.6');
    const { functions, status } = rig.station;
    expect(status.version).to.equal('ocpp2.0.1j');
    expect(functions.localList().cache).to.deep.equal([{ idToken: 'ocpp2.0.1' }]);
    expect(await codeOf(() => functions.setConfiguration({ name: 'a', value: 'b' }, by))).to.equal('COMMAND_CONFLICT');
    expect(await codeOf(() => functions.authorize(1, 'TAG-1', by))).to.equal('COMMAND_CONFLICT');
    expect(await codeOf(() => functions.heartbeat())).to.equal('NOT_CONNECTED');
    expect(await codeOf(() => functions.boot(null))).to.equal('NOT_CONNECTED');
    expect(await codeOf(() => functions.sendMeterValues(1))).to.equal('NOT_CONNECTED');
    expect(rig.told).to.deep.equal([]);
    rig.restored();
    await rig.until('opened ocpp1.6');
    expect(rig.station.status.version).to.equal('ocpp1.6j');
    expect(rig.station.functions.localList().cache).to.deep.equal([{ idToken: 'ocpp1.6' }]);
    expect(await codeOf(() => rig.station.functions.setConfiguration({ name: 'a', value: 'b' }, by))).to.equal('done');
    expect(rig.told).to.deep.equal(['ocpp1.6 is configured']);
  });

  it('an attempt that fails during a change is reported to the next version, once that is restored', async () => {
    rigOf().slow.add('ocpp1.6');
    central.subprotocols = ['ocpp1.6'];
    rig.station.begin();
    await rig.until('load ocpp1.6');
    central.admit = () => 503;
    central.station('CP-1').cut();
    await waitS();
    rig.passWait();
    for (let turns = 0; rig.station.status.lastError?.includes('503') !== true && turns < 20_000; turns += 1)
      await nextTurn();
    expect(rig.told).to.deep.equal([]);
    rig.restored();
    await rig.until('failed rejected');
  });

  it('after a restart the version spoken last is at work before the first choice, if it is offered', async () => {
    const store = createMemoryStore();
    central.subprotocols = ['ocpp1.6'];
    rigOf({}, store).station.begin();
    await rig.until('opened ocpp1.6');
    await rig.station.stop();
    await rigOf({}, store).loaded;
    expect(rig.station.status.version).to.equal('ocpp1.6j');
    rig.station.begin();
    await rig.until('opened ocpp1.6');
    expect(lines.filter((line) => line.includes('in place of'))).to.have.lengthOf(1);
    await rig.station.stop();
    rig = new StationRig(central.url, { log }, ['ocpp2.1', 'ocpp2.0.1j'], store);
    await rig.until('ocpp1.6 gives way');
    await rig.loaded;
    expect(rig.station.status.version).to.equal('ocpp2.1');
  });

  it('versions share the slots of the station, and no other', async () => {
    await open('ocpp2.0.1');
    const shared = ['availability', 'certificates', 'firmware-version', 'network-profiles', 'security-log'];
    const separate = ['keys', 'queue', 'transactions', 'local-list', 'reservations', 'profiles', 'firmware'];
    for (const name of [...shared, ...separate]) await rig.parts.store(name).replace([name]);
    await choose('ocpp1.6');
    await rig.until('opened ocpp1.6');
    const values = (names: readonly string[]) => Promise.all(names.map((name) => rig.parts.store(name).read()));
    expect((await values(shared)).flat()).to.deep.equal(shared);
    expect((await values(separate)).flat()).to.deep.equal([]);
  });

  it('what a version has set of the connection does not act on the next one', async () => {
    await open('ocpp2.0.1');
    const { network } = rig.parts;
    network.setBackOff({ waitMinimumMs: 700_000, randomRangeMs: 0, repeatTimes: 0 });
    network.setWildcards(false);
    await choose('ocpp1.6');
    await rig.until('opened ocpp1.6');
    central.station('CP-1').cut();
    await rig.until('closed 1006');
    // the second wait of 1.6: those of both versions go on growing
    expect(rig.station.status.reconnectInS).to.be.within(2, 5);
  });

  describe('connect over REST', () => {
    it('changes what is offered from the next connection on', async () => {
      await open('ocpp2.0.1');
      central.subprotocols = ['ocpp2.1', 'ocpp1.6'];
      rig.station.connect({ version: ['ocpp1.6j', 'ocpp2.1'] });
      expect(rig.station.status).to.deep.include({ version: 'ocpp2.0.1j', versions: ['ocpp1.6j', 'ocpp2.1'] });
      await rig.until('opened ocpp2.1');
      expect(offers().at(-1)).to.equal('ocpp1.6,ocpp2.1');
      rig.station.connect({ version: 'ocpp1.6j' });
      await rig.until('opened ocpp1.6');
      rig.station.connect({});
      await rig.until('opened ocpp1.6');
      expect(offers().slice(-2)).to.deep.equal(['ocpp1.6', 'ocpp1.6']);
    });

    it('an address is new to network profiles once, whatever version was at work', async () => {
      await open('ocpp1.6');
      rig.station.connect({ url: central.url });
      expect(rig.parts.network.takeAddress()).to.equal(false);
      rig.station.connect({ url: `${central.url}/other` });
      await rig.until('opened ocpp1.6');
      await choose('ocpp2.0.1');
      await rig.until('opened ocpp2.0.1');
      expect([rig.parts.network.takeAddress(), rig.parts.network.takeAddress()]).to.deep.equal([true, false]);
    });

    it('refuses a version that forbids the identity; nothing changes', async () => {
      rig = new StationRig(central.url, { id: 'a:b' }, ['ocpp1.6j']);
      await rig.loaded;
      expect(() => {
        rig.station.connect({ version: ['ocpp1.6j', 'ocpp2.1'] });
      }).to.throw('version: ocpp2.1 allows no colon in an identity, as a:b has');
      expect(rig.station.status).to.deep.include({ versions: ['ocpp1.6j'], connectionState: 'disconnected' });
    });
  });
});
