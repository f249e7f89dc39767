import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createLastResort } from '../../../src/ocpp/v16/last-resort.ts';
import { fakeNetwork } from '../v201/variables/store-rig.ts';

const settingsPassword = Buffer.from('password-of-settings');
const profileUrl = 'ws://profile.example';

describe('OCPP 1.6 and a network profile that 2.x has left in use', () => {
  const made = (securityProfile: 1 | 2 = 1) => {
    const network = fakeNetwork({ password: settingsPassword });
    network.setAccess({ url: profileUrl, guarded: true, securityProfile, password: null }, 2);
    let retargeted = 0;
    const resort = createLastResort(network, silentLogger, () => {
      retargeted += 1;
    });
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) resort.failed(false);
    };
    return { network, resort, fail, retargeted: () => retargeted };
  };

  it('the address of the user follows three failures in a row, with its password', () => {
    const { network, resort, fail, retargeted } = made();
    fail(2);
    resort.opened();
    fail(2);
    expect(network.access.url).to.equal(profileUrl);
    fail(1);
    expect(network.slot).to.equal(null);
    expect(network.access).to.deep.equal({
      url: 'ws://first.example',
      guarded: false,
      securityProfile: 1,
      password: settingsPassword,
    });
    expect(retargeted()).to.equal(1);
  });

  it('the network profile and the address of the user are tried in turn', () => {
    const { network, resort, fail, retargeted } = made();
    const profile = network.access;
    fail(3);
    fail(2);
    expect(network.slot).to.equal(null);
    resort.opened();
    fail(3);
    expect([network.access, network.slot]).to.deep.equal([profile, 2]);
    fail(3);
    expect([network.access.url, network.slot]).to.deep.equal(['ws://first.example', null]);
    fail(3);
    expect([network.access, network.slot]).to.deep.equal([profile, 2]);
    expect(retargeted()).to.equal(4);
  });

  it('credentials that are refused leave the former ones to be tried at the same address first', () => {
    const { network, resort, fail } = made();
    fail(2);
    resort.failed(true);
    expect(network.slot).to.equal(2);
    fail(1);
    expect(network.slot).to.equal(null);
  });

  it('another address that the user gives stays', () => {
    const { network, fail, retargeted } = made();
    fail(3);
    network.give('ws://user.example');
    fail(20);
    expect([network.access.url, network.slot, retargeted()]).to.deep.equal(['ws://user.example', null, 1]);
  });

  it('a network profile below a security profile that was raised since is no resort (A05)', () => {
    const { network, fail } = made();
    fail(3);
    network.access = { ...network.access, securityProfile: 2 };
    fail(20);
    expect([network.access.url, network.done.length]).to.deep.equal(['ws://first.example', 2]);
  });

  it('the address of the user has its password, also where a central system has set another', () => {
    const { network, fail } = made();
    network.password = Buffer.from('password-of-central');
    fail(3);
    expect(network.access.password).to.deep.equal(settingsPassword);
  });

  it('an address with a lower security profile is no resort (A05)', () => {
    const { network, fail } = made(2);
    fail(20);
    expect([network.access.url, network.done.length]).to.deep.equal([profileUrl, 1]);
  });
});
