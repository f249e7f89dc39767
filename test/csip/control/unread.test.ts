/** Controls and curves with a member that is there and has no value: never carried out, never dropped silently. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ModeName, ResolvedControl } from '../../../src/csip/control/model.ts';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import type { Received } from '../../../src/csip/xml/schema.ts';
import type { DERControl, DERCurve } from '../../../src/csip/xml/documents.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { apply, control, curve, differences, event, stateOf, target } from '../../support/csip-controls.ts';
import { curves, values } from '../../support/csip-mode-values.ts';
import { testPlant } from '../../support/plant.ts';
import { holds } from '../../support/property.ts';

const options = { revision: '2018', aus: '1.3' } as const;

function controlXml(base: DERControl['DERControlBase']): string {
  const value: DERControl = {
    mRID: '01',
    creationTime: 0,
    EventStatus: { currentStatus: 0, dateTime: 0, potentiallySuperseded: false },
    interval: { duration: 60, start: 0 },
    DERControlBase: base,
  };
  return buildDocument({ name: 'DERControl', value }, options);
}

/** The control in a text, with the curves of the modes. */
function readControl(xml: string): ResolvedControl {
  const { name, value } = parseDocument(Buffer.from(xml));
  return control(name === 'DERControl' ? (value.DERControlBase as ResolvedControl['base']) : expect.fail(name), curves);
}

function readCurve(xml: string): Received<DERCurve> {
  const { name, value } = parseDocument(Buffer.from(xml));
  return name === 'DERCurve' ? value : expect.fail(name);
}

/** Places of whole numbers and booleans within the element. */
function scalarPlaces(xml: string, element: string): readonly { readonly at: number; readonly text: string }[] {
  const { index: from, 0: content } =
    new RegExp(`<((?:\\w+:)?${element})\\b.*</\\1>`, 's').exec(xml) ?? expect.fail(xml);
  return [...content.matchAll(/>(-?\d+|true|false)</g)].map(({ index, 1: text = '' }) => ({
    at: from + index + 1,
    text,
  }));
}

const replaced = (xml: string, { at, text }: { readonly at: number; readonly text: string }, by: string) =>
  xml.slice(0, at) + by + xml.slice(at + text.length);

/** Fits neither a whole number of any size nor a boolean. */
const unreadable = fc.constantFrom(
  'maybe',
  '50.5',
  '',
  '9'.repeat(40),
  '1e3',
  'NaN',
  '<value>1</value>',
  '0x10',
  '--1',
);
const modes = Object.keys(values) as ModeName[];

describe('DERControls with members that cannot be read', () => {
  let plant: SimPlant;
  before(async () => {
    plant = testPlant({ types: ['Batt-3Phase'] });
    await plant.step(2);
  });

  it('are invalid (253) as a whole, whatever member of whatever mode it is, and name it', () => {
    const withScalars = modes.filter((mode) => typeof values[mode] !== 'object' || !('href' in values[mode]));
    holds(
      'unreadable members of modes',
      [fc.constantFrom(...withScalars), fc.nat(), unreadable],
      (mode, pick, garbage) => {
        const other: ModeName = mode === 'opModConnect' ? 'opModMaxLimW' : 'opModConnect';
        const xml = controlXml({ [mode]: values[mode], [other]: other === 'opModConnect' ? true : 5000 });
        const places = scalarPlaces(xml, mode);
        const place = places[pick % places.length] ?? expect.fail(`${mode} has no scalar in ${xml}`);
        const start = stateOf(plant);
        const [outcome] = apply(target(plant), event('E', readControl(replaced(xml, place, garbage))));
        expect(outcome?.state).to.equal('invalid');
        expect(outcome?.leftOut.map((each) => `${each.mode} ${each.reason}`)).to.include(`${mode} invalid`);
        expect(differences(start, stateOf(plant))).to.deep.equal({});
      },
    );
  });

  it('are invalid where the ramp of all modes is unreadable', () => {
    const xml = controlXml({ opModMaxLimW: 5000, rampTms: 100 });
    const [outcome] = apply(target(plant), event('E', readControl(xml.replace('>100<', '>soon<'))));
    expect(outcome?.state).to.equal('invalid');
    expect(outcome?.leftOut).to.deep.equal([
      { mode: 'opModMaxLimW', reason: 'invalid', detail: 'rampTms: "soon" is no integer' },
    ]);
  });

  it('skip extensions of foreign namespaces that are no modes', () => {
    const xml = controlXml({ opModMaxLimW: 5000 });
    const extended = xml.replace('<opModMaxLimW>', '<v:rampTms xmlns:v="urn:v">x</v:rampTms><opModMaxLimW>');
    const [outcome] = apply(target(plant), event('E', readControl(extended)));
    expect(outcome).to.deep.include({ state: 'applied', leftOut: [] });
  });

  it('run without a mode that is in no namespace of the standard, and say so', () => {
    const xml = controlXml({ opModMaxLimW: 5000, opModExpLimW: { multiplier: 0, value: 4000 } });
    const [outcome] = apply(
      target(plant),
      event('E', readControl(xml.replaceAll('https://csipaus.org', 'http://csipaus.org'))),
    );
    expect(outcome?.state).to.equal('applied');
    expect(outcome?.leftOut).to.deep.equal([
      { mode: 'opModExpLimW', reason: 'unsupported', detail: 'opModExpLimW is in no namespace that has it' },
    ]);
    expect(plant.siteOf([0]).limits.export.limitW).to.equal(null);
  });
});

