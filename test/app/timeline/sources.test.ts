import { expect } from 'chai';
import { DaemonWatch } from '../../../src/app/timeline/daemon-watch.ts';
import { tellAnswer } from '../../../src/app/timeline/ocpp-calls.ts';
import { tellPlant } from '../../../src/app/timeline/plant.ts';
import { refusalIn } from '../../../src/app/timeline/refusals.ts';
import {
  tellCapture,
  tellCommAlarms,
  tellCsipEvents,
  tellFaults,
  tellFinding,
  tellFindings,
} from '../../../src/app/timeline/registries.ts';
import type { Capture, CaptureReport, VerdictWord } from '../../../src/contract/captures.ts';
import type { CsipEvent } from '../../../src/contract/csip-reports.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { DeviceChange, Plant, PowerEvent } from '../../../src/contract/plant.ts';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import type { WireChannel, WireEntry } from '../../../src/core/wire/wire-log.ts';
import { csipChannel, recordExchange } from '../../../src/csip/transport/messages.ts';
import { ignoreWriteFault } from '../../../src/fault-kinds/modbus-map.ts';
import { FaultBench } from '../../support/faults.ts';
import { FindingsRig, plainRule } from '../../support/findings.ts';
import { HandWall } from '../../support/wall.ts';

const wall = new HandWall();
let timeline: Timeline;

beforeEach(() => {
  timeline = new Timeline({ wall, sim: () => simTimeFromMs(0) });
});

const answered = (body: string) => ({
  direction: 'out' as const,
  peer: 'https://h',
  deviceIndex: null,
  method: 'GET',
  url: 'https://h/derp/0/derc',
  status: 200,
  durationMs: 1,
  requestHeaders: {},
  responseHeaders: {},
  requestBody: null,
  responseBody: Buffer.from(body),
  error: null,
});

const told = () => timeline.list().map(({ kind, level, title, text }) => [kind, level, title, text]);

