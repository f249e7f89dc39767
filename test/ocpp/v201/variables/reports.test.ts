import { expect } from 'chai';
import { CallError } from '../../../../src/ocpp/rpc/model.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { createReports } from '../../../../src/ocpp/v201/variables/reports.ts';
import type { VariableRow } from '../../../../src/ocpp/v201/variables/model.ts';
import { settled } from '../../v16/fakes.ts';
import { storeRig } from './store-rig.ts';

type NotifyReport = Requests['NotifyReport'];

const limit = (variable: string, initial: string): VariableRow => ({
  component: 'DeviceDataCtrlr',
  variable,
  type: 'integer',
  mutability: 'ReadOnly',
  initial,
});

const rows: readonly VariableRow[] = [
  limit('ItemsPerMessage[GetReport]', '3'),
  limit('BytesPerMessage[GetReport]', '65536'),
  {
    component: 'TxCtrlr',
    variable: 'TxStartPoint',
    type: 'MemberList',
    mutability: 'ReadWrite',
    initial: 'Authorized',
    values: ['Authorized', 'EVConnected'],
    max: 100,
  },
  {
    component: 'SecurityCtrlr',
    variable: 'BasicAuthPassword',
    type: 'string',
    mutability: 'WriteOnly',
    initial: 'a-very-secret-password',
    min: 16,
    max: 40,
    secret: true,
  },
  {
    component: 'OCPPCommCtrlr',
    variable: 'MessageAttempts[TransactionEvent]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '3',
    min: 1,
    max: 10,
  },
  {
    component: 'EVSE',
    tier: 'evse',
    variable: 'Power',
    type: 'decimal',
    mutability: 'ReadOnly',
    initial: '0',
    unit: 'W',
    max: 22_000,
    monitored: true,
  },
  { component: 'EVSE', tier: 'evse', variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' },
  {
    component: 'EVSE',
    tier: 'evse',
    variable: 'Problem',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: (_, { evseId }) => String(evseId === 2),
  },
];

function made(options: Parameters<typeof storeRig>[0] = {}) {
  const at = storeRig({ rows, ...options });
  const part = createReports(at.parts, { store: at.variables });
  const reports = () => at.line.of('NotifyReport') as unknown as readonly NotifyReport[];
  const names = () =>
    reports().flatMap(({ reportData = [] }) =>
      reportData.map(({ component, variable }) => {
        const evse = component.evse === undefined ? '' : `${component.evse.id}`;
        return `${component.name}${evse}.${variable.name}`;
      }),
    );
  return { ...at, part, reports, names };
}

describe('OCPP 2.x B07 GetBaseReport', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`sends the full inventory in parts after the answer (${version})`, async () => {
      const { ask, part, reports, names } = made({ version });
      const reply = await ask(part, 'GetBaseReport', { requestId: 7, reportBase: 'FullInventory' });
      expect(reply).to.deep.equal({ status: 'Accepted' });
      await settled();
      expect(reports().map(({ requestId, seqNo, tbc }) => [requestId, seqNo, tbc])).to.deep.equal([
        [7, 0, true],
        [7, 1, true],
        [7, 2, true],
        [7, 3, false],
      ]);
      expect(names()).to.have.lengthOf(11);
      expect(new Set(reports().map(({ generatedAt }) => generatedAt)).size).to.equal(1);
    });

  it('tells attributes and characteristics, and no secret', async () => {
    const { ask, part, reports, variables } = made();
    await ask(part, 'GetBaseReport', { requestId: 1, reportBase: 'FullInventory' });
    await settled();
    const rowsSent = reports().flatMap(({ reportData = [] }) => reportData);
    const of = (name: string) => rowsSent.find(({ variable }) => variable.name === name);
    expect(of('TxStartPoint')?.variableAttribute).to.deep.equal([
      { type: 'Actual', value: 'Authorized', mutability: 'ReadWrite', persistent: true, constant: false },
    ]);
    expect(of('TxStartPoint')?.variableCharacteristics).to.deep.equal({
      dataType: 'MemberList',
      supportsMonitoring: false,
      maxLimit: 100,
      valuesList: 'Authorized,EVConnected',
    });
    expect(of('MessageAttempts')?.variable).to.deep.equal({ name: 'MessageAttempts', instance: 'TransactionEvent' });
    expect(of('MessageAttempts')?.variableCharacteristics).to.deep.include({ minLimit: 1, maxLimit: 10 });
    expect(of('Power')?.component).to.deep.equal({ name: 'EVSE', evse: { id: 1 } });
    expect(of('Power')?.variableCharacteristics).to.deep.include({ unit: 'W', supportsMonitoring: true });
    const secret = of('BasicAuthPassword')?.variableAttribute[0];
    expect(secret).to.deep.equal({ type: 'Actual', mutability: 'WriteOnly', persistent: true, constant: false });
    expect(JSON.stringify(rowsSent)).not.to.include(variables.text('SecurityCtrlr', 'BasicAuthPassword'));
  });

  it('has in the configuration inventory what can be set, and in the summary what is there and well', async () => {
    const { ask, part, line, names } = made();
    await ask(part, 'GetBaseReport', { requestId: 1, reportBase: 'ConfigurationInventory' });
    await settled();
    expect(names()).to.deep.equal([
      'TxCtrlr.TxStartPoint',
      'SecurityCtrlr.BasicAuthPassword',
      'OCPPCommCtrlr.MessageAttempts',
    ]);
    line.calls.length = 0;
    await ask(part, 'GetBaseReport', { requestId: 2, reportBase: 'SummaryInventory' });
    await settled();
    expect(names()).to.deep.equal(['EVSE1.Available', 'EVSE2.Available', 'EVSE1.Problem', 'EVSE2.Problem']);
  });

  it('is sent while the registration is pending (B02)', async () => {
    const { ask, part, reports, registration } = made();
    registration.end();
    await ask(part, 'GetBaseReport', { requestId: 1, reportBase: 'SummaryInventory' });
    await settled();
    expect(reports()).to.have.lengthOf(2);
  });

  it('holds each part to BytesPerMessage', async () => {
    const small = rows.map((row) => (row.variable.startsWith('Bytes') ? { ...row, initial: '1400' } : row));
    const { ask, part, reports, names } = made({ rows: small });
    await ask(part, 'GetBaseReport', { requestId: 1, reportBase: 'FullInventory' });
    await settled();
    expect(reports().length).to.be.greaterThan(4);
    expect(names()).to.have.lengthOf(11);
    for (const report of reports()) expect(JSON.stringify(report).length).to.be.at.most(1400);
  });

  it('ends with the first part that is not answered, and refuses too many at a time', async () => {
    const { ask, part, reports, line } = made();
    line.answers.set('NotifyReport', () => ({ kind: 'timeout' }));
    await ask(part, 'GetBaseReport', { requestId: 1, reportBase: 'FullInventory' });
    await settled();
    expect(reports()).to.have.lengthOf(1);
    line.call = () => new Promise(() => undefined);
    const replies = [];
    for (let requestId = 0; requestId < 6; requestId++)
      replies.push((await ask(part, 'GetBaseReport', { requestId, reportBase: 'FullInventory' })).status);
    expect(replies).to.deep.equal(['Accepted', 'Accepted', 'Accepted', 'Accepted', 'Rejected', 'Rejected']);
  });
});

