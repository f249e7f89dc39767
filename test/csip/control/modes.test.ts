import assert from 'node:assert/strict';
import {
  curveLinkOf,
  modeBits,
  modeNames,
  modesIn,
  modeTable,
  showModes,
  showSettings,
} from '../../../src/csip/control/modes.ts';
import type { ResolvedControl } from '../../../src/csip/control/model.ts';

function control(base: ResolvedControl['base'], curves: ResolvedControl['curves'] = new Map()): ResolvedControl {
  return { base, curves };
}

describe('Modes of DERControlBase', () => {
  it('have the bits of the standard, one for each mode', () => {
    assert.equal(modeBits(['opModConnect', 'opModEnergize'], 'modes'), 0xc);
    assert.equal(modeBits(['opModMaxLimW', 'opModExpLimW'], 'modes'), 0x100000);
    assert.equal(modeBits(['opModIslandPermit'], 'modes'), 0x80000000);
    assert.equal(modeBits(modeNames, 'modes'), 0xfffffffc);
    assert.equal(modeBits(modeNames, 'modes2'), 0x3ff);
    assert.equal(modeBits(modeNames, 'doe'), 0xf);
    assert.equal(modeBits(modeNames, 'vpp'), 1);
  });

  it('have a name of their own in REST', () => {
    const names = modeNames.map((mode) => modeTable[mode].rest);
    assert.equal(new Set(names).size, names.length);
  });

  it('are shown in engineering units', () => {
    const base = {
      opModMaxLimW: 5057,
      opModFixedW: -2500,
      opModTargetW: { multiplier: 3, value: -15 },
      opModFixedVar: { refType: 2, value: -4400 },
      opModFixedPFInjectW: { displacement: 95, excitation: true, multiplier: -2 },
      opModFreqDroop: { dBOF: 36, dBUF: 17, kOF: 50, kUF: 40, openLoopTms: 500 },
      opModConnect: false,
      opModExpLimW: { multiplier: 0, value: 1500 },
      rampTms: 250,
    };
    assert.deepEqual(showModes(control(base)), {
      op_mod_connect: false,
      op_mod_fixed_pf_inject_w: { pf: 0.95, excitation: 'under_excited' },
      op_mod_fixed_var: { ref: 'var_max_pct', value_pct: -44 },
      op_mod_fixed_w_pct: -25,
      op_mod_freq_droop: { db_of_hz: 0.036, db_uf_hz: 0.017, k_of: 0.05, k_uf: 0.04, response_time_s: 5 },
      op_mod_max_lim_w_pct: 50.57,
      op_mod_target_w: -15000,
      op_mod_exp_lim_w: 1500,
      ramp_time_s: 2.5,
    });
    assert.deepEqual(modesIn(base), [
      'opModConnect',
      'opModFixedPFInjectW',
      'opModFixedVar',
      'opModFixedW',
      'opModFreqDroop',
      'opModMaxLimW',
      'opModTargetW',
      'opModExpLimW',
    ]);
  });

  it('show a curve with its points, and null where it could not be read', () => {
    const base = { opModVoltVar: { href: '/c/1' }, opModLVRTMustTrip: { href: '/c/2' } };
    const curve = {
      curveType: 11,
      yRefType: 3,
      xMultiplier: -1,
      yMultiplier: 0,
      openLoopTms: 1000,
      CurveData: [
        { xvalue: 925, yvalue: 44 },
        { xvalue: 1075, yvalue: -44 },
      ],
    };
    const shown = showModes(
      control(
        base,
        new Map([
          ['/c/1', curve],
          ['/c/2', null],
        ]),
      ),
    );
    assert.deepEqual(shown, {
      op_mod_lvrt_must_trip: { curve_href: '/c/2', points: null },
      op_mod_volt_var: {
        curve_href: '/c/1',
        curve_type: 11,
        y_ref: 'var_aval_pct',
        points: [
          { v_pct: 92.5, var_pct: 44 },
          { v_pct: 107.5, var_pct: -44 },
        ],
        response_time_s: 10,
      },
    });
    assert.equal(curveLinkOf(base, 'opModVoltVar')?.href, '/c/1');
    assert.equal(curveLinkOf(base, 'opModVoltWatt'), undefined);
  });

  it('have the unit at the end of their names', () => {
    const names = Object.values(modeTable).map(({ rest }) => rest);
    assert.deepEqual(
      names.filter((name) => name.includes('_pct_')),
      [],
    );
  });

  it('show what a server left out or got wrong as null', () => {
    const base = { opModTargetW: { multiplier: 12, value: 5 }, opModFixedVar: {}, opModMaxLimW: Number.NaN };
    assert.deepEqual(showModes(control(base)), {
      op_mod_fixed_var: { ref: null, value_pct: null },
      op_mod_max_lim_w_pct: null,
      op_mod_target_w: null,
    });
  });

  it('show the settings of a default control', () => {
    assert.deepEqual(showSettings({ setGradW: 27, setESHighFreq: 6020, setESDelay: 30_000, mRID: 'A' }), {
      es_delay_s: 300,
      es_high_hz: 60.2,
      grad_w_pct_per_s: 0.27,
    });
  });
});
