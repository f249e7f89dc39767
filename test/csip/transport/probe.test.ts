import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { listen } from '../../../src/core/net/listen.ts';
import { httpProbe } from '../../../src/csip/transport/http.ts';
import { PeerServer, refusalOf } from './support.ts';

const target = (port: number) => ({ host: '127.0.0.1', port, path: '/dcap', anywhere: false });

describe('probe of plain HTTP', () => {
  it('tells status and Location, and does not follow', async () => {
    const peer = await PeerServer.open(null, (_request, response) => {
      response.writeHead(301, { location: 'https://127.0.0.1/dcap' }).end('moved');
    });
    expect(await httpProbe(target(peer.port))).to.deep.equal({
      url: `http://127.0.0.1:${peer.port}/dcap`,
      status: 301,
      location: 'https://127.0.0.1/dcap',
    });
    expect(peer.requests).to.have.lengthOf(1);
    await peer.close();
  });

  it('what is refused, silent or no HTTP', async () => {
    const peer = await PeerServer.open(null, () => undefined);
    expect(await refusalOf(httpProbe({ ...target(peer.port), timeoutMs: 50 }))).to.deep.equal({
      code: 'PEER_TIMEOUT',
      message: `http://127.0.0.1:${peer.port}/dcap did not answer within 0.05 s`,
    });
    await peer.close();
    expect((await refusalOf(httpProbe(target(peer.port)))).message).to.contain('the connection was refused');
    const sockets: Socket[] = [];
    const odd = createServer((socket) => sockets.push(socket.end('SSH-2.0\r\n\r\n')));
    const { port } = await listen(odd, '127.0.0.1', 0);
    expect((await refusalOf(httpProbe(target(port)))).message).to.contain('its answer is not HTTP');
    for (const socket of sockets) socket.destroy();
    odd.close();
    expect((await refusalOf(httpProbe({ ...target(80), host: '169.254.169.254' }))).message).to.contain('link-local');
  });
});
