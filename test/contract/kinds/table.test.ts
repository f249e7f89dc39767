import { expect } from 'chai';
import { arrayIn, assetTypes, kindTable, kindsWhere, storageIn } from '../../../src/contract/kinds/table.ts';
import type { AssetType } from '../../../src/contract/kinds/table.ts';
import { deviceTypes } from '../../../src/config/profile/device-types.ts';
import { testPlant } from '../../support/plant.ts';

const typeOfKind = new Map(Object.entries(deviceTypes).map(([type, { assetType }]) => [assetType, type]));

describe('table of the kinds', () => {
  it('has a row for every word of asset_type, and a device type for every row', () => {
    expect(Object.keys(kindTable)).to.have.members([...assetTypes]);
    expect([...typeOfKind.keys()]).to.have.members([...assetTypes]);
  });

  for (const [kind, type] of typeOfKind) {
    it(`${kind}: a device shows what its row says`, () => {
      const [device] = testPlant({ types: [type] }).devices;
      if (!device) throw new Error('no device');
      const { dcMode, storage, array } = kindTable[kind];
      expect([device.assetType, device.dcMode, device.detail.kind]).to.deep.equal([kind, dcMode, kind]);
      expect(device.bank.map.m802 !== undefined, 'model 802').to.equal(storage !== null);
      expect(storageIn(device.detail)?.kind ?? null).to.equal(storage === null ? null : 'battery');
      expect(arrayIn(device.detail) === null).to.equal(array === null);
    });
  }

  it('names the kinds with a storage and those with a PV array', () => {
    expect(kindsWhere(({ storage }) => storage !== null)).to.deep.equal(['battery', 'hybrid-dc'] satisfies AssetType[]);
    expect(kindsWhere(({ array }) => array !== null)).to.deep.equal(['pv', 'hybrid-dc'] satisfies AssetType[]);
  });
});
