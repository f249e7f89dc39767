import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import type { SetMonitoringData } from '../../../../src/ocpp/v201/messages.ts';
import { monitoringRig, monitorOf, settled } from './rig.ts';

const upper = (patch: Partial<SetMonitoringData> = {}) =>
  monitorOf({ type: 'UpperThreshold', value: 10_000, ...patch });

async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
  return 'none';
}

describe('OCPP 2.x: SetVariableMonitoring (N04)', () => {
  it('N04.FR.01, FR.08, FR.11: sets each monitor and makes an id for it', async () => {
    const rig = await monitoringRig();
    const results = await rig.set(upper(), monitorOf({ type: 'LowerThreshold', value: 1 }));
    expect(results.map(({ status }) => status)).to.deep.equal(['Accepted', 'Accepted']);
    expect(new Set(results.map(({ id }) => id)).size).to.equal(2);
  });

  it('N04.FR.03, FR.04: names what there is not', async () => {
    const rig = await monitoringRig();
    const results = await rig.set(
      upper({ component: { name: 'Nothing' } }),
      upper({ component: { name: 'EVSE', evse: { id: 9 } } }),
      upper({ variable: { name: 'Nothing' } }),
      upper({ component: { name: 'evse', evse: { id: 1 } }, variable: { name: 'POWER' } }),
    );
    expect(results.map(({ status }) => status)).to.deep.equal([
      'UnknownComponent',
      'UnknownComponent',
      'UnknownVariable',
      'Accepted',
    ]);
  });

  it('N04.FR.05: thresholds need numbers, and the variable must support monitors', async () => {
    const rig = await monitoringRig();
    const results = await rig.set(
      upper({ variable: { name: 'AvailabilityState' } }),
      monitorOf({ type: 'TargetDelta', value: 1, variable: { name: 'ACVoltage' } }),
      monitorOf({ type: 'Delta', value: 1, component: { name: 'MonitoringCtrlr' }, variable: { name: 'Enabled' } }),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(Array(3).fill('UnsupportedMonitorType'));
  });

  it('N04.FR.06, FR.14: refuses values that cannot be', async () => {
    const rig = await monitoringRig();
    const results = await rig.set(
      upper({ value: 1e9 }),
      monitorOf({ type: 'Delta', value: -1 }),
      monitorOf({ type: 'Periodic', value: 0 }),
      monitorOf({ type: 'PeriodicClockAligned', value: 1e12 }),
      upper({ severity: 10 }),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(Array(5).fill('Rejected'));
  });

  it('N04.FR.10: no second monitor of one type and severity', async () => {
    const rig = await monitoringRig();
    const results = await rig.set(upper(), upper({ value: 11_000 }), upper({ value: 11_000, severity: 5 }));
    expect(results.map(({ status }) => status)).to.deep.equal(['Accepted', 'Duplicate', 'Accepted']);
  });

  it('N04.FR.12, FR.13, FR.16: an id puts a monitor in place of its own', async () => {
    const rig = await monitoringRig();
    const id = await rig.accepted(upper());
    const results = await rig.set(
      upper({ id, value: 12_000 }),
      upper({ id: 4711 }),
      upper({ id, component: { name: 'EVSE', evse: { id: 2 } } }),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(['Accepted', 'Rejected', 'Rejected']);
    await rig.ask(rig.monitoring, 'GetMonitoringReport', {
      requestId: 1,
      monitoringCriteria: ['ThresholdMonitoring'],
    });
    expect(rig.reports('NotifyMonitoringReport')[0]?.['monitor']).to.deep.equal([
      {
        component: { name: 'EVSE', evse: { id: 1 } },
        variable: { name: 'Power' },
        variableMonitoring: [
          {
            id,
            transaction: false,
            value: 12_000,
            type: 'UpperThreshold',
            severity: 4,
            eventNotificationType: 'CustomMonitor',
          },
        ],
      },
    ]);
  });

  it('N04.FR.18, N06.FR.03: a hard-wired monitor stays as it is', async () => {
    const rig = await monitoringRig();
    await rig.ask(rig.monitoring, 'GetMonitoringReport', {
      requestId: 1,
      componentVariable: [{ component: { name: 'ChargingStation' } }],
    });
    const id = hardWiredId(rig.reports('NotifyMonitoringReport'));
    const [result] = await rig.set({
      id,
      type: 'Delta',
      value: 1,
      severity: 9,
      component: { name: 'ChargingStation' },
      variable: { name: 'Problem' },
    });
    expect(result).to.include({ status: 'Rejected', id });
    const cleared = await rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: [id, 4711] });
    expect(cleared.clearMonitoringResult.map(({ status }) => status)).to.deep.equal(['Rejected', 'NotFound']);
  });

  it('N04.FR.09, N06.FR.06 and FR.07: refuses messages above its limits, and tells the finding', async () => {
    const rig = await monitoringRig();
    const items = rig.variables.integer('MonitoringCtrlr', 'ItemsPerMessage[SetVariableMonitoring]');
    expect(await codeOf(rig.set(...Array<SetMonitoringData>(items + 1).fill(upper())))).to.equal(
      'OccurrenceConstraintViolation',
    );
    const long = upper({ component: { name: 'EVSE', instance: 'x'.repeat(50) } });
    rig.variables.set('MonitoringCtrlr', 'BytesPerMessage[SetVariableMonitoring]', '100');
    expect(await codeOf(rig.set(long))).to.equal('FormatViolation');
    const ids = Array.from({ length: 51 }, (_, i) => i);
    expect(await codeOf(rig.ask(rig.monitoring, 'ClearVariableMonitoring', { id: ids }))).to.equal(
      'OccurrenceConstraintViolation',
    );
    expect(rig.findings.map(([clause]) => clause)).to.deep.equal([
      'OCPP 2.1 N04.FR.09',
      'OCPP 2.1 N04.FR.09',
      'OCPP 2.1 N06.FR.04',
    ]);
  });

  it('keeps a bounded number of monitors', async () => {
    const rig = await monitoringRig();
    const many = (severity: number, evseId: number, type: SetMonitoringData['type'], variable: string) =>
      monitorOf({
        type,
        value: 5,
        severity,
        component: { name: 'EVSE', evse: { id: evseId } },
        variable: { name: variable },
      });
    const all = (['Delta', 'Periodic', 'LowerThreshold', 'UpperThreshold', 'PeriodicClockAligned'] as const).flatMap(
      (type) =>
        ['Power', 'ACVoltage', 'ACCurrent'].flatMap((variable) =>
          Array.from({ length: 20 }, (_, i) => many(i % 10, 1 + Math.floor(i / 10), type, variable)),
        ),
    );
    const statuses: string[] = [];
    for (let from = 0; from < all.length; from += 50)
      statuses.push(...(await rig.set(...all.slice(from, from + 50))).map(({ status }) => status));
    expect(statuses.filter((status) => status === 'Accepted')).to.have.length(200);
    expect(statuses.filter((status) => status === 'Rejected')).to.have.length(100);
    rig.monitoring.stop();
  });
});

describe('OCPP 2.x: monitoring base, level and report (N02, N03, N05)', () => {
  const preconfigured = {
    component: { name: 'Connector', evse: { id: 1, connectorId: 1 } },
    variable: { name: 'Problem' },
  };

  it('N03.FR.03 to FR.05: the base brings monitors of the factory back, or leaves the hard-wired ones', async () => {
    const rig = await monitoringRig();
    await rig.accepted(upper());
    const kinds = async (): Promise<readonly string[]> => {
      rig.line.calls.length = 0;
      await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 1 });
      return kindsOf(rig.reports('NotifyMonitoringReport'));
    };
    expect(await kinds()).to.deep.equal([
      'CustomMonitor',
      'PreconfiguredMonitor',
      'PreconfiguredMonitor',
      'HardWiredMonitor',
    ]);
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'HardWiredOnly' });
    expect(await kinds()).to.deep.equal(['HardWiredMonitor']);
    expect(rig.variables.text('MonitoringCtrlr', 'ActiveMonitoringBase')).to.equal('HardWiredOnly');
    await rig.accepted(upper());
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'All' });
    expect(await kinds())
      .to.have.length(4)
      .and.include('CustomMonitor');
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'FactoryDefault' });
    expect(await kinds())
      .to.have.length(3)
      .and.not.include('CustomMonitor');
  });

  it('N04.FR.15: one that replaces a preconfigured monitor is custom until the base is set', async () => {
    const rig = await monitoringRig();
    const id = await preconfiguredId(rig);
    await rig.accepted({ ...preconfigured, id, type: 'Delta', value: 1, severity: 6 });
    const kind = async () => {
      rig.line.calls.length = 0;
      await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 1, componentVariable: [preconfigured] });
      return kindsOf(rig.reports('NotifyMonitoringReport'));
    };
    expect(await kind()).to.deep.equal(['CustomMonitor']);
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'All' });
    expect(await kind()).to.deep.equal(['CustomMonitor']);
    await rig.ask(rig.monitoring, 'SetMonitoringBase', { monitoringBase: 'FactoryDefault' });
    expect(await kind()).to.deep.equal(['PreconfiguredMonitor']);
  });

  it('N02: filters by criteria and by names, and sends parts in order', async () => {
    const rig = await monitoringRig();
    await rig.set(
      upper(),
      monitorOf({ type: 'Periodic', value: 60 }),
      monitorOf({ type: 'Delta', value: 60, component: { name: 'EVSE', evse: { id: 2 } } }),
    );
    const counted = async (filter: object): Promise<string | number> => {
      rig.line.calls.length = 0;
      const { status } = await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 7, ...filter });
      await settled();
      return status === 'Accepted' ? kindsOf(rig.reports('NotifyMonitoringReport')).length : status;
    };
    expect(await counted({ monitoringCriteria: ['ThresholdMonitoring'] })).to.equal(1);
    expect(await counted({ monitoringCriteria: ['PeriodicMonitoring', 'ThresholdMonitoring'] })).to.equal(2);
    expect(await counted({ componentVariable: [{ component: { name: 'evse' } }] })).to.equal(3);
    expect(await counted({ componentVariable: [{ component: { name: 'EVSE', evse: { id: 2 } } }] })).to.equal(1);
    expect(
      await counted({
        monitoringCriteria: ['DeltaMonitoring'],
        componentVariable: [{ component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' } }],
      }),
    ).to.equal('EmptyResultSet');
    expect(await counted({ componentVariable: [{ component: { name: 'Nothing' } }] })).to.equal('EmptyResultSet');
  });

  it('N02.FR.09: a long report comes in parts', async () => {
    const rig = await monitoringRig();
    const variables = ['ACVoltage', 'ACCurrent'].flatMap((name) => [
      { name },
      ...['L1', 'L2', 'L3'].map((instance) => ({ name, instance })),
    ]);
    for (const evseId of [1, 2])
      await rig.set(
        ...[...variables, { name: 'Power' }].map((variable) =>
          monitorOf({ type: 'Delta', value: 1, component: { name: 'EVSE', evse: { id: evseId } }, variable }),
        ),
      );
    await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 7 });
    await settled();
    const parts = rig.reports('NotifyMonitoringReport');
    expect(parts.map(({ requestId, seqNo, tbc }) => [requestId, seqNo, tbc])).to.deep.equal([
      [7, 0, true],
      [7, 1, undefined],
    ]);
    expect(kindsOf(parts)).to.have.length(21);
  });

  it('2.0.1 reports no kind of a monitor', async () => {
    const rig = await monitoringRig('ocpp2.0.1');
    await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 1 });
    expect(JSON.stringify(rig.reports('NotifyMonitoringReport'))).to.not.include('eventNotificationType');
    expect(rig.reports('NotifyMonitoringReport')).to.have.length(1);
  });

  it('N05.FR.02: a level above 9 is refused', async () => {
    const rig = await monitoringRig();
    const { status } = await rig.ask(rig.monitoring, 'SetMonitoringLevel', { severity: 10 });
    expect(status).to.equal('Rejected');
    expect(rig.findings).to.have.length(1);
    expect(rig.variables.integer('MonitoringCtrlr', 'ActiveMonitoringLevel')).to.equal(9);
  });
});

type Reports = ReturnType<Awaited<ReturnType<typeof monitoringRig>>['reports']>;
interface Reported {
  readonly variableMonitoring: readonly { readonly id: number; readonly eventNotificationType: string }[];
}

function monitoringsOf(reports: Reports) {
  return reports.flatMap(({ monitor }) => monitor as readonly Reported[]).flatMap((each) => each.variableMonitoring);
}

function kindsOf(reports: Reports): readonly string[] {
  return monitoringsOf(reports).map((each) => each.eventNotificationType);
}

function hardWiredId(reports: Reports): number {
  return monitoringsOf(reports).find((each) => each.eventNotificationType === 'HardWiredMonitor')?.id ?? NaN;
}

async function preconfiguredId(rig: Awaited<ReturnType<typeof monitoringRig>>): Promise<number> {
  await rig.ask(rig.monitoring, 'GetMonitoringReport', { requestId: 1 });
  const all = monitoringsOf(rig.reports('NotifyMonitoringReport'));
  return all.find((each) => each.eventNotificationType === 'PreconfiguredMonitor')?.id ?? NaN;
}
