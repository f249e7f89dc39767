import { expect } from 'chai';
import { maxDerControls } from '../../../../src/ocpp/v201/der-controls/der-control.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { loadedRig, request, v2g } from './rig.ts';
import type { SetRequest } from './rig.ts';

const volt = request('C', 'VoltVar');
const curve = volt.curve ?? expect.fail('no curve');

/** A name of the case, a request, the status, and the reason code. */
type Case = readonly [what: string, request: SetRequest, status: string, reasonCode: string];

const refused: readonly Case[] = [
  [
    'FR.13: default with startTime',
    request('C', 'VoltVar', { isDefault: true, startTime: '2026-06-21T12:01:00Z' }),
    'Rejected',
    'UnsupportedParam',
  ],
  [
    'FR.13: default with duration',
    request('C', 'FixedVar', { isDefault: true, duration: 5 }),
    'Rejected',
    'UnsupportedParam',
  ],
  ['FR.15: scheduled EnterService', request('C', 'EnterService', { isDefault: false }), 'Rejected', 'InvalidValue'],
  ['FR.15: scheduled Gradients', request('C', 'Gradients', { isDefault: false }), 'Rejected', 'InvalidValue'],
  ['FR.16: no body', { isDefault: false, controlId: 'C', controlType: 'VoltVar' }, 'Rejected', 'MissingParam'],
  ['FR.16: body of another type', { ...request('C', 'FixedVar'), controlType: 'VoltVar' }, 'Rejected', 'MissingParam'],
  ['FR.17: two bodies', { ...request('C', 'FixedVar'), curve }, 'Rejected', 'TooManyElements'],
  [
    'the other power factor',
    { ...request('C', 'FixedPFInject'), controlType: 'FixedPFAbsorb' },
    'Rejected',
    'MissingParam',
  ],
  ['unit of the y axis', { ...volt, curve: { ...curve, yUnit: 'PctMaxW' } }, 'Rejected', 'InvalidValue'],
  [
    'unit of a trip',
    { ...request('C', 'LVMustTrip'), curve: { ...curve, yUnit: 'PctMaxVar' } },
    'Rejected',
    'InvalidValue',
  ],
  [
    'over already',
    request('C', 'FixedVar', { startTime: '2020-01-01T00:00:00Z', duration: 60 }),
    'Rejected',
    'InvalidValue',
  ],
  ['no duration', request('C', 'FixedVar', { duration: 0 }), 'Rejected', 'ValuePositiveOnly'],
  ['no voltage', { ...volt, curve: { ...curve, curveData: [{ x: 900, y: 0 }] } }, 'Rejected', 'ValueOutOfRange'],
  [
    'a curve that turns back',
    {
      ...request('C', 'HVMustTrip'),
      curve: {
        priority: 1,
        yUnit: 'Not_Applicable',
        curveData: [
          { x: 110, y: 1 },
          { x: 120, y: 9 },
        ],
      },
    },
    'Rejected',
    'InvalidValue',
  ],
  [
    'two voltages at one',
    {
      ...volt,
      curve: {
        ...curve,
        curveData: [
          { x: 95, y: 0 },
          { x: 94, y: 200 },
        ],
      },
    },
    'Rejected',
    'InvalidValue',
  ],
  [
    'power factor beyond the rating',
    { ...request('C', 'FixedPFInject'), fixedPFInject: { priority: 1, displacement: 0.5, excitation: true } },
    'Rejected',
    'InvalidValue',
  ],
  [
    'power factor 0',
    { ...request('C', 'FixedPFInject'), fixedPFInject: { priority: 1, displacement: 0, excitation: true } },
    'Rejected',
    'ValueOutOfRange',
  ],
  [
    'reactive power above 100 %',
    { ...request('C', 'FixedVar'), fixedVar: { priority: 1, setpoint: 101, unit: 'PctMaxVar' } },
    'Rejected',
    'ValueOutOfRange',
  ],
  [
    'unit of a reactive power',
    { ...request('C', 'FixedVar'), fixedVar: { priority: 1, setpoint: 1, unit: 'PctWAvail' } },
    'Rejected',
    'InvalidValue',
  ],
  [
    'an infinite number',
    { ...request('C', 'FixedVar'), fixedVar: { priority: 1, setpoint: Infinity, unit: 'PctMaxVar' } },
    'Rejected',
    'ValueOutOfRange',
  ],
  [
    'a droop on one side',
    {
      ...request('C', 'FreqDroop'),
      freqDroop: { priority: 1, overFreq: 59, underFreq: 58, overDroop: 0.05, underDroop: 0.05, responseTime: 1 },
    },
    'Rejected',
    'ValueOutOfRange',
  ],
  [
    'a droop without slope',
    {
      ...request('C', 'FreqDroop'),
      freqDroop: { priority: 1, overFreq: 60.1, underFreq: 59.9, overDroop: 0, underDroop: 0.05, responseTime: 1 },
    },
    'Rejected',
    'InvalidValue',
  ],
  [
    'a limit above 100 %',
    { ...request('C', 'LimitMaxDischarge'), limitMaxDischarge: { priority: 1, pctMaxDischargePower: 101 } },
    'Rejected',
    'ValueOutOfRange',
  ],
  [
    'a limit without value',
    { ...request('C', 'LimitMaxDischarge'), limitMaxDischarge: { priority: 1 } },
    'Rejected',
    'MissingParam',
  ],
  [
    'a limit with a trip',
    {
      ...request('C', 'LimitMaxDischarge'),
      limitMaxDischarge: {
        priority: 1,
        pctMaxDischargePower: 5,
        powerMonitoringMustTrip: { ...curve, yUnit: 'Not_Applicable' },
      },
    },
    'NotSupported',
    'UnsupportedParam',
  ],
  [
    'a gradient of weeks',
    { ...request('C', 'Gradients'), gradient: { priority: 1, gradient: 1e7, softGradient: 0 } },
    'Rejected',
    'ValueTooHigh',
  ],
  ['FreqWatt', { ...volt, controlType: 'FreqWatt' }, 'NotSupported', 'UnsupportedRequest'],
  ['WattPF', { ...volt, controlType: 'WattPF' }, 'NotSupported', 'UnsupportedRequest'],
  [
    'PowerMonitoringMustTrip',
    { ...volt, controlType: 'PowerMonitoringMustTrip' },
    'NotSupported',
    'UnsupportedRequest',
  ],
];

