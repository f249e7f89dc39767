import { expect } from 'chai';
import { chargePoint, createChargePointIds } from '../../src/contract/charge-point-ids.ts';
import type { Device } from '../../src/contract/device.ts';
import type { Kept } from '../../src/core/kept.ts';
import type { Plant } from '../../src/contract/plant.ts';
import { codeOf } from '../support/map.ts';

type Kind = Device['assetType'];

function plantOf(kinds: readonly Kind[], firstIndex = 0): Pick<Plant, 'devices'> {
  return { devices: kinds.map((assetType, at) => ({ index: firstIndex + at, assetType }) as Device) };
}

function idsOf(kinds: readonly Kind[], firstIndex = 0): (string | null)[] {
  const plant = plantOf(kinds, firstIndex);
  return plant.devices.map(createChargePointIds(plant, 'CP'));
}

describe('charge point identities (9.1)', () => {
  it('the first station has the identity itself, the others their device index', () => {
    expect(idsOf(['evse', 'evse', 'evse'])).to.deep.equal(['CP', 'CP-1', 'CP-2']);
    expect(idsOf(['pv', 'evse', 'battery', 'evse'])).to.deep.equal([null, 'CP', null, 'CP-3']);
    expect(idsOf(['pv', 'battery'])).to.deep.equal([null, null]);
  });

  it('in a later part of a fleet every station has its index', () => {
    expect(idsOf(['evse', 'evse'], 10)).to.deep.equal(['CP-10', 'CP-11']);
    expect(idsOf(['pv', 'evse'], 1)).to.deep.equal([null, 'CP-2']);
  });

  it('stay over a restart, whatever the configuration puts before the first station', () => {
    const parts = new Map<string, Kept>();
    const keep = (part: string, kept: Kept) => void parts.set(part, kept);
    createChargePointIds(plantOf(['pv', 'evse', 'evse']), 'CP', keep);
    const saved = parts.get('charge_point_ids')?.save() ?? null;
    const restored = (kinds: readonly Kind[], firstIndex = 0) => {
      const plant = plantOf(kinds, firstIndex);
      const idOf = createChargePointIds(plant, 'CP', (_, kept) => kept.restore(saved));
      return plant.devices.map(idOf);
    };
    expect(restored(['evse', 'evse', 'evse'])).to.deep.equal(['CP-0', 'CP', 'CP-2']);
    // device 0 was removed
    expect(restored(['evse', 'evse'], 1)).to.deep.equal(['CP', 'CP-2']);
    expect(
      codeOf(() => createChargePointIds(plantOf(['evse']), 'CP', (_, kept) => kept.restore({ bare: 'x' }))),
    ).to.equal('INTERNAL');
  });

  it('stay when stations come and go, and go to no other one', () => {
    const plant = { devices: plantOf(['pv', 'evse', 'evse']).devices };
    const idOf = createChargePointIds(plant, 'CP');
    const [pv, first, second] = plant.devices;
    plant.devices = [pv!, second!];
    expect([idOf(first!), idOf(second!)]).to.deep.equal(['CP', 'CP-2']);
    plant.devices = [pv!, second!, { index: 3, assetType: 'evse' } as Device];
    expect(plant.devices.map(idOf)).to.deep.equal([null, 'CP-2', 'CP-3']);
    expect(codeOf(() => chargePoint(plant, idOf, 'CP'))).to.equal('UNKNOWN_RESOURCE');
  });

  it('the first station that joins a process without one has the identity itself', () => {
    const plant = { devices: plantOf(['pv']).devices };
    const idOf = createChargePointIds(plant, 'CP');
    plant.devices = [...plant.devices, ...[4, 5].map((index) => ({ index, assetType: 'evse' }) as Device)];
    expect(plant.devices.map(idOf)).to.deep.equal([null, 'CP', 'CP-5']);
  });

  it('of a station that is about to join is the one that it has afterwards', () => {
    const plant = { devices: plantOf(['pv']).devices };
    const idOf = createChargePointIds(plant, 'CP');
    const joining = { index: 1, assetType: 'evse' } as Device;
    expect(idOf(joining)).to.equal('CP');
    plant.devices = [...plant.devices, joining];
    expect(plant.devices.map(idOf)).to.deep.equal([null, 'CP']);
  });

  it('are found again, compared exactly', () => {
    const plant = plantOf(['pv', 'evse', 'evse']);
    const idOf = createChargePointIds(plant, 'Lab|Süd 1');
    expect(chargePoint(plant, idOf, 'Lab|Süd 1').index).to.equal(1);
    expect(chargePoint(plant, idOf, 'Lab|Süd 1-2').index).to.equal(2);
    for (const id of ['lab|süd 1', 'Lab|Süd 1-1', 'Lab|Süd 1-02', 'Lab|Süd 1-0', '', 'profiles']) {
      expect(
        codeOf(() => chargePoint(plant, idOf, id)),
        id,
      ).to.equal('UNKNOWN_RESOURCE');
    }
  });

  it('are also found by the device index, where no station has that identity', () => {
    const plant = plantOf(['pv', 'evse', 'evse']);
    expect(chargePoint(plant, createChargePointIds(plant, 'CP'), '2').index).to.equal(2);
    expect(chargePoint(plant, createChargePointIds(plant, '2'), '2').index).to.equal(1);
    expect(codeOf(() => chargePoint(plant, createChargePointIds(plant, 'CP'), '0'))).to.equal('UNKNOWN_RESOURCE');
  });

  it('the error names those that there are', () => {
    const many = plantOf(Array.from({ length: 12 }, () => 'evse' as const));
    expect(() => chargePoint(many, createChargePointIds(many, 'CP'), 'X')).to.throw(
      '"X"; there are CP, CP-1, CP-2, CP-3, CP-4, CP-5, CP-6, CP-7, CP-8, CP-9, ...',
    );
    const none = plantOf(['pv']);
    expect(() => chargePoint(none, createChargePointIds(none, 'CP'), 'CP')).to.throw('there are none');
  });
});
