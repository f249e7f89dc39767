import { expect } from 'chai';
import { guardedLookup, isRefusedTarget } from '../../../src/core/net/outbound.ts';

describe('targets that the interface sets (outbound connections)', () => {
  for (const address of [
    '169.254.0.1',
    '169.254.169.254',
    '::ffff:169.254.1.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::1',
    '::169.254.169.254',
    '224.0.0.1',
    '239.1.1.1',
    'ff02::1',
    '255.255.255.255',
    '240.0.0.1',
    '250.1.2.3',
    'fec0::1',
    'feff::1',
    // translators and tunnels
    '64:ff9b::100.100.100.200',
    '64:ff9b::f000:1',
    '64:ff9b:1::169.254.169.254',
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:a9:fe:a9fe::',
    '64:ff9b:1:0:a9:fea9:fe00:0',
    '64:ff9b:1:abcd::168.63.129.16',
    '::ffff:0:169.254.169.254',
    '::ffff:0:100.100.100.200',
    '::ffff:168.63.129.16',
    '::192.0.0.192',
    '2002:6464:64c8::1',
    '2001:0:a9fe:a9fe::1',
    '2001:0:1:1:0:0:5601:5601',
    'fd00::5efe:169.254.169.254',
    'fd00::200:5efe:a9fe:a9fe',
  ]) {
    it(`${address} is refused`, () => expect(isRefusedTarget(address)).to.equal(true));
  }

  for (const address of [
    '127.0.0.1',
    '::1',
    '10.0.0.5',
    '192.168.1.20',
    '169.253.255.255',
    '169.255.0.0',
    '100.100.100.201',
    '64:ff9b::10.0.0.5',
    '223.255.255.255',
    'fd00::1',
    '64:ff9b:1::10.0.0.5',
    '64:ff9b:1:a00:0:500::',
    '::ffff:0:192.168.1.20',
    '2002:c0a8:114::1',
    '2001:db8::a9fe:a9fe',
    'fd00::5efe:10.0.0.5',
    'inverter.local',
    '2852039166',
    '',
  ]) {
    it(`${address === '' ? 'nothing' : address} is not, as an address`, () =>
      expect(isRefusedTarget(address)).to.equal(false));
  }

  /** Error code, or the addresses found. */
  function look(name: string, all: boolean): Promise<unknown> {
    return new Promise((resolve) => {
      guardedLookup(new AbortController().signal)(name, { all }, (error, address, family) => {
        resolve(error ? error.code : all ? address : [address, family]);
      });
    });
  }

  it('a way of writing that stands for a refused address is found out by the lookup', async () => {
    expect(await look('2852039166', true)).to.equal('ERR_REFUSED_TARGET');
    expect(await look('0xa9fea9fe', false)).to.equal('ERR_REFUSED_TARGET');
  });

  it('other names pass, with one address or all', async () => {
    expect(await look('127.0.0.1', false)).to.deep.equal(['127.0.0.1', 4]);
    expect(await look('127.0.0.1', true)).to.deep.equal([{ address: '127.0.0.1', family: 4 }]);
    expect(await look('no-such-host.invalid', true)).to.be.oneOf(['ENOTFOUND', 'EAI_AGAIN']);
  });
});
