/**
 * A real charging station with smart charging and block Q of 2.x on the simulated clock; sessions are its transactions.
 * Each payload is held to the official schemas.
 */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createRandom } from '../../../../src/core/random.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import { SentLimits } from '../../../../src/ocpp/charging/sent-limits.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { Payload } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { createInsistence } from '../../../../src/ocpp/station/insistence.ts';
import { createSignal } from '../../../../src/ocpp/station/stack.ts';
import { createSmartCharging } from '../../../../src/ocpp/v201/charging/smart-charging.ts';
import type {
  Action,
  AnsweredEvent,
  Calls,
  EventExtras,
  Replies,
  Requests,
  Transaction,
} from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createV2x } from '../../../../src/ocpp/v201/v2x/v2x.ts';
import { KindRig } from '../../../der/kinds/support.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { settled } from '../../v16/fakes.ts';
import { fakeVariables } from '../rig.ts';

export type SentProfile = Requests['SetChargingProfile']['chargingProfile'];
type SentSchedule = SentProfile['chargingSchedule'][number];
type SentPeriod = SentSchedule['chargingSchedulePeriod'][number];

export const startSchedule = '2026-06-21T00:00:00.000Z';

/** A schedule from midnight: 10 A, unless changed. */
export const schedule = (change: Partial<SentSchedule> = {}): SentSchedule => ({
  id: 1,
  startSchedule,
  chargingRateUnit: 'A',
  chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 }],
  ...change,
});

/** A profile that fulfils the rules: 10 A for every transaction at its EVSE. */
export function profile(
  change: Partial<Omit<SentProfile, 'chargingSchedule'>> & { readonly schedule?: Partial<SentSchedule> } = {},
): SentProfile {
  const { schedule: changed, ...rest } = change;
  return {
    id: 1,
    stackLevel: 0,
    chargingProfilePurpose: 'TxDefaultProfile',
    chargingProfileKind: 'Absolute',
    ...rest,
    chargingSchedule: [schedule(changed)],
  };
}

/** One period in W from midnight on. */
export const watts = (period: Partial<SentPeriod>): Partial<SentSchedule> => ({
  chargingRateUnit: 'W',
  chargingSchedulePeriod: [{ startPeriod: 0, ...period }],
});

export interface Updated {
  readonly evseId: number;
  readonly trigger: string;
  readonly extras: EventExtras;
}

type Answer = (payload: Payload) => Payload;

/** What the central system answers where a test says nothing. */
const plainAnswers: Readonly<Record<string, Payload>> = {
  NotifyEVChargingNeeds: { status: 'Accepted' },
  NotifyEVChargingSchedule: { status: 'Accepted' },
  PullDynamicScheduleUpdate: { status: 'Rejected' },
};

function createCalls(version: Version2) {
  const sent: { readonly action: string; readonly payload: Payload; readonly triggered: boolean }[] = [];
  const answers = new Map<string, Answer>();
  const registration = { isReady: true, boots: 1 };
  /** actions whose answers do not arrive: the line breaks */
  const lost = new Set<string>();
  const calls: Calls = {
    send: (action, payload, { triggered = false } = {}) => {
      expect(payloadChecks.check(version, action, 'request', payload), `${action} request`).to.equal(null);
      if (!registration.isReady) return Promise.resolve({ kind: 'unsent', why: 'offline' });
      sent.push({ action, payload, triggered });
      if (lost.has(action)) return Promise.resolve({ kind: 'lost' });
      const answer = answers.get(action)?.(payload) ?? plainAnswers[action] ?? {};
      return Promise.resolve({ kind: 'result', payload: answer, durationMs: 0 } as never);
    },
    stream: () => undefined,
  };
  return { sent, answers, lost, calls, registration };
}

export interface ChargingRigOptions {
  readonly version?: Version2;
  /** the central system answers the first event of each transaction at once */
  readonly autoAnswer?: boolean;
}

