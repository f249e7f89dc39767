import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { configOf } from '../../support/configured.ts';
import { checkTarget } from '../../../src/sunspec/faults/targets.ts';
import { createTestBank } from '../../support/map.ts';
import { Rest } from '../../support/rest.ts';

describe('a refused name stands beside the nearest known one', () => {
  let rest: Rest;
  before(async () => {
    rest = await Rest.open();
  });
  after(() => rest.api.stop());

  const cases: readonly (readonly [what: string, path: string, body: object | undefined, detail: string])[] = [
    ['a member', '/grid-support/max-power', { limt_pct: 50 }, 'is not a member of this body; did you mean limit_pct?'],
    [
      'a member inside',
      '/grid-support',
      { volt_var: { responce_time_s: 5 } },
      'is not a member of this body; did you mean response_time_s?',
    ],
    ['a parameter', '/registers/704?devcie=0', undefined, 'is not a parameter of this operation; did you mean device?'],
    [
      'a point',
      '/registers/704',
      { points: { WMaxLimPc: 50 } },
      'model 704 has no such point; did you mean WMaxLimPct?',
    ],
    [
      'a point in a query',
      '/registers/705?points=Crv[0].VReff',
      undefined,
      'model 705 has no point "Crv[0].VReff"; did you mean Crv[0].VRef?',
    ],
    [
      'a symbol',
      '/registers/704',
      { points: { WSetMod: 'WATT' } },
      '"WATT" is not one of its symbols, which are W_MAX_PCT, WATTS; did you mean WATTS?',
    ],
    [
      'a point of a hold',
      '/controls/holds',
      { id: 'a', duration_s: 5, values: { '704.WMaxLimPt': 50 } },
      'the device has no such point; did you mean 704.WMaxLimPct?',
    ],
    ['a word', '/grid-support/constant-var', { mode: 'var_max_pc' }, 'given "var_max_pc"; did you mean var_max_pct?'],
    ['a metric', '/history?metrics=power_kv', undefined, 'has no metric "power_kv" (did you mean power_kw?)'],
    ['a module of the log', '/logs?modules=Modbs', undefined, 'did you mean Modbus?'],
    ['a point inside a group', '/registers/705?points=VRef', undefined, 'no point "VRef"; did you mean Crv[0].VRef?'],
    ['a group', '/registers/705?points=Crv', undefined, 'no point "Crv"; it is a group, with points such as Crv[0].'],
    ['no name', '/registers/704?points=', undefined, 'has an empty name: it is empty, or has a comma'],
    ['a comma at the end', '/history?metrics=power_kw,', undefined, 'has a comma without a name beside it'],
    ['a profile', '/devices', { profile: '10kW-3Phsae' }, 'did you mean 10kW-3Phase?'],
    ['a text for a number', '/registers/704', { points: { WMaxLimPct: '50' } }, 'must be a finite number; given "50"'],
    ['an event', '/controls/grid/event', { event: 'swel' }, 'given "swel"; did you mean swell?'],
    ['a kind of fault', '/modbus/fault', { kind: 'exeption' }, 'did you mean exception?'],
  ];
  for (const [what, path, body, detail] of cases) {
    it(what, async () => {
      const { errors } = await rest.refused(path, 422, 'validation', body);
      expect(errors.map((each: Json) => each.detail).join('\n')).to.contain(detail);
    });
  }

  it('a wrong name alone is one error, not the lack of a right one too', async () => {
    const details = async (body: object) =>
      (await rest.refused('/controls/environment', 422, 'validation', body)).errors.map(({ detail }: Json) => detail);
    expect(await details({ irradiance: 1 })).to.deep.equal([
      'is not a member of this body; did you mean irradiance_w_m2?',
    ]);
    expect(await details({})).to.have.length(1);
  });

  it('a command of an id that never was', async () => {
    const { detail } = await rest.refused('/commands/99', 404, 'unknown-resource');
    expect(detail).to.equal('There is no command "99"; none was submitted yet.');
  });

  it('a target of a fault', () => {
    expect(() => {
      checkTarget(createTestBank().layout, { points: ['704.WMaxLimPt'] });
    })
      .to.throw()
      .with.nested.property('issues[0].detail')
      .that.contains('no point, group or model 704.WMaxLimPt; did you mean 704.WMaxLimPct?');
  });

  it('a profile', () => {
    expect(() => configOf('-f', '10kW-3Phse'))
      .to.throw()
      .with.nested.property('issues[0].detail')
      .that.matches(/; did you mean 10kW-3Phase\?$/);
  });
});
