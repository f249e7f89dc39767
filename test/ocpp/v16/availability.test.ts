import { expect } from 'chai';
import { evseConnectorStates } from '../../../src/contract/kinds/evse.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { CallOutcome } from '../../../src/ocpp/rpc/model.ts';
import type { Requests } from '../../../src/ocpp/v16/messages.ts';
import type { RegistrationPart } from '../../../src/ocpp/provisioning/registration.ts';
import { bootTable16, createCalls } from '../../../src/ocpp/provisioning/registration.ts';
import { callsOf } from '../../../src/ocpp/v16/provisioning.ts';
import { allowedMoves, createStatusReports, intermediate, statusWords } from '../../../src/ocpp/v16/availability.ts';
import type { ConnectorStatus } from '../../../src/ocpp/v16/availability.ts';
import { rig, settled } from './fakes.ts';

type Sent = Requests['StatusNotification'];

function station({ inoperative = false } = {}) {
  const parts = rig();
  const accepting: (() => void)[] = [];
  const availability = { stationInoperative: inoperative };
  const registration = {
    boots: 0,
    isReady: false,
    status: 'none',
    onAccepted: (listener: () => void) => {
      accepting.push(listener);
      return () => undefined;
    },
  };
  const calls = callsOf(createCalls(parts.line, bootTable16, () => (registration.isReady ? 'accepted' : 'none')));
  const status = createStatusReports({
    device: parts.device.port,
    clock: parts.clock,
    keys: parts.keys,
    calls,
    registration: registration as unknown as RegistrationPart,
    availability,
  });
  let read = 0;
  const accept = async (booted: boolean): Promise<void> => {
    registration.isReady = true;
    parts.line.open = true;
    if (booted) registration.boots += 1;
    for (const listener of accepting) listener();
    await settled();
  };
  return {
    ...parts,
    status,
    availability,
    accept,
    drop: () => {
      registration.isReady = false;
      parts.line.open = false;
    },
    /** reported since the last call */
    news: () => {
      const all = parts.line.of('StatusNotification') as unknown as readonly Sent[];
      const fresh = all.slice(read);
      read = all.length;
      return fresh;
    },
    words: (sent: readonly Sent[]) => sent.map(({ connectorId, status: word }) => `${connectorId} ${word}`),
  };
}

const all = Object.values(statusWords);

describe('OCPP 1.6 connector states (4.9)', () => {
  // the table of the standard: row = from, in the order Available ... Faulted
  const rows: Readonly<Record<ConnectorStatus, string>> = {
    Available: '- 2 3 4 5 - 7 8 9',
    Preparing: '1 - 3 4 5 6 - - 9',
    Charging: '1 - - 4 5 6 - 8 9',
    SuspendedEV: '1 - 3 - 5 6 - 8 9',
    SuspendedEVSE: '1 - 3 4 - 6 - 8 9',
    Finishing: '1 2 - - - - - 8 9',
    Reserved: '1 2 - - - - - 8 9',
    Unavailable: '1 2 3 4 5 - - - 9',
    Faulted: '1 2 3 4 5 6 7 8 -',
  };
  it('A2 to I8: the moves of the table and no others', () => {
    const order = all;
    for (const from of order) {
      const moves = rows[from].split(' ').flatMap((cell, i) => (cell === '-' ? [] : [order[i]]));
      expect(allowedMoves[from], from).to.deep.equal(moves);
    }
  });

  it('every move of the device is reported by one or two moves of the table', () => {
    for (const from of all)
      for (const to of all) {
        if (from === to) continue;
        const via = intermediate(from, to);
        const path = via === null ? [from, to] : [from, via, to];
        for (let i = 1; i < path.length; i++)
          expect(allowedMoves[path[i - 1] ?? from], path.join(' ')).to.include(path[i]);
      }
  });

  it('has a word for each state of the device', () => {
    expect(Object.keys(statusWords)).to.deep.equal([...evseConnectorStates]);
  });
});

