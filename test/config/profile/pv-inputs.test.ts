/** `pv.inputs` of a device profile. */
import { expect } from 'chai';
import type { AssetType } from '../../../src/contract/device.ts';
import type { Issue } from '../../../src/core/errors.ts';
import { deviceProfileSchema, resolveProfile } from '../../../src/config/profile/device-profile.ts';
import { kindTraits } from '../../../src/der/device/kinds.ts';
import { spreadSource } from '../../../src/der/plant/spread.ts';
import { fileIssues } from '../support.ts';

const lines = (issues: readonly Issue[]) => issues.map(({ name, detail }) => `${name}: ${detail}`);

function resolve(raw: unknown, assetType: AssetType = 'pv') {
  const issues: Issue[] = [];
  const target = { assetType, phases: 'three', longitudeDeg: 7 } as const;
  const profile = resolveProfile(deviceProfileSchema.parse(raw), target, 'p', issues);
  return { issues: lines(issues), source: profile?.source };
}

function inputsOf(pv: unknown) {
  const { source } = resolve({ pv });
  return source?.kind === 'pv' ? source.pv : expect.fail('no PV');
}

/** What the model finds wrong with inputs that the schema takes. */
function misfits(pv: unknown): string[] {
  const issues: Issue[] = [];
  kindTraits({ kind: 'pv', pv: inputsOf(pv) }, 10_000, issues);
  return lines(issues);
}

describe('profile: inputs of a PV inverter', () => {
  it('takes from the block what an input leaves out', () => {
    const shading = { shaded_share: 0.5, irradiance_share: 0.2 };
    const block = { series: 14, parallel: 2, tilt_deg: 20, azimuth_deg: 90, shading };
    const own = { name: 'Roof', module: 'DATASHEET-270', series: 20, parallel: 1.5, tilt_deg: 0, azimuth_deg: 270 };
    const { inputs, minDcVoltageV, maxDcVoltageV } = inputsOf({
      ...block,
      inputs: [{}, { ...own, shading: { shaded_share: 0, irradiance_share: 1 } }],
    });
    const strings = { module: 'CS5P-220M', series: 14, parallel: 2 };
    expect(inputs).to.deep.equal([
      { name: 'PV 1', ...strings, tiltDeg: 20, azimuthDeg: 90, shading: { shadedShare: 0.5, irradianceShare: 0.2 } },
      {
        name: 'Roof',
        module: 'DATASHEET-270',
        series: 20,
        parallel: 1.5,
        tiltDeg: 0,
        azimuthDeg: 270,
        shading: { shadedShare: 0, irradianceShare: 1 },
      },
    ]);
    // all strings work in the default window
    expect([minDcVoltageV, maxDcVoltageV]).to.deep.equal([Math.floor(20 * 31 * 0.5), Math.ceil(14 * 59.4 * 1.25)]);
  });

  it('shares the default strings of the inverter', () => {
    const { inputs } = inputsOf({ inputs: [{}, {}] });
    expect(inputs?.map(({ series, parallel }) => [series, parallel])).to.deep.equal([
      [13, 2],
      [13, 2],
    ]);
  });

  it('starts at the power of the block, shared by rated power', () => {
    const pv = inputsOf({ inputs: [{ parallel: 3 }, { parallel: 1 }] });
    const source = kindTraits({ kind: 'pv', pv }, 10_000, [])?.createSource(1, 0);
    const at = (irradianceWm2: number) => {
      const still = { ambientTemperatureC: 25, cellTemperatureC: 25, windSpeedMS: 1, loadW: 0, rate: 1 };
      const grid = { terminalPu: 1, phaseLnV: [277, 277, 277] as [number, number, number], frequencySupport: false };
      source?.settle({ irradianceWm2, ...still, ...grid });
      return source?.availableDcW ?? NaN;
    };
    const first = Array.from({ length: 40 }, (_, n) => at(n)).find((watts) => watts > 0);
    // both at once, although neither gives the 80 W by itself
    expect(first).to.be.within(80, 95);
  });

  it('refuses strings that do not suit the window of the inverter, each by its input', () => {
    const window = { series: 14, min_dc_voltage_v: 300, max_dc_voltage_v: 1000 };
    expect(misfits({ ...window, inputs: [{}, { series: 20 }, { series: 5 }] })).to.deep.equal([
      'pv.inputs[1].series: given or derived 20, whose open-circuit voltage is 1188.0 V; allowed: up to pv.max_dc_voltage_v, which is 1000',
      'pv.inputs[2].series: given or derived 5, whose voltage at maximum power is 234.5 V; allowed: from pv.min_dc_voltage_v, which is 300',
    ]);
  });

  it('is not for hybrids', () => {
    expect(resolve({ pv: { inputs: [{}, {}] } }, 'hybrid-dc').issues).to.deep.equal([
      'p: pv.inputs: given for a hybrid, whose array is on one input; allowed: for PV devices',
    ]);
  });

  const cases: readonly (readonly [string, string])[] = [
    ['[{}]', 'pv.inputs: given [{}]; allowed: a list of 2 to 12 entries'],
    ['[{}, { parallel: 0 }]', 'pv.inputs[1].parallel: given 0; allowed: a number from 0.01 to 1000000'],
    ['[{}, { tilt_deg: 91 }]', 'pv.inputs[1].tilt_deg: given 91; allowed: a number from 0 to 90'],
    ['[{ module: X }, {}]', 'pv.inputs[0].module: given "X"; allowed: CS5P-220M, DATASHEET-270'],
    ['[{ name: "" }, {}]', 'pv.inputs[0].name: given ""; allowed: 1 to 16 printable ASCII characters'],
    ['[{ mppt: local }, {}]', 'pv.inputs[0].mppt: unknown key'],
    [
      '[{}, { shading: { shaded_share: 2, irradiance_share: 0 } }]',
      'pv.inputs[1].shading.shaded_share: given 2; allowed: a number from 0 to 1',
    ],
  ];
  for (const [text, line] of cases) {
    it(`refuses ${text}`, () => {
      const [found = '', ...others] = fileIssues(`devices: [{ profile: { pv: { inputs: ${text} } } }]`);
      expect(others).to.deep.equal([]);
      expect(found).to.satisfy((told: string) => told.startsWith(`c.yaml: devices[0].profile.${line}`), found);
    });
  }

  it('a spread scales each input by itself, and a profile without inputs as before', () => {
    const pv = inputsOf({ series: 14, parallel: 2, inputs: [{}, {}] });
    const spread = spreadSource({ kind: 'pv', pv }, 5, 7, 3);
    const factors = spread.kind === 'pv' ? (spread.pv.inputs?.map(({ parallel }) => parallel / 2) ?? []) : [];
    expect(new Set(factors)).to.have.lengthOf(2);
    for (const factor of factors) expect(factor).to.be.within(0.95, 1.05);
    const alone = spreadSource({ kind: 'pv', pv: inputsOf({ series: 14, parallel: 2 }) }, 5, 7, 3);
    expect(alone.kind === 'pv' && 'inputs' in alone.pv).to.equal(false);
    expect(alone).to.have.nested.property('pv.parallel', spread.kind === 'pv' ? spread.pv.parallel : NaN);
  });
});
