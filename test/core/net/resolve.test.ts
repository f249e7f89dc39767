import { expect } from 'chai';
import { openSocket } from '../../../src/core/net/connect.ts';
import { hostsAddresses, resolveName } from '../../../src/core/net/outbound.ts';
import { namesOf, startNameServer } from '../../support/name-server.ts';
import type { NameServer } from '../../support/name-server.ts';

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

const hosts = `
127.0.0.1   localhost
# 10.0.0.1  commented.example
fd00::7     inverter.example
10.0.0.7    Inverter.Example inverter   # the roof
10.0.0.8    inverter.example
`;

describe('lookups of host names', () => {
  const never = () => new AbortController().signal;
  let server: NameServer;
  afterEach(() => {
    server.close();
  });

  it('the hosts file counts first, by any of its names, IPv4 before IPv6', async () => {
    server = await startNameServer();
    expect(await resolveName('INVERTER.example.', never(), namesOf(server, hosts))).to.deep.equal([
      { address: '10.0.0.7', family: 4 },
      { address: '10.0.0.8', family: 4 },
      { address: 'fd00::7', family: 6 },
    ]);
    expect(hostsAddresses(hosts, 'inverter')).to.deep.equal([{ address: '10.0.0.7', family: 4 }]);
    expect(hostsAddresses(hosts, 'commented.example')).to.deep.equal([]);
    expect(server.questions).to.deep.equal([]);
  });

  it('numbers and localhost need no name server', async () => {
    server = await startNameServer();
    const names = namesOf(server);
    expect(await resolveName('0x7f.1', never(), names)).to.deep.equal([{ address: '127.0.0.1', family: 4 }]);
    expect(await resolveName('localhost', never(), names)).to.deep.equal([
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(server.questions).to.deep.equal([]);
  });

  it('a name server gives the rest; what it does not know, the system is asked for', async () => {
    server = await startNameServer((name) => (name === 'pv.example' ? ['10.1.2.3'] : null));
    const asked: string[] = [];
    const names = namesOf(server, hosts, (name) => {
      asked.push(name);
      return Promise.resolve([{ address: '10.9.9.9', family: 4 }]);
    });
    expect(await resolveName('pv.example', never(), names)).to.deep.equal([{ address: '10.1.2.3', family: 4 }]);
    expect(asked).to.deep.equal([]);
    expect(await resolveName('envoy', never(), names)).to.deep.equal([{ address: '10.9.9.9', family: 4 }]);
    expect(asked).to.deep.equal(['envoy']);
  });

  it('names below .local are those of the system, whether or not a name server speaks', async () => {
    server = await startNameServer();
    const names = namesOf(server, hosts, (name) => Promise.resolve([{ address: `of ${name}`, family: 4 }]));
    expect(await resolveName('Envoy.local.', never(), names)).to.deep.equal([
      { address: 'of Envoy.local.', family: 4 },
    ]);
    expect(server.questions).to.deep.equal([]);
  });

  it('a lookup at a silent server ends with its signal, and does not go on to the system', async () => {
    server = await startNameServer();
    const asked = server.asked();
    const giveUp = new AbortController();
    const names = namesOf(server, '', () => expect.fail('the system was asked'));
    const failure = failureOf(resolveName('slow.example', giveUp.signal, names));
    await asked;
    giveUp.abort();
    expect(await failure).to.have.property('name', 'AbortError');
    expect(process.getActiveResourcesInfo()).not.to.include('QueryWrap');
  });

  it('an attempt to connect that is given up ends its lookup', async () => {
    server = await startNameServer();
    const asked = server.asked();
    const giveUp = new AbortController();
    const target = { host: 'slow.example', port: 502, timeoutMs: 30_000 };
    const failure = failureOf(openSocket(target, giveUp.signal, namesOf(server)));
    await asked;
    giveUp.abort();
    expect(await failure).to.include({ message: 'the attempt to connect was given up' });
  });
});
