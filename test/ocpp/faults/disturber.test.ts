import { expect } from 'chai';
import {
  callErrorFault,
  clockSkewFault,
  delayFault,
  dropSocketFault,
  duplicateFault,
  flappingFault,
  ignoreCallFault,
  malformedFault,
  meterJumpFault,
  missingMemberFault,
  noPongFault,
  noResponseFault,
  wrongMessageIdFault,
} from '../../../src/fault-kinds/ocpp.ts';
import { createOcppDisturber } from '../../../src/ocpp/faults/disturber.ts';
import type { DisturbableFrame, FrameDisturber } from '../../../src/ocpp/rpc/model.ts';
import { FaultBench } from '../../support/faults.ts';

const frame = (more: Partial<DisturbableFrame> = {}): DisturbableFrame => ({
  deviceIndex: 0,
  direction: 'out',
  type: 'call',
  action: 'StatusNotification',
  payload: { connectorId: 1, status: 'Charging', timestamp: '2026-06-21T08:00:00.000Z' },
  ...more,
});
const asked = frame({ direction: 'in', action: 'Reset', payload: { type: 'Soft' } });
const answer = frame({ type: 'result', action: 'Reset', payload: { status: 'Accepted' } });
const text = JSON.stringify([2, 'id-1', 'Reset', { type: 'Soft' }]);

