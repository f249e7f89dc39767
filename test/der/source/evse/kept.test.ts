import { expect } from 'chai';
import fc from 'fast-check';
import type { EvseInput } from '../../../../src/config/profile/blocks/evse.ts';
import type { EvseCommand } from '../../../../src/contract/kinds/evse-commands.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { keptParts, keptRecord } from '../../../../src/core/kept.ts';
import type { Kept } from '../../../../src/core/kept.ts';
import type { Origin } from '../../../../src/core/origin.ts';
import type { EvseSource } from '../../../../src/der/source/evse/evse-source.ts';
import type { SourceTransition, StationOutside } from '../../../../src/der/source/source.ts';
import { real } from '../../../support/arbitrary.ts';
import { dealt } from '../../../support/choice.ts';
import { expectContinuation, throughFile } from '../../../support/continuation.ts';
import { pick } from '../../../support/depth.ts';
import { disturbedSecond } from '../../../support/disturbed.ts';
import { holds } from '../../../support/property.ts';
import { command, connectorId, powerW, stepping } from './actions.ts';
import type { Stepping } from './actions.ts';
import { at, input, plug, run, station } from './rig.ts';

/** The text of a transition, with the values that depend on earlier ones. */
function textOf(transition: SourceTransition): string {
  const { event, cause, by } = transition;
  const head = [event, cause, by.source, by.peer, transition.connectorId];
  if (!('connector' in transition)) return [...head, transition.externalLimit?.limitW].join(' ');
  const { atS, fromStatus, status, transactionId, idToken, powerW: flowW, connector } = transition;
  return [...head, atS, fromStatus, status, transactionId, idToken, flowW, connector.limitW, connector.energyWh].join(
    ' ',
  );
}

const openOutside: StationOutside = { supplyPhases: 3, down: false, siteHolds: false, limit: null };

/** A station with the device around it, and what its listeners hear. */
class Watched {
  readonly source: EvseSource;
  heard: readonly string[] = [];
  outside = openOutside;

  constructor(source: EvseSource, listens: boolean) {
    this.source = source;
    const present = () => this.outside;
    source.attach({
      get supplyPhases() {
        return present().supplyPhases;
      },
      get down() {
        return present().down;
      },
      get siteHolds() {
        return present().siteHolds;
      },
      get limit() {
        return present().limit;
      },
    });
    const hear = (text: string) => {
      this.heard = [...this.heard, text];
    };
    if (!listens) return;
    source.onTransition((transition) => {
      hear(textOf(transition));
    });
    source.onSession((change, { transactionId, energyWh }, by, atS) => {
      hear([change, transactionId, energyWh, by.source, atS].join(' '));
    });
  }

  kept(): Kept {
    return keptParts({
      source: this.source.kept(),
      around: keptRecord(
        () => ({ heard: this.heard, outside: this.outside }),
        ({ heard, outside }) => {
          [this.heard, this.outside] = [heard, outside];
        },
      ),
    });
  }
}

const generator = fc
  .tuple(fc.integer(), fc.nat(5), real(5, 60))
  .map(([seed, stream, ratePerHour]) => ({ seed, stream, ratePerHour, idToken: 'G' }));
const stationCommand = fc.oneof(
  fc.record({
    kind: fc.constant('evse.generator'),
    generator: fc.option(generator, { freq: 4 }),
    vehicles: fc.constantFrom('leave', 'stay'),
  }),
  fc.record({ kind: fc.constant('evse.authority'), central: fc.boolean() }),
  fc.record(
    {
      kind: fc.constant('evse.behaviour'),
      connectionTimeoutS: fc.constantFrom(5, 60, null),
      authorizationTimeoutS: fc.constantFrom(7, null),
      endOnEvDisconnect: fc.boolean(),
      unlockOnEvDisconnect: fc.boolean(),
      autoAuthorize: fc.boolean(),
    },
    { requiredKeys: ['kind'] },
  ),
  fc.record({ kind: fc.constant('evse.meter'), connectorId, energyWh: real(0, 1e6) }),
  fc.record({
    kind: fc.constant('evse.profile_limit'),
    connectorId: fc.constantFrom(0, 1, 2, 3),
    limitW: powerW,
    limitA: fc.option(real(0, 40)),
    dischargeLimitW: fc.option(real(0, 40_000)),
    dischargeLimitA: fc.option(real(0, 60)),
    setpointW: fc.option(real(-30_000, 30_000)),
    phases: fc.constantFrom(1, 3, null),
  }),
  fc.record({
    kind: fc.constant('evse.ev'),
    connectorId,
    ev: fc.record({
      id: fc.constantFrom('car', null),
      chargingCurve: fc.tuple(real(0.1, 1), real(0.1, 1)).map(([first, middle]) => [
        { socPct: 0, fraction: first },
        { socPct: 55, fraction: middle },
        { socPct: 100, fraction: 0.05 },
      ]),
      reserveSocPct: real(0, 60),
      departureTime: fc.constantFrom('2026-06-21T18:00:00Z', null),
    }),
  }),
  fc.record({
    kind: fc.constant('evse.fault'),
    connectorId,
    errorCode: fc.constantFrom('GroundFailure', 'OverVoltage'),
    info: fc.constant('text'),
    vendorErrorCode: fc.constant('E-7'),
  }),
) as fc.Arbitrary<EvseCommand>;