describe('OCPP 1.6 StatusNotification (4.9)', () => {
  it('after a boot: the station and each connector, with time stamps; nothing before', async () => {
    const s = station();
    s.device.status(1, 'preparing');
    expect(s.news()).to.deep.equal([]);
    await s.accept(true);
    const sent = s.news();
    expect(s.words(sent)).to.deep.equal(['0 Available', '1 Preparing', '2 Available']);
    expect(sent[0]).to.deep.equal({
      connectorId: 0,
      status: 'Available',
      errorCode: 'NoError',
      timestamp: '2026-06-21T08:00:00.000Z',
    });
  });

  it('reports a transition with its own instant, and nothing that changes no state', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.wall.advance(5_000);
    s.device.now = simTimeFromMs(Date.UTC(2026, 5, 21, 8, 0, 5));
    s.device.tell({ event: 'lock', connectorId: 1 });
    expect(s.news()).to.deep.equal([]);
    // the transition was three seconds before the present instant
    const now = s.device.now;
    s.device.status(1, 'preparing');
    s.device.tell({ event: 'limit', connectorId: 1, at: now });
    const [sent] = s.news();
    expect([sent?.status, sent?.timestamp]).to.deep.equal(['Preparing', '2026-06-21T08:00:05.000Z']);
    expect(s.news()).to.deep.equal([]);
  });

  const moves: readonly (readonly [from: 'preparing' | 'charging' | 'finishing' | 'unavailable', string, string[]])[] =
    [
      ['preparing', 'unavailable', ['1 Available', '1 Unavailable']],
      ['preparing', 'reserved', ['1 Available', '1 Reserved']],
      ['charging', 'preparing', ['1 Available', '1 Preparing']],
      ['charging', 'suspended_evse', ['1 SuspendedEVSE']],
      ['finishing', 'charging', ['1 Available', '1 Charging']],
      ['unavailable', 'finishing', ['1 Preparing', '1 Finishing']],
      ['finishing', 'preparing', ['1 Preparing']],
    ];
  for (const [from, to, words] of moves)
    it(`4.9: ${from} to ${to} is reported as ${words.join(', ')}`, async () => {
      const s = station();
      s.device.status(1, from);
      await s.accept(true);
      s.news();
      s.device.status(1, to as 'charging');
      expect(s.words(s.news())).to.deep.equal(words);
    });

  it('4.9: error code, info and vendor error code of a fault, cut to their lengths; back without them', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.device.change(1, {
      status: 'faulted',
      errorCode: 'GroundFailure',
      errorInfo: 'x'.repeat(60),
      vendorErrorCode: 'E7',
    });
    expect(s.news()).to.deep.equal([
      {
        connectorId: 1,
        status: 'Faulted',
        errorCode: 'GroundFailure',
        info: 'x'.repeat(50),
        vendorErrorCode: 'E7',
        timestamp: '2026-06-21T08:00:00.000Z',
      },
    ]);
    s.device.change(1, { status: 'faulted', errorCode: 'OverVoltage', errorInfo: null, vendorErrorCode: null });
    expect(s.news().map(({ errorCode }) => errorCode)).to.deep.equal(['OverVoltage']);
    s.device.change(1, { status: 'available', errorCode: 'NoError' });
    expect(s.words(s.news())).to.deep.equal(['1 Available']);
  });

  it('4.9: connector 0 is Faulted where no connector works, and reports a grid outside of its limits', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.device.change(1, { status: 'faulted', errorCode: 'GroundFailure' });
    expect(s.words(s.news())).to.deep.equal(['1 Faulted']);
    s.device.change(2, { status: 'faulted', errorCode: 'HighTemperature' });
    expect(s.words(s.news())).to.deep.equal(['0 Faulted', '2 Faulted']);
    s.device.change(2, { status: 'available', errorCode: 'NoError' });
    expect(s.words(s.news())).to.deep.equal(['0 Available', '2 Available']);
    s.device.externalLimit = { limitW: 0, decidedBy: 'cessation', writer: null };
    s.device.tell({ event: 'external_limit', connectorId: 0 });
    expect(s.news().map(({ connectorId, status, errorCode }) => [connectorId, status, errorCode])).to.deep.equal([
      [0, 'Available', 'OtherError'],
    ]);
  });

  it('9.1 MinimumStatusDuration: a state that does not last is not reported', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.keys.set('MinimumStatusDuration', '10');
    s.device.status(1, 'preparing');
    await s.pass(5);
    s.device.status(1, 'available');
    await s.pass(20);
    expect(s.news()).to.deep.equal([]);
    s.device.status(1, 'preparing');
    await s.pass(9);
    s.device.status(1, 'charging');
    await s.pass(9);
    expect(s.news()).to.deep.equal([]);
    await s.pass(1.1);
    expect(s.words(s.news())).to.deep.equal(['1 Charging']);
  });

  it('after a reconnect only what has changed meanwhile, the newest per connector', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.drop();
    s.device.status(1, 'preparing');
    s.device.status(1, 'charging');
    s.device.status(2, 'preparing');
    s.device.status(2, 'available');
    await s.accept(false);
    expect(s.words(s.news())).to.deep.equal(['1 Charging']);
    await s.accept(false);
    expect(s.news()).to.deep.equal([]);
    await s.accept(true);
    expect(s.words(s.news())).to.deep.equal(['0 Available', '1 Charging', '2 Available']);
  });

  it('sends again after the reconnect what was lost on the way', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.line.answers.set('StatusNotification', (): CallOutcome => ({ kind: 'lost' }));
    s.device.status(1, 'preparing');
    await settled();
    s.news();
    s.drop();
    s.line.answers.clear();
    await s.accept(false);
    expect(s.words(s.news())).to.deep.equal(['1 Preparing']);
  });

  it('goes on after a message that was not answered: the next change is reported, and the reconnect repeats the last', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.line.answers.set('StatusNotification', (): CallOutcome => ({ kind: 'timeout' }));
    s.device.status(1, 'preparing');
    await settled();
    s.device.status(1, 'charging');
    await settled();
    expect(s.words(s.news())).to.deep.equal(['1 Preparing', '1 Charging']);
    s.line.answers.clear();
    s.drop();
    await s.accept(false);
    expect(s.words(s.news())).to.deep.equal(['1 Charging']);
    await s.accept(false);
    expect(s.news()).to.deep.equal([]);
  });

  it('tells instants before the registration on the clock that it has set', async () => {
    const s = station();
    s.device.status(1, 'preparing');
    const dayMs = 86_400_000;
    s.clock.sync(s.clock.nowMs() + dayMs, s.wall.monotonicMs());
    await s.accept(true);
    for (const { timestamp } of s.news()) expect(Date.parse(timestamp ?? '')).to.be.closeTo(s.clock.nowMs(), 1000);
  });

  it('reads every connector anew after a reset of the device', async () => {
    const s = station();
    s.device.status(1, 'charging');
    await s.accept(true);
    s.news();
    s.device.change(1, { status: 'available' }, 'lock');
    s.device.tell({ event: 'restart', connectorId: 0 });
    expect(s.words(s.news())).to.deep.equal(['1 Available']);
  });

  it('announce: one or all, though nothing has changed; an unknown connector has none', async () => {
    const s = station();
    await s.accept(true);
    s.news();
    s.status.announce(2);
    s.status.announce();
    s.status.announce(9);
    expect(s.words(s.news())).to.deep.equal(['2 Available', '0 Available', '1 Available', '2 Available']);
    s.status.stop();
    s.device.status(1, 'charging');
    expect(s.news()).to.deep.equal([]);
  });
});
