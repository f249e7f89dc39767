import { expect } from 'chai';
import type { CallOutcome } from '../../../../src/ocpp/rpc/model.ts';
import type { PeriodicEventStreamParams, Sends } from '../../../../src/ocpp/v201/messages.ts';
import { monitoringRig, monitorOf, settled } from './rig.ts';
import type { MonitoringRig } from './rig.ts';

type Message = Sends['NotifyPeriodicEventStream'];

const answer = (status: 'Accepted' | 'Rejected') => (): CallOutcome => ({
  kind: 'result',
  payload: { status },
  durationMs: 0,
});

async function streamRig(open: 'Accepted' | 'Rejected' = 'Accepted'): Promise<MonitoringRig> {
  const rig = await monitoringRig();
  rig.line.answers.set('OpenPeriodicEventStream', answer(open));
  rig.meters.set(1, { powerW: 3000 });
  return rig;
}

const periodic = (periodicEventStream: PeriodicEventStreamParams, value = 1) =>
  monitorOf({ type: 'Periodic', value, periodicEventStream });

const messages = ({ streamed }: MonitoringRig) => streamed.map(([, payload]) => payload as unknown as Message);

async function opened(rig: MonitoringRig, params: PeriodicEventStreamParams, value = 1): Promise<number> {
  const id = await rig.accepted(periodic(params, value));
  await settled();
  return id;
}

const streams = async (rig: MonitoringRig) =>
  (await rig.ask(rig.streams, 'GetPeriodicEventStream', {})).constantStreamData ?? [];