const origin = fc.constantFrom<Origin>({ source: 'rest' }, { source: 'rest', peer: '10.0.0.1' }, { source: 'ocpp' });
const limit = fc.record({
  limitW: real(0, 60_000),
  decidedBy: fc.constantFrom('active_power' as const, 'charge_limit' as const),
  writer: fc.constant(null),
});

const scene = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('command' as const), command, by: origin }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('command' as const), command: stationCommand, by: origin }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      does: fc.constant('step' as const),
      how: stepping,
      /** reactive power that a function decides; null: none */
      decidedVar: fc.option(real(-20_000, 20_000)),
      limit: fc.option(limit),
      down: fc.constantFrom(false, false, false, true),
      siteHolds: fc.boolean(),
      // most vehicles charge for some seconds only, so that ramps and delays are under way
      isShort: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom('settle' as const, 'restart' as const, 'clear' as const) }),
  },
  // between two sub-steps
  { weight: 1, arbitrary: fc.record({ does: fc.constant('draw' as const), part: real(0, 1) }) },
);
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function subStep(watched: Watched, dtS: number, { how, decidedVar }: Extract<Scene, { does: 'step' }>): void {
  const { source } = watched;
  const pu = how.terminalPu;
  source.prepare(dtS, { ...input, terminalPu: pu, phaseLnV: [230 * pu, 228 * pu, 233 * pu] });
  const [minW, maxW] = [-source.absorbableDcW, source.availableDcW];
  const floorW = Math.min(how.floorW, how.ceilingW);
  const answer = source.answer({ targetW: how.targetW, floorW, ceilingW: how.ceilingW });
  const isOpen = how.mode === 'open';
  source.draw(isOpen ? 0 : how.mode === 'bend' ? minW + (maxW - minW) * how.bend : answer, !isOpen);
  source.decideVar(decidedVar);
  source.reportLimits();
}

/** Sub-steps of one scene. */
const maxSubSteps = 12;

function runScene(watched: Watched, action: Extract<Scene, { does: 'step' }>): void {
  const { limit: outsideLimit, down, siteHolds, how, isShort } = action;
  watched.outside = { ...watched.outside, limit: outsideLimit, down, siteHolds };
  let leftS = isShort ? how.seconds % 7 : how.seconds;
  for (let steps = 0; leftS > 1e-9 && steps < maxSubSteps; steps += 1) {
    const dtS = Math.min(leftS, watched.source.maxStepS);
    subStep(watched, dtS, action);
    leftS -= dtS;
  }
}

function drive(watched: Watched, action: Scene): void {
  const { source } = watched;
  watched.heard = [];
  switch (action.does) {
    case 'command':
      try {
        source.command(action.command, action.by);
      } catch (error) {
        if (!(error instanceof SimError) || error.code === 'INTERNAL') throw error;
      }
      break;
    case 'step':
      runScene(watched, action);
      break;
    case 'settle':
      source.settle(input);
      source.draw(source.answer({ targetW: null, floorW: -1e9, ceilingW: 1e9 }), true);
      break;
    case 'restart':
      source.restart({ source: 'rest' });
      break;
    case 'draw':
      source.draw(source.availableDcW - action.part * (source.availableDcW + source.absorbableDcW), true);
      break;
    case 'clear':
      source.clearFaults({ source: 'rest' });
      break;
  }
}

