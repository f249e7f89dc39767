import { expect } from 'chai';
import { createSignal, mergeHandlers } from '../../../src/ocpp/station/stack.ts';
import { actionsOf, createDispatch, directions, unsupported } from '../../../src/ocpp/v201/stack.ts';
import { createAvailability, createStatusReports } from '../../../src/ocpp/v201/availability.ts';
import { createReset } from '../../../src/ocpp/v201/provisioning/registration.ts';
import { createTrigger } from '../../../src/ocpp/v201/remote-control.ts';
import type { Part, Requests, Transaction } from '../../../src/ocpp/v201/parts.ts';
import type { CallError } from '../../../src/ocpp/rpc/model.ts';
import { noAnswer } from '../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { settled } from '../v16/fakes.ts';
import { rig } from './rig.ts';
import type { Rig, RigOptions } from './rig.ts';

const told = ({ line }: Rig) =>
  line.of('StatusNotification').map(({ evseId, connectorStatus }) => `${String(evseId)} ${String(connectorStatus)}`);

describe('OCPP 2.x StatusNotification (B01, B04, G01)', () => {
  function station(options?: RigOptions) {
    const parts = rig(options);
    parts.registration.end();
    const status = createStatusReports(parts.parts);
    return { ...parts, status };
  }

  it('tells all connectors after a boot, then each that changes, at the instant of its change', async () => {
    const s = station();
    s.device.change(1, { occupancy: 'occupied' });
    expect(told(s)).to.deep.equal([]);
    s.registration.accept({ booted: true });
    expect(told(s)).to.deep.equal(['1 Occupied', '2 Available']);
    await settled();
    s.device.change(2, { occupancy: 'faulted' });
    s.device.change(2, { occupancy: 'faulted', powerW: 5 });
    expect(told(s).slice(2)).to.deep.equal(['2 Faulted']);
    const [last] = s.line.of('StatusNotification').slice(-1);
    expect(last).to.include({ connectorId: 1, timestamp: '2026-06-21T08:00:00.000Z' });
  });

  it('after a short time without a connection only those that have changed or may not have arrived', async () => {
    const s = station();
    s.registration.accept({ booted: true });
    await settled();
    s.registration.end();
    s.device.change(2, { occupancy: 'unavailable' });
    await s.pass(5);
    s.registration.accept();
    expect(told(s).slice(2)).to.deep.equal(['2 Unavailable']);
    s.line.answers.set('StatusNotification', () => ({ kind: 'lost' }));
    s.device.change(1, { occupancy: 'occupied' });
    await settled();
    s.registration.end();
    s.registration.accept();
    expect(told(s).slice(3)).to.deep.equal(['1 Occupied', '1 Occupied']);
  });

  it('after more than OfflineThreshold all of them (B04.FR.01)', async () => {
    const s = station();
    s.variables.override('OCPPCommCtrlr', 'OfflineThreshold', '60');
    s.registration.accept({ booted: true });
    await settled();
    s.registration.end();
    await s.pass(60);
    s.registration.accept();
    expect(told(s)).to.have.length(2);
    await settled();
    s.registration.end();
    await s.pass(61);
    s.registration.accept();
    expect(told(s).slice(2)).to.deep.equal(['1 Available', '2 Available']);
  });

  it('is sent on request for one EVSE or all, and stops listening at the end', () => {
    const s = station();
    s.registration.accept({ booted: true });
    s.status.part.triggers?.StatusNotification?.(2);
    s.status.announce();
    expect(told(s).slice(2)).to.deep.equal(['2 Available', '1 Available', '2 Available']);
    s.status.part.stop?.();
    expect(s.device.listening).to.equal(0);
  });
});

describe('OCPP 2.x ChangeAvailability (G03, G04)', () => {
  it('sets the station, an EVSE or its connector; what there is not is Rejected', async () => {
    const s = rig();
    const { part, ...states } = createAvailability(s.parts);
    const change = async (
      operationalStatus: 'Operative' | 'Inoperative',
      evse?: { id: number; connectorId?: number },
    ) => (await s.ask(part, 'ChangeAvailability', { operationalStatus, ...(evse && { evse }) })).status;
    const operative = () => s.device.port.detail.connectors.map((each) => each.operative);
    expect(await change('Inoperative', { id: 2, connectorId: 1 })).to.equal('Accepted');
    expect([operative(), states.operative(2)]).to.deep.equal([[true, false], false]);
    expect(await change('Inoperative', { id: 2, connectorId: 2 })).to.equal('Rejected');
    expect(await change('Inoperative', { id: 3 })).to.equal('Rejected');
    s.device.change(1, { session: { state: 'active' } as never });
    expect(await change('Inoperative')).to.equal('Scheduled');
    expect(operative()).to.deep.equal([false, false]);
    expect(await change('Operative')).to.equal('Accepted');
    expect(operative()).to.deep.equal([true, true]);
  });
});

