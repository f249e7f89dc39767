import { expect } from 'chai';
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import type { EvseTransition } from '../../../src/contract/kinds/evse-transitions.ts';
import { SimError } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { createChargingControl } from '../../../src/ocpp/charging/control.ts';
import type { ChargingControlOptions, StoredProfile } from '../../../src/ocpp/charging/control.ts';
import type { Conditions } from '../../../src/ocpp/charging/model.ts';
import { SentLimits } from '../../../src/ocpp/charging/sent-limits.ts';
import { followWithdrawals } from '../../../src/ocpp/remote-control.ts';
import { createInsistence } from '../../../src/ocpp/station/insistence.ts';
import { createSignal } from '../../../src/ocpp/station/stack.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { noonMs } from './arbitrary.ts';
import { one, periods, profile } from './profiles.ts';
import type { Change } from './profiles.ts';

const rating = {
  connectorId: 1,
  type: 'ac',
  phases: 3,
  nominalVoltageV: 230,
  maxPowerW: 22_000,
  maxCurrentA: 32,
  bidirectional: true,
  supplyPhases: [1, 2, 3],
  attachedCable: false,
} as const;
const dayMs = 86_400_000;

/** A device that notes the limits it takes, and refuses them with `refusal`. */
function createDevice() {
  const transitions = createSignal<EvseTransition>(silentLogger);
  const taken: Record<string, unknown>[] = [];
  const state: { refusal: Error | null; listeners: number } = { refusal: null, listeners: 0 };
  return {
    taken,
    state,
    emit: (event: EvseTransition['event'], connectorId?: number) => {
      transitions.emit({ event, ...(connectorId !== undefined && { connectorId }) } as EvseTransition);
    },
    deviceIndex: 4,
    connectorIds: [1],
    ratings: [rating],
    stationRating: { ...rating, connectorId: 0 },
    command: (command: EvseCommand) => {
      if (state.refusal !== null) throw state.refusal;
      taken.push({ ...command });
    },
    onTransition: (listener: (transition: EvseTransition) => void) => {
      state.listeners += 1;
      const end = transitions.on(listener);
      return () => {
        state.listeners -= 1;
        end();
      };
    },
  };
}

/** A clock that runs its acts at their instants; it may come a little early, as a timer of the machine does. */
function createClock() {
  const state = { nowMs: noonMs };
  let planned: { readonly dueMs: number; readonly act: () => void }[] = [];
  return {
    state,
    dueAt: () => planned.map(({ dueMs }) => dueMs - noonMs),
    nowMs: () => state.nowMs,
    at: (dueMs: number, act: () => void) => {
      const entry = { dueMs, act };
      planned.push(entry);
      return () => {
        planned = planned.filter((each) => each !== entry);
      };
    },
    to: (ms: number, earlyMs = 0) => {
      const dueMs = noonMs + ms;
      for (
        let next = planned.find((each) => each.dueMs <= dueMs);
        next;
        next = planned.find((each) => each.dueMs <= dueMs)
      ) {
        const { act, dueMs: atMs } = next;
        planned = planned.filter((each) => each !== next);
        state.nowMs = atMs - earlyMs;
        act();
      }
      state.nowMs = dueMs;
    },
  };
}

function createRig(change: Partial<ChargingControlOptions> = {}) {
  const device = createDevice();
  const clock = createClock();
  const store = createMemoryStore();
  const lines: string[] = [];
  const counts = { evaluated: 0 };
  const log = {
    info: (text: string, index?: number | null) => lines.push(`info ${index ?? ''} ${text}`),
    warning: (text: string, index?: number | null) => lines.push(`warning ${index ?? ''} ${text}`),
    error: (text: string, index?: number | null) => lines.push(`error ${index ?? ''} ${text}`),
  };
  const timers = new HandTimers(new HandWall());
  const limits = new SentLimits({ device, log, releases: createInsistence(timers.later, log, device.deviceIndex) });
  const control = createChargingControl({
    device,
    clock,
    log,
    limits,
    store: store.slot('profiles'),
    precedence: 'stack_level',
    transactions: () => [],
    evaluated: () => {
      counts.evaluated += 1;
    },
    ...change,
  });
  const install = (each: Change) => {
    const made = profile(each);
    control.install({ profile: made, sent: { id: made.profileId } }, ({ profileId }) => profileId === made.profileId);
  };
  return { device, clock, timers, store, log, lines, counts, limits, control, install, taken: device.taken };
}

