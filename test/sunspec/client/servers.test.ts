import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { expect } from 'chai';
import { ModbusTCPServer } from 'jsmodbus';
import { listen } from '../../../src/core/net/listen.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { connected, failureOf, pointsOf } from '../../support/client.ts';
import { oldInverter } from '../../support/foreign-map.ts';

describe('SunSpec client with the server of jsmodbus', () => {
  let server: Server;
  let client: SunSpecClientAdapter;
  const { image } = oldInverter(0);

  before(async () => {
    server = createServer();
    // it answers with fewer registers where it has none
    new ModbusTCPServer(server, { holding: image });
    const { port } = await listen(server, '127.0.0.1', 0);
    ({ client } = await connected(port, { timeoutMs: 1000 }));
  });
  after(async () => {
    await client.stop();
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  });

  it('finds the map at 0, past base addresses at which the answers are too short', () => {
    expect(client.view().discovery).to.include({ baseAddress: 0, end: 'end_model' });
    expect(client.view().discovery!.models.map(({ id }) => id)).to.deep.equal([1, 103, 120, 123, 160]);
  });

  it('reads and writes', async () => {
    expect(pointsOf(await client.readModel(103, 0, true)).get('W')!.value).to.equal(4950);
    expect((await client.writePoints(123, 0, { WMaxLimPct: 80, WMaxLimPct_WinTms: 1, WMaxLim_Ena: 1 })).match).to.equal(
      true,
    );
    expect((await failureOf(client.readRegisters(60_000, 2))).message).to.match(/makes no sense|octets of data/);
  });
});
