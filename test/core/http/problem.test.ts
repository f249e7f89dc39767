import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { limitUnread } from '../../../src/core/http/connections.ts';
import { createProblem, refuseOnSocket } from '../../../src/core/http/problem.ts';

const problem = createProblem('conflict', 'Not now.', { instance: '/', id: 'x' });

describe('refusals on a bare socket', () => {
  it('end a connection whose peer takes nothing, also while it goes on sending', async () => {
    const socket = new Duplex({
      read() {
        setImmediate(() => this.push('more'));
      },
      write: () => undefined,
    });
    socket.resume();
    limitUnread(socket, 20);
    const closed = once(socket, 'close');
    refuseOnSocket(socket, problem);
    await closed;
    expect([socket.destroyed, socket.writableFinished]).to.deep.equal([true, false]);
  });

  it('come once', async () => {
    const written: string[] = [];
    const socket = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, taken) {
        written.push(chunk.toString());
        taken();
      },
    });
    const closed = once(socket, 'close');
    refuseOnSocket(socket, problem, { Allow: 'GET' });
    refuseOnSocket(socket, problem);
    await closed;
    expect(written).to.have.length(1);
    expect(written[0])
      .to.match(/^HTTP\/1\.1 409 Conflict\r\n(.*\r\n)*Allow: GET\r\n/)
      .and.contain('"detail":"Not now."');
  });
});
