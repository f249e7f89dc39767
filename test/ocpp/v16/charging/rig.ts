/** A real charging station with the smart charging of 1.6 on the simulated clock; sessions are its transactions. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import { SentLimits } from '../../../../src/ocpp/charging/sent-limits.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import { createSmartCharging } from '../../../../src/ocpp/v16/charging.ts';
import type { Replies, Requests, Transaction } from '../../../../src/ocpp/v16/parts.ts';
import { createInsistence } from '../../../../src/ocpp/station/insistence.ts';
import { createSignal } from '../../../../src/ocpp/station/stack.ts';
import { KindRig } from '../../../der/kinds/support.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';

export type SentProfile = Requests['SetChargingProfile']['csChargingProfiles'];
type Charging = 'SetChargingProfile' | 'ClearChargingProfile' | 'GetCompositeSchedule';

/** A profile that fulfils the rules: 10 A for everything at connector 1. */
export function profile(
  change: Partial<Omit<SentProfile, 'chargingSchedule'>> & {
    readonly chargingSchedule?: Partial<SentProfile['chargingSchedule']>;
  } = {},
): SentProfile {
  const { chargingSchedule, ...rest } = change;
  return {
    chargingProfileId: 1,
    stackLevel: 0,
    chargingProfilePurpose: 'TxDefaultProfile',
    chargingProfileKind: 'Absolute',
    ...rest,
    chargingSchedule: {
      chargingRateUnit: 'A',
      chargingSchedulePeriod: [{ startPeriod: 0, limit: 10 }],
      ...chargingSchedule,
    },
  };
}

/** Periods from pairs of start and limit. */
export const periods = (...rows: readonly (readonly [number, number])[]) => ({
  chargingSchedulePeriod: rows.map(([startPeriod, limit]) => ({ startPeriod, limit })),
});

export function chargingRig(evseProfile = 'EVSE-AC-22kW-1port-EU', keyChanges: Readonly<Record<string, string>> = {}) {
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
  const port = createStationPort(rig.device, plant, 'CP');
  const commands: { readonly connectorId: number; readonly atS: number }[] = [];
  const startSim = plant.time.sim;
  const device = {
    ...port,
    get detail() {
      return port.detail;
    },
    get now() {
      return port.now;
    },
    get dark() {
      return port.dark;
    },
    command: (command: Parameters<typeof port.command>[0]) => {
      port.command(command);
      if (command.kind === 'evse.profile_limit')
        commands.push({ connectorId: command.connectorId, atS: (plant.time.sim - startSim) / 1e6 });
    },
  };

  const running: Transaction[] = [];
  const [started, identified, ended] = [1, 2, 3].map(() => createSignal<Transaction>(silentLogger)) as [
    Started,
    Started,
    Started,
  ];
  let lastId = 40;
  port.onTransition((t) => {
    if (!('connector' in t) || t.sessionChange === null || t.session === null) return;
    const at = running.findIndex(({ connectorId }) => connectorId === t.connectorId);
    if (t.sessionChange === 'ended') {
      const [gone] = running.splice(at, 1);
      if (gone) ended.emit(gone);
      return;
    }
    lastId += 1;
    const transaction = {
      key: `t${lastId}`,
      transactionId: lastId,
      connectorId: t.connectorId,
      idTag: 'TAG',
      parentIdTag: null,
      sessionId: t.session.transactionId,
      startedMs: clock.ofSim(t.at),
      meterStartWh: 0,
    };
    running.push(transaction);
    started.emit(transaction);
  });

  const keys: Readonly<Record<string, string>> = {
    ChargeProfileMaxStackLevel: '99',
    ChargingScheduleAllowedChargingRateUnit: 'Current,Power',
    ChargingScheduleMaxPeriods: '100',
    MaxChargingProfilesInstalled: '5',
    ...keyChanges,
  };
  const text = (key: string) => keys[key] ?? expect.fail(`no key ${key}`);
  const findings: string[] = [];
  const store = createMemoryStore();
  const accepted = createSignal<null>(silentLogger);
  const make = () =>
    createSmartCharging(
      {
        device,
        clock,
        keys: {
          text,
          boolean: (key) => text(key) === 'true',
          integer: (key) => Number(text(key)),
          list: (key) => text(key).split(','),
          set: () => undefined,
          onChange: () => () => undefined,
        },
        store: (name) => store.slot(name),
        log: silentLogger,
        limits: new SentLimits({ device, log: silentLogger, releases }),
        finding: (clause, what) => findings.push(`${clause} ${what}`),
        registration: { onAccepted: (listener) => accepted.on(listener) },
      },
      {
        transactions: {
          running,
          at: (connectorId) => running.find((each) => each.connectorId === connectorId) ?? null,
          onStarted: (listener) =>
            started.on((transaction) => {
              listener(transaction, null);
            }),
          onIdentified: (listener) => identified.on(listener),
          onEnded: (listener) => ended.on(listener),
        },
      },
    );
  const charging = make();

  /** Calls a handler; request and answer fit the schemas of 1.6. */
  async function call<Name extends Charging>(action: Name, request: Requests[Name]): Promise<Replies[Name]> {
    const fits = (side: 'request' | 'reply', payload: unknown) => {
      expect(payloadChecks.check('ocpp1.6', action, side, payload), `${action} ${side}`).to.equal(null);
    };
    fits('request', request);
    const handler = charging.handlers[action] ?? expect.fail(`no handler of ${action}`);
    const reply = await handler(request, (act) => {
      act();
    });
    fits('reply', reply);
    return reply;
  }
  const set = async (sent: SentProfile, connectorId = 1) =>
    (await call('SetChargingProfile', { connectorId, csChargingProfiles: sent })).status;
  return {
    rig,
    plant,
    clock,
    wall,
    port,
    charging,
    /** a process that starts with the same store */
    make,
    commands,
    findings,
    running,
    call,
    set,
    /** ms of the central system at an offset from now */
    stampIn: (seconds: number) => new Date(Math.round(clock.nowMs()) + seconds * 1000).toISOString(),
    nowS: () => (plant.time.sim - startSim) / 1e6,
    plug: async (connectorId = 1) => {
      rig.command({ kind: 'evse.plug', connectorId, ev: { socPct: 20, maxChargeW: 22_000 } });
      await rig.run(40);
    },
    kw: (connectorId = 1) => Math.round(rig.connector(connectorId).powerW / 10) / 100,
  };
}
type Started = ReturnType<typeof createSignal<Transaction>>;
export type ChargingRig = ReturnType<typeof chargingRig>;
