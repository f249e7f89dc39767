import { expect } from 'chai';
import fc from 'fast-check';
import type { EvseConnectorCommand } from '../../../src/contract/kinds/evse-commands.ts';
import type { EvseTransition } from '../../../src/contract/kinds/evse-transitions.ts';
import { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { KindRig, kindSpec, operator } from '../kinds/support.ts';
import { testPlant } from '../../support/plant.ts';
import { holdsAsync } from '../../support/property.ts';

const on = { connectorId: 1 } as const;
const quick = { startDelayMinS: 5.3, startDelayMaxS: 5.3 };
const rigOf = () => new KindRig({ ...kindSpec('evse'), evse: quick });

/** Without the details, which are long. */
const short = (t: EvseTransition) => `${t.event} ${t.cause} ${t.by.source}`;

function logOf(errors: string[]): Logger {
  const ignore = () => undefined;
  return { debug: ignore, info: ignore, warning: ignore, error: (message) => errors.push(message) };
}

describe('Device.onEvse', () => {
  it('tells each transition at its own instant with the meter of that instant, whatever the tick', async () => {
    const heardAt = async (tickS: number) => {
      const rig = rigOf();
      const heard: unknown[] = [];
      rig.device.onEvse((t) => {
        if (!('connector' in t)) return;
        const { at, atS, event, connector, session, powerW } = t;
        expect(at).to.equal(addSeconds(rig.device.startedAt, atS));
        const digits = (value: number) => Number(value.toPrecision(9));
        heard.push([event, atS, digits(connector.energyWh), digits(session?.energyWh ?? 0), digits(powerW)]);
      });
      rig.command({ kind: 'evse.plug', ...on, ev: { batteryCapacityWh: 10_000, socPct: 70, targetSocPct: 75 } });
      await rig.watch(360, tickS, () => undefined);
      rig.command({ kind: 'evse.suspend', ...on, by: 'evse' });
      rig.command({ kind: 'evse.unplug', ...on });
      rig.command({ kind: 'evse.reserve', ...on, reservation: { reservationId: 1, idToken: 'A', expiresInS: 33.25 } });
      await rig.watch(60, tickS, () => undefined);
      return heard;
    };
    const heard = await heardAt(0.1);
    expect(heard.map((each) => (each as unknown[]).slice(0, 2))).to.deep.equal([
      ['cable', 0],
      ['plugged', 0],
      ['authorize', 0],
      ['delay_over', 5.3],
      ['ev_hold', (heard[4] as unknown[])[1]],
      ['evse_hold', 360],
      ['unplugged', 360],
      ['reserve', 360],
      ['reserve_end', 393.25],
    ]);
    for (const tickS of [1.5, 30]) expect(await heardAt(tickS), `tick ${tickS}`).to.deep.equal(heard);
  });

  it('is called between sub-steps, in order, when the state is the one after them', async () => {
    const rig = rigOf();
    let last = rig.device.startedAt;
    let depth = 0;
    rig.device.onEvse((t) => {
      depth += 1;
      expect(depth).to.equal(1);
      expect(t.at).to.be.at.least(last);
      last = t.at;
      // a register write would fail inside another one
      rig.device.bank.transact(operator, ({ m704 }) => {
        m704.WSetEna = 'DISABLED';
      });
      const detail = rig.detail('evse').connectors[0];
      if (t.event === 'delay_over') expect(detail).to.include({ phase: 'energised', contactorClosed: true });
      depth -= 1;
    });
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(600);
    rig.command({ kind: 'evse.unplug', ...on });
    expect(last).to.equal(addSeconds(rig.device.startedAt, 600));
  });

  it('commands of a listener take effect at that instant, and are told after what is being told', async () => {
    const rig = rigOf();
    const heard: string[] = [];
    rig.device.onEvse((t) => {
      heard.push(`a ${short(t)}`);
      if (t.event === 'delay_over')
        rig.device.command({ kind: 'evse.stop', ...on, reason: 'Other' }, { source: 'ocpp' });
    });
    rig.device.onEvse((t) => heard.push(`b ${short(t)}`));
    rig.command({ kind: 'evse.plug', ...on });
    await rig.run(60);
    expect(heard.slice(-4)).to.deep.equal([
      'a delay_over vehicle default',
      'b delay_over vehicle default',
      'a stop central ocpp',
      'b stop central ocpp',
    ]);
    expect(rig.device.chargingSessions()[0]).to.include({ stopReason: 'Other', energyWh: 0 });
    expect(rig.device.chargingSessions()[0]?.endedAtS).to.be.closeTo(5.3, 1e-9);
  });

  it('a failing listener is logged and stops neither the others nor the device', async () => {
    const errors: string[] = [];
    const plant = testPlant({ types: ['EVSE'], log: logOf(errors) });
    const device = plant.device(0);
    let heard = 0;
    device.onEvse(() => {
      throw new SimError('INTERNAL', 'my mistake');
    });
    device.onEvse(() => (heard += 1));
    device.command({ kind: 'evse.plug', ...on }, operator);
    await plant.step(20);
    expect(heard).to.equal(4);
    expect(errors).to.deep.equal(Array(4).fill('a listener of charging transitions failed: my mistake'));
    expect(device.detail.kind === 'evse' && device.detail.powerW).to.be.above(0);
  });

  it('the log has the begin and the end of each session, at their instants, without listeners', async () => {
    const book = createLogBook({ write: () => undefined });
    const plant = testPlant({ types: ['EVSE'], log: book.logger('AC'), dcLog: book.logger('DC'), rate: 100 });
    book.follow({ acting: () => plant.time.sim, dateMs: (t) => plant.dateMs(t) });
    const device = plant.device(0);
    device.command(
      { kind: 'evse.plug', ...on, ev: { batteryCapacityWh: 2000, socPct: 70, targetSocPct: 80 } },
      operator,
    );
    await plant.step(4);
    device.command({ kind: 'evse.unplug', ...on }, operator);
    const said = book.entries({ modules: ['DC'] });
    const [, energy] = /: ([\d.]+) kWh charged/.exec(said[1]?.message ?? '') ?? [];
    expect(said.map(({ level, deviceIndex, message, simMs }) => [level, deviceIndex, message, simMs])).to.deep.equal([
      ['info', 0, 'connector 1: session 1 started with token AUTO (rest, test)', Date.UTC(2026, 5, 21, 12)],
      [
        'info',
        0,
        `connector 1: session 1 ended (EVDisconnected): ${energy} kWh charged, 0.000 kWh discharged in 600 s`,
        Date.UTC(2026, 5, 21, 12, 10),
      ],
    ]);
    expect(Number(energy)).to.be.closeTo((device.chargingSessions()[0]?.energyWh ?? 0) / 1000, 5e-4);
  });

  it('listeners that answer each other without end are cut off and logged', () => {
    const errors: string[] = [];
    const device = testPlant({ types: ['EVSE'], log: logOf(errors) }).device(0);
    let heard = 0;
    const end = device.onEvse(({ event }) => {
      heard += 1;
      if (event === 'plugged') device.command({ kind: 'evse.unplug', ...on }, operator);
      if (event === 'unplugged') device.command({ kind: 'evse.plug', ...on }, operator);
    });
    device.command({ kind: 'evse.plug', ...on }, operator);
    expect([heard, errors]).to.deep.equal([10_000, ['10000 charging transitions at one instant: the rest is dropped']]);
    end();
    device.command({ kind: 'evse.availability', ...on, operative: true }, operator);
    expect(heard).to.equal(10_000);
  });

  it('ends with the returned function; later listeners hear only what comes', () => {
    const rig = rigOf();
    const heard: string[] = [];
    const listener = (t: EvseTransition) => heard.push(t.event);
    const [first, second] = [rig.device.onEvse(listener), rig.device.onEvse(listener)];
    rig.command({ kind: 'evse.plug', ...on, evSide: false });
    first();
    first();
    rig.command({ kind: 'evse.unplug', ...on });
    second();
    rig.command({ kind: 'evse.plug', ...on });
    rig.device.onEvse(listener)();
    rig.device.onEvse(listener);
    rig.command({ kind: 'evse.unlock', ...on });
    expect(heard).to.deep.equal(['cable', 'cable', 'cable', 'stop', 'unlock']);
  });

  it('any other device never calls', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'] });
    const ends = plant.devices.map((device) => device.onEvse(() => expect.fail('was called')));
    await plant.step(3);
    for (const device of plant.devices) device.command({ kind: 'reset', scope: 'device' }, operator);
    for (const end of ends) end();
  });

  it('a listener changes no register and no session', async () => {
    const runOf = async (listens: boolean) => {
      const rig = rigOf();
      let heard = 0;
      if (listens) rig.device.onEvse(() => (heard += 1));
      rig.command({ kind: 'evse.plug', ...on });
      await rig.run(300);
      rig.demand(-5000);
      await rig.run(100);
      rig.command({ kind: 'evse.unplug', ...on });
      await rig.run(10);
      expect(heard > 0).to.equal(listens);
      const { base, size } = rig.device.bank.layout;
      return [rig.device.bank.read(base, size).toString('hex'), JSON.stringify(rig.device.chargingSessions())];
    };
    expect(await runOf(true)).to.deep.equal(await runOf(false));
  });

  it('the told phases form an unbroken chain, and sessions begin and end once', async () => {
    const command = fc.constantFrom<EvseConnectorCommand>(
      { kind: 'evse.plug', ...on },
      { kind: 'evse.plug', ...on, evSide: false },
      { kind: 'evse.unplug', ...on },
      { kind: 'evse.unplug', ...on, evseSide: false },
      { kind: 'evse.authorize', ...on, idToken: 'A' },
      { kind: 'evse.stop', ...on },
      { kind: 'evse.suspend', ...on, by: 'ev' },
      { kind: 'evse.resume', ...on, by: 'ev' },
      { kind: 'evse.fault', ...on, errorCode: 'OtherError' },
      { kind: 'evse.clear_fault', ...on },
      { kind: 'evse.availability', ...on, operative: false },
      { kind: 'evse.availability', ...on, operative: true },
      { kind: 'evse.lock', ...on },
      { kind: 'evse.unlock', ...on },
      { kind: 'evse.profile_limit', ...on, limitW: 0, limitA: null },
      { kind: 'evse.profile_limit', ...on, limitW: null, limitA: null },
    );
    const flags = fc.record({
      endOnEvDisconnect: fc.boolean(),
      unlockOnEvDisconnect: fc.boolean(),
      autoAuthorize: fc.boolean(),
    });
    await holdsAsync(
      'told phases and sessions',
      [flags, fc.array(fc.tuple(command, fc.constantFrom(0, 7, 70)), { maxLength: 25 })],
      async (behaviour, plan) => {
        const rig = rigOf();
        rig.command({ kind: 'evse.behaviour', ...behaviour });
        let [phase, status, running] = ['free', 'available', false];
        let energyWh = 0;
        rig.device.onEvse((t) => {
          if (!('connector' in t)) return;
          expect([t.fromPhase, t.fromStatus]).to.deep.equal([phase, status]);
          [phase, status] = [t.phase, t.status];
          if (t.sessionChange !== null) expect((running = !running)).to.equal(t.sessionChange === 'started');
          expect(t.connector.energyWh).to.be.at.least(energyWh);
          energyWh = t.connector.energyWh;
          if (t.sessionChange === 'ended') expect(t.session?.stopReason).to.be.a('string');
        });
        for (const [each, seconds] of plan) {
          rig.refusalOf(each);
          if (seconds > 0) await rig.run(seconds);
          expect([rig.connector().phase, rig.connector().status]).to.deep.equal([phase, status]);
        }
      },
      { runs: 40 },
    );
  });
});
