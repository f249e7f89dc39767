/** Controls and curves with a member that is there and has no value: never carried out, never dropped silently. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ModeName, ResolvedControl } from '../../../src/csip/control/model.ts';
import { controlledModes } from '../../../src/csip/control/modes.ts';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import type { Received } from '../../../src/csip/xml/schema.ts';
import type { DERControl, DERCurve } from '../../../src/csip/xml/documents.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { apply, control, curve, differences, event, stateOf, target } from '../../support/csip-controls.ts';
import { curves, values } from '../../support/csip-mode-values.ts';
import { testPlant } from '../../support/plant.ts';
import { holds } from '../../support/property.ts';
import { control as listedControl, defaults, program, Scene } from '../events/scene.ts';

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

describe('Modes that a control has in a form that cannot be read', () => {
  const scalar = modes.filter((mode) => typeof values[mode] !== 'object' || !('href' in values[mode]));

  type Form = 'absent' | 'readable' | 'foreign' | 'garbage';
  /** A control as it comes from the wire, with each of the modes in its form. */
  const asSent = (forms: ReadonlyMap<ModeName, Form>): ResolvedControl => {
    const sent = [...forms].filter(([, form]) => form !== 'absent');
    let xml = controlXml(Object.fromEntries(sent.map(([mode]) => [mode, values[mode]])));
    for (const [mode, form] of sent) {
      const start = new RegExp(`<(?:\\w+:)?${mode}\\b`);
      if (form === 'foreign')
        xml = xml.replace(new RegExp(`<(/?)(?:\\w+:)?${mode}\\b`, 'g'), (_all, end: string) =>
          end === '/' ? `</v:${mode}` : `<v:${mode} xmlns:v="urn:v"`,
        );
      const [place] = form === 'garbage' ? scalarPlaces(xml, mode) : [];
      if (place !== undefined) xml = replaced(xml, place, 'maybe');
      expect(xml).to.match(form === 'foreign' ? new RegExp(`<v:${mode}`) : start);
    }
    return readControl(xml);
  };
  /** The modes that a control acts with: none where one of its values is garbage. */
  const acting = (forms: ReadonlyMap<ModeName, Form>): readonly ModeName[] =>
    [...forms.values()].includes('garbage') ? [] : scalar.filter((mode) => forms.get(mode) === 'readable');
  const anyForms = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...scalar), fc.constantFrom<Form>('readable', 'readable', 'foreign')), {
      selector: ([mode]) => mode,
      maxLength: 5,
    })
    .chain((forms) => fc.boolean().map((spoilt) => new Map(spoilt ? [...forms, garbage(forms)] : forms)));
  const garbage = (forms: readonly (readonly [ModeName, Form])[]): [ModeName, Form] => [
    forms[0]?.[0] ?? 'opModConnect',
    'garbage',
  ];

  it('are left to events of lower rank and to default controls, those of lower primacy first', () => {
    holds('modes that controls have in some form', [fc.array(anyForms, { minLength: 4, maxLength: 4 })], (all) => {
      const controls = all.map(asSent);
      const [high, low, first, second] = controls.map((of) => {
        return { modes: controlledModes(of.base), control: of };
      });
      const scene = new Scene();
      scene.read(
        150,
        program('P', 1, [listedControl('H', high)], { defaultControl: { ...defaults('P', []), ...first } }),
        program('Q', 2, [listedControl('L', low)], { defaultControl: { ...defaults('Q', []), ...second } }),
      );
      const holders = scene.inForce.flatMap(({ id, modes: held }) => held.map((mode) => `${mode} ${id}`));
      const ids = ['H', 'L', 'default P', 'default Q'];
      const expected = scalar.flatMap((mode) => {
        const at = all.findIndex((forms) => acting(forms).includes(mode));
        return at < 0 ? [] : [`${mode} ${ids[at]}`];
      });
      expect(holders).to.have.members(expected);
    });
  });

  it('leave the default control in force, and have their reasons in the outcomes', async () => {
    const plant = testPlant({ types: ['Batt-3Phase'] });
    await plant.step(2);
    const scene = new Scene();
    const to = target(plant);
    const event = asSent(
      new Map<ModeName, Form>([
        ['opModFixedW', 'readable'],
        ['opModMaxLimW', 'foreign'],
      ]),
    );
    const before = asSent(new Map<ModeName, Form>([['opModMaxLimW', 'readable']]));
    const foreign = asSent(new Map<ModeName, Form>([['opModMaxLimW', 'foreign']]));
    const inForce = scene.read(
      150,
      program('P', 1, [listedControl('E', { modes: controlledModes(event.base), control: event })], {
        defaultControl: { ...defaults('P', controlledModes(foreign.base)), control: foreign },
      }),
      program('Q', 2, [], { defaultControl: { ...defaults('Q', controlledModes(before.base)), control: before } }),
    ).inForce;
    expect(scene.now).to.deep.equal(['E: FixedW', 'default P: ', 'default Q: MaxLimW']);
    const outcomes = apply(to, ...inForce);
    const detail = 'opModMaxLimW is in no namespace that has it';
    const leftOut = [{ mode: 'opModMaxLimW', reason: 'unsupported', detail }];
    expect(outcomes.map(({ state, leftOut: out }) => [state, out])).to.deep.equal([
      ['applied', leftOut],
      ['unsupported', leftOut],
      ['applied', []],
    ]);
    expect(plant.device(0).bank.map.m704).to.deep.include({ WMaxLimPctEna: 'ENABLED', WSetEna: 'ENABLED' });
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