describe('OCPP 2.x B08 GetReport', () => {
  const wanted = async (request: Omit<Requests['GetReport'], 'requestId'>) => {
    const { ask, part, names } = made();
    const { status } = await ask(part, 'GetReport', { requestId: 1, ...request });
    await settled();
    return [status, ...names()];
  };

  it('takes what an entry leaves out for any', async () => {
    expect(await wanted({ componentVariable: [{ component: { name: 'evse' } }] })).to.have.lengthOf(7);
    expect(
      await wanted({
        componentVariable: [{ component: { name: 'EVSE', evse: { id: 2 } }, variable: { name: 'power' } }],
      }),
    ).to.deep.equal(['Accepted', 'EVSE2.Power']);
    expect(
      await wanted({
        componentVariable: [{ component: { name: 'OCPPCommCtrlr' }, variable: { name: 'MessageAttempts' } }],
      }),
    ).to.deep.equal(['Accepted', 'OCPPCommCtrlr.MessageAttempts']);
    expect(
      await wanted({
        componentVariable: [
          { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'MessageAttempts', instance: 'Other' } },
        ],
      }),
    ).to.deep.equal(['EmptyResultSet']);
  });

  it('takes components by criteria, and both together', async () => {
    expect(await wanted({ componentCriteria: ['Problem'] })).to.deep.equal([
      'Accepted',
      'EVSE2.Power',
      'EVSE2.Available',
      'EVSE2.Problem',
    ]);
    expect(
      await wanted({
        componentCriteria: ['Problem'],
        componentVariable: [{ component: { name: 'EVSE' }, variable: { name: 'Power' } }],
      }),
    ).to.deep.equal(['Accepted', 'EVSE2.Power']);
    expect(await wanted({ componentCriteria: ['Active'] })).to.deep.equal(['EmptyResultSet']);
    expect(await wanted({ componentCriteria: ['Available'] })).to.have.lengthOf(12);
  });

  it('refuses more entries than ItemsPerMessage', async () => {
    const { ask, part, findings } = made();
    const componentVariable = ['A', 'B', 'C', 'D'].map((name) => ({ component: { name } }));
    const error = await ask(part, 'GetReport', { requestId: 1, componentVariable }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(CallError).with.property('code', 'OccurrenceConstraintViolation');
    expect(findings[0]?.[0]).to.equal('OCPP 2.1 B08.FR.17');
  });
});

describe('OCPP 2.x reports of the whole device model', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`fit the schema of the version (${version})`, async () => {
      const at = storeRig({ version });
      const part = createReports(at.parts, { store: at.variables });
      for (const reportBase of ['FullInventory', 'ConfigurationInventory', 'SummaryInventory'] as const) {
        await at.ask(part, 'GetBaseReport', { requestId: 1, reportBase });
        await settled();
      }
      const last = at.line.of('NotifyReport').at(-1);
      expect(last).to.deep.include({ tbc: false });
    });
});