/** Text, since it is compared faster than objects. */
function observe({ source, heard }: Watched): string {
  const { availableDcW, absorbableDcW, potentialDcW, potentialAbsorbableDcW, minAbsorbedDcW, absorbedRampDcWS } =
    source;
  const { unrestrictedW, settled, maxStepS, phaseLoads, ownVar, nowS } = source;
  return JSON.stringify({
    detail: source.detail(),
    sessions: source.sessions(),
    availableDcW,
    absorbableDcW,
    potentialDcW,
    potentialAbsorbableDcW,
    minAbsorbedDcW,
    absorbedRampDcWS,
    unrestrictedW,
    settled,
    maxStepS,
    phaseLoads,
    ownVar,
    nowS,
    conditions: [...source.conditions],
    ports: source.ports.map((port) => [
      port.voltageV,
      port.currentA,
      port.powerW,
      ...(port.conditions === undefined ? [] : port.conditions),
    ]),
    heard,
  });
}

const block: EvseInput = {
  start_delay_min_s: 1,
  start_delay_max_s: 8,
  standby_w: 4,
  max_power_w: 70_000,
  ev: { soc_pct: 60 },
  // a bidirectional vehicle is plugged in from the start, so that V2G occurs
  vehicles: [{ connector: 2, soc_pct: 50, reserve_soc_pct: 40, ac_efficiency: 0.9, dc_efficiency: 0.97 }],
  connectors: [{}, { type: 'dc', bidirectional: true, max_power_w: 50_000 }, { phases: 1, attached_cable: true }],
};

/** Another past than that of the first station. */
function disturb({ source }: Watched): void {
  const commands: readonly EvseCommand[] = [
    { kind: 'evse.generator', generator: { seed: 3, stream: 1, ratePerHour: 40, idToken: 'X' } },
    { kind: 'evse.plug', connectorId: 1, ev: { socPct: 3 } },
    { kind: 'evse.limit', connectorId: 3, powerW: 1500 },
    { kind: 'evse.profile_limit', connectorId: 0, limitW: 9000, limitA: 15 },
    { kind: 'evse.profile_limit', connectorId: 2, limitW: null, limitA: null, setpointW: -5000 },
    { kind: 'evse.behaviour', connectionTimeoutS: 3, endOnEvDisconnect: false },
  ];
  for (const each of commands) source.command(each, { source: 'dashboard' });
  run(source, 200);
  source.decideVar(4000);
  source.command({ kind: 'evse.fault', connectorId: 1, errorCode: 'OverVoltage' }, { source: 'dashboard' });
}

type Command = Extract<Scene, { does: 'command' }>;
const ask = (given: EvseCommand, by: Origin = { source: 'rest', peer: 'a' }): Command => ({
  does: 'command',
  command: given,
  by,
});
const held: Extract<Scene, { does: 'step' }> = {
  does: 'step',
  how: { seconds: 1, targetW: null, floorW: -1e6, ceilingW: 1e6, bend: 0, mode: 'answer', terminalPu: 1 },
  decidedVar: null,
  limit: null,
  down: false,
  siteHolds: false,
  isShort: false,
};
const pass = (seconds: number, values: Partial<typeof held> = {}, how: Partial<Stepping> = {}): Scene => ({
  ...held,
  ...values,
  how: { ...held.how, ...how, seconds },
});
const between = (part: number): Scene => ({ does: 'draw', part });
const on1 = { connectorId: 1 } as const;
const on2 = { connectorId: 2 } as const;
const ocpp: Origin = { source: 'ocpp', peer: 'b' };

