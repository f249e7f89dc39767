import { expect } from 'chai';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { modeNames } from '../../../src/csip/control/modes.ts';
import { documentSchema } from '../../../src/api/csip-client/documents.ts';
import { createDeviceReports } from '../../../src/csip/report/report-bridge.ts';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import type { BuildOptions } from '../../../src/csip/xml/codec.ts';
import type { OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import { evsePlant } from '../../support/evse-plant.ts';
import { testPlant } from '../../support/plant.ts';
import { settled } from './fake-server.ts';
import { hrefsFor, lfdi, rig, stopReporters } from './reporter-rig.ts';

const types = [
  'PV-3Phase',
  'PV-2Phase',
  'PV-1Phase',
  'Batt-3Phase',
  'Wind-T3-3Phase',
  'Wind-T4-3Phase',
  'Fuelcell-3Phase',
  'HybridDC-3Phase',
  'EVSE',
];

const variants: readonly BuildOptions[] = [
  { revision: '2018', aus: null },
  { revision: '2018', aus: '1.2' },
  { revision: '2018', aus: '1.3' },
  { revision: '2023', aus: null },
];

/** What a server reads. */
const readBack = (document: OutgoingDocument, options: BuildOptions) =>
  parseDocument(Buffer.from(buildDocument(document, options)));

describe('CSIP reports: bodies', () => {
  afterEach(stopReporters);

  for (const type of types) {
    for (const options of variants) {
      it(`are what a server reads: ${type}, ${options.revision}, CSIP-AUS ${options.aus ?? 'off'}`, async () => {
        const plant = type === 'EVSE' ? evsePlant() : testPlant({ types: [type] });
        await plant.step(2);
        const supported: ReadonlySet<ModeName> = new Set(modeNames);
        const reports = createDeviceReports(plant.device(0), supported, {
          revision: options.revision,
          csipAus: options.aus,
          lfdi,
          pen: 40_732,
          subscribes: true,
        });
        const documents: readonly OutgoingDocument[] = [
          { name: 'DERCapability', value: reports.capability() },
          { name: 'DERSettings', value: reports.settings(1_800_000_000) },
          { name: 'DERStatus', value: reports.status(1_800_000_000) },
          { name: 'DERAvailability', value: reports.availability(1_800_000_000) },
          { name: 'DeviceInformation', value: reports.information(1_800_000_000) },
          { name: 'DeviceStatus', value: reports.deviceStatus(1_800_000_000) },
          { name: 'PowerStatus', value: reports.powerStatus(1_800_000_000) },
        ];
        for (const document of documents) expect(readBack(document, options)).to.deep.equal(document);
        for (const { name, value } of documents.slice(0, 4))
          expect(documentSchema(name)().safeParse(value).error, `${name} in the description of REST`).to.equal(
            undefined,
          );
      });
    }
  }

  it('of mirrors, readings and log events are what a server reads', async () => {
    const { server, reporter, plant, run } = rig({ types: ['PV-3Phase', 'Batt-3Phase'], nmi: '1234567890' });
    server.postRate = 15;
    reporter.follow(hrefsFor(2));
    await settled();
    plant.commands.submit({ command: 'stop', deviceIndex: 0 }, { source: 'rest' });
    await run(31.5);
    const bodies = server.requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
    expect(new Set(bodies.map(({ name }) => name))).to.include.keys(
      'MirrorUsagePoint',
      'MirrorMeterReadingList',
      'LogEvent',
    );
    // the reports of this test are without the extension that ConnectionPoint belongs to
    const optionsOf = (name: string): BuildOptions => ({
      revision: '2018',
      aus: name === 'ConnectionPoint' ? '1.2' : null,
    });
    for (const body of bodies) expect(readBack(body, optionsOf(body.name))).to.deep.equal(body);
  });
});
