import { expect } from 'chai';
import { differences, stateOf } from '../../../support/csip-controls.ts';
import { loadedRig, request, testedTypes } from './rig.ts';

describe('OCPP 2.1 R04: DER controls on a bidirectional station', () => {
  it('ModesSupported: the types that have physics', async () => {
    const rig = await loadedRig();
    const modes = rig.variables.list('DCDERCtrlr', 'ModesSupported', { evseId: 1 });
    expect([...modes].sort()).to.deep.equal([...testedTypes].sort());
  });

  for (const type of testedTypes) {
    it(`${type}: sets its points, shows itself as their writer, and leaves nothing behind`, async () => {
      const rig = await loadedRig();
      await rig.pass(1);
      const before = stateOf(rig.plant);
      expect(await rig.set(request('C1', type))).to.deep.equal({ status: 'Accepted' });
      const changed = differences(before, stateOf(rig.plant));
      expect(changed).to.not.deep.equal({});
      const isDefault = type === 'EnterService' || type === 'Gradients';
      expect(await rig.call('ClearDERControl', { isDefault, controlId: 'C1' })).to.deep.equal({ status: 'Accepted' });
      expect(differences(before, stateOf(rig.plant))).to.deep.equal({});
      rig.end();
    });
  }
});