const limit = (connectorId: number, limitW: number | null) => ({
  kind: 'evse.profile_limit',
  connectorId,
  limitW,
  limitA: null,
  phases: null,
});
const ids = (all: readonly StoredProfile[]) => all.map((each) => each.profile.profileId);
const steps: Change = { schedule: { startMs: noonMs, periods: periods([0, 5000], [10, 4000], [20, 3000]) } };

describe('Charging control: when the device gets its limits', () => {
  it('only what changes, at the instant at which it does', () => {
    const { clock, install, taken, counts } = createRig();
    install(steps);
    expect(taken).to.deep.equal([limit(0, 5000)]);
    expect(clock.dueAt()).to.deep.equal([10_000]);
    clock.to(15_000);
    expect(taken.slice(1)).to.deep.equal([limit(0, 4000)]);
    expect(clock.dueAt()).to.deep.equal([20_000]);
    clock.to(100_000);
    expect(taken.slice(2)).to.deep.equal([limit(0, 3000)]);
    expect(clock.dueAt()).to.deep.equal([]);
    expect(counts.evaluated).to.equal(3);
  });

  it('one plan replaces the other', () => {
    const { clock, install, control } = createRig();
    install(steps);
    install({ ...steps, connectorId: 1, profileId: 2, purpose: 'external', schedule: { durationS: 5 } });
    expect(clock.dueAt()).to.deep.equal([5000]);
    control.remove(({ profileId }) => profileId === 2);
    expect(clock.dueAt()).to.deep.equal([10_000]);
    control.remove(() => true);
    expect(clock.dueAt()).to.deep.equal([]);
  });

  it('a clock that comes early is taken for on time, and one that comes late is as late as it is', () => {
    const { clock, install, taken, control } = createRig();
    install(steps);
    clock.to(10_000, 3);
    expect(taken.at(-1)).to.deep.equal(limit(0, 4000));
    clock.state.nowMs = noonMs + 25_000.4;
    expect(control.nowMs).to.equal(noonMs + 25_000);
    control.refresh();
    expect(taken.at(-1)).to.deep.equal(limit(0, 3000));
  });

  it('an instant years ahead is planned year by year', () => {
    const { clock, install } = createRig();
    install({ schedule: { startMs: noonMs + 800 * dayMs } });
    expect(clock.dueAt()).to.deep.equal([365 * dayMs]);
    clock.to(365 * dayMs);
    expect(clock.dueAt()).to.deep.equal([730 * dayMs]);
    clock.to(730 * dayMs);
    expect(clock.dueAt()).to.deep.equal([800 * dayMs]);
  });

  it('a device that restarts gets all of them again, one that has been off what has changed meanwhile', () => {
    const { clock, device, install, taken } = createRig();
    install(steps);
    device.emit('power_up');
    expect(taken).to.have.length(1);
    device.emit('restart');
    expect(taken.slice(1)).to.deep.equal([limit(0, 5000)]);
    clock.state.nowMs = noonMs + 10_000;
    device.emit('plugged', 1);
    expect(taken).to.have.length(2);
    device.emit('power_up');
    expect(taken.slice(2)).to.deep.equal([limit(0, 4000)]);
  });

  it('the end frees the device once and listens no longer', () => {
    const { clock, device, install, control, taken, counts } = createRig();
    install({ ...steps, connectorId: 1, purpose: 'external' });
    control.stop();
    expect(taken.slice(1)).to.deep.equal([limit(1, null)]);
    expect(clock.dueAt()).to.deep.equal([]);
    expect(device.state.listeners).to.equal(0);
    const { evaluated } = counts;
    control.refresh();
    control.stop();
    expect(taken).to.have.length(2);
    expect(device.state.listeners).to.equal(0);
    expect(counts.evaluated).to.equal(evaluated);
    expect(ids(control.profiles)).to.deep.equal([1]);
  });

  it('the end that the device refuses is tried each second of real time, until another limit is set', () => {
    const { clock, device, timers, install, control, limits, taken, lines } = createRig();
    install({ ...steps, connectorId: 1, purpose: 'external' });
    device.state.refusal = new SimError('MAP_LOCAL_CONTROL', 'local control');
    control.stop();
    timers.pass(5000);
    expect(lines).to.deep.equal(['warning 4 the charging limit of connector 1 stays at the device: local control']);
    device.state.refusal = null;
    timers.pass(1000);
    expect(taken.slice(1)).to.deep.equal([limit(1, null)]);
    expect([clock.dueAt(), timers.waiting]).to.deep.equal([[], 0]);

    limits.set(1, { limitW: 7000, limitA: null, numberPhases: null });
    device.state.refusal = new SimError('COMMAND_CONFLICT', 'off');
    limits.end(1);
    device.state.refusal = null;
    limits.set(1, { limitW: 6000, limitA: null, numberPhases: null });
    timers.pass(5000);
    expect(taken.slice(2)).to.deep.equal([limit(1, 7000), limit(1, 6000)]);
  });

  it('before any profile the end is no command', () => {
    const { control, taken } = createRig();
    control.refresh();
    control.stop();
    expect(taken).to.deep.equal([]);
  });

  it('what follows conditions is evaluated each second', () => {
    const conditions = new Map<number, Conditions>([
      [1, { frequencyHz: null, signal: null, socPct: 70, mayDischarge: true }],
    ]);
    const { clock, install, taken, control } = createRig({ conditions: () => conditions });
    const capped = { durationS: 2.5, limitAtSoc: { socPct: 80, limit: 3000 } };
    install({ connectorId: 1, purpose: 'external', schedule: { ...capped, startMs: noonMs } });
    expect(clock.dueAt()).to.deep.equal([1000]);
    clock.to(1000);
    expect(clock.dueAt()).to.deep.equal([2000]);
    conditions.set(1, { frequencyHz: null, signal: null, socPct: 80, mayDischarge: true });
    clock.to(2000);
    expect(taken).to.deep.equal([limit(1, 10_000), limit(1, 3000)]);
    expect(clock.dueAt()).to.deep.equal([2500]);
    expect(control.state.conditions).to.equal(conditions);
    expect(control.composite({ connectorId: 1, durationS: 0.3, unit: 'W', maxPeriods: 9 })?.periods).to.deep.equal([
      { startS: 0, limit: 10_000, numberPhases: null },
    ]);
  });

  it('a composite schedule keeps that a vehicle may not discharge, and adds what is asked', () => {
    const conditions = new Map<number, Conditions>([
      [1, { frequencyHz: 50, signal: 1, socPct: 90, mayDischarge: false }],
    ]);
    const query = { connectorId: 1, durationS: 1, unit: 'W', maxPeriods: 9 } as const;
    const { install, control } = createRig({ conditions: () => conditions });
    install({ connectorId: 1, purpose: 'external', schedule: { periods: one({ limit: 9000, setpoint: -5 }) } });
    const more = profile({ profileId: 5, schedule: { periods: one({ limit: 2000 }) } });
    expect(control.composite(query)?.periods).to.deep.equal([
      { startS: 0, limit: 9000, numberPhases: null, setpoint: 0 },
    ]);
    expect(control.composite(query, [more])?.periods[0]).to.include({ limit: 2000 });
    expect(control.composite(query)).to.include({ startMs: noonMs });
    expect(control.composite({ ...query, connectorId: 2 })).to.equal(null);
    expect(createRig().control.composite(query)?.periods).to.deep.equal([
      { startS: 0, limit: null, numberPhases: null },
    ]);
    expect(createRig().control.state).to.not.have.property('conditions');
  });

  it('profiles that do nothing are kept, and offline each ends by its own duration', () => {
    const acts = { enabled: true, sinceMs: null as number | null };
    const { clock, install, taken, control } = createRig({
      enabled: () => acts.enabled,
      offlineSinceMs: () => acts.sinceMs,
    });
    install({ maxOfflineS: 5 });
    acts.enabled = false;
    control.refresh();
    expect([taken.at(-1), ids(control.profiles)]).to.deep.equal([limit(0, null), [1]]);
    acts.enabled = true;
    acts.sinceMs = noonMs;
    control.refresh();
    expect(taken.at(-1)).to.deep.equal(limit(0, 10_000));
    clock.to(5000);
    expect(taken.at(-1)).to.deep.equal(limit(0, null));
  });
});

