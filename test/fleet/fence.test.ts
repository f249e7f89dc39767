import { expect } from 'chai';
import { fenced } from '../../src/fleet/fence.ts';
import type { FleetMessage } from '../../src/fleet/link.ts';
import { MemoryServer } from './support/memory-link.ts';

const message = (text: string, epoch?: number): FleetMessage => ({
  headers: epoch === undefined ? {} : { 'Derbench-Epoch': String(epoch) },
  body: Buffer.from(text),
});

describe('fleet: the fence of requests', () => {
  it('leaves a request under a later epoch to the process that has it', async () => {
    const server = new MemoryServer();
    const asked: string[] = [];
    for (const epoch of [4, 5]) {
      const answer = fenced(
        () => epoch,
        () => {
          asked.push(`epoch ${epoch}`);
          return Promise.resolve(message(`epoch ${epoch}`));
        },
      );
      await server.link().serve('op', 'lab.op.a', answer);
    }
    const { body } = await server.link().request('lab.op.a', message('', 5), 1000);
    expect([Buffer.from(body).toString(), asked]).to.deep.equal(['epoch 5', ['epoch 5']]);
  });

  it('lets a request under an earlier epoch pass, and one without', async () => {
    const answer = fenced(
      () => 5,
      () => Promise.resolve(message('done')),
    );
    for (const request of [message('', 4), message('', 5), message('')])
      expect(await answer(request)).not.to.equal(null);
    expect(await answer(message('', 6))).to.equal(null);
  });
});
