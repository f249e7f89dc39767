/** What the views show of the resources of a server. */
import { expect } from 'chai';
import type { EndDevice } from '../../../src/csip/end-device.ts';
import { ownEndDeviceView } from '../../../src/csip/views/members.ts';
import type { EndDeviceFacts } from '../../../src/csip/walk/model.ts';

describe('the Registration of an EndDevice in the views', () => {
  const shown = (registration: EndDeviceFacts['registration'], pin: number | null) => {
    const facts: EndDeviceFacts = {
      url: '/edev/1',
      base: '/edev',
      document: {},
      registration,
      ders: [],
      derListUrl: null,
    };
    const endDevice: Pick<EndDevice, 'deviceIndices'> = { deviceIndices: [0] };
    return ownEndDeviceView(facts, pin, endDevice as EndDevice).registration;
  };

  it('says whether its PIN is the configured one, and nothing where one of them is missing', () => {
    const matches = (pIN: number | undefined, pin: number | null) => shown({ pIN }, pin)?.pinMatches;
    expect(matches(111_115, 111_115)).to.equal(true);
    expect(matches(123_455, 111_115)).to.equal(false);
    expect(matches(undefined, 111_115)).to.equal(null);
    expect(matches(111_115, null)).to.equal(null);
    expect(shown(null, 111_115)).to.equal(null);
    expect(shown({}, 111_115)).to.deep.equal({ pinMatches: null, registeredServerMs: null });
  });
});
