import { expect } from 'chai';
import { Rest } from '../../../support/rest.ts';
import { FakeStations } from '../../../api/charge-points/fake-stations.ts';
import { loadedRig, request } from './rig.ts';

describe('OCPP 2.1: DER controls over REST', () => {
  it('GET ocpp/{id}/der-controls and the ids of GET evse/der-controls', async () => {
    const rig = await loadedRig();
    const ocpp = new FakeStations();
    const [station] = ocpp.list;
    Object.assign(station?.functions ?? {}, { derControls: () => rig.part.entries() });
    const rest = await Rest.open(rig.plant, { ocpp });
    try {
      expect(await rest.get('/ocpp/SIM-CP-1/der-controls')).to.deep.equal({ controls: [] });
      await rig.set(request('L', 'LimitMaxDischarge', { startTime: rig.at(5), duration: 60 }));
      await rig.set(request('G', 'Gradients'));
      await rig.set(request('V', 'VoltVar', { isDefault: true }));
      const { controls } = await rest.get('/ocpp/SIM-CP-1/der-controls');
      expect(controls[0]).to.deep.equal({
        control_id: 'L',
        control_type: 'LimitMaxDischarge',
        is_default: false,
        is_superseded: false,
        start_time: rig.at(5),
        duration_s: 60,
        priority: 1,
        active: false,
        state: 'scheduled',
        overwritten: false,
        values: { priority: 1, pctMaxDischargePower: 40, startTime: rig.at(5), duration: 60 },
      });
      expect(controls[1]).to.include({ control_id: 'G', is_default: true, start_time: null, duration_s: null });
      await rig.pass(6, 3);
      const functions = await rest.get('/evse/der-controls');
      expect(functions).to.include({ limit_max_discharge_pct: 40 });
      expect(functions.control_ids).to.deep.include({ max_power: 'L', volt_var: 'V', ramp: 'G' });
    } finally {
      await rest.api.stop();
    }
  });
});
