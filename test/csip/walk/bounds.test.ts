import { strict as assert } from 'node:assert';
import { control, WalkRig } from './scripted.ts';

describe('csip/walk: bounds', () => {
  it('tells once what every reading finds again', async () => {
    const rig = new WalkRig();
    rig.server.controls('/derp/1', [control('0a01'), { href: '/derp/1/derc/2' }]);
    await rig.start();
    await rig.walk.poll();
    assert.deepEqual(rig.warnings, [
      'DERControls without mRID or interval are left out (https://head-end/derp/1/derc)',
    ]);
    const bare = new WalkRig();
    bare.server.resources.set('/dcap', { name: 'DeviceCapability', value: { TimeLink: { href: '/tm' } } });
    await bare.start();
    await bare.walk.poll();
    await bare.walk.poll();
    assert.deepEqual(bare.warnings, ['the DeviceCapability of the server has no EndDeviceListLink']);
  });

  it('reads a Time that several FSAs share once, and at most 100 of them', async () => {
    const rig = new WalkRig();
    const groups = Array.from({ length: 300 }, (_, at) => ({
      href: `/edev/1/fsa/${at}`,
      TimeLink: { href: at < 100 ? '/shared' : `/tm/${at}` },
    }));
    rig.server.resources.set('/edev/1/fsa', {
      name: 'FunctionSetAssignmentsList',
      value: { all: 300, results: 300, FunctionSetAssignments: groups },
    });
    await rig.start();
    const times = rig.server.asked().filter((path) => path === '/shared' || path.startsWith('/tm/'));
    assert.equal(times.length, 100);
    assert.equal(times.filter((path) => path === '/shared').length, 1);
    assert.equal(rig.warnings.filter((line) => line.startsWith('the FSAs have more than 100 Times')).length, 1);
  });
});