/** Courses in which each member of the state matters; the state is taken before each step. */
const courses: readonly { readonly what: string; readonly auto?: boolean; readonly scenes: readonly Scene[] }[] = [
  {
    what: 'a loose cable that an ended session has left, locked',
    scenes: [
      ask({ kind: 'evse.behaviour', unlockOnEvDisconnect: false }),
      ask({ kind: 'evse.plug', ...on1 }),
      pass(9),
      ask({ kind: 'evse.unplug', ...on1, evSide: true }),
      pass(1),
      ask({ kind: 'evse.unlock', ...on1 }),
      pass(1),
      ask({ kind: 'evse.unplug', ...on1 }),
      ask({ kind: 'evse.plug', ...on1, evSide: false }),
      ask({ kind: 'evse.plug', ...on1, evseSide: false }),
    ],
  },
  {
    what: 'reservations and authorisations with their timers',
    auto: false,
    scenes: [
      ask({ kind: 'evse.behaviour', connectionTimeoutS: 5, authorizationTimeoutS: 4 }),
      ask({ kind: 'evse.reserve', ...on1, reservation: { reservationId: 7, idToken: 'A', expiresInS: 3 } }),
      pass(2),
      pass(2),
      ask({ kind: 'evse.reserve', ...on1, reservation: { reservationId: 8, idToken: 'A', expiresInS: null } }),
      ask({ kind: 'evse.authorize', ...on1, idToken: 'B' }),
      ask({ kind: 'evse.authorize', ...on1, idToken: 'A', remoteStartId: 9 }, ocpp),
      pass(3),
      pass(3),
      ask({ kind: 'evse.plug', ...on1 }),
      pass(3),
      ask({ kind: 'evse.authorize', ...on1, idToken: 'A', remoteStartId: 10 }, ocpp),
      pass(2),
      pass(8),
      ask({ kind: 'evse.stop', ...on1, idToken: 'A' }),
      ask({ kind: 'evse.unplug', ...on1 }),
      ask({ kind: 'evse.authorize', ...on1, idToken: 'A', remoteStartId: 11 }, ocpp),
      pass(1),
      ask({ kind: 'evse.plug', ...on1 }),
      pass(2),
    ],
  },
  {
    what: 'suspensions, and the energy that a session may take',
    scenes: [
      ask({ kind: 'evse.plug', ...on1 }),
      pass(9),
      ask({ kind: 'evse.suspend', ...on1, by: 'ev' }),
      pass(1),
      ask({ kind: 'evse.suspend', ...on1, by: 'evse' }),
      pass(1),
      ask({ kind: 'evse.resume', ...on1, by: 'ev' }),
      pass(1),
      ask({ kind: 'evse.resume', ...on1, by: 'evse' }),
      pass(4),
      ask({ kind: 'evse.energy_limit', ...on1, energyWh: 25 }, ocpp),
      pass(4),
      pass(4),
      pass(4),
      ask({ kind: 'evse.energy_limit', ...on1, energyWh: null }),
      pass(2),
    ],
  },
  {
    what: 'discharge by command, by profile and by the device',
    scenes: [
      pass(9),
      ask({ kind: 'evse.discharge', ...on2, powerW: 9000 }, ocpp),
      pass(1),
      between(0.2),
      pass(5),
      ask({ kind: 'evse.profile_limit', ...on2, limitW: null, limitA: null, dischargeLimitW: 4000 }),
      pass(5),
      between(0),
      pass(2),
      ask({ kind: 'evse.discharge', ...on2, powerW: 0 }, ocpp),
      pass(9),
      ask({ kind: 'evse.discharge', ...on2, powerW: null }),
      pass(2),
      ask({ kind: 'evse.profile_limit', ...on2, limitW: null, limitA: null, setpointW: -2000 }, ocpp),
      pass(3),
      pass(3, {}, { targetW: 3000 }),
    ],
  },
  {
    what: 'limits and what was reported of them',
    scenes: [
      ask({ kind: 'evse.plug', ...on1 }),
      pass(9),
      ask({ kind: 'evse.limit', ...on1, powerW: 8000 }),
      pass(2),
      ask({ kind: 'evse.limit', ...on1, powerW: 8150 }),
      pass(2),
      ask({ kind: 'evse.limit', ...on1, powerW: 8300 }),
      pass(2),
      ask({ kind: 'evse.limit', ...on1, powerW: 0 }, ocpp),
      pass(4),
      ask({ kind: 'evse.limit', ...on1, powerW: null }),
      pass(1),
      ask({ kind: 'evse.profile_limit', ...on1, limitW: null, limitA: 10, phases: 1 }, ocpp),
      pass(3),
      ask({ kind: 'evse.profile_limit', connectorId: 0, limitW: null, limitA: 14, phases: 1 }),
      pass(3),
      ask({ kind: 'evse.profile_limit', ...on1, limitW: null, limitA: null }),
      pass(2),
      ask({ kind: 'evse.profile_limit', connectorId: 0, limitW: null, limitA: null }),
      pass(2),
      pass(4, { limit: { limitW: 0, decidedBy: 'active_power', writer: null } }, { floorW: 0 }),
      pass(2, { siteHolds: true }, { floorW: 0 }),
      pass(2),
    ],
  },
  {
    what: 'power that the vehicles share, and reactive power',
    scenes: [
      ask({ kind: 'evse.plug', ...on1 }),
      ask({ kind: 'evse.plug', connectorId: 3 }),
      ask({ kind: 'evse.profile_limit', connectorId: 0, limitW: 20_000, limitA: null }),
      pass(9),
      pass(9),
      pass(2, { decidedVar: -4000 }),
      pass(2, { decidedVar: -3000 }),
      pass(2, { decidedVar: 5000 }, { targetW: -12_000 }),
      pass(2),
    ],
  },
];