describe('OCPP 2.1 R04: messages of DER control', () => {
  it('SetDERControl: what is refused changes nothing', async () => {
    const rig = await loadedRig();
    const before = rig.kind.map.m705.Ena;
    for (const [what, given, status, reasonCode] of refused) {
      const reply = await rig.set(given);
      expect([reply.status, reply.statusInfo?.reasonCode], what).to.deep.equal([status, reasonCode]);
      expect(reply.statusInfo?.additionalInfo, what).to.be.a('string');
    }
    expect(rig.part.entries()).to.deep.equal([]);
    expect(rig.kind.map.m705.Ena).to.equal(before);
    expect(rig.findings.map(([clause]) => clause)).to.deep.equal(
      ['FR.13', 'FR.13', 'FR.15', 'FR.15', 'FR.16', 'FR.16', 'FR.17', 'FR.16'].map((rule) => `OCPP 2.1 R04.${rule}`),
    );
  });

  it('a station without bidirectional connector supports none of it, and 2.0.1 does not know it', async () => {
    for (const [profile, version] of [['EVSE-DC-150kW-CCS-1port', 'ocpp2.1'] as const, [v2g, 'ocpp2.0.1'] as const]) {
      const rig = await loadedRig({ profile, version });
      const part = rig.part;
      const after = () => undefined;
      expect((await part.handlers?.SetDERControl?.(volt, after))?.status).to.equal('NotSupported');
      expect((await part.handlers?.GetDERControl?.({ requestId: 1 }, after))?.status).to.equal('NotSupported');
      expect((await part.handlers?.ClearDERControl?.({ isDefault: true }, after))?.status).to.equal('NotSupported');
      expect(rig.variables.has('DCDERCtrlr', 'ModesSupported', { evseId: 1 })).to.equal(false);
      await rig.pass(5);
      rig.end();
    }
  });

  it('GetDERControl: filters are joined, reports follow the answer in lists of 24', async () => {
    const rig = await loadedRig();
    for (let i = 0; i < 30; i++)
      await rig.set(request(`F${i}`, 'FixedVar', { startTime: rig.at(100 + i * 10), duration: 10 }));
    await rig.set(request('D', 'FixedVar', { isDefault: true }));
    await rig.set(request('E', 'EnterService'));
    await rig.set(request('G', 'Gradients'));
    await rig.set(request('V', 'VoltVar', { isDefault: true }));
    const get = async (filter: Omit<Requests['GetDERControl'], 'requestId'>, requestId = 7) => {
      rig.line.calls.length = 0;
      const { status } = await rig.call('GetDERControl', { requestId, ...filter });
      return [status, ...rig.told('ReportDERControl').map((report) => summary(report))];
    };
    expect(await get({})).to.deep.equal([
      'Accepted',
      { requestId: 7, tbc: true, fixedVar: 24, enterService: 1, gradient: 1, curve: 1 },
      { requestId: 7, fixedVar: 7 },
    ]);
    expect(await get({ controlId: 'F3' }, 8)).to.deep.equal(['Accepted', { requestId: 8, fixedVar: 1 }]);
    expect(await get({ isDefault: true })).to.deep.equal([
      'Accepted',
      { requestId: 7, fixedVar: 1, enterService: 1, gradient: 1, curve: 1 },
    ]);
    expect(await get({ isDefault: true, controlType: 'FixedVar' })).to.deep.equal([
      'Accepted',
      { requestId: 7, fixedVar: 1 },
    ]);
    expect(await get({ isDefault: false, controlId: 'D' })).to.deep.equal(['NotFound']);
    expect(await get({ controlType: 'FreqDroop' })).to.deep.equal(['NotFound']);
    expect(await get({ controlType: 'WattPF' })).to.deep.equal(['NotSupported']);
    rig.line.calls.length = 0;
    await rig.call('GetDERControl', { requestId: 1, controlId: 'V' });
    expect(rig.told('ReportDERControl')).to.deep.equal([
      {
        requestId: 1,
        curve: [{ id: 'V', curveType: 'VoltVar', isDefault: true, isSuperseded: false, curve }],
      },
    ]);
  });

  it('ClearDERControl: by id with its stack, by type, all of a stack', async () => {
    const rig = await loadedRig();
    await rig.set(request('D', 'FixedVar', { isDefault: true }));
    await rig.set(request('S', 'FixedVar', { startTime: rig.at(50) }));
    await rig.set(request('V', 'VoltVar'));
    await rig.set(request('L', 'LimitMaxDischarge', { isDefault: true }));
    const clear = async (what: Requests['ClearDERControl']) => (await rig.call('ClearDERControl', what)).status;
    const ids = () => rig.part.entries().map(({ controlId }) => controlId);
    expect(await clear({ isDefault: false, controlId: 'D' })).to.equal('NotFound');
    expect(await clear({ isDefault: true, controlType: 'WattPF' })).to.equal('NotSupported');
    expect(await clear({ isDefault: true, controlType: 'WattPF', controlId: 'D' })).to.equal('NotFound');
    expect(await clear({ isDefault: true, controlType: 'FreqDroop' })).to.equal('NotFound');
    expect(await clear({ isDefault: true, controlId: 'D' })).to.equal('Accepted');
    expect(ids()).to.deep.equal(['S', 'V', 'L']);
    rig.line.calls.length = 0;
    expect(await clear({ isDefault: false, controlType: 'VoltVar' })).to.equal('Accepted');
    expect(rig.told('NotifyDERStartStop')).to.deep.equal([{ controlId: 'V', started: false, timestamp: 0 }]);
    expect(await clear({ isDefault: false })).to.equal('Accepted');
    expect(await clear({ isDefault: false })).to.equal('NotFound');
    expect(ids()).to.deep.equal(['L']);
  });

  it('supersededIds of answers and notices', async () => {
    const rig = await loadedRig();
    const set = async (...of: Parameters<typeof request>) => (await rig.set(request(...of))).supersededIds;
    expect(await set('D1', 'VoltVar', { isDefault: true, priority: 4 })).to.equal(undefined);
    expect(await set('D2', 'VoltVar', { isDefault: true, priority: 2 })).to.deep.equal(['D1']);
    expect(await set('D3', 'VoltVar', { isDefault: true, priority: 3 })).to.deep.equal(['D3']);
    await set('W', 'FixedVar', { priority: 5, startTime: rig.at(60), duration: 30 });
    await set('A', 'FixedVar', { priority: 5, duration: 100 });
    expect(await set('B', 'FixedVar', { priority: 2, startTime: rig.at(20), duration: 10 })).to.deep.equal(['W']);
    expect(await set('C', 'FixedVar', { priority: 9 })).to.deep.equal(['C']);
    await rig.pass(120, 10);
    expect(rig.told('NotifyDERStartStop')).to.deep.equal([
      { controlId: 'A', started: true, timestamp: 0 },
      { controlId: 'B', started: true, timestamp: 20, supersededIds: ['A'] },
      { controlId: 'B', started: false, timestamp: 30 },
    ]);
    const left = rig.part.entries().map(({ controlId, isSuperseded, state }) => [controlId, isSuperseded, state]);
    expect(left).to.deep.equal([
      ['D1', true, 'superseded'],
      ['D2', false, 'applied'],
      ['D3', true, 'superseded'],
      ['C', true, 'superseded'],
    ]);
  });

  it('the answer comes before the notice of a start', async () => {
    const rig = await loadedRig();
    let seen = -1;
    const reply = await rig.part.handlers?.SetDERControl?.(request('A', 'FixedVar'), (act) => {
      seen = rig.line.calls.length;
      act();
    });
    expect([reply?.status, seen]).to.deep.equal(['Accepted', 0]);
    expect(rig.line.of('NotifyDERStartStop')).to.have.lengthOf(1);
  });

  it('bounds the number of controls', async () => {
    const rig = await loadedRig();
    for (let i = 0; i < maxDerControls; i++)
      await rig.set(request(`F${i}`, 'FixedVar', { startTime: rig.at(1000 + i) }));
    expect((await rig.set(request('X', 'FixedVar'))).statusInfo?.reasonCode).to.equal('TooManyElements');
    // in place of itself there is room
    expect((await rig.set(request('F5', 'FixedVar', { startTime: rig.at(1000) }))).status).to.equal('Accepted');
  });
});

/** Lengths of the lists of a report. */
function summary(report: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(report).map(([name, value]) => [name, Array.isArray(value) ? value.length : value]),
  );
}