describe('OCPP 2.x Reset (B11, B12)', () => {
  function station() {
    const s = rig();
    const ended = createSignal<Transaction>(silentLogger);
    const running: Transaction[] = [];
    const stops: string[] = [];
    const part = createReset(s.parts, {
      transactions: {
        running,
        stopAll: ({ reason, trigger }) => {
          stops.push(`${reason} ${trigger}`);
          running.length = 0;
        },
        onEnded: (listener) => ended.on(listener),
      },
    });
    const reset = async (type: 'Immediate' | 'OnIdle' | 'ImmediateAndResume', evseId?: number) =>
      (await s.ask(part, 'Reset', { type, ...(evseId !== undefined && { evseId }) })).status;
    return { ...s, part, running, stops, ended, reset };
  }

  it('Immediate ends the transactions, then the connection', async () => {
    const s = station();
    s.running.push({} as Transaction);
    expect(await s.reset('Immediate')).to.equal('Accepted');
    await settled();
    expect(s.stops).to.deep.equal(['ImmediateReset ResetCommand']);
    expect(s.connection.done).to.deep.equal(['restart: Reset Immediate of the central system']);
  });

  it('OnIdle waits for the last transaction', async () => {
    const s = station();
    s.running.push({} as Transaction);
    expect(await s.reset('OnIdle')).to.equal('Scheduled');
    await settled();
    expect(s.connection.done).to.deep.equal([]);
    s.running.length = 0;
    s.ended.emit({} as Transaction);
    await settled();
    expect(s.connection.done).to.deep.equal(['restart: Reset OnIdle of the central system']);
    expect(await s.reset('OnIdle')).to.equal('Accepted');
  });

  it('is refused for one EVSE, with resumption, and while the device is off', async () => {
    const s = station();
    expect(await s.reset('Immediate', 1)).to.equal('Rejected');
    expect(await s.reset('ImmediateAndResume')).to.equal('Rejected');
    s.device.dark = true;
    expect(await s.reset('Immediate')).to.equal('Rejected');
    await settled();
    expect(s.connection.done).to.deep.equal([]);
    s.part.stop?.();
    expect([s.device.listening, s.timers.nextMs]).to.deep.equal([0, Infinity]);
  });
});

describe('OCPP 2.x TriggerMessage (F06)', () => {
  function station() {
    const s = rig();
    const sent: string[] = [];
    const part = createTrigger(
      s.parts,
      {
        BootNotification: () => sent.push('boot'),
        Heartbeat: () => sent.push('heartbeat'),
        MeterValues: (evseId) => sent.push(`meter ${String(evseId)}`),
        StatusNotification: (evseId) => sent.push(`status ${String(evseId)}`),
      },
      (message) => message === 'Heartbeat',
    );
    const trigger = async (
      requestedMessage: Requests['TriggerMessage']['requestedMessage'],
      id?: number,
      connectorId?: number,
    ) => {
      const evse = id !== undefined && { evse: { id, ...(connectorId !== undefined && { connectorId }) } };
      return (await s.ask(part, 'TriggerMessage', { requestedMessage, ...evse })).status;
    };
    return { ...s, sent, trigger };
  }

  it('sends what it can after the answer, for the EVSE that was named', async () => {
    const s = station();
    expect(await s.trigger('MeterValues')).to.equal('Accepted');
    expect(await s.trigger('MeterValues', 2)).to.equal('Accepted');
    expect(await s.trigger('MeterValues', 0)).to.equal('Accepted');
    expect(s.sent).to.deep.equal(['meter undefined', 'meter 2', 'meter undefined']);
  });

  it('refuses a BootNotification of an accepted station, unknown EVSEs, and what cannot be sent', async () => {
    const s = station();
    expect(await s.trigger('BootNotification')).to.equal('Rejected');
    expect(await s.trigger('MeterValues', 3)).to.equal('Rejected');
    expect(await s.trigger('Heartbeat')).to.equal('Rejected');
    expect(await s.trigger('LogStatusNotification')).to.equal('NotImplemented');
    s.registration.end();
    expect(await s.trigger('BootNotification')).to.equal('Accepted');
    expect(s.sent).to.deep.equal(['boot']);
  });

  it('a status is that of a connector: both EVSE and connector are to be named (F06.FR.12)', async () => {
    const s = station();
    expect(await s.trigger('StatusNotification')).to.equal('Rejected');
    expect(await s.trigger('StatusNotification', 0)).to.equal('Rejected');
    expect(await s.trigger('StatusNotification', 1)).to.equal('Rejected');
    expect(s.findings).to.have.length(3);
    expect(await s.trigger('StatusNotification', 1, 2)).to.equal('Rejected');
    expect(await s.trigger('StatusNotification', 2, 1)).to.equal('Accepted');
    expect(s.sent).to.deep.equal(['status 2']);
  });
});