/** @param look called with each station that is looked at */
function expectSame(
  make: () => Watched,
  scenes: readonly Scene[],
  before: number,
  look?: (watched: Watched) => void,
): void {
  expectContinuation({
    make: disturbedSecond(make, disturb),
    drive: (watched: Watched, step) => {
      drive(watched, scenes[step]!);
    },
    observe: (watched: Watched) => {
      look?.(watched);
      return observe(watched);
    },
    before,
    after: scenes.length - before,
  });
}

describe('EVSE: a restart', () => {
  courses.forEach(({ what, auto = true, scenes }, course) => {
    it(`changes nothing of ${what}`, () => {
      const make = () => new Watched(station({ ...block, auto_authorize: auto }, 70_000), true);
      const cuts = [...scenes.keys()];
      for (const before of pick({ quick: dealt(cuts, 3, course), ci: cuts })) expectSame(make, scenes, before);
    });
  });

  it('changes nothing of what follows, whatever was under way', () => {
    const phases = new Set<string>();
    let generated = 0;
    const count = holds(
      'a station goes on after a restart',
      [
        fc.array(scene, { minLength: 4, maxLength: 30, size: 'max' }),
        fc.nat(30),
        fc.record({ auto: fc.constantFrom(true, true, false), listens: fc.boolean(), stream: fc.nat(100) }),
      ],
      (scenes, place, { auto, listens, stream }) => {
        const make = () => new Watched(station({ ...block, auto_authorize: auto }, 70_000, stream), listens);
        expectSame(make, scenes, place % scenes.length, (watched) => {
          const { connectors, generator: visitors } = watched.source.detail();
          for (const { phase } of connectors) phases.add(phase);
          generated += visitors?.arrivals ?? 0;
        });
      },
      { runs: 60 },
    );
    // few cases may miss one of them
    if (count < 500) return;
    for (const phase of ['energised', 'starting', 'suspended_ev', 'suspended_evse', 'finishing', 'authorised'] as const)
      expect([...phases]).to.include(phase);
    expect(generated).to.be.above(0);
  });

  it('keeps a session that is older than the last 200', () => {
    const make = () => {
      const source = station({ auto_authorize: false, connectors: [{}, {}] });
      plug(source, 1);
      source.command({ kind: 'evse.authorize', connectorId: 1, idToken: 'old' });
      plug(source, 2);
      return source;
    };
    expectContinuation({
      make,
      drive: (source, step) => {
        if (step === 203) run(source, 120);
        else if (step === 204) source.command({ kind: 'evse.stop', connectorId: 1 });
        else if (step < 203) {
          source.command({ kind: 'evse.start', connectorId: 2, idToken: 'new' });
          source.command({ kind: 'evse.stop', connectorId: 2 });
        }
      },
      observe: (source) => {
        const { session } = at(source);
        expect(session).to.include({ transactionId: '1', idToken: 'old' });
        return [session, source.sessions()];
      },
      before: 202,
      after: 4,
    });
  });

  it('a running session of the list is that of its connector', () => {
    const first = station();
    plug(first);
    run(first, 60);
    const second = station();
    second.kept().restore(throughFile(first.kept().save()));
    run(second, 60);
    const energyWh = second.sessions()[0]?.energyWh;
    expect(energyWh).to.be.above(first.sessions()[0]?.energyWh ?? NaN);
    expect(energyWh).to.equal(at(second).session?.energyWh);
    second.command({ kind: 'evse.stop', connectorId: 1 });
    expect(second.sessions().map(({ transactionId, state }) => [transactionId, state])).to.deep.equal([['1', 'ended']]);
    second.command({ kind: 'evse.start', connectorId: 1, idToken: 'A' });
    expect(second.sessions().map(({ transactionId }) => transactionId)).to.deep.equal(['2', '1']);
  });

  it('a saved state does not change with the station', () => {
    const source = station();
    const kept = source.kept();
    plug(source);
    run(source, 60);
    const saved = kept.save();
    const text = JSON.stringify(saved);
    run(source, 60);
    source.command({ kind: 'evse.stop', connectorId: 1 });
    const ended = JSON.stringify(kept.save());
    source.command({ kind: 'evse.unplug', connectorId: 1 });
    kept.restore(saved);
    expect(JSON.stringify(saved)).to.equal(text);
    expect(JSON.stringify(kept.save())).to.equal(text);
    run(source, 60);
    source.command({ kind: 'evse.stop', connectorId: 1 });
    expect(JSON.stringify(kept.save())).to.equal(ended);
  });
});
