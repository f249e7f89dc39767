/** Controls of an EndDevice over a restart in which one of its devices starts anew. */
import { expect } from 'chai';
import { createControlTarget } from '../../../src/csip/control/control-bridge.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { throughFile } from '../../support/continuation.ts';
import { apply, control, event, points } from '../../support/csip-controls.ts';
import { testPlant } from '../../support/plant.ts';

const open = event('open', control({ opModConnect: false, opModMaxLimW: 5000 }));

/** A process whose plant has two devices under one EndDevice. */
function processOf(plant: SimPlant) {
  const parts: Kept[] = [];
  const group = createControlTarget({
    devices: plant.devices,
    plant,
    siteOwner: 'csip:group',
    revision: '2018',
    log: silentLogger,
    keep: (part) => {
      parts.push(part);
      return () => undefined;
    },
  });
  const [kept] = parts;
  if (kept === undefined) throw new Error('nothing is kept');
  return { group, kept };
}

describe('Controls of several devices over a restart', () => {
  it('are carried out anew on the device that starts anew, and end on both', () => {
    const types = ['PV-3Phase', 'PV-3Phase'];
    const former = testPlant({ types });
    const before = processOf(former);
    apply(before.group, open);
    const plant = testPlant({ types });
    plant
      .device(0)
      .kept()
      .restore(throughFile(former.device(0).kept().save()));
    const { group, kept } = processOf(plant);
    kept.restore(throughFile(before.kept.save()));
    const shown = () =>
      plant.devices.map((device) => [device.switchClosed, ...points(device, '704.WMaxLimPct', '704.WMaxLimPctEna')]);
    const held = [false, 50, 'ENABLED'];
    expect(shown()).to.deep.equal([held, [true, 100, 'DISABLED']]);
    expect(apply(group, open).map(({ state }) => state)).to.deep.equal(['applied']);
    expect(shown()).to.deep.equal([held, held]);
    apply(group);
    expect(shown()).to.deep.equal(plant.devices.map(() => [true, 100, 'DISABLED']));
    for (const each of [before.group, group]) each.close();
  });
});