describe('Charging control: which profiles there are', () => {
  it('a new one replaces those that it names; a removal counts', () => {
    const { control, install, counts } = createRig();
    install({ profileId: 1 });
    install({ profileId: 2 });
    install({ profileId: 1 });
    expect(ids(control.profiles)).to.deep.equal([2, 1]);
    const { evaluated } = counts;
    expect(control.remove(() => false)).to.equal(0);
    expect(counts.evaluated).to.equal(evaluated);
    expect(control.remove(({ profileId }) => profileId === 2)).to.equal(1);
    expect(counts.evaluated).to.equal(evaluated + 1);
    expect(ids(control.profiles)).to.deep.equal([1]);
  });

  it('those of transactions are not restored, and what is restored acts', async () => {
    const { store, install } = createRig();
    for (const [profileId, purpose] of [
      [1, 'station_max'],
      [2, 'tx'],
      [3, 'tx_default'],
    ] as const)
      install({ profileId, purpose });
    const next = createRig({ store: store.slot('profiles') });
    await next.control.load();
    expect(ids(next.control.profiles)).to.deep.equal([1, 3]);
    expect(next.taken.map(({ connectorId }) => connectorId)).to.deep.equal([0, 1]);
  });

  it('a store that fails is told, and the profiles act all the same', async () => {
    const full = {
      ...createMemoryStore().slot('profiles'),
      replace: () => Promise.reject(new Error('the disk is full')),
    };
    const { install, lines, taken } = createRig({ store: full });
    install({});
    await new Promise(setImmediate);
    expect(lines).to.deep.equal(['error 4 charging profiles could not be stored: the disk is full']);
    expect(taken).to.deep.equal([limit(0, 10_000)]);
  });
});

