import { expect } from 'chai';
import type { DerFacts } from '../../../../src/ocpp/station/port.ts';
import { bodiesOf, isRefusal } from '../../../../src/ocpp/v201/der-controls/model.ts';
import { derTargets, supportedTypes, translate, voltagePct } from '../../../../src/ocpp/v201/der-controls/translate.ts';
import { request, stationFacts } from './rig.ts';
import type { SetRequest } from './rig.ts';

/** A station with every function, and what a test changes. */
function facts(given: Partial<DerFacts> & { readonly npt?: number } = {}): DerFacts {
  const { npt = 10, ...rest } = given;
  return stationFacts({
    number: (model, path) => (path === 'NPt' ? npt : model === 702 && path === 'VNom' ? 400 : null),
    ...rest,
  });
}

/** Points by name, or the refusal. */
function asked(given: SetRequest, of = facts()): unknown {
  const [body] = bodiesOf(given);
  const result = body && translate(given.controlType, body, of);
  if (!result || isRefusal(result)) return result;
  return {
    ...Object.fromEntries(result.points.map(({ model, path, value }) => [`${model}.${path}`, value])),
    ...(result.slopeWPctPerS !== undefined && { slope: result.slopeWPctPerS }),
  };
}

describe('OCPP 2.1 R04: DER controls as points of SunSpec', () => {
  it('voltages: per unit, percent, volts near nominal', () => {
    const pct = (value: number) => {
      const result = voltagePct(value, facts());
      return typeof result === 'number' ? result : result.reasonCode;
    };
    expect([0, 0.88, 1.1, 1.999, 2, 88, 110, 200, 201, 360, 440, 600, 601].map(pct)).to.deep.equal([
      ...[0, 88, 110, 199.9, 2, 88, 110, 200, 50.25, 90, 110, 150],
      'ValueOutOfRange',
    ]);
    expect(voltagePct(230, facts({ number: () => null }))).to.include({ reasonCode: 'ValueOutOfRange' });
  });

  it('trip curves: threshold and time change places, the farthest threshold first', () => {
    expect(asked(request('C', 'LVMustTrip'))).to.deep.equal({
      '707.Ena': 'ENABLED',
      '707.Crv[0].MustTrip.Pt[0].Tms': 2.5,
      '707.Crv[0].MustTrip.Pt[0].V': 48,
      '707.Crv[0].MustTrip.Pt[1].Tms': 20,
      '707.Crv[0].MustTrip.Pt[1].V': 86,
      '707.Crv[0].MustTrip.ActPt': 2,
    });
    expect(asked(request('C', 'HFMayTrip'))).to.include({
      '710.Crv[0].MayTrip.Pt[0].Tms': 0.16,
      '710.Crv[0].MayTrip.Pt[0].Hz': 61.8,
    });
  });

  it('EnterService, Gradients, FreqDroop', () => {
    expect(asked(request('C', 'EnterService'))).to.deep.equal({
      '703.ES': 'ENABLED',
      '703.ESVHi': 105,
      '703.ESVLo': 92,
      '703.ESHzHi': 60.1,
      '703.ESHzLo': 59.6,
      '703.ESDlyTms': 7,
    });
    expect(asked(request('C', 'Gradients'))).to.deep.equal({ '703.ESRmpTms': 60, slope: 0.5 });
    const none = { priority: 1, gradient: 0, softGradient: 0 };
    expect(asked({ ...request('C', 'Gradients'), gradient: none })).to.deep.equal({});
    expect(asked(request('C', 'FreqDroop'))).to.deep.equal({
      '711.Ena': 'ENABLED',
      '711.Ctl[0].DbOf': 0.05,
      '711.Ctl[0].DbUf': 0.05,
      '711.Ctl[0].KOf': 0.04,
      '711.Ctl[0].KUf': 0.04,
      '711.Ctl[0].RspTms': 2,
    });
  });

  it('references of reactive and active power', () => {
    const [volt, watt] = [request('C', 'VoltVar'), request('C', 'VoltWatt')];
    const with_ = (given: SetRequest, yUnit: 'PctVarAvail' | 'PctWAvail') =>
      asked({ ...given, curve: { priority: 1, curveData: given.curve?.curveData ?? [], yUnit } });
    expect(asked(volt)).to.include({ '705.Crv[0].DeptRef': 'VAR_MAX_PCT', '705.Crv[0].VRef': 100 });
    expect(with_(volt, 'PctVarAvail')).to.include({ '705.Crv[0].DeptRef': 'VAR_AVAL_PCT' });
    expect(asked(watt)).to.include({ '706.Crv[0].DeptRef': 'W_MAX_PCT' });
    expect(with_(watt, 'PctWAvail')).to.include({ '706.Crv[0].DeptRef': 'W_AVAL_PCT' });
    for (const [unit, mode] of [
      ['PctMaxW', 'W_MAX_PCT'],
      ['PctMaxVar', 'VAR_MAX_PCT'],
      ['PctVarAvail', 'VAR_AVAIL_PCT'],
    ] as const)
      expect(asked({ ...request('C', 'FixedVar'), fixedVar: { priority: 1, setpoint: -7, unit } })).to.deep.equal({
        '704.VarSetEna': 'ENABLED',
        '704.VarSetMod': mode,
        '704.VarSetPct': -7,
      });
  });

  it('autonomous reference voltage, where the station finds one', () => {
    const { curve } = request('C', 'VoltVar');
    if (!curve) return expect.fail('no curve');
    const reactivePowerParams = { autonomousVRefEnable: true, autonomousVRefTimeConstant: 300 };
    const given = { ...request('C', 'VoltVar'), curve: { ...curve, reactivePowerParams } };
    expect(asked(given)).to.include({ '705.Crv[0].VRefAutoEna': 'ENABLED', '705.Crv[0].VRefAutoTms': 300 });
    const without = facts({ hasPoint: (_, path) => !path.includes('VRefAuto') });
    expect(asked(given, without)).to.include({ status: 'NotSupported' });
  });

  it('a curve of more points than the station takes is refused, not cut', () => {
    expect(asked(request('C', 'VoltVar'), facts({ npt: 4 }))).to.include({ '705.Crv[0].ActPt': 4 });
    expect(asked(request('C', 'VoltVar'), facts({ npt: 3 }))).to.include({
      status: 'Rejected',
      reasonCode: 'TooManyElements',
    });
  });

  it('ModesSupported follows the functions and points of the station', () => {
    expect(supportedTypes(facts())).to.deep.equal(Object.keys(derTargets));
    expect(supportedTypes(facts({ has: () => false }))).to.deep.equal(['EnterService', 'Gradients']);
    const noCessation = facts({ hasPoint: (_, path) => !path.includes('MomCess') });
    expect(supportedTypes(noCessation)).to.not.include('LVMomCess');
    expect(supportedTypes(noCessation)).to.include('LVMustTrip');
  });
});
