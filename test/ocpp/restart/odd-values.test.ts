/** Slots with values that no station writes: of an export that was edited, or of another version. */
import { expect } from 'chai';
import type { OcppVersion } from '../../../src/contract/ocpp.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { replaceContents } from '../../../src/state/contents.ts';
import type { Contents } from '../../../src/state/contents.ts';
import { journalFile } from '../../../src/state/journal.ts';
import { replay } from '../../../src/state/record.ts';
import { pick } from '../../support/depth.ts';
import { oddContents, oddTexts } from '../../support/odd-values.ts';
import { holdsAsync } from '../../support/property.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { answers16 } from '../central/answers.ts';
import { answers2 } from '../central/answers-2.ts';
import { RestartSite } from './site.ts';

const versions = ['ocpp1.6j', 'ocpp2.0.1j', 'ocpp2.1'] as const;
const later = '2030-01-01T00:00:00Z';
const ev = { socPct: 10, batteryCapacityWh: 500_000 };
/** The device is no slot of the station. */
const isOfStation = (name: string) => name !== 'plant';

async function open(
  version: OcppVersion,
  contents: Contents,
  lines: string[],
  startsOffline = false,
): Promise<RestartSite> {
  const folder = new TestFolder();
  await replaceContents(folder, contents);
  const line = (text: string): void => {
    lines.push(text);
  };
  return RestartSite.open(
    {
      version,
      startsOffline,
      ...(version === 'ocpp2.1' && { profile: 'EVSE-V2G-DC-50kW-bidir' }),
      answers: (nowMs) =>
        version === 'ocpp1.6j' ? answers16(nowMs) : answers2(version === 'ocpp2.1' ? version : 'ocpp2.0.1', nowMs),
      log: { ...silentLogger, warning: line, error: line },
    },
    folder,
  );
}

const schedule = {
  startSchedule: '2026-01-01T00:00:00Z',
  chargingRateUnit: 'A',
  chargingSchedulePeriod: [{ startPeriod: 0, limit: 30 }],
};
const profile = { stackLevel: 1, chargingProfilePurpose: 'TxDefaultProfile', chargingProfileKind: 'Absolute' };
const variable = (component: string, name: string, attributeValue: string) => ({
  component: { name: component },
  variable: { name },
  attributeValue,
});

type Call = readonly [action: string, payload: Record<string, unknown>];

