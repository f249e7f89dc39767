/** A real station on the simulated clock whose messages a test reads; every one of them fits its schema. */
import { expect } from 'chai';
import type { EvseTransition } from '../../../../src/contract/kinds/evse-transitions.ts';
import type { EvPatch } from '../../../../src/contract/kinds/evse.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../../src/core/store.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { MeterDistortion, QueuedMessage } from '../../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../../src/ocpp/rpc/schemas.ts';
import type { StationPort } from '../../../../src/ocpp/station/port.ts';
import { createKeys } from '../../../../src/ocpp/v16/keys/keys.ts';
import { createMeterValues } from '../../../../src/ocpp/v16/meter-values.ts';
import type { Requests, StationParts } from '../../../../src/ocpp/v16/parts.ts';
import { createTransactions } from '../../../../src/ocpp/v16/transactions/transactions.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { KindRig } from '../../../der/kinds/support.ts';

export type Values = Requests['MeterValues'];
export type Sampled = Values['meterValue'][number]['sampledValue'][number];

interface Sent<Payload = object> {
  readonly action: string;
  readonly payload: Payload;
  readonly queued: boolean;
}

function clockOf({ plant }: KindRig) {
  const wall = new HandWall();
  return remoteClocks({
    mode: 'simulated',
    wall,
    later: new HandTimers(wall).later,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => plant.time.mode === 'paused',
      at: (t, act) => plant.at(t, act),
    },
    log: silentLogger,
  })(silentLogger);
}

/** What goes to the central system, in order. */
function recorder() {
  payloadChecks.prepare('ocpp1.6');
  const sent: Sent[] = [];
  return {
    sent,
    take: (action: string, payload: object, queued: boolean): void => {
      const shown = JSON.parse(JSON.stringify(payload)) as Record<string, unknown>;
      // the queue fills the id in
      const whole = queued && action !== 'StartTransaction' ? { transactionId: 1, ...shown } : shown;
      expect(payloadChecks.check('ocpp1.6', action, 'request', whole), JSON.stringify(shown)).to.equal(null);
      sent.push({ action, payload: shown, queued });
    },
  };
}

/** The port with a way to tell transitions that the device does not make by itself. */
function tellable(port: StationPort) {
  const listeners: ((transition: EvseTransition) => void)[] = [];
  const told = Object.create(port, {
    onTransition: {
      value: (listener: (transition: EvseTransition) => void) => {
        listeners.push(listener);
        return port.onTransition(listener);
      },
    },
  }) as StationPort;
  return {
    port: told,
    tell: (event: 'power_down' | 'power_up') => {
      for (const listener of listeners.slice(0, 1))
        listener({
          at: port.now,
          by: { source: 'fault' },
          cause: 'fault',
          connectorId: 0,
          event,
          externalLimit: null,
        });
    },
  };
}

/** @param keyValues in place of the defaults; both intervals are 0 otherwise */
export async function stationOf(profile: string, keyValues: Readonly<Record<string, string>>) {
  const rig = new KindRig({ args: ['--evse_profile', profile], evse: { startDelayMinS: 1, startDelayMaxS: 1 } });
  const { port, tell } = tellable(createStationPort(rig.device, rig.plant, 'SIM-CP-1'));
  const clock = clockOf(rig);
  const store = createMemoryStore();
  const keys = createKeys({
    facts: { connectorIds: port.connectorIds, securityProfile: 0, threePhase: true, fileTransferProtocols: [] },
    log: silentLogger,
    slot: store.slot('keys'),
    failed: (error) => {
      throw error;
    },
  });
  const given = { MeterValueSampleInterval: '0', ClockAlignedDataInterval: '0', ...keyValues };
  for (const [key, value] of Object.entries(given)) keys.set(key, value);
  const { sent, take } = recorder();
  const parts = {
    id: 'SIM-CP-1',
    device: port,
    clock,
    wall: new HandWall(),
    log: silentLogger,
    store: (name: string) => store.slot(name),
    keys,
    calls: {
      online: true,
      send: (action: string, request: object) => {
        take(action, request, false);
        return Promise.resolve({ kind: 'result', payload: {}, durationMs: 0 });
      },
    },
    queue: {
      length: 0,
      lengthOf: () => 0,
      push: ({ action, payload }: QueuedMessage) => {
        take(action, payload, true);
      },
    },
    registration: { isReady: true, onAccepted: () => () => undefined },
  } as unknown as StationParts;
  const made: { values?: ReturnType<typeof createMeterValues> } = {};
  const faults: { reading: MeterDistortion | null; asked: number } = { reading: null, asked: 0 };
  const transactions = createTransactions(parts, {
    tokens: { learn: () => undefined, parentOf: () => null },
    reservations: { use: () => null },
    transactionData: (...ended) => made.values?.transactionData(...ended),
    distortion: () => faults.reading,
  });
  const values = createMeterValues(parts, {
    transactions,
    disturber: {
      get active() {
        return faults.reading !== null;
      },
      readings: () => {
        faults.asked += 1;
        return faults.reading;
      },
      peekReadings: () => faults.reading,
    },
  });
  made.values = values;
  await transactions.part.load?.();
  const of = <Payload>(action: string) => sent.filter((each) => each.action === action) as unknown as Sent<Payload>[];
  const meterValues = () => of<Values>('MeterValues');
  return {
    rig,
    port,
    keys,
    clock,
    values,
    faults,
    sent,
    tell,
    plug: (connectorId = 1, ev: EvPatch = { socPct: 30, batteryCapacityWh: 100_000 }) => {
      rig.command({ kind: 'evse.plug', connectorId, ev });
    },
    meterValues,
    /** sampled values of the newest MeterValues */
    last: (): readonly Sampled[] => meterValues().at(-1)?.payload.meterValue[0]?.sampledValue ?? [],
    stops: () => of<Requests['StopTransaction']>('StopTransaction').map(({ payload }) => payload),
  };
}

export function find(values: readonly Sampled[], measurand: string, phase?: string): number {
  const found = values.find((each) => each.measurand === measurand && each.phase === phase);
  return found === undefined ? expect.fail(`no ${measurand} ${phase ?? ''}`) : Number(found.value);
}
