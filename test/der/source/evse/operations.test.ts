import { expect } from 'chai';
import { evsePhases } from '../../../../src/contract/kinds/evse.ts';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import type { EvsePhase } from '../../../../src/contract/kinds/evse.ts';
import type { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';
import { codeOf } from '../../../support/map.ts';
import { at, input, plug, run, station, step, v2g } from './rig.ts';

const manual = { auto_authorize: false };

/** Commands that lead into every phase at connector 1, with a vehicle of 50 % and a bidirectional DC connector. */
const waysInto: Record<EvsePhase, (source: EvseSource) => void> = {
  free: () => undefined,
  authorised: (source) => source.command({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG' }),
  connected: (source) => plug(source),
  starting: (source) => {
    plug(source);
    source.command({ kind: 'evse.start', connectorId: 1, idToken: 'TAG' });
  },
  energised: (source) => {
    waysInto.starting(source);
    run(source, 10);
  },
  suspended_ev: (source) => {
    waysInto.energised(source);
    source.command({ kind: 'evse.suspend', connectorId: 1, by: 'ev' });
  },
  suspended_evse: (source) => {
    waysInto.energised(source);
    source.command({ kind: 'evse.suspend', connectorId: 1, by: 'evse' });
  },
  suspended_both: (source) => {
    waysInto.suspended_ev(source);
    source.command({ kind: 'evse.suspend', connectorId: 1, by: 'evse' });
  },
  detached: (source) => {
    source.command({ kind: 'evse.behaviour', endOnEvDisconnect: false });
    waysInto.energised(source);
    source.command({ kind: 'evse.unplug', connectorId: 1 });
  },
  resuming: (source) => {
    waysInto.detached(source);
    source.command({ kind: 'evse.plug', connectorId: 1 });
    source.command({ kind: 'evse.behaviour', endOnEvDisconnect: true });
  },
  finishing: (source) => {
    waysInto.energised(source);
    source.command({ kind: 'evse.stop', connectorId: 1 });
  },
};

function inPhase(phase: EvsePhase): EvseSource {
  const source = station({ ...v2g, ...manual }, 50_000);
  waysInto[phase](source);
  return source;
}

const all = evsePhases;
const flowing: readonly EvsePhase[] = ['energised', 'suspended_ev', 'suspended_evse', 'suspended_both'];
const charged: readonly EvsePhase[] = ['starting', 'resuming', ...flowing];
const running: readonly EvsePhase[] = ['detached', ...charged];
const plugged: readonly EvsePhase[] = ['connected', 'finishing', ...charged];
const on = { connectorId: 1 } as const;

/** The phases in which each operation is legal, and the phase after it (null: the same). */
const legal: readonly [EvseCommand, readonly EvsePhase[], EvsePhase | null][] = [
  [{ kind: 'evse.plug', ...on }, ['free', 'authorised', 'detached'], null],
  [{ kind: 'evse.unplug', ...on }, plugged, 'free'],
  [{ kind: 'evse.authorize', ...on, idToken: 'TAG' }, ['free', 'connected', 'finishing'], null],
  [{ kind: 'evse.start', ...on, idToken: 'TAG' }, ['connected', 'finishing'], 'starting'],
  [{ kind: 'evse.start', ...on, authorize: false }, ['connected', 'finishing'], 'starting'],
  [{ kind: 'evse.stop', ...on }, ['authorised', ...running], null],
  [{ kind: 'evse.suspend', ...on, by: 'ev' }, ['energised', 'suspended_evse'], null],
  [{ kind: 'evse.suspend', ...on, by: 'evse' }, ['energised', 'suspended_ev'], null],
  [{ kind: 'evse.resume', ...on, by: 'ev' }, ['suspended_ev', 'suspended_both'], null],
  [{ kind: 'evse.resume', ...on, by: 'evse' }, ['suspended_evse', 'suspended_both'], null],
  [{ kind: 'evse.limit', ...on, powerW: 5000 }, all, null],
  [{ kind: 'evse.profile_limit', ...on, limitW: 5000, limitA: 10 }, all, null],
  [{ kind: 'evse.discharge', ...on, powerW: 5000 }, running, null],
  [{ kind: 'evse.energy_limit', ...on, energyWh: 1000 }, running, null],
  [{ kind: 'evse.availability', ...on, operative: false }, all, null],
  [{ kind: 'evse.fault', ...on, errorCode: 'GroundFailure' }, all, null],
  [{ kind: 'evse.clear_fault', ...on }, [], null],
  [{ kind: 'evse.ev', ...on, ev: { targetSocPct: 90 } }, plugged, null],
  [{ kind: 'evse.meter', ...on, energyWh: 1234 }, all, null],
  [{ kind: 'evse.lock', ...on }, ['connected', 'finishing'], null],
  [{ kind: 'evse.unlock', ...on }, running, 'finishing'],
  [
    { kind: 'evse.reserve', ...on, reservation: { reservationId: 1, idToken: 'TAG', expiresInS: null } },
    ['free'],
    null,
  ],
  [{ kind: 'evse.reserve', ...on, reservation: null }, [], null],
];

describe('EVSE: operations', () => {
  it('under a central authority from the start, a vehicle that is there waits for its decision', () => {
    const block = { vehicles: [{ connector: 1, plugged_at_start: true }] };
    expect(at(station(block)).phase).to.equal('starting');
    const source = station(block, 22_000, 1, true);
    run(source, 30);
    expect(at(source).phase).to.equal('connected');
    expect([at(source).session, source.detail().authority]).to.deep.equal([null, 'central']);
  });

  for (const phase of evsePhases) {
    it(`in phase ${phase}`, () => {
      for (const [command, phases, next] of legal) {
        const source = inPhase(phase);
        expect(at(source).phase, command.kind).to.equal(phase);
        const before = JSON.stringify(source.detail());
        const code = codeOf(() => source.command(command));
        expect(code, `${JSON.stringify(command)} in ${phase}`).to.equal(
          phases.includes(phase) ? null : 'COMMAND_CONFLICT',
        );
        if (code !== null) expect(JSON.stringify(source.detail())).to.equal(before);
        else if (next !== null) expect(at(source).phase).to.equal(phase === 'detached' ? 'free' : next);
      }
    });
  }

  it('refuses invalid values and changes nothing', () => {
    const bad: EvseCommand[] = [
      { kind: 'evse.limit', ...on, powerW: -1 },
      { kind: 'evse.limit', ...on, powerW: NaN },
      { kind: 'evse.discharge', ...on, powerW: Infinity },
      { kind: 'evse.energy_limit', ...on, energyWh: -1 },
      { kind: 'evse.profile_limit', ...on, limitW: null, limitA: -6 },
      { kind: 'evse.fault', ...on, errorCode: 'NoError' },
      { kind: 'evse.meter', ...on, energyWh: -1 },
      { kind: 'evse.authorize', ...on, idToken: '' },
      { kind: 'evse.stop', ...on, reason: '' },
      { kind: 'evse.ev', ...on, ev: { socPct: 101 } },
      { kind: 'evse.ev', ...on, ev: { batteryCapacityWh: 0 } },
      { kind: 'evse.ev', ...on, ev: { socPct: NaN } },
      { kind: 'evse.ev', ...on, ev: { chargingCurve: [{ socPct: 0, fraction: 1 }] } },
      {
        kind: 'evse.ev',
        ...on,
        ev: {
          chargingCurve: [
            { socPct: 50, fraction: 0 },
            { socPct: 60, fraction: 1 },
          ],
        },
      },
      { kind: 'evse.plug', ...on, evSide: false, evseSide: false },
      { kind: 'evse.reserve', ...on, reservation: { reservationId: 0.5, idToken: 'TAG', expiresInS: null } },
      { kind: 'evse.reserve', ...on, reservation: { reservationId: 1, idToken: 'TAG', expiresInS: 0 } },
    ];
    const source = inPhase('energised');
    const before = JSON.stringify(source.detail());
    for (const command of bad)
      expect(
        codeOf(() => source.command(command)),
        JSON.stringify(command),
      ).to.equal('COMMAND_BAD_VALUE');
    expect(JSON.stringify(source.detail())).to.equal(before);
    expect(codeOf(() => source.command({ kind: 'evse.unplug', connectorId: 2 }))).to.equal('UNKNOWN_RESOURCE');
    expect(codeOf(() => source.command({ kind: 'evse.limit', connectorId: 0, powerW: 1 }))).to.equal(
      'UNKNOWN_RESOURCE',
    );
    expect(codeOf(() => source.curve())).to.equal('COMMAND_NOT_APPLICABLE');
  });

  it('discharge needs a bidirectional connector; start needs a token unless the station authorises by itself', () => {
    const source = station();
    plug(source);
    expect(codeOf(() => source.command({ kind: 'evse.discharge', ...on, powerW: 1000 }))).to.equal('COMMAND_CONFLICT');
    expect(codeOf(() => inPhase('connected').command({ kind: 'evse.start', ...on }))).to.equal('COMMAND_BAD_VALUE');
  });

  it('a cable has two ends', () => {
    const source = station();
    source.command({ kind: 'evse.plug', ...on, evSide: false });
    expect(at(source)).to.deep.include({ status: 'preparing', phase: 'free', ev: null });
    expect(at(source).cable).to.deep.equal({ evPlugged: false, evsePlugged: true, locked: false });
    source.command({
      kind: 'evse.plug',
      ...on,
      evseSide: false,
      ev: { id: 'CAR', socPct: 12, phases: 1, maxChargeW: 3700 },
    });
    expect(at(source)).to.deep.include({ phase: 'starting', occupancy: 'occupied' });
    expect(at(source).cable).to.deep.equal({ evPlugged: true, evsePlugged: true, locked: true });
    run(source, 20);
    expect(at(source).powerW).to.equal(3700);
    expect(at(source).ev).to.deep.include({ id: 'CAR', phases: 1, maxChargeW: 3700 });
    source.command({ kind: 'evse.unplug', ...on });
    expect(at(source)).to.deep.include({ status: 'available', ev: null, session: null, powerW: 0 });
  });

  it('a locked cable stays in', () => {
    const source = inPhase('connected');
    source.command({ kind: 'evse.lock', ...on });
    expect(codeOf(() => source.command({ kind: 'evse.unplug', ...on }))).to.equal('COMMAND_CONFLICT');
    source.command({ kind: 'evse.unlock', ...on });
    source.command({ kind: 'evse.unplug', ...on });
    expect(at(source).status).to.equal('available');
  });

  it('a fault suspends the session and keeps it', () => {
    const source = inPhase('energised');
    source.command({ kind: 'evse.fault', ...on, errorCode: 'HighTemperature', info: 'hot', vendorErrorCode: 'X1' });
    step(source, 1);
    expect([...source.conditions]).to.deep.equal(['connector_fault']);
    expect(at(source)).to.deep.include({
      status: 'faulted',
      phase: 'energised',
      powerW: 0,
      errorCode: 'HighTemperature',
      errorInfo: 'hot',
      vendorErrorCode: 'X1',
      contactorClosed: false,
    });
    source.clearFaults();
    expect(source.conditions.size).to.equal(0);
    run(source, 20);
    expect(at(source)).to.deep.include({ status: 'charging', errorCode: 'NoError' });
    expect(at(source).powerW).to.be.above(10_000);
  });

  it('a connector goes out of operation after its session', () => {
    const source = inPhase('energised');
    source.command({ kind: 'evse.availability', ...on, operative: false });
    expect(at(source).status).to.equal('charging');
    source.command({ kind: 'evse.stop', ...on });
    expect(at(source).status).to.equal('unavailable');
    expect(codeOf(() => source.command({ kind: 'evse.authorize', ...on, idToken: 'TAG' }))).to.equal(
      'COMMAND_CONFLICT',
    );
    source.command({ kind: 'evse.availability', ...on, operative: true });
    expect(at(source).status).to.equal('finishing');
  });

  it('a reservation waits for its token and its end', () => {
    const source = station(manual);
    const reservation = { reservationId: 5, idToken: 'MINE', expiresInS: 100 };
    source.command({ kind: 'evse.reserve', ...on, reservation });
    expect(at(source)).to.deep.include({ status: 'reserved', occupancy: 'reserved' });
    expect(at(source).reservation).to.deep.equal({ reservationId: 5, idToken: 'MINE', expiresAtS: 100 });
    expect(codeOf(() => source.command({ kind: 'evse.authorize', ...on, idToken: 'YOURS' }))).to.equal(
      'COMMAND_CONFLICT',
    );
    run(source, 99, 10);
    expect(at(source).status).to.equal('reserved');
    run(source, 1, 10);
    expect(at(source)).to.deep.include({ status: 'available', reservation: null });
    source.command({ kind: 'evse.reserve', ...on, reservation });
    plug(source);
    source.command({ kind: 'evse.authorize', ...on, idToken: 'MINE' });
    expect(at(source)).to.deep.include({ phase: 'starting', reservation: null });
  });

  it('an authorisation without a vehicle ends after a minute', () => {
    const source = inPhase('authorised');
    expect(at(source)).to.deep.include({ status: 'preparing', occupancy: 'available' });
    run(source, 59, 10);
    expect(at(source).phase).to.equal('authorised');
    run(source, 1, 10);
    expect(at(source).phase).to.equal('free');
  });

  it('reports every transition at its instant', () => {
    const source = station();
    const seen: string[] = [];
    const end = source.onTransition((transition) => {
      if (!('status' in transition)) return;
      const { atS, fromStatus, status, transactionId } = transition;
      seen.push(`${atS} ${fromStatus}>${status} ${transactionId ?? '-'}`);
    });
    plug(source);
    run(source, 12.5, 10);
    source.command({ kind: 'evse.limit', ...on, powerW: 0 });
    run(source, 7.5, 10);
    source.command({ kind: 'evse.unplug', ...on });
    expect(seen).to.deep.equal([
      '0 available>preparing -',
      '0 preparing>preparing -',
      '0 preparing>preparing 1',
      '5 preparing>charging 1',
      '20 charging>suspended_evse 1',
      '20 suspended_evse>available 1',
    ]);
    end();
    plug(source);
    expect(seen.length).to.equal(6);
  });

  it('keeps sessions, newest first, 200 of them', () => {
    const source = inPhase('energised');
    run(source, 3600);
    source.command({ kind: 'evse.stop', ...on, reason: 'Remote', idToken: 'TAG' });
    const [session] = source.sessions();
    expect(session).to.deep.include({
      transactionId: '1',
      connectorId: 1,
      state: 'ended',
      idToken: 'TAG',
      startedAtS: 0,
      endedAtS: 3610,
      meterStartWh: 0,
      stopReason: 'Remote',
    });
    expect(session!.energyWh).to.be.closeTo(at(source).energyWh, 1e-9);
    expect(session!.energyWh).to.be.above(20_000);
    for (let i = 0; i < 250; i++) {
      source.command({ kind: 'evse.start', ...on, idToken: 'TAG', remoteStartId: i });
      source.command({ kind: 'evse.stop', ...on });
    }
    expect(source.sessions().length).to.equal(200);
    expect(source.sessions()[0]).to.deep.include({ transactionId: '251', remoteStartId: 249, stopReason: 'Local' });
  });

  it('a restart brings back the start values', () => {
    const source = station({ vehicles: [{ connector: 1, soc_pct: 44 }] });
    const first = JSON.stringify({ ...source.detail(), connectors: [at(source).ev, at(source).energyWh] });
    source.settle(input);
    run(source, 600);
    source.command({ kind: 'evse.limit', ...on, powerW: 5000 });
    source.restart();
    expect(JSON.stringify({ ...source.detail(), connectors: [at(source).ev, at(source).energyWh] })).to.equal(first);
    expect(at(source)).to.deep.include({ localLimitW: null, phase: 'starting' });
  });

  it('a restart does not use an id of a transaction again', () => {
    const source = station({ vehicles: [{ connector: 1, soc_pct: 44 }] });
    const ids = () => source.sessions().map(({ transactionId }) => transactionId);
    expect(ids()).to.deep.equal(['1']);
    source.restart();
    expect(ids()).to.deep.equal(['2']);
    source.restart();
    expect(ids()).to.deep.equal(['3']);
  });
});