export function chargingRig(
  evseProfile = 'EVSE-AC-22kW-1port-EU',
  { version = 'ocpp2.1', autoAnswer = true }: ChargingRigOptions = {},
) {
  payloadChecks.prepare(version);
  const rig = new KindRig({ args: ['--evse_profile', evseProfile], evse: { startDelayMinS: 1, startDelayMaxS: 1 } });
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const releases = createInsistence(timers.later, silentLogger, 0);
  const { plant } = rig;
  const clock = remoteClocks({
    mode: 'simulated',
    wall,
    later: timers.later,
    log: silentLogger,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => plant.time.mode === 'paused',
      at: (t, act) => plant.at(t, act),
    },
  })(silentLogger);
  const device = createStationPort(rig.device, plant, 'CS');
  const variables = fakeVariables({
    version,
    nameplate: device.nameplate,
    evseIds: device.connectorIds,
    ratings: device.ratings,
    stationRating: device.stationRating,
    securityProfile: 1,
  });
  const { sent, answers, lost, calls, registration } = createCalls(version);
  const accepted = createSignal<null>(silentLogger);
  const ended = createSignal<null>(silentLogger);

  const running: Transaction[] = [];
  const updates: Updated[] = [];
  const stops: { readonly evseId: number; readonly reason: string }[] = [];
  const txStarted = createSignal<Transaction>(silentLogger);
  const txEnded = createSignal<Transaction>(silentLogger);
  const txAnswered = createSignal<AnsweredEvent>(silentLogger);
  let lastId = 0;
  const answered = (transaction: Transaction) => {
    txAnswered.emit({ ...transaction, request: {} as AnsweredEvent['request'], reply: {} });
  };
  device.onTransition((t) => {
    if (!('connector' in t) || t.sessionChange === null || t.session === null) return;
    if (t.sessionChange === 'ended') {
      const [gone] = running.splice(
        running.findIndex(({ evseId }) => evseId === t.connectorId),
        1,
      );
      if (gone) txEnded.emit(gone);
      return;
    }
    lastId += 1;
    const transaction: Transaction = {
      transactionId: `tx-${lastId}`,
      evseId: t.connectorId,
      idToken: { idToken: 'TAG', type: 'ISO14443' },
      groupIdToken: null,
      remoteStartId: null,
      reservationId: null,
      sessionId: t.session.transactionId,
      startedMs: clock.ofSim(t.at),
      meterStartWh: 0,
    };
    running.push(transaction);
    txStarted.emit(transaction);
    if (autoAnswer) answered(transaction);
  });
  const transactions = {
    running,
    at: (evseId: number) => running.find((each) => each.evseId === evseId) ?? null,
    byId: (id: string) => running.find(({ transactionId }) => transactionId === id) ?? null,
    update: (evseId: number, trigger: string, extras: EventExtras = {}) => {
      updates.push({ evseId, trigger, extras });
      return true;
    },
    stop: (evseId: number, { reason }: { readonly reason: string }) => {
      stops.push({ evseId, reason });
      device.command({ kind: 'evse.stop', connectorId: evseId });
    },
    onStarted: (listener: (transaction: Transaction) => void) => txStarted.on(listener),
    onEnded: (listener: (transaction: Transaction) => void) => txEnded.on(listener),
    onAnswered: (listener: (event: AnsweredEvent) => void) => txAnswered.on(listener),
  };

  const findings: string[] = [];
  const errors: string[] = [];
  const log = { ...silentLogger, error: (text: string) => errors.push(text) };
  const store = createMemoryStore();
  const parts = {
    device,
    clock,
    variables,
    calls,
    version,
    random: createRandom(1, 'charging'),
    log,
    store: (name: string) => store.slot(name),
    limits: new SentLimits({ device, log, releases }),
    finding: (clause: string, text: string) => findings.push(`${clause} ${text}`),
    registration: {
      get isReady() {
        return registration.isReady;
      },
      get boots() {
        return registration.boots;
      },
      onAccepted: (listener: () => void) => accepted.on(listener),
      onEnded: (listener: () => void) => ended.on(listener),
    },
  };
  const make = () => {
    const charging = createSmartCharging(parts, { transactions });
    const v2x = createV2x(
      { ...parts, registration: parts.registration as never },
      { transactions, vehicles: charging.vehicles },
    );
    return { charging, v2x };
  };
  const { charging, v2x } = make();

  /** Calls a handler; request and answer fit the schemas. What follows the answer is done, and answered. */
  async function call<Name extends Action>(action: Name, request: Requests[Name]): Promise<Replies[Name]> {
    const fits = (side: 'request' | 'reply', payload: unknown) => {
      expect(payloadChecks.check(version, action, side, payload), `${action} ${side}`).to.equal(null);
    };
    fits('request', request);
    const handler = charging.handlers[action] ?? v2x.handlers[action] ?? expect.fail(`no handler of ${action}`);
    const acts: (() => void)[] = [];
    const reply = await handler(request as never, (act) => acts.push(act));
    fits('reply', reply);
    for (const act of acts) act();
    await settled();
    return reply;
  }
  return {
    rig,
    plant,
    clock,
    wall,
    device,
    charging,
    v2x,
    make,
    variables,
    findings,
    running,
    updates,
    errors,
    stops,
    sent,
    answers,
    lost,
    call,
    answered,
    of: (action: string) => sent.filter((each) => each.action === action).map(({ payload }) => payload),
    /** Sets a profile. @returns Accepted, or the reason code */
    set: async (chargingProfile: SentProfile, evseId = 1) => {
      const { status, statusInfo } = await call('SetChargingProfile', { evseId, chargingProfile });
      return status === 'Accepted' ? status : (statusInfo?.reasonCode ?? 'no reason');
    },
    offline: () => {
      registration.isReady = false;
      ended.emit(null);
    },
    online: (booted = false) => {
      registration.isReady = true;
      if (booted) registration.boots += 1;
      accepted.emit(null);
    },
    stampIn: (seconds: number) => new Date(Math.round(clock.nowMs()) + seconds * 1000).toISOString(),
    plug: async (connectorId = 1, ev: { socPct?: number; maxChargeW?: number } = {}) => {
      rig.command({ kind: 'evse.plug', connectorId, ev: { socPct: 20, ...ev } });
      await rig.run(40);
      await settled();
      return running.find(({ evseId }) => evseId === connectorId)?.transactionId ?? '';
    },
    kw: (connectorId = 1) => Math.round(rig.connector(connectorId).powerW / 10) / 100,
  };
}
export type ChargingRig = ReturnType<typeof chargingRig>;
