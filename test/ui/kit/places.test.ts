import { expect } from 'chai';
import { placeOf } from '../../../src/ui/kit/places';
import type { Ref } from '../../../src/ui/kit/places';
import { views } from '../../../src/ui/shell/views';

describe('places of causes', () => {
  const to = (type: Ref['type'], id: string, device: number | null = null) => placeOf({ type, id }, device).to;

  it('are views of the page', () => {
    const types = [
      'entry',
      'device',
      'message',
      'point',
      'fault',
      'finding',
      'scenario',
      'capture',
      'hold',
      'site',
      'answers',
      'time',
    ] as const;
    const names = views.map(({ path }) => path);
    for (const type of types) expect(names, type).to.include(to(type, 'x', 1).split(/[/?]/)[1]);
  });

  it('name the device, point and message', () => {
    expect(to('point', '704.WMaxLimPct', 3)).to.equal('#/devices/3/registers?model=704&point=WMaxLimPct');
    expect(to('device', '5')).to.equal('#/devices/5/picture');
    expect(to('hold', '1', 2)).to.equal('#/devices/2/grid-support/holds');
    expect(to('message', 'modbus/17')).to.equal('#/protocols/modbus/messages?modbus-message=17');
    expect(to('message', 'ocpp/a/b/17')).to.equal('#/protocols/ocpp/messages?ocpp-message=17&station=a%2Fb');
    expect(to('capture', '4')).to.equal('#/events/captures/4');
    expect(to('entry', '9')).to.equal('#/events/timeline?entry=9');
    expect(to('answers', '2')).to.equal('#/compare/answered?device=2');
  });
});