describe('DERCurves with members that cannot be read', () => {
  it('make the control invalid, whatever member it is', async () => {
    const plant = testPlant({ types: ['Batt-3Phase'] });
    await plant.step(2);
    const value: DERCurve = {
      mRID: '02',
      creationTime: 0,
      curveType: 11,
      xMultiplier: -2,
      yMultiplier: -2,
      yRefType: 2,
      vRef: 9900,
      openLoopTms: 700,
      autonomousVRefEnable: true,
      autonomousVRefTimeConstant: 300,
      CurveData: [
        { xvalue: 9200, yvalue: 4000 },
        { xvalue: 10800, yvalue: -4000 },
      ],
    };
    const xml = buildDocument({ name: 'DERCurve', value }, options);
    const places = scalarPlaces(xml, 'DERCurve').filter(({ at }) => !/<(creationTime|mRID)>$/.test(xml.slice(0, at)));
    expect(places).to.have.length(12);
    holds('unreadable members of a curve', [fc.constantFrom(...places), unreadable], (place, garbage) => {
      const href = '/c';
      const broken = control({ opModVoltVar: { href } }, { [href]: readCurve(replaced(xml, place, garbage)) });
      const start = stateOf(plant);
      const [outcome] = apply(target(plant), event('E', broken));
      expect(outcome?.state).to.equal('invalid');
      expect(outcome?.leftOut[0]?.detail).to.match(/^the curve \/c/);
      expect(differences(start, stateOf(plant))).to.deep.equal({});
    });
  });

  it('are carried out where only the time of creation or the version is unreadable', () => {
    const plant = testPlant({ types: ['Batt-3Phase'] });
    const unread = {
      creationTime: { reason: 'value', detail: 'x' },
      version: { reason: 'value', detail: 'x' },
    } as const;
    const volt = { ...curves['/vv'], unread };
    const [outcome] = apply(target(plant), event('E', control({ opModVoltVar: { href: '/vv' } }, { '/vv': volt })));
    expect(outcome).to.deep.include({ state: 'applied', leftOut: [] });
  });

  it('with a reference of 0 % refer to the nominal voltage, as those without', async () => {
    const pointsOf = async (vRef?: number) => {
      const plant = testPlant({ types: ['Batt-3Phase'] });
      await plant.step(2);
      const href = '/c';
      const volt = curve(
        11,
        [
          [92, 40],
          [108, -40],
        ],
        { yRefType: 2, ...(vRef !== undefined && { vRef }) },
      );
      expect(
        apply(target(plant), event('E', control({ opModVoltVar: { href } }, { [href]: volt })))[0]?.state,
      ).to.equal('applied');
      const { m705 } = plant.device(0).bank.map;
      return m705.Crv[0]?.Pt.slice(0, 2).map(({ V }) => V);
    };
    expect(await pointsOf(0)).to.deep.equal(await pointsOf());
    expect(await pointsOf(10_000)).to.deep.equal(await pointsOf());
    expect(await pointsOf(9000)).to.not.deep.equal(await pointsOf());
  });
});
