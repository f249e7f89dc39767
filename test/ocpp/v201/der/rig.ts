/** DER controls of 2.1 on a real charging station, on the simulated clock; the central system has the simulated time. */
import { silentLogger } from '../../../../src/core/log/log.ts';
import { remoteClocks } from '../../../../src/core/time/remote-clock.ts';
import { createStationPort } from '../../../../src/ocpp/bridge.ts';
import type { Payload } from '../../../../src/ocpp/rpc/model.ts';
import type { DerFacts } from '../../../../src/ocpp/station/port.ts';
import { createDerControl } from '../../../../src/ocpp/v201/der-controls/der-control.ts';
import type { Action, Replies, Requests, StationParts } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { hasCurve, place } from '../../../../src/sunspec/map/grid-support/wish.ts';
import type { AnyPointValue } from '../../../../src/sunspec/map/types.ts';
import { KindRig } from '../../../der/kinds/support.ts';
import { point } from '../../../support/csip-controls.ts';
import { settled } from '../../v16/fakes.ts';
import { fakeVariables, rig as plainRig } from '../rig.ts';

export type SetRequest = Requests['SetDERControl'];

/** A station with every function and point, but for what a test changes. */
export function stationFacts(given: Partial<DerFacts> & Pick<DerFacts, 'number'>): DerFacts {
  const facts: DerFacts = {
    has: () => true,
    hasPoint: () => true,
    hasCurve: (name, region) => hasCurve(facts, name, region),
    place: (wishes) => place(facts, wishes),
    nominalHz: 60,
    ...given,
  };
  return facts;
}

export interface DerRigOptions {
  readonly profile?: string;
  readonly version?: Version2;
}

export const v2g = 'EVSE-V2G-DC-50kW-bidir';

export function derRig({ profile = v2g, version = 'ocpp2.1' }: DerRigOptions = {}) {
  const base = plainRig({ version });
  const kind = new KindRig({
    args: ['-d', 'EVSE', '--evse_profile', profile],
    evse: { startDelayMinS: 1, startDelayMaxS: 1 },
  });
  const { plant, device } = kind;
  const { wall, timers } = base;
  const clocks = remoteClocks({
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
  });
  const port = createStationPort(device, plant, 'CS-1');
  const variables = fakeVariables({
    version,
    nameplate: port.nameplate,
    evseIds: port.connectorIds,
    ratings: port.ratings,
    stationRating: port.stationRating,
    securityProfile: 1,
  });
  const make = () => {
    const clock = clocks(silentLogger);
    const parts: StationParts = { ...base.parts, device: port, clock, variables };
    const part = createDerControl(parts);
    return { clock, part };
  };
  let present = make();
  const startMs = present.clock.nowMs();
  const pass = async (seconds: number, stepS = 1): Promise<void> => {
    for (let left = seconds; left > 1e-9; left -= stepS) {
      await kind.run(Math.min(left, stepS));
      timers.pass(Math.min(left, stepS) * 1000);
      await settled();
    }
  };
  const rig = {
    ...base,
    kind,
    plant,
    device,
    port,
    variables,
    startMs,
    get part() {
      return present.part;
    },
    async load(): Promise<void> {
      await present.part.load?.();
      await settled();
    },
    /** The process ends. */
    end(): void {
      present.part.stop?.();
      present.part.close?.();
      present.clock.clear();
    },
    /** The next process, with what is in the store. */
    async restart(): Promise<void> {
      present = make();
      await rig.load();
    },
    async call<Name extends Action>(action: Name, request: Requests[Name]): Promise<Replies[Name]> {
      const reply = await base.ask(present.part, action, request);
      await settled();
      return reply;
    },
    set: (request: SetRequest) => rig.call('SetDERControl', request),
    /** Passes simulated and wall time together. */
    pass,
    /** A vehicle that may charge and discharge, and does so. @param dischargeW null: it charges */
    async vehicle(dischargeW: number | null): Promise<void> {
      kind.command({ kind: 'evse.plug', connectorId: 1 });
      await pass(30, 10);
      if (dischargeW !== null) kind.command({ kind: 'evse.discharge', connectorId: 1, powerW: dischargeW });
      await pass(60, 30);
    },
    point: (name: string): AnyPointValue => point(device, name),
    /** Text of an instant, seconds after the begin of the test. */
    at: (seconds: number) => new Date(startMs + seconds * 1000).toISOString(),
    nowS: () => (present.clock.nowMs() - startMs) / 1000,
    /** messages of an action, with timestamps as seconds after the begin of the test */
    told: (action: string): readonly Payload[] =>
      base.line.of(action).map((payload) => ({
        ...payload,
        ...(typeof payload['timestamp'] === 'string' && {
          timestamp: (Date.parse(payload['timestamp']) - startMs) / 1000,
        }),
      })),
  };
  return rig;
}

