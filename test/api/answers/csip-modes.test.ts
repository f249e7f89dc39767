import { expect } from 'chai';
import { csipModes } from '../../../src/api/answers/csip-modes.ts';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { modeTable, showModes } from '../../../src/csip/control/modes.ts';
import { apply, control, event, point, target } from '../../support/csip-controls.ts';
import { baseOf, curves, values } from '../../support/csip-mode-values.ts';
import { testPlant } from '../../support/plant.ts';

const modesOf = (names: readonly string[]) => names as readonly ModeName[];

describe('registers of the modes of a DERControl', () => {
  for (const type of ['PV-3Phase', 'Batt-3Phase'])
    it(`${type}: have what the client writes for the value that REST shows`, async () => {
      const plant = testPlant({ types: [type] });
      await plant.step(1);
      const device = plant.device(0);
      const bridge = target(plant);
      const compared = new Set<string>();
      for (const mode of bridge.supported) {
        const { rest } = modeTable[mode];
        const row = csipModes[rest];
        if (row === undefined) continue;
        const asked = control(baseOf([mode]), curves);
        const [outcome] = apply(bridge, event(`E ${mode}`, asked));
        if (outcome?.state !== 'applied') continue;
        const wanted = row(showModes(asked)[rest], device);
        expect(wanted, mode).to.be.an('object').that.is.not.empty;
        for (const [name, value] of Object.entries(wanted ?? {})) {
          const found = point(device, name);
          if (typeof value !== 'number') expect(found, `${mode} ${name}`).to.equal(value);
          else expect(found, `${mode} ${name}`).to.be.closeTo(value, 0.05);
        }
        compared.add(mode);
        apply(bridge);
      }
      const functions = ['opModMaxLimW', 'opModFixedVar', 'opModVoltVar', 'opModFreqDroop'];
      const trips = ['opModLVRTMustTrip', 'opModLVRTMomentaryCessation', 'opModHFRTMayTrip', 'opModHVRTMustTrip'];
      expect([...compared]).to.include.members([...functions, ...trips]);
    });

  it('has rows for modes that there are, and none for a value that cannot be read', () => {
    const device = testPlant().device(0);
    const known = modesOf(Object.keys(modeTable)).map((mode) => modeTable[mode].rest);
    expect(known).to.include.members(Object.keys(csipModes));
    const unread = ['op_mod_max_lim_w_pct', 'op_mod_target_w', 'op_mod_fixed_var', 'op_mod_fixed_pf_inject_w'];
    expect(unread.map((name) => csipModes[name]?.(null, device))).to.deep.equal([null, null, null, null]);
    expect(Object.keys(values)).to.not.be.empty;
  });
});