const calls16: readonly Call[] = [
  ['ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '5' }],
  ['ChangeConfiguration', { key: 'AllowOfflineTxForUnknownId', value: 'true' }],
  ['ChangeAvailability', { connectorId: 2, type: 'Inoperative' }],
  ['ChangeAvailability', { connectorId: 2, type: 'Operative' }],
  [
    'SendLocalList',
    {
      listVersion: 3,
      updateType: 'Full',
      localAuthorizationList: [{ idTag: 'L1', idTagInfo: { status: 'Accepted', expiryDate: later } }],
    },
  ],
  ['ReserveNow', { connectorId: 2, expiryDate: later, idTag: 'R', reservationId: 7 }],
  [
    'SetChargingProfile',
    { connectorId: 0, csChargingProfiles: { chargingProfileId: 1, ...profile, chargingSchedule: schedule } },
  ],
];

const calls2: readonly Call[] = [
  [
    'SetVariables',
    {
      setVariableData: [
        variable('SampledDataCtrlr', 'TxUpdatedInterval', '5'),
        variable('AuthCtrlr', 'OfflineTxForUnknownIdEnabled', 'true'),
        variable('OCPPCommCtrlr', 'OfflineThreshold', '90'),
      ],
    },
  ],
  [
    'SendLocalList',
    {
      versionNumber: 3,
      updateType: 'Full',
      localAuthorizationList: [{ idToken: { idToken: 'L1', type: 'Central' }, idTokenInfo: { status: 'Accepted' } }],
    },
  ],
  [
    'SetChargingProfile',
    { evseId: 0, chargingProfile: { id: 1, ...profile, chargingSchedule: [{ id: 1, ...schedule }] } },
  ],
  [
    'SetVariableMonitoring',
    {
      setMonitoringData: [
        {
          component: { name: 'EVSE', evse: { id: 1 } },
          variable: { name: 'Power' },
          severity: 3,
          type: 'UpperThreshold',
          value: 3000,
        },
      ],
    },
  ],
  [
    'SetDisplayMessage',
    { message: { id: 5, priority: 'NormalCycle', message: { format: 'UTF8', language: 'en', content: 'Hello' } } },
  ],
  [
    'SetNetworkProfile',
    {
      configurationSlot: 2,
      connectionData: {
        ocppInterface: 'Any',
        ocppTransport: 'JSON',
        ocppVersion: 'OCPP20',
        messageTimeout: 30,
        ocppCsmsUrl: 'ws://other.test/ocpp',
        securityProfile: 0,
      },
    },
  ],
];

const reserve2 = (id: number, expiryDateTime: string): Call => [
  'ReserveNow',
  { id, expiryDateTime, evseId: 2, idToken: { idToken: 'R', type: 'Central' } },
];

const calls21: readonly Call[] = [
  ...calls2,
  [
    'SetDefaultTariff',
    { evseId: 0, tariff: { tariffId: 'T', currency: 'EUR', energy: { prices: [{ priceKwh: 0.3 }] } } },
  ],
  [
    'SetDERControl',
    {
      isDefault: true,
      controlId: 'L',
      controlType: 'LimitMaxDischarge',
      limitMaxDischarge: { priority: 1, pctMaxDischargePower: 40 },
    },
  ],
];

const callsOf: Readonly<Record<(typeof versions)[number], readonly Call[]>> = {
  'ocpp1.6j': calls16,
  'ocpp2.0.1j': [...calls2, reserve2(7, '2026-06-21T12:00:20Z')],
  'ocpp2.1': calls21,
};

async function charge(site: RestartSite): Promise<void> {
  await site.do({ kind: 'evse.plug', connectorId: 1, ev });
  await site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' });
  await site.run(8);
}

/** What a station has kept that has ended one transaction and runs another one, both without a connection at the end. */
async function richState(version: (typeof versions)[number]): Promise<Contents> {
  const site = await open(version, new Map(), []);
  for (const [action, payload] of callsOf[version]) {
    const reply = await site.ask(action, payload);
    expect(JSON.stringify(reply), action).to.match(/"(Status|status|attributeStatus)":"Accepted"/);
  }
  await charge(site);
  await site.connect(false);
  await site.do({ kind: 'evse.stop', connectorId: 1 });
  await site.do({ kind: 'evse.unplug', connectorId: 1 });
  await site.run(20);
  if (version === 'ocpp2.0.1j') await site.ask(...reserve2(8, later));
  await charge(site);
  const contents = replay(site.folder.octets(journalFile)).slots;
  site.close();
  return contents;
}

/** Slots whose values are about each other. */
const together =
  /\/(transactions|ended-transactions|queue|costs|profiles.*|events|monitors|security-.*|clock|reservations|reservation-updates)$/;

/** All odd values; where tests are to be quick, two of them, others for each slot. */
const textsFor = (name: string): readonly string[] =>
  pick({ quick: [oddTexts[name.length % oddTexts.length] ?? 'null', 'null'], ci: oddTexts });

interface Outcome {
  readonly lines: readonly string[];
  readonly kept: Contents;
}

async function startWith(version: (typeof versions)[number], contents: Contents): Promise<Outcome> {
  const lines: string[] = [];
  const site = await open(version, contents, lines, true);
  try {
    await site.run(2);
    return { lines, kept: replay(site.folder.octets(journalFile)).slots };
  } finally {
    site.close();
  }
}

function expectOthers(kept: Contents, whole: Contents, odd: string): void {
  for (const [name, texts] of whole)
    if (isOfStation(name) && name !== odd && !(together.test(odd) && together.test(name)))
      expect(kept.get(name), `${name} beside ${odd}`).to.deep.equal(texts);
}

for (const version of versions)
  describe(`slots of a station with odd values, ${version}`, () => {
    let contents: Contents;
    let whole: Outcome;
    before(async () => {
      contents = await richState(version);
      whole = await startWith(version, contents);
      expect(whole.lines).to.deep.equal([]);
    });

    it('each slot is left out alone, with one warning', async () => {
      for (const name of contents.keys()) {
        if (!isOfStation(name)) continue;
        for (const text of textsFor(name)) {
          const { lines, kept } = await startWith(version, new Map(contents).set(name, [text]));
          expect(lines, `${name}: ${text}`).to.have.length(1);
          expect(lines[0]).to.include(`the kept state ${name} does not fit: value 1 `);
          expectOthers(kept, whole.kept, name);
        }
      }
    });

    it('a station starts with a part of a value that is odd', async function () {
      this.timeout(20_000);
      await holdsAsync(
        `odd values in slots of ${version}`,
        [oddContents(new Map([...contents].filter(([name]) => isOfStation(name))))],
        async ({ name, texts }) => {
          const { lines, kept } = await startWith(version, new Map(contents).set(name, texts));
          expect(lines.filter((line) => line.includes(name)).length).to.be.at.most(1);
          expectOthers(kept, whole.kept, name);
        },
        { runs: 30 },
      );
    });
  });

describe('a station of OCPP 1.6 whose running transactions are left out', () => {
  it('sends nothing of them, and a later transaction has another number than they', async () => {
    const contents = await richState('ocpp1.6j');
    const name = 'ocpp1.6/transactions';
    const [, ...records] = contents.get(name) ?? [];
    expect(records, 'running transactions').to.have.length(1);
    const folder = new TestFolder();
    await replaceContents(folder, new Map(contents).set(name, ['{"count":"x"}', ...records]));
    const sent: (readonly [action: string, transaction: unknown])[] = [];
    let starts = 70;
    const site = await RestartSite.open(
      {
        version: 'ocpp1.6j',
        answers: (nowMs) => ({
          ...answers16(nowMs),
          StartTransaction: () => {
            starts += 1;
            sent.push(['StartTransaction', starts]);
            return { idTagInfo: { status: 'Accepted' }, transactionId: starts };
          },
          StopTransaction: ({ transactionId }) => {
            sent.push(['StopTransaction', transactionId]);
            return {};
          },
        }),
      },
      folder,
    );
    await site.run(5);
    await site.do({ kind: 'evse.stop', connectorId: 1 });
    await site.run(5);
    // the stop of the transaction before, then the session that goes on
    expect(sent).to.deep.equal([
      ['StopTransaction', 1],
      ['StartTransaction', 71],
      ['StopTransaction', 71],
    ]);
    const [, ...ended] = replay(site.folder.octets(journalFile)).slots.get('ocpp1.6/ended-transactions') ?? [];
    expect(ended.map((text) => (JSON.parse(text) as { readonly key: string }).key)).to.deep.equal(['3']);
    site.close();
  });
});