describe('Charging control: a device that takes no commands', () => {
  for (const code of ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'] as const)
    it(`${code}: limits wait and are tried each second, and that is told once`, () => {
      const { clock, device, install, taken, lines } = createRig();
      device.state.refusal = new SimError(code, 'not now');
      install({ schedule: { startMs: noonMs, periods: periods([0, 5000], [1.5, 4000]) } });
      expect(clock.dueAt()).to.deep.equal([1000]);
      clock.to(1000);
      expect(clock.dueAt()).to.deep.equal([1500]);
      clock.to(1500);
      expect(lines).to.deep.equal(['warning 4 the charging limit of the station waits: not now']);
      device.state.refusal = null;
      clock.to(2500);
      expect(taken).to.deep.equal([limit(0, 4000)]);
      expect(lines.slice(1)).to.deep.equal(['info 4 the charging limit of the station is in force after its wait']);
      expect(clock.dueAt()).to.deep.equal([]);
    });

  it('a limit that ends before the device would take it waits no longer', () => {
    const { clock, device, install, control, taken, lines } = createRig();
    device.state.refusal = new SimError('COMMAND_CONFLICT', 'not now');
    install({ connectorId: 1, purpose: 'external' });
    control.remove(() => true);
    expect([taken, clock.dueAt()]).to.deep.equal([[], []]);
    expect(lines.at(-1)).to.equal('info 4 the charging limit of connector 1 is in force after its wait');
  });

  it('any other refusal is an error that is not tried again', () => {
    for (const refusal of [new SimError('INTERNAL', 'broken'), new Error('broken')]) {
      const { clock, device, install, control, taken, lines } = createRig();
      device.state.refusal = refusal;
      install({ connectorId: 1, purpose: 'external' });
      control.refresh();
      expect(clock.dueAt()).to.deep.equal([]);
      expect(lines).to.deep.equal(['error 4 the charging limit of connector 1 failed: broken']);
      device.state.refusal = null;
      control.refresh();
      expect(taken).to.deep.equal([]);
    }
  });
});

describe('Charging control: limits as the device takes them', () => {
  const sentFor = (wanted: Parameters<SentLimits['set']>[1]) => {
    const { device, limits: sent } = createRig();
    sent.set(1, wanted);
    expect(sent.waiting).to.equal(false);
    return device.taken[0];
  };
  const open = { limitW: null, limitA: null, numberPhases: null };

  it('are bounded, and none is no command', () => {
    expect(sentFor(open)).to.equal(undefined);
    expect(sentFor({ limitW: 2e9, limitA: 3e9, numberPhases: 3 })).to.deep.include({
      limitW: 1e9,
      limitA: 1e9,
      phases: 3,
    });
    expect(sentFor({ ...open, limitA: 0 })).to.deep.equal({ ...limit(1, null), limitA: 0 });
    expect(sentFor({ ...open, limitW: 5 })).to.deep.equal(limit(1, 5));
  });

  it('set-points keep their sign, and discharge limits are magnitudes', () => {
    expect(sentFor({ ...open, setpointW: -5, dischargeLimitW: -7 })).to.deep.equal({
      ...limit(1, null),
      setpointW: -5,
      dischargeLimitW: 7,
    });
    expect(sentFor({ ...open, setpointA: 5, dischargeLimitA: -7 })).to.deep.equal({
      ...limit(1, null),
      setpointA: 5,
      dischargeLimitA: 7,
    });
    const large = { setpointW: 2e9, setpointA: -2e9, dischargeLimitW: -2e9, dischargeLimitA: -3e9 };
    expect(sentFor({ ...open, ...large })).to.deep.include({
      setpointW: 1e9,
      setpointA: -1e9,
      dischargeLimitW: 1e9,
      dischargeLimitA: 1e9,
    });
    expect(sentFor({ ...open, setpointW: null, setpointA: null, limitW: 1 })).to.deep.equal(limit(1, 1));
  });

  it('an equal limit is sent once, until it is forgotten', () => {
    const { limits: sent, taken } = createRig();
    const some = { ...open, limitW: 5 };
    sent.set(1, some);
    sent.set(1, { ...some });
    sent.set(2, some);
    expect(taken.map(({ connectorId }) => connectorId)).to.deep.equal([1, 2]);
    sent.forget();
    sent.set(1, open);
    sent.set(2, some);
    expect(taken.slice(2)).to.deep.equal([limit(2, 5)]);
  });
});

describe('Charging profiles of authorisations that are taken back', () => {
  it('those of the connector go, and all with a restart', () => {
    const device = { ...createDevice(), connectorIds: [1, 2] };
    const gone: number[] = [];
    const end = followWithdrawals(device, (connectorId) => gone.push(connectorId));
    device.emit('plugged', 2);
    expect(gone).to.deep.equal([]);
    device.emit('withdraw', 2);
    expect(gone).to.deep.equal([2]);
    device.emit('restart');
    expect(gone).to.deep.equal([2, 1, 2]);
    end();
    device.emit('restart');
    expect(gone).to.have.length(3);
  });
});
