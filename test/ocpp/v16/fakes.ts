/** Doubles of what a part of a 1.6 station works with: device, line, clock and timers that a test moves. */
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import type { EvseConnectorTransition, EvseTransition } from '../../../src/contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail, EvseDetail, EvseConnectorState } from '../../../src/contract/kinds/evse.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Store } from '../../../src/core/store.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { CallOptions, CallOutcome, Line, Payload } from '../../../src/ocpp/rpc/model.ts';
import { SentLimits } from '../../../src/ocpp/charging/sent-limits.ts';
import { createInsistence } from '../../../src/ocpp/station/insistence.ts';
import type { Insistence } from '../../../src/ocpp/station/insistence.ts';
import type { MeterSample, StationPort } from '../../../src/ocpp/station/port.ts';
import { createKeys, credentialKeys } from '../../../src/ocpp/v16/keys/keys.ts';
import type { KeySet } from '../../../src/ocpp/v16/keys/keys.ts';
import type { Connection } from '../../../src/ocpp/v16/parts.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export type ConnectorPatch = Partial<EvseConnectorDetail>;

const free = {
  type: 'ac',
  standard: 'Type2',
  maxPowerW: 22_000,
  minPowerW: 4_140,
  phases: 3,
  supplyPhases: [1, 2, 3],
  bidirectional: false,
  status: 'available',
  occupancy: 'available',
  phase: 'free',
  errorCode: 'NoError',
  errorInfo: null,
  vendorErrorCode: null,
  operative: true,
  authorised: false,
  contactorClosed: false,
  cable: { evPlugged: false, evsePlugged: false, locked: false },
  ev: null,
  session: null,
  powerW: 0,
  currentA: [0, 0, 0],
  voltageV: 230,
  energyWh: 0,
  energyExportWh: 0,
  limitW: 22_000,
  limitSource: 'none',
  localLimitW: null,
  dischargeW: null,
  reservation: null,
};

export interface FakeDevice {
  readonly port: StationPort;
  readonly commands: EvseCommand[];
  /** what the next commands throw */
  fail: Error | null;
  dark: boolean;
  now: SimTime;
  externalLimit: EvseDetail['externalLimit'];
  /** Changes a connector and tells it. */
  change(connectorId: number, patch: ConnectorPatch, event?: EvseConnectorTransition['event']): void;
  status(connectorId: number, status: EvseConnectorState): void;
  tell(transition: Partial<EvseTransition> & Pick<EvseTransition, 'event' | 'connectorId'>): void;
  /** listeners to transitions */
  readonly listening: number;
}

