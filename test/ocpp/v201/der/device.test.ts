import { expect } from 'chai';
import { differences, stateOf } from '../../../support/csip-controls.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { silentLogger } from '../../../../src/core/log/log.ts';
import type { DerPort, DerHold, StationPort } from '../../../../src/ocpp/station/port.ts';
import { createDeviceControls } from '../../../../src/ocpp/v201/der-controls/device.ts';
import { bodiesOf } from '../../../../src/ocpp/v201/der-controls/model.ts';
import type { DerControl } from '../../../../src/ocpp/v201/der-controls/model.ts';
import type { VariableFacts } from '../../../../src/ocpp/v201/variables/model.ts';
import { derRows } from '../../../../src/ocpp/v201/variables/rows/controllers.ts';
import type { Written } from '../../../../src/sunspec/map/point-holds.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { loadedRig, request, stationFacts, testedTypes } from './rig.ts';

describe('OCPP 2.1 R04: DER controls on a bidirectional station', () => {
  it('ModesSupported: the types that have physics', async () => {
    const rig = await loadedRig();
    const modes = rig.variables.list('DCDERCtrlr', 'ModesSupported', { evseId: 1 });
    expect([...modes].sort()).to.deep.equal([...testedTypes].sort());
  });

  it('DCDERCtrlr shows the ratings of 702 and model 1', async () => {
    const { variables } = await loadedRig();
    const text = (variable: string) => variables.text('DCDERCtrlr', variable, { evseId: 1 });
    expect(
      ['MaxW', 'OverExcitedW', 'OverExcitedPF', 'MaxVar', 'MaxChargeRateW', 'VNom', 'MaxV'].map(text),
    ).to.deep.equal([...['50000', '44900', '0.898', '22000', '50000', '400', '480']]);
    expect([text('InverterManufacturer'), text('Enabled')]).to.deep.equal(['derbench', 'true']);
    expect(variables.has('ACDERCtrlr', 'ModesSupported', { evseId: 1 })).to.equal(false);
    for (const { variable } of derRows.filter(({ component }) => component === 'DCDERCtrlr'))
      expect(text(variable), variable).to.not.equal('');
  });

  it('ACDERCtrlr belongs to an AC connector that gives power back', () => {
    const facts = {
      evseIds: [1, 2],
      ratings: [
        { bidirectional: true, type: 'ac' },
        { bidirectional: false, type: 'dc' },
      ],
    };
    const at = (component: string, evseId: number) => {
      const row = derRows.find((each) => each.component === component && each.variable === 'ModesSupported');
      return typeof row?.initial === 'function' ? row.initial(facts as unknown as VariableFacts, { evseId }) : row;
    };
    expect([at('ACDERCtrlr', 1), at('ACDERCtrlr', 2), at('DCDERCtrlr', 1), at('DCDERCtrlr', 2)]).to.deep.equal([
      ...['', null, null, null],
    ]);
  });

  it('tries again each second while the device takes nothing, and at once when it comes back', () => {
    const wall = new HandWall();
    const timers = new HandTimers(wall);
    let result: Written = 'waiting';
    let count = 0;
    let restart: () => void = () => undefined;
    const port = {
      ...stationFacts({ number: () => 10 }),
      isOverwritten: () => false,
      get isSettled() {
        return result !== 'waiting';
      },
      follow: (wanted: readonly DerHold[]) => {
        count += 1;
        return new Map(wanted.map(({ id }) => [id, result] as const));
      },
      onRestart: (listener: () => void) => {
        restart = listener;
        return () => undefined;
      },
      close: () => undefined,
    } as unknown as DerPort;
    const releases = { insist: () => undefined, end: () => undefined, stop: () => undefined };
    const parts = { later: timers.later, log: silentLogger, device: { deviceIndex: 0 } as StationPort, releases };
    const controls = createDeviceControls({ parts, port });
    const [body] = bodiesOf(request('C', 'FixedVar'));
    const control = { id: 'C', type: 'FixedVar', body, priority: 1, order: 1, isDefault: false } as DerControl;
    controls.follow([control]);
    timers.pass(2500);
    expect([count, controls.stateOf('C'), controls.running.size]).to.deep.equal([3, 'waiting', 0]);
    result = 'done';
    restart();
    timers.pass(5000);
    expect([count, controls.stateOf('C'), controls.running.size]).to.deep.equal([4, 'applied', 1]);
    result = { refused: 'invalid', detail: 'settings have changed' };
    controls.follow([control]);
    expect(controls.stateOf('C')).to.equal('refused');
    controls.stop();
  });

  it('another version takes over: the controls end, tried each second while the device is off', async () => {
    const rig = await loadedRig();
    await rig.pass(1);
    const before = stateOf(rig.plant);
    expect(await rig.set(request('C1', 'FixedVar'))).to.deep.equal({ status: 'Accepted' });
    expect(await rig.set(request('C2', 'Gradients'))).to.deep.equal({ status: 'Accepted' });
    let isOff = true;
    const off = new SimError('COMMAND_CONFLICT', 'the device is off: it reboots');
    const { bank } = rig.device;
    const adopt = bank.adopt.bind(bank);
    bank.adopt = (...change) => {
      if (isOff) throw off;
      adopt(...change);
    };
    rig.part.stop?.();
    rig.part.release?.();
    await rig.pass(3);
    expect(rig.point('704.VarSetPct')).to.equal(30);
    isOff = false;
    await rig.pass(1);
    expect(differences(before, stateOf(rig.plant))).to.deep.equal({});
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