describe('timeline: registries', () => {
  it('tells faults that begin and end, by whom and why', () => {
    const bench = new FaultBench();
    bench.registry.define([ignoreWriteFault]);
    tellFaults(bench.registry, timeline);
    const by = { source: 'rest', peer: '127.0.0.1:9' } as const;
    const request = { protocol: 'modbus', kind: 'ignore_write', deviceIndex: 0, target: {}, parameters: {} } as const;
    bench.registry.inject([request], by);
    bench.registry.clear();
    expect(told()).to.deep.equal([
      ['fault', 'warn', 'Fault injected: modbus.ignore_write', 'Fault 1 (modbus.ignore_write) is in force.'],
      ['fault', 'info', 'Fault ended: modbus.ignore_write', 'Fault 1 (modbus.ignore_write) has ended: it was cleared.'],
    ]);
    expect(timeline.list()[0]).to.deep.include({ by, ref: { type: 'fault', id: '1' } });
    expect([...(timeline.list()[0]?.devices ?? [])]).to.deep.equal([0]);
  });

  it('tells violations and risks, not remarks and excused cases', () => {
    const rig = new FindingsRig();
    tellFindings(rig.registry, timeline);
    const rules = rig.registry.rules('modbus', {
      bad: plainRule,
      risky: { ...plainRule, severity: 'risk', title: 'A risk.' },
      mild: { ...plainRule, severity: 'remark' },
    });
    const peer = rig.peer('10.0.0.21');
    for (const rule of [rules.bad, rules.risky, rules.mild]) rule.broken(peer, 3, () => ({ text: 'It did.' }));
    rig.registry.onCase((newCase) => {
      tellFinding(timeline, { ...newCase, one: { ...newCase.one, excuse: 'a fault was active' } });
    });
    rules.risky.broken(peer, 4, () => ({ text: 'It did.' }));
    expect(told()).to.deep.equal([
      ['finding', 'bad', 'A title.', 'It did.'],
      ['finding', 'warn', 'A risk.', 'It did.'],
    ]);
    expect(timeline.list().map(({ count }) => count)).to.deep.equal([1, 2]);
    expect(timeline.list()[0]).to.deep.include({
      by: { source: 'modbus', peer: '10.0.0.21' },
      ref: { type: 'finding', id: '1' },
    });
  });

  it('tells lost connections and other alarms of communication', () => {
    const alarms = new CommAlarms(() => 0);
    tellCommAlarms(alarms, timeline);
    alarms.raise(2, 'ocpp_connection_lost', 'no pong');
    alarms.end(2, 'ocpp_connection_lost');
    alarms.raise(2, 'state_not_kept', 'disk full');
    expect(told()).to.deep.equal([
      [
        'connection',
        'warn',
        'Connection to the central system lost',
        'Connection to the central system lost: no pong.',
      ],
      ['connection', 'info', 'Connection to the central system is back', 'Connection to the central system is back.'],
      ['alarm', 'bad', 'Alarm state_not_kept', 'Alarm state_not_kept: disk full.'],
    ]);
  });

  it('tells captures by their worst verdict', () => {
    const captureWith = (...words: readonly VerdictWord[]) => {
      const trigger = { kind: 'trip', tS: 0, title: 'Trip of PV', deviceIndex: 3, by: null, call: null };
      return [
        { id: 4, triggers: [trigger] } as unknown as Capture,
        { verdicts: words.map((verdict) => ({ verdict })), summary: 'It did.' } as unknown as CaptureReport,
      ] as const;
    };
    const levelOf = (...words: readonly VerdictWord[]) => {
      tellCapture(timeline, ...captureWith(...words));
      return timeline.list().at(-1)?.level;
    };
    expect(levelOf('rode_through', 'interrupted', 'not_concerned')).to.equal('info');
    expect(levelOf('rode_through', 'still_out')).to.equal('warn');
    expect(levelOf('tripped', 'rode_through')).to.equal('warn');
    expect(levelOf('tripped', 'against_the_rule')).to.equal('bad');
    expect(timeline.list().at(-1)?.text).to.equal('Capture 4, trip of PV: It did.');
    expect([...(timeline.list().at(-1)?.devices ?? [])]).to.deep.equal([3]);
  });

  it('tells events of IEEE 2030.5 of all their devices, a rejected one as a refusal', () => {
    const wireLog = new WireLog({ clock: wall, sim: () => simTimeFromMs(0), log: { error: () => undefined } });
    const channel = csipChannel(wireLog);
    channel.record(true, { source: 'rest' });
    for (const mrid of ['<mRID>cd</mRID>', '<mRID>ab</mRID>', '<mRID>cd</mRID>'])
      recordExchange(channel, answered(mrid));
    const response = Buffer.from('<DERControlResponse><subject>ab</subject></DERControlResponse>');
    recordExchange(channel, { ...answered(''), method: 'POST', requestBody: response });
    let listener: (event: CsipEvent) => void = () => undefined;
    const event = { mrid: 'AB', deviceIndices: [0, 2] } as unknown as CsipEvent;
    tellCsipEvents(
      {
        enabled: true,
        events: () => [],
        onEvent(onEvent) {
          listener = onEvent;
          return () => undefined;
        },
      },
      wireLog,
      timeline,
    );
    listener({ ...event, state: 'active' });
    listener({ ...event, state: 'rejected' });
    expect(told()).to.deep.equal([
      ['peer', 'info', 'CSIP event is in force', 'Event AB is in force.'],
      ['refusal', 'warn', 'CSIP event was rejected', 'Event AB was rejected.'],
    ]);
    expect(timeline.list()[1]).to.deep.include({ ref: { type: 'message', id: 'csip/2' }, message: 'csip/2' });
    expect([...(timeline.list()[0]?.devices ?? [])]).to.deep.equal([0, 2]);
  });
});

describe('timeline: refusals of masters', () => {
  it('are found in the lines of Modbus and DNP3 alone', () => {
    const request = 'function 16 (write multiple registers) of register 40 (704.A)';
    const why = '704.A must be 0 to 100';
    const modbus = `10.0.0.21:5 (no role), unit 1: ${request} refused with exception 3 (illegal data value): ${why}`;
    const dnp3 = 'operate WMaxLim = 5 by master 10.0.0.22:6 (1): refused with status 4 (not supported)';
    expect(refusalIn({ module: 'Modbus', message: modbus })).to.deep.equal({
      peer: '10.0.0.21:5',
      title: 'Write refused',
      text: '704.A must be 0 to 100 (exception 3).',
    });
    const coil = 'unit 1: function 5 (write single coil) of register 1 refused with exception 1 (illegal function)';
    expect(
      refusalIn({ module: 'Modbus', message: `10.0.0.21:5, ${coil}: this function is not served` })?.text,
    ).to.equal('Register 1: this function is not served (exception 1).');
    const two = `10.0.0.21:5, unit 1: ${request.replace('704.A', '704.A, 704.B')}`;
    const split = `${two} refused with exception 3 (illegal data value): B spans 2 registers`;
    expect(refusalIn({ module: 'Modbus', message: split })?.text).to.equal(
      '704.A, 704.B: B spans 2 registers (exception 3).',
    );
    expect(refusalIn({ module: 'DNP3', message: dnp3 })).to.deep.equal({
      peer: '10.0.0.22:6 (1)',
      title: 'Control refused',
      text: 'Operate WMaxLim = 5: status 4 (not supported).',
    });
    expect(refusalIn({ module: 'Lab', message: modbus })).to.equal(null);
    expect(refusalIn({ module: 'DNP3', message: 'operate WMaxLim = 5 by master 1: done' })).to.equal(null);
  });
});

