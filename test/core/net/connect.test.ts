import { createServer } from 'node:net';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { openSocket, socketErrorText } from '../../../src/core/net/connect.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { closed, freePorts } from '../../support/ports.ts';

const host = '127.0.0.1';
const never = () => new AbortController().signal;

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => expect.fail('it connected'),
    (error: unknown) => error,
  );

describe('outgoing connections', () => {
  it('a socket in clear, connected', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined));
    const { port } = await listen(server, host, 0);
    const socket = await openSocket({ host, port, timeoutMs: 1000 }, never());
    expect(socket.remotePort).to.equal(port);
    socket.destroy();
    await closed(server);
  });

  it('a refused connection is an error of the peer, with the address and the reason in words', async () => {
    const port = await freePorts(1);
    const error = await failureOf(openSocket({ host, port, timeoutMs: 1000 }, never()));
    expect(error)
      .to.be.instanceOf(SimError)
      .and.to.include({
        code: 'PEER_ERROR',
        message: `cannot connect to tcp://${host}:${port}: the connection was refused`,
      });
  });

  it('an attempt is given up by its signal', async () => {
    const giveUp = new AbortController();
    giveUp.abort();
    const error = await failureOf(openSocket({ host, port: 1, timeoutMs: 1000 }, giveUp.signal));
    expect(error).to.include({ code: 'PEER_ERROR', message: 'the attempt to connect was given up' });
  });

  it('what OpenSSL says is told without its internals', () => {
    const text = (code: string, reason: string) =>
      socketErrorText(
        Object.assign(new Error('80AC:error:0A000418:SSL routines:ssl3_read_bytes:'), {
          code: `ERR_SSL_${code}`,
          reason,
        }),
      );
    expect(text('TLSV1_ALERT_INTERNAL_ERROR', 'tlsv1 alert internal error')).to.equal('tlsv1 alert internal error');
    expect(text('TLSV1_ALERT_UNKNOWN_CA', 'tlsv1 alert unknown ca')).to.equal(
      'it does not accept the certificate of this end',
    );
    // the name of one alert in different versions of OpenSSL
    for (const code of ['SSLV3_ALERT_HANDSHAKE_FAILURE', 'SSL/TLS_ALERT_HANDSHAKE_FAILURE'])
      expect(text(code, 'alert handshake failure')).to.contain('refuses every cipher suite');
    expect(socketErrorText(new Error('as it is'))).to.equal('as it is');
  });
});
