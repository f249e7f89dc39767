/** The schemas of modes and settings of controls have what the client shows, by the same names. */
import { expect } from 'chai';
import type { z } from 'zod';
import { defaultSettingsSchema, modesSchema } from '../../../src/api/csip-client/modes.ts';
import { curveTable, modeNames, modeTable, showModes, showSettings } from '../../../src/csip/control/modes.ts';
import type { ResolvedControl } from '../../../src/csip/control/model.ts';

const shapeOf = (schema: unknown) => (schema as z.ZodObject).shape;
const flags = ['opModConnect', 'opModEnergize', 'opModGridConnectPermit', 'opModIslandPermit'];
const href = '/dc/1';

/** All that any mode with members of its own has. */
const compound = {
  href,
  value: 50,
  multiplier: 1,
  refType: 1,
  displacement: 95,
  excitation: true,
  dBOF: 1,
  dBUF: 2,
  kOF: 3,
  kUF: 4,
  openLoopTms: 500,
  pMin: { value: 1, multiplier: 2 },
};
const isPercentage = (mode: string, rest: string) =>
  rest.endsWith('_pct') && !['opModMaxLimPctVarAbsorb', 'opModMaxLimPctVarInject'].includes(mode);

const valueOf = (mode: string, rest: string) =>
  flags.includes(mode) ? true : isPercentage(mode, rest) ? 5000 : compound;

function controlWith(curve: object | null): ResolvedControl {
  const base = Object.fromEntries(modeNames.map((mode) => [mode, valueOf(mode, modeTable[mode].rest)]));
  return { base: { ...base, rampTms: 100 }, curves: new Map(curve && [[href, curve]]) };
}

describe('schemas of the modes of a control', () => {
  it('have every mode by its name in REST, and nothing else', () => {
    const names = [...modeNames.map((mode) => modeTable[mode].rest), 'ramp_time_s'];
    expect(Object.keys(shapeOf(modesSchema()))).to.have.members(names);
  });

  const full = {
    CurveData: [{ xvalue: 1, yvalue: 2, excitation: false }],
    xMultiplier: 0,
    yMultiplier: -1,
    curveType: 0,
    yRefType: 1,
    openLoopTms: 5,
    vRef: 10_000,
    autonomousVRefEnable: true,
    autonomousVRefTimeConstant: 100,
  };
  for (const [what, curve] of [
    ['with whole curves', full],
    ['with empty curves', {}],
    ['without their curves', null],
  ] as const)
    it(`fit all modes at once, ${what}`, () => {
      const shown = showModes(controlWith(curve));
      expect(Object.keys(shown)).to.have.length(modeNames.length + 1);
      expect(modesSchema().safeParse(shown).error).to.equal(undefined);
    });

  it('refuse a member that is none, and a curve with coordinates of another', () => {
    const points = [{ hz: 50, w_pct: 1 }];
    for (const wrong of [{ op_mod_other: 1 }, { op_mod_volt_var: { curve_href: '/c', points } }])
      expect(modesSchema().safeParse(wrong).success).to.equal(false);
  });

  it('know the coordinates of every curve', () => {
    for (const [mode, { x, y }] of Object.entries(curveTable)) {
      const { rest } = modeTable[mode as keyof typeof curveTable];
      const point = { [x]: 1, [y]: null };
      const parsed = modesSchema().safeParse({ [rest]: { curve_href: null, points: [point] } });
      expect(parsed.error, mode).to.equal(undefined);
    }
  });

  it('have every setting of a default control beside its modes', () => {
    const names = [
      'ESDelay',
      'ESHighFreq',
      'ESHighVolt',
      'ESLowFreq',
      'ESLowVolt',
      'ESRampTms',
      'ESRandomDelay',
      'GradW',
    ];
    const settings = Object.fromEntries([...names, 'SoftGradW'].map((name) => [`set${name}`, 100]));
    const shown = showSettings(settings);
    expect(Object.keys(shown)).to.have.members(Object.keys(shapeOf(defaultSettingsSchema())));
    expect(defaultSettingsSchema().safeParse(shown).error).to.equal(undefined);
  });
});