export type DerRig = ReturnType<typeof derRig>;

/** A rig that has been loaded. */
export async function loadedRig(options?: DerRigOptions): Promise<DerRig> {
  const rig = derRig(options);
  await rig.load();
  return rig;
}

export const voltVarCurve = [
  { x: 92, y: 44 },
  { x: 98, y: 0 },
  { x: 102, y: 0 },
  { x: 108, y: -44 },
];

/** A request of each type that the station takes, in force at once; `change` goes into its body. */
export const bodies = {
  EnterService: {
    enterService: { priority: 1, highVoltage: 105, lowVoltage: 92, highFreq: 60.1, lowFreq: 59.6, delay: 7 },
  },
  FreqDroop: {
    freqDroop: { priority: 1, overFreq: 60.05, underFreq: 59.95, overDroop: 0.04, underDroop: 0.04, responseTime: 2 },
  },
  FixedPFAbsorb: { fixedPFAbsorb: { priority: 1, displacement: 0.95, excitation: true } },
  FixedPFInject: { fixedPFInject: { priority: 1, displacement: 0.92, excitation: false } },
  FixedVar: { fixedVar: { priority: 1, setpoint: 30, unit: 'PctMaxVar' } },
  Gradients: { gradient: { priority: 1, gradient: 200, softGradient: 60 } },
  HFMustTrip: trip([61.5, 299], [62.5, 0.2]),
  HFMayTrip: trip([61.2, 299], [61.8, 0.16]),
  HVMustTrip: trip([111, 12], [121, 0.2]),
  HVMomCess: trip([110, 12], [119, 0.1]),
  HVMayTrip: trip([110, 11], [120, 0.16]),
  LimitMaxDischarge: { limitMaxDischarge: { priority: 1, pctMaxDischargePower: 40 } },
  LFMustTrip: trip([58.4, 300], [56.4, 0.2]),
  LVMustTrip: trip([86, 20], [48, 2.5]),
  LVMomCess: trip([50, 1], [50, 1.5]),
  LVMayTrip: trip([86, 10], [50, 0.2]),
  VoltVar: { curve: { priority: 1, curveData: voltVarCurve, yUnit: 'PctMaxVar', responseTime: 1 } },
  VoltWatt: {
    curve: {
      priority: 1,
      curveData: [
        { x: 104, y: 100 },
        { x: 110, y: 20 },
      ],
      yUnit: 'PctMaxW',
      responseTime: 1,
    },
  },
  WattVar: {
    curve: {
      priority: 1,
      curveData: [
        { x: -100, y: 40 },
        { x: 0, y: 0 },
        { x: 100, y: -40 },
      ],
      yUnit: 'PctMaxVar',
    },
  },
} as const satisfies Partial<
  Record<SetRequest['controlType'], Omit<SetRequest, 'isDefault' | 'controlId' | 'controlType'>>
>;

function trip(...points: readonly (readonly [x: number, y: number])[]) {
  return { curve: { priority: 1, curveData: points.map(([x, y]) => ({ x, y })), yUnit: 'Not_Applicable' } } as const;
}

export type TestedType = keyof typeof bodies;
export const testedTypes = Object.keys(bodies) as readonly TestedType[];
export const settingTypes: readonly TestedType[] = ['EnterService', 'Gradients'];

export interface RequestOptions {
  readonly isDefault?: boolean;
  readonly priority?: number;
  readonly startTime?: string;
  readonly duration?: number;
}

/** A request from the table, with another priority or time; EnterService and Gradients are defaults always. */
export function request(controlId: string, type: TestedType, options: RequestOptions = {}): SetRequest {
  const { isDefault = settingTypes.includes(type), ...times } = options;
  const [[member, body] = ['', {}]] = Object.entries(bodies[type]);
  return { isDefault, controlId, controlType: type, [member]: { ...body, ...times } };
}