describe('faults of OCPP charge points', () => {
  let bench: FaultBench;
  let disturber: FrameDisturber;
  /** devices at which conditions hold */
  let holding: readonly number[];
  beforeEach(() => {
    bench = new FaultBench([0, 1]);
    holding = [0, 1];
    disturber = createOcppDisturber({
      registry: bench.registry,
      holds: ({ facts: { when } }, index) => when === null || holding.includes(index),
    });
  });

  it('without faults nothing is asked, and nothing happens', () => {
    expect(disturber.active).to.equal(false);
    expect(disturber.disturb(frame())).to.equal(null);
    bench.inject(duplicateFault, {}, { count: 1 });
    expect(disturber.active).to.equal(true);
    expect(disturber.disturb(frame())).to.deep.equal({ twice: true });
    expect(disturber.active).to.equal(false);
  });

  it('drop_socket breaks the connection at the next message of either direction', () => {
    bench.inject(dropSocketFault, {}, { count: 2 });
    bench.inject(delayFault, { delay_ms: 5 });
    expect(disturber.disturb(asked)).to.deep.equal({ drop: true });
    expect(disturber.disturb(answer)).to.deep.equal({ drop: true });
    expect(disturber.disturb(answer)).to.deep.equal({ delayMs: 5 });
  });

  it('delay adds up, with a jitter between 0 and its parameter, and only to what is sent', () => {
    bench.inject(delayFault, { delay_ms: 100 });
    bench.inject(delayFault, { delay_ms: 200, jitter_ms: 50 });
    for (let n = 0; n < 20; n += 1) expect(disturber.disturb(frame())?.delayMs).to.be.within(300, 350);
    expect(disturber.disturb(asked)).to.equal(null);
  });

  it('no_response passes over the call, or only the answer of one that is carried out', () => {
    const fault = bench.inject(noResponseFault, {}, { target: { actions: ['Reset'] } });
    expect(disturber.disturb(asked)).to.deep.equal({ suppress: true });
    expect(disturber.disturb(answer)).to.equal(null);
    bench.registry.clear({ id: fault.facts.id });
    bench.inject(noResponseFault, { carried_out: true });
    expect(disturber.disturb(asked)).to.equal(null);
    expect(disturber.disturb(answer)).to.deep.equal({ suppress: true });
    expect(disturber.disturb(frame({ type: 'error', action: 'Reset' }))).to.deep.equal({ suppress: true });
    expect(disturber.disturb(frame())).to.equal(null);
  });

  it('call_error answers a call, with InternalError unless it has a code', () => {
    const fault = bench.inject(callErrorFault, {}, { count: 1 });
    expect(disturber.disturb(answer)).to.equal(null);
    expect(fault.occasions).to.equal(0);
    expect(disturber.disturb(asked)).to.deep.equal({ callError: { code: 'InternalError', description: '' } });
    bench.inject(callErrorFault, { code: 'Made', description: 'up' });
    expect(disturber.disturb(asked)).to.deep.equal({ callError: { code: 'Made', description: 'up' } });
  });

  it('ignore_call accepts what can be accepted, each variable by itself', () => {
    const fault = bench.inject(ignoreCallFault, {}, { count: 2 });
    expect(disturber.disturb(answer)).to.equal(null);
    expect(disturber.disturb({ ...asked, action: 'GetConfiguration', payload: {} })).to.equal(null);
    expect(fault.occasions).to.equal(0);
    expect(disturber.disturb(asked)).to.deep.equal({ pretence: { status: 'Accepted' } });
    const data = { component: { name: 'C' }, variable: { name: 'V' }, attributeValue: '1', attributeType: 'Target' };
    const set = { ...asked, action: 'SetVariables', payload: { setVariableData: [data] } };
    expect(disturber.disturb(set)).to.deep.equal({
      pretence: {
        setVariableResult: [
          {
            attributeStatus: 'Accepted',
            component: { name: 'C' },
            variable: { name: 'V' },
            attributeType: 'Target',
          },
        ],
      },
    });
    expect([fault.strikeCount, fault.end]).to.deep.equal([2, 'count']);
    expect(disturber.disturb(asked)).to.equal(null);
  });

  it('malformed spoils the text in each of its modes', () => {
    const spoilt = (mode: string) => {
      const fault = bench.inject(malformedFault, { mode });
      const rewritten = disturber.disturb(frame())?.rewrite?.(text);
      bench.registry.clear({ id: fault.facts.id });
      return rewritten;
    };
    expect(spoilt('truncated')).to.equal(text.slice(0, 17));
    expect(spoilt('not_array')).to.equal(JSON.stringify({ frame: JSON.parse(text) as unknown }));
    expect(spoilt('wrong_type')).to.equal('[9,"id-1","Reset",{"type":"Soft"}]');
    expect(spoilt('missing_payload')).to.equal('[2,"id-1","Reset"]');
    expect(spoilt('null_members')).to.equal('[2,"id-1","Reset",{"type":null}]');
    expect(spoilt('empty')).to.equal('');
  });

  it('malformed faults act one after the other, also on what is no frame any more', () => {
    bench.inject(malformedFault, { mode: 'truncated' });
    bench.inject(malformedFault, { mode: 'wrong_type' });
    expect(disturber.disturb(frame())?.rewrite?.(text)).to.equal(text.slice(0, 17));
  });

  it('wrong_message_id acts on answers, with an id of at most 36 characters', () => {
    bench.inject(wrongMessageIdFault, {}, { count: 1 });
    expect(disturber.disturb(frame())).to.equal(null);
    expect(disturber.disturb(answer)?.messageId).to.match(/^ffffffff-ffff-4fff-bfff-[0-9a-f]{12}$/);
    bench.inject(wrongMessageIdFault, { message_id: '-1' });
    expect(disturber.disturb(answer)).to.deep.equal({ messageId: '-1' });
  });

  it('missing_member takes members away at any depth; a payload without them is no occasion', () => {
    const fault = bench.inject(missingMemberFault, { members: ['timestamp', 'unit'] });
    const meterValue = [{ timestamp: 't', sampledValue: [{ value: '1', unit: 'Wh' }] }];
    expect(disturber.disturb(frame({ payload: { connectorId: 1, meterValue } }))).to.deep.equal({
      payload: { connectorId: 1, meterValue: [{ sampledValue: [{ value: '1' }] }] },
    });
    expect(disturber.disturb(answer)).to.equal(null);
    expect(fault.occasions).to.equal(1);
  });

  it('no_pong, flapping and clock_skew are asked for by device', () => {
    bench.inject(noPongFault, {}, { deviceIndex: 1, count: 1 });
    const flapping = bench.inject(flappingFault, { period_s: 2.5 }, { deviceIndex: 1, count: 1 });
    bench.inject(clockSkewFault, { skew_s: 3600 }, { deviceIndex: 1 });
    bench.inject(clockSkewFault, { skew_s: -600 });
    expect([disturber.noPong(0), disturber.noPong(1), disturber.noPong(1)]).to.deep.equal([false, true, false]);
    expect([disturber.dropsAfterMs(0), disturber.dropsAfterMs(1)]).to.deep.equal([null, 2500]);
    expect(flapping.occasions).to.equal(0);
    expect([disturber.drops(0), disturber.drops(1), disturber.drops(1)]).to.deep.equal([false, true, false]);
    expect(flapping.occasions).to.equal(1);
    expect([disturber.skewS(0), disturber.skewS(1)]).to.deep.equal([-600, 3000]);
  });

  it('meter_jump multiplies, then adds, in the order of the faults', () => {
    expect(disturber.readings(0, 1, 'MeterValues')).to.equal(null);
    bench.inject(meterJumpFault, { offset_wh: 5000 });
    bench.inject(
      meterJumpFault,
      { factor: 2, offset_wh: 1 },
      { target: { connectors: [1], actions: ['MeterValues'] } },
    );
    expect(disturber.readings(0, 1, 'MeterValues')).to.deep.equal({ factor: 2, offsetWh: 10_001 });
    expect(disturber.readings(0, 2, 'MeterValues')).to.deep.equal({ factor: 1, offsetWh: 5000 });
    expect(disturber.readings(0, 1, 'StopTransaction')).to.deep.equal({ factor: 1, offsetWh: 5000 });
  });

  it('actions and connectors select messages: connectorId of 1.6, the EVSE of 2.x', () => {
    bench.inject(duplicateFault, {}, { target: { connectors: [2] } });
    const met = (payload: DisturbableFrame['payload']) => disturber.disturb(frame({ payload })) !== null;
    expect(met({ connectorId: 2 })).to.equal(true);
    expect(met({ connectorId: 1 })).to.equal(false);
    expect(met({ evse: { id: 2, connectorId: 1 } })).to.equal(true);
    expect(met({ evseId: 2, connectorId: 1 })).to.equal(true);
    expect(met({})).to.equal(false);
    bench.inject(duplicateFault, {}, { target: { actions: ['Heartbeat'] } });
    expect(disturber.disturb(frame({ action: 'Heartbeat', payload: {} }))).to.deep.equal({ twice: true });
  });

  it('acts at its device, while its condition holds, for its duration', () => {
    bench.inject(duplicateFault, {}, { deviceIndex: 0, when: { point: '701.W', above: 1 }, durationS: 10 });
    expect(disturber.disturb(frame({ deviceIndex: 1 }))).to.equal(null);
    expect(disturber.disturb(frame())).to.deep.equal({ twice: true });
    holding = [];
    expect(disturber.disturb(frame())).to.equal(null);
    holding = [0];
    bench.pass(11);
    expect(disturber.disturb(frame())).to.equal(null);
  });

  it('calls back when faults of OCPP begin and end, not at those of others', () => {
    let calls = 0;
    const end = disturber.onChange(() => {
      calls += 1;
    });
    const fault = bench.inject(flappingFault);
    expect(calls).to.equal(1);
    bench.registry.inject([{ protocol: 'device', kind: 'ignore_effect' }], { source: 'rest', peer: 'test' });
    expect(calls).to.equal(1);
    bench.registry.clear({ id: fault.facts.id });
    expect(calls).to.equal(2);
    end();
    bench.inject(noPongFault);
    expect(calls).to.equal(2);
  });
});
