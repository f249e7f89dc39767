import { expect } from 'chai';
import fc from 'fast-check';
import { Answers, service, subtype } from '../../../src/csip/discovery.ts';
import { holds } from '../../support/property.ts';

type Records = Parameters<Answers['add']>[0];

const instance = `Utility\u0007 One.${service}`;
const pointer = (data: string, name = service, ttl = 120): Records[number] => ({ type: 'PTR', name, ttl, data });
const srv = (name: string, target: string, port = 80): Records[number] => ({
  type: 'SRV',
  name,
  data: { target, port },
});
const txt = (name: string, ...data: readonly string[]): Records[number] => ({
  type: 'TXT',
  name,
  data: data.map((each) => Buffer.from(each)),
});
const address = (name: string, data: string): Records[number] => ({
  type: data.includes(':') ? 'AAAA' : 'A',
  name,
  data,
});

const whole = (...keys: readonly string[]): Records => [
  address('Server.local', '192.168.1.5'),
  txt(instance, ...keys),
  srv(instance, 'server.LOCAL.', 8080),
  pointer(instance.toUpperCase()),
];
function serversOf(records: Records, limit = 32) {
  const answers = new Answers(limit);
  answers.add(records);
  return answers.servers();
}

describe('answers of DNS-SD', () => {
  it('give a server with the facts of its TXT record', () => {
    expect(
      serversOf(whole('txtvers=1', 'dcap=/sep2/dcap', 'HTTPS=8443', 'level=-S1', 'other=x', 'dcap=/late')),
    ).to.deep.equal([
      {
        name: 'UTILITY? ONE',
        host: 'server.local',
        addresses: ['192.168.1.5'],
        port: 8080,
        dcap: '/sep2/dcap',
        httpsPort: 8443,
        level: '-S1',
        permitted: true,
      },
    ]);
  });

  it('name the port of TLS, its default, or none', () => {
    const httpsPort = (...keys: readonly string[]) =>
      serversOf(whole('txtvers=1', 'dcap=/dcap', ...keys))[0]?.httpsPort;
    expect(httpsPort('https=443')).to.equal(443);
    expect(httpsPort('https')).to.equal(443);
    for (const none of ['http=1', 'https=0', 'https=65536', 'https=x', 'https=1e3'])
      expect(httpsPort(none)).to.equal(null);
  });

  it('are discarded with another version or without the path of the DeviceCapability (clause 7.4)', () => {
    for (const keys of [
      [],
      ['txtvers=2', 'dcap=/dcap'],
      ['dcap=/dcap'],
      ['txtvers=1'],
      ['txtvers=1', 'dcap'],
      ['txtvers=1', 'dcap=dcap'],
      ['txtvers=1', 'dcap=/a b'],
      ['txtvers=1', 'dcap=/\u0001'],
    ])
      expect(serversOf(whole(...keys)), keys.join()).to.deep.equal([]);
    const [server] = serversOf(whole('txtvers=1', 'dcap=/d', 'level=<b>'));
    expect(server).to.deep.include({ dcap: '/d', level: null });
  });

  it('say what to ask for next, until all is known', () => {
    const answers = new Answers(32);
    expect(answers.missing()).to.deep.equal([]);
    answers.add([pointer(instance)]);
    expect(answers.missing()).to.deep.equal([
      { name: instance, type: 'SRV' },
      { name: instance, type: 'TXT' },
    ]);
    answers.add([srv(instance, 'server.local'), txt(instance, 'txtvers=1', 'dcap=/dcap')]);
    expect(answers.missing()).to.deep.equal([
      { name: 'server.local', type: 'A' },
      { name: 'server.local', type: 'AAAA' },
    ]);
    expect(answers.servers()).to.deep.equal([]);
    answers.add([address('server.local', 'fd00::5')]);
    expect(answers.missing()).to.deep.equal([]);
    expect(answers.servers()).to.have.length(1);
  });

  it('count a server once for all its function sets', () => {
    const other = `edev.${service}`;
    const records = whole('txtvers=1', 'dcap=/dcap', 'https=443');
    expect(
      serversOf([
        ...records,
        pointer(other, subtype),
        srv(other, 'server.local', 8080),
        txt(other, 'txtvers=1', 'dcap=/dcap', 'path=/edev', 'https=443'),
      ]),
    ).to.have.length(1);
  });

  it('do not permit addresses that the outbound rules refuse', () => {
    const permitted = (...addresses: readonly string[]) => {
      const records = whole('txtvers=1', 'dcap=/dcap').slice(1);
      return serversOf([...addresses.map((each) => address('server.local', each)), ...records])[0]?.permitted;
    };
    expect(permitted('127.0.0.1', '::1')).to.equal(true);
    expect(permitted('192.168.1.5', '169.254.169.254')).to.equal(false);
    expect(permitted('fe80::1')).to.equal(false);
    expect(permitted('nonsense')).to.equal(undefined);
  });

  it('of other services, of names that lead nowhere, and taken back ones are dropped', () => {
    const records = whole('txtvers=1', 'dcap=/dcap').slice(0, 3);
    expect(serversOf(records)).to.deep.equal([]);
    expect(serversOf([...records, pointer(instance, '_http._tcp.local')])).to.deep.equal([]);
    expect(serversOf([...records, pointer('a._http._tcp.local')])).to.deep.equal([]);
    expect(serversOf([...records, pointer(instance, service, 0)])).to.deep.equal([]);
    expect(
      serversOf([...whole('txtvers=1', 'dcap=/dcap').slice(0, 2), srv(instance, 'bad host/\n'), pointer(instance)]),
    ).to.deep.equal([]);
  });

  it('with an SRV record that is no object, or has no host or port, give no server', () => {
    for (const data of [null, undefined, instance, { target: 'server.local' }, { port: 80 }, { target: 1, port: 80 }]) {
      const [address, txt, , pointer] = whole('txtvers=1', 'dcap=/dcap');
      expect(
        serversOf([address!, txt!, { type: 'SRV', name: instance, data } as Records[number], pointer!]),
      ).to.deep.equal([]);
    }
  });

  it('of a flood stay within the limits', () => {
    const flood = Array.from({ length: 500 }, (_, index) => `s${index}.${service}`).flatMap((name) => [
      pointer(name),
      srv(name, `${name.split('.')[0]!}.local`),
      txt(name, 'txtvers=1', 'dcap=/dcap'),
      ...Array.from({ length: 50 }, (_, index) => address(`${name.split('.')[0]!}.local`, `10.0.0.${index}`)),
    ]);
    const servers = serversOf(flood, 5);
    expect(servers).to.have.length(5);
    for (const { addresses } of servers) expect(addresses).to.have.length(8);
  });

  it('of any form are taken without an exception', () => {
    const name = fc.constantFrom(service, instance, 'server.local', '', '.', 'x'.repeat(300));
    const data = fc.oneof(
      name,
      fc.constant(null),
      fc.constant({ target: 'server.local', port: -1 }),
      fc.uint8Array(),
      fc.anything(),
    );
    const record = fc.record({ type: fc.constantFrom('PTR', 'SRV', 'TXT', 'A', 'AAAA', 'OPT'), name, data });
    holds('answers of any form', fc.array(record, { maxLength: 8 }), (records) => {
      const answers = new Answers(4);
      answers.add(records as unknown as Records);
      expect(answers.missing().length).to.be.below(13);
      expect(answers.servers().length).to.be.below(5);
    });
  });
});