describe('timeline: calls of central systems', () => {
  const channel = { key: 'CP-1', decode: ({ raw }: { raw: Buffer }) => JSON.parse(raw.toString()) as unknown };
  const answer = (direction: string, kind: string, action: string, frame: unknown) => {
    const entry = {
      id: 7,
      direction,
      kind,
      summary: action,
      deviceIndex: 5,
      peer: 'ws://c',
      raw: Buffer.from(JSON.stringify(frame)),
    };
    tellAnswer(timeline, channel as unknown as WireChannel, entry as unknown as WireEntry<unknown>);
  };

  it('are told when they are answered, refused ones as refusals', () => {
    answer('out', 'result', 'SetChargingProfile', [3, 'a', { status: 'Accepted' }]);
    answer('out', 'result', 'SetChargingProfile', [3, 'a', { status: 'Rejected' }]);
    answer('out', 'error', 'GetLog', [4, 'a', 'NotImplemented', 'no log', {}]);
    expect(told()).to.deep.equal([
      ['peer', 'info', 'SetChargingProfile', 'Called SetChargingProfile, which was answered with Accepted.'],
      ['refusal', 'warn', 'SetChargingProfile refused', 'Called SetChargingProfile, which was answered with Rejected.'],
      [
        'refusal',
        'warn',
        'GetLog refused',
        'Called GetLog, which was answered with an error (NotImplemented: no log).',
      ],
    ]);
    expect(timeline.list()[0]?.ref).to.deep.equal({ type: 'message', id: 'ocpp/CP-1/7' });
  });

  it('that read, and those of the station, are none', () => {
    answer('out', 'result', 'GetConfiguration', [3, 'a', {}]);
    answer('in', 'result', 'Heartbeat', [3, 'a', {}]);
    answer('out', 'call', 'StatusNotification', [2, 'a', 'StatusNotification', {}]);
    expect(told()).to.deep.equal([]);
  });
});

describe('timeline: devices and daemon', () => {
  it('tells devices that join, leave, are replaced, go dark and return', () => {
    let change: (change: DeviceChange) => void = () => undefined;
    let power: (event: PowerEvent) => void = () => undefined;
    const plant = {
      onDevices: (listener: typeof change) => ((change = listener), () => undefined),
      onPower: (listener: typeof power) => ((power = listener), () => undefined),
    };
    tellPlant(plant, timeline);
    const device = { index: 3, name: 'Roof' } as Device;
    change({ added: device, removed: null });
    change({ added: null, removed: device });
    change({ added: device, removed: device });
    power({ index: 3, down: true, at: simTimeFromMs(5) });
    power({ index: 3, down: false, at: simTimeFromMs(6) });
    expect(timeline.list().map(({ title }) => title)).to.deep.equal([
      'Device added',
      'Device removed',
      'Device changed',
      'Restarts',
      'Is on again',
    ]);
    expect(timeline.list()[3]).to.deep.include({ level: 'warn', at: simTimeFromMs(5) });
  });

  it('a late simulation is told once, and is trouble for a minute after its end', () => {
    const plant = { health: { rateHeld: false }, time: { rate: 60, rateEffective: 47.9 } };
    const eventLoop = { stalls: 0 };
    const watch = new DaemonWatch({ plant: plant as unknown as Plant, eventLoop, wall, timeline });
    watch.look();
    const sinceMs = wall.nowMs();
    wall.advance(2000);
    watch.look();
    plant.time.rateEffective = 48;
    wall.advance(59_999);
    watch.look();
    expect(watch.trouble).to.deep.equal({
      lateSinceMs: sinceMs,
      rates: { rate: 60, reached: 47.9 },
      stalledAtMs: null,
    });
    wall.advance(1);
    expect(watch.trouble.lateSinceMs).to.equal(null);
    expect(told()).to.deep.equal([
      ['clock', 'bad', 'Simulation is late', 'The machine reaches ×47.9 of the rate ×60.'],
    ]);
  });

  it('an event loop that stood still is told', () => {
    const plant = { health: { rateHeld: true }, time: { rate: 1, rateEffective: 1 } };
    const eventLoop = { stalls: 2 };
    const watch = new DaemonWatch({ plant: plant as unknown as Plant, eventLoop, wall, timeline });
    watch.look();
    expect(told()).to.deep.equal([]);
    eventLoop.stalls = 3;
    watch.look();
    expect(watch.trouble.stalledAtMs).to.equal(wall.nowMs());
    expect(timeline.list()[0]).to.include({ level: 'bad', title: 'Simulator stood still' });
  });
});