describe('OCPP 2.1: periodic event streams (N11 to N15)', () => {
  it('N11: opens a stream for a periodic monitor that asks for one, after the answer', async () => {
    const rig = await streamRig();
    const id = await opened(rig, { interval: 10, values: 30 });
    expect(rig.line.of('OpenPeriodicEventStream')).to.deep.equal([
      { constantStreamData: { id: 1, variableMonitoringId: id, params: { interval: 10, values: 30 } } },
    ]);
    expect(await streams(rig)).to.deep.equal([
      { id: 1, variableMonitoringId: id, params: { interval: 10, values: 30 } },
    ]);
  });

  it('N15: sends the values of an interval in one message, and no events', async () => {
    const rig = await streamRig();
    await opened(rig, { interval: 10, values: 30 });
    await rig.pass(30.5);
    const counts = messages(rig).map(({ data }) => data.length);
    expect(counts).to.have.length(3);
    for (const count of counts) expect(count).to.be.oneOf([9, 10]);
    const [first] = messages(rig);
    expect(first).to.include({ id: 1, pending: 0, basetime: '2026-06-21T08:00:01.000Z' });
    expect(first?.data.slice(0, 2)).to.deep.equal([
      { t: 0, v: '3000' },
      { t: 1, v: '3000' },
    ]);
    expect(rig.events()).to.be.empty;
  });

  it('N15: sends as soon as there are enough values', async () => {
    const rig = await streamRig();
    await opened(rig, { interval: 60, values: 5 });
    await rig.pass(11);
    expect(messages(rig).map(({ data }) => data.length)).to.deep.equal([5, 5]);
  });

  it('without interval and number each value is a message', async () => {
    const rig = await streamRig();
    await opened(rig, {});
    await rig.pass(3.5);
    expect(messages(rig).map(({ data }) => data.length)).to.deep.equal([1, 1, 1]);
  });

  it('N11: without a stream, as the central system refuses it, the values go out as events', async () => {
    const rig = await streamRig('Rejected');
    await opened(rig, { interval: 10, values: 30 });
    await rig.pass(11.5);
    expect(rig.streamed).to.be.empty;
    expect(rig.events()).to.have.length(11);
    expect(await streams(rig)).to.be.empty;
  });

  it('a central system that does not know streams gets events', async () => {
    const rig = await streamRig();
    rig.line.answers.set('OpenPeriodicEventStream', () => ({
      kind: 'error',
      code: 'NotImplemented',
      description: '',
      details: {},
      durationMs: 0,
    }));
    await opened(rig, { interval: 10 });
    await rig.pass(2.5);
    expect(rig.events()).to.have.length(2);
    rig.registration.end();
    rig.registration.accept();
    await settled();
    expect(rig.line.of('OpenPeriodicEventStream')).to.have.length(1);
  });

  it('N13: closes the stream with its monitor, after the values that wait', async () => {
    const rig = await streamRig();
    const id = await opened(rig, { interval: 10 });
    await rig.pass(3.5);
    await rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: [id] });
    await settled();
    expect(messages(rig).map(({ data }) => data.length)).to.deep.equal([3]);
    expect(rig.line.of('ClosePeriodicEventStream')).to.deep.equal([{ id: 1 }]);
    await rig.pass(30);
    expect(messages(rig)).to.have.length(1);
    expect(rig.timers.waiting).to.equal(0);
  });

  it('N13: closes it when the monitor is set without a stream; events follow', async () => {
    const rig = await streamRig();
    const id = await opened(rig, { interval: 10 });
    await rig.set({ ...monitorOf({ type: 'Periodic', value: 1 }), id });
    await settled();
    expect(rig.line.of('ClosePeriodicEventStream')).to.deep.equal([{ id: 1 }]);
    await rig.pass(2.5);
    expect(rig.events()).to.have.length(2);
  });

  it('N13: the monitoring base closes streams too', async () => {
    const rig = await streamRig();
    await opened(rig, { interval: 10 });
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'FactoryDefault' });
    await settled();
    expect(rig.line.of('ClosePeriodicEventStream')).to.have.length(1);
  });

  it('N14: adjusts the interval; members that are not given stay', async () => {
    const rig = await streamRig();
    await opened(rig, { interval: 10, values: 100 });
    await rig.pass(2.5);
    const { status } = await rig.ask(rig.streams, 'AdjustPeriodicEventStream', { id: 1, params: { interval: 15 } });
    expect(status).to.equal('Accepted');
    expect((await streams(rig))[0]?.params).to.deep.equal({ interval: 15, values: 100 });
    await rig.pass(30.5);
    expect(messages(rig).map(({ data }) => data.length)).to.deep.equal([17, 15]);
  });

  it('N14: adjusting the number sends what is enough now', async () => {
    const rig = await streamRig();
    await opened(rig, { values: 100 });
    await rig.pass(5.5);
    await rig.ask(rig.streams, 'AdjustPeriodicEventStream', { id: 1, params: { values: 2 } });
    expect(messages(rig).map(({ data }) => data.length)).to.deep.equal([5]);
  });

  it('N14: refuses a stream that is not open', async () => {
    const rig = await streamRig();
    const { status } = await rig.ask(rig.streams, 'AdjustPeriodicEventStream', { id: 1, params: { interval: 15 } });
    expect(status).to.equal('Rejected');
  });

  it('offline, values of severe monitors wait, and pending counts what follows', async () => {
    const rig = await streamRig();
    await opened(rig, { values: 250 });
    rig.registration.end();
    await rig.pass(250.5);
    expect(rig.streamed).to.be.empty;
    rig.registration.accept();
    await settled();
    expect(messages(rig).map(({ data, pending }) => [data.length, pending])).to.deep.equal([
      [100, 150],
      [100, 50],
      [50, 0],
    ]);
    expect(rig.line.of('OpenPeriodicEventStream')).to.have.length(1);
  });

  it('offline, values of monitors that are not severe enough are lost', async () => {
    const rig = await streamRig();
    await rig.accepted({ ...periodic({ interval: 10 }), severity: 8 });
    await settled();
    await rig.pass(5.5);
    rig.registration.end();
    await rig.pass(30);
    rig.registration.accept();
    await rig.pass(10);
    expect(messages(rig)).to.have.length(1);
    // before and after the time offline
    expect(
      messages(rig)[0]
        ?.data.map(({ t }) => t)
        .filter((t) => t > 4 && t < 35),
    ).to.be.empty;
  });

  it('opens again what the central system does not know any more after a boot', async () => {
    const rig = await streamRig();
    const id = await opened(rig, { interval: 10 });
    const { id: adjusted = 0 } = (await streams(rig))[0] ?? {};
    await rig.ask(rig.streams, 'AdjustPeriodicEventStream', { id: adjusted, params: { interval: 20 } });
    rig.registration.end();
    rig.registration.accept({ booted: true });
    await settled();
    expect(rig.line.of('OpenPeriodicEventStream')).to.have.length(2);
    const next = await rig.restart();
    await settled();
    expect(next.line.of('OpenPeriodicEventStream').at(-1)).to.deep.equal({
      constantStreamData: { id: 1, variableMonitoringId: id, params: { interval: 20 } },
    });
  });

  it('tells that a stream has ended also after the connection was lost', async () => {
    const rig = await streamRig();
    const id = await opened(rig, { interval: 10 });
    rig.line.answers.set('ClosePeriodicEventStream', () => ({ kind: 'lost' }));
    await rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: [id] });
    await settled();
    rig.line.answers.delete('ClosePeriodicEventStream');
    rig.registration.end();
    rig.registration.accept();
    await settled();
    expect(rig.line.of('ClosePeriodicEventStream')).to.deep.equal([{ id: 1 }, { id: 1 }]);
  });

  it('N11: only periodic monitors have streams, and only so many', async () => {
    const rig = await streamRig();
    const [delta] = await rig.set({ ...monitorOf({ type: 'Delta', value: 1 }), periodicEventStream: { interval: 5 } });
    expect(delta?.status).to.equal('Rejected');
    rig.variables.set('MonitoringCtrlr', 'MaxPeriodicEventStreams', '1');
    const results = await rig.set(
      { ...periodic({ interval: 5 }), severity: 1 },
      { ...periodic({ interval: 5 }), severity: 2 },
      monitorOf({ type: 'Periodic', value: 5, severity: 3 }),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(['Accepted', 'Rejected', 'Accepted']);
  });
});
