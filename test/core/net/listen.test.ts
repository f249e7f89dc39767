import { createServer } from 'node:net';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { hostAndPort, listen, shownHost } from '../../../src/core/net/listen.ts';

async function failure(host: string, port: number, what?: string): Promise<SimError> {
  try {
    await listen(createServer(), host, port, what);
  } catch (error) {
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).code).to.equal('LISTEN_FAILED');
    return error as SimError;
  }
  throw new Error('it listens');
}

describe('listening', () => {
  it('resolves with the address in use', async () => {
    const server = createServer();
    const { address, port } = await listen(server, '127.0.0.1', 0);
    expect([address, port > 0]).to.deep.equal(['127.0.0.1', true]);
    expect(server.listenerCount('error')).to.equal(0);
    server.close();
  });

  it('fails in words, with host and port as the fault', async () => {
    const server = createServer();
    const { port } = await listen(server, '127.0.0.1', 0);
    const { message, issues: issues } = await failure('127.0.0.1', port, 'HTTP');
    server.close();
    expect(message).to.equal(`HTTP: cannot listen on 127.0.0.1:${port}: the port is in use`);
    expect(issues).to.deep.equal([{ name: `127.0.0.1:${port}`, detail: 'the port is in use' }]);
  });

  it('fails alike for what is thrown at once', async () => {
    expect((await failure('127.0.0.1', 70_000)).message).to.equal(
      'cannot listen on 127.0.0.1:70000: a port is a number from 0 to 65535',
    );
  });

  it('writes IPv6 addresses in brackets', () => {
    expect([hostAndPort('::1', 80), hostAndPort('localhost', 80)]).to.deep.equal(['[::1]:80', 'localhost:80']);
  });

  it('shows the host that others know in place of a wildcard alone', () => {
    const shown = (bound: string, known: string | null) => shownHost(bound, known);
    expect([shown('0.0.0.0', 'lab'), shown('::', 'lab'), shown('10.0.0.1', 'lab'), shown('::', null)]).to.deep.equal([
      'lab',
      'lab',
      '10.0.0.1',
      '::',
    ]);
  });
});