describe('OCPP 2.x calls of the central system', () => {
  function station(status: 'none' | 'pending' | 'accepted' | 'rejected', version: RigOptions['version'] = 'ocpp2.0.1') {
    const s = rig({ version });
    let isEnding = false;
    const handle = createDispatch({
      version: s.parts.version,
      finding: s.parts.finding,
      registration: { status, booting: false },
      handlers: mergeHandlers([{ handlers: { ClearCache: () => ({ status: 'Accepted' }) } }]),
      isEnding: () => isEnding,
    });
    const call = async (action: string): Promise<unknown> => {
      try {
        return await handle(action, {}, () => undefined);
      } catch (error) {
        return (error as CallError).code;
      }
    };
    return {
      ...s,
      call,
      end: () => {
        isEnding = true;
      },
    };
  }

  it('are refused with SecurityError before the registration is accepted, with a finding', async () => {
    for (const status of ['none', 'rejected'] as const) {
      const s = station(status);
      expect(await s.call('ClearCache')).to.equal('SecurityError');
      expect(s.findings).to.have.length(1);
    }
  });

  it('start and stop nothing while Pending (B02.FR.05)', async () => {
    const s = station('pending');
    expect(await s.call('ClearCache')).to.deep.equal({ status: 'Accepted' });
    const dispatch = createDispatch({
      version: 'ocpp2.1',
      finding: s.parts.finding,
      registration: { status: 'pending', booting: false },
      handlers: { RequestStopTransaction: () => ({ status: 'Accepted' }) },
      isEnding: () => false,
    });
    expect(await dispatch('RequestStopTransaction', { transactionId: 'x' }, () => undefined)).to.include({
      status: 'Rejected',
    });
    expect(s.findings.map(([clause]) => clause)).to.deep.equal(['OCPP 2.1 B02.FR.05']);
  });

  it('that only stations send, or that are not supported, are told apart from unknown ones', async () => {
    const s = station('accepted');
    expect(await s.call('Heartbeat')).to.equal('NotSupported');
    expect(await s.call('PublishFirmware')).to.equal('NotSupported');
    expect(await s.call('FooBar')).to.equal('NotImplemented');
    expect(await s.call('toString')).to.equal('NotImplemented');
    expect(s.findings).to.have.length(1);
    s.end();
    expect(await s.call('ClearCache')).to.equal(noAnswer);
  });

  it('have one handler each', () => {
    const part: Part = { handlers: { ClearCache: () => ({ status: 'Accepted' }) } };
    expect(() => mergeHandlers([part, part])).to.throw('two parts answer ClearCache');
  });

  it('the table of actions has each action of the schemas, and each version its own', () => {
    expect(Object.keys(directions)).to.have.length(90);
    expect([actionsOf('ocpp2.0.1').length, actionsOf('ocpp2.1').length]).to.deep.equal([64, 90]);
    for (const action of Object.keys(directions)) {
      expect(payloadChecks.knows('ocpp2.1', action), action).to.equal(true);
      expect(payloadChecks.knows('ocpp2.0.1', action), action).to.equal(
        actionsOf('ocpp2.0.1').includes(action as never),
      );
    }
    for (const action of Object.keys(unsupported)) expect(directions[action as never]).to.equal('central');
  });
});