/** A station with two connectors that does nothing by itself; `evse.availability` changes `operative`. */
export function fakeDevice(connectorIds: readonly number[] = [1, 2]): FakeDevice {
  const connectors = new Map(
    connectorIds.map((connectorId) => [connectorId, { ...free, connectorId } as unknown as EvseConnectorDetail]),
  );
  const listeners = new Set<(transition: EvseTransition) => void>();
  const at = (connectorId: number): EvseConnectorDetail => {
    const found = connectors.get(connectorId);
    if (found === undefined) throw new Error(`no connector ${connectorId}`);
    return found;
  };
  const fake: FakeDevice = {
    commands: [],
    fail: null,
    dark: false,
    now: simTimeFromMs(Date.UTC(2026, 5, 21, 8)),
    externalLimit: null,
    get listening() {
      return listeners.size;
    },
    change(connectorId, patch, event = 'plugged') {
      connectors.set(connectorId, { ...at(connectorId), ...patch });
      fake.tell({ event, connectorId });
    },
    status(connectorId, status) {
      fake.change(connectorId, { status });
    },
    tell(transition) {
      const { connectorId } = transition;
      const told = {
        at: fake.now,
        by: { source: 'default' },
        cause: 'person',
        ...(connectorId > 0 && { connector: at(connectorId), status: at(connectorId).status }),
        ...transition,
      } as EvseTransition;
      for (const listener of [...listeners]) listener(told);
    },
    port: {
      deviceIndex: 0,
      nameplate: { vendor: 'Vendor', model: 'Model', serialNumber: 'SN1', firmwareVersion: '1.0' },
      connectorIds,
      ratings: [],
      stationRating: {} as StationPort['stationRating'],
      get detail() {
        return { connectors: [...connectors.values()], externalLimit: fake.externalLimit } as unknown as EvseDetail;
      },
      connector: at,
      sample: (connectorId: number) =>
        ({ connectorId, at: fake.now, energyImportWh: 0, energyExportWh: 0 }) as unknown as MeterSample,
      get now() {
        return fake.now;
      },
      get dark() {
        return fake.dark;
      },
      command(command) {
        if (fake.fail !== null) throw fake.fail;
        fake.commands.push(command);
        if (command.kind !== 'evse.availability') return;
        const { connectorId, operative } = command;
        const busy = at(connectorId).session !== null;
        const status = busy ? at(connectorId).status : operative ? 'available' : 'unavailable';
        connectors.set(connectorId, { ...at(connectorId), operative, status });
        fake.tell({ event: 'availability', connectorId, by: { source: 'ocpp' } });
      },
      openDer: () => null,
      onTransition(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    } as Partial<StationPort> as StationPort,
  };
  return fake;
}

export interface SentCall {
  readonly action: string;
  readonly payload: Payload;
  readonly options: CallOptions;
}

export interface FakeLine extends Line {
  open: boolean;
  readonly calls: SentCall[];
  /** by action; default an empty result */
  readonly answers: Map<string, () => CallOutcome>;
  of(action: string): readonly Payload[];
}

export function fakeLine(): FakeLine {
  const line: FakeLine = {
    open: true,
    waiting: 0,
    calls: [],
    answers: new Map(),
    of: (action) => line.calls.filter((each) => each.action === action).map(({ payload }) => payload),
    call: (action, payload, options = {}) => {
      if (!line.open) return Promise.resolve({ kind: 'unsent', why: 'no connection' });
      line.calls.push({ action, payload, options });
      return Promise.resolve(line.answers.get(action)?.() ?? { kind: 'result', payload: {}, durationMs: 0 });
    },
    send: () => undefined,
  };
  return line;
}

/** Lets promises that are already decided run on. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

export interface Rig {
  readonly device: FakeDevice;
  readonly line: FakeLine;
  readonly wall: HandWall;
  readonly timers: HandTimers;
  readonly store: Store;
  readonly keys: KeySet;
  readonly clock: ReturnType<ReturnType<typeof remoteClocks>>;
  readonly connection: Connection & { readonly done: string[]; password: Buffer | null };
  readonly limits: SentLimits;
  readonly releases: Insistence;
  readonly findings: (readonly [clause: string, text: string, action: string | undefined])[];
  readonly find: (clause: string, text: string, action?: string) => void;
  /** Moves the time on and lets promises run. */
  pass(seconds: number): Promise<void>;
}

export function rig(): Rig {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const releases = createInsistence(timers.later, silentLogger, 0);
  const device = fakeDevice();
  const store = createMemoryStore();
  const clock = remoteClocks({
    mode: 'wall',
    wall,
    later: timers.later,
    timeline: {
      sim: () => device.now,
      dateMs: (t) => t / 1000,
      rate: () => 1,
      paused: () => false,
      at: () => () => undefined,
    },
    log: silentLogger,
  })(silentLogger);
  const findings: Rig['findings'] = [];
  const done: string[] = [];
  const connection: Rig['connection'] = {
    done,
    securityProfile: 1,
    password: null,
    reconnect: () => done.push('reconnect'),
    restart: (reason) => done.push(`restart: ${reason}`),
    setPassword: (octets) => {
      connection.password = octets;
      done.push(`password of ${octets.length} octets: ${octets.toString('hex')}`);
    },
    setSecurityProfile: (profile) => done.push(`profile ${profile}`),
    setCertificates: () => done.push('certificates'),
    setPingInterval: (seconds) => done.push(`ping ${seconds}`),
  };
  const keys = createKeys({
    facts: {
      connectorIds: [1, 2],
      securityProfile: 1,
      threePhase: true,
      fileTransferProtocols: ['HTTP', 'HTTPS'],
    },
    ofStation: credentialKeys(connection),
    log: silentLogger,
    slot: store.slot('keys'),
    failed: (error) => {
      throw error;
    },
  });
  return {
    device,
    line: fakeLine(),
    wall,
    timers,
    store,
    keys,
    clock,
    limits: new SentLimits({ device: device.port, log: silentLogger, releases }),
    releases,
    findings,
    find: (clause, text, action) => findings.push([clause, text, action]),
    connection,
    async pass(seconds) {
      await settled();
      // in steps, so that promises between two timers run in their order
      for (let left = seconds * 1000; left > 0; ) {
        const step = Math.min(left, Math.max(0.001, timers.nextMs));
        timers.pass(step);
        left -= step;
        device.now = simTimeFromMs(wall.nowMs());
        await settled();
      }
    },
  };
}
