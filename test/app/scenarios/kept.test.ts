/** Scenarios over the end of the process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';

describe('scenarios over a restart', () => {
  let folder: string;
  let app: App;
  let port: number;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-scenarios-'));
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  const start = async () => ({ app, port } = await startApp(['PV-3Phase'], ['--state_dir', folder]));
  const call = async (method: string, path = '', body?: unknown): Promise<Json> =>
    (await ask(port, `/api/sim/scenarios${path}`, { method, ...(body !== undefined && { body }) })).json;
  const needs = async () =>
    (await call('GET')).scenarios.map(({ name, needs_peer: needsPeer }: Json) => [name, needsPeer]);

  it('tell whether they need a peer by their contents, whichever version has kept them', async () => {
    await start();
    await call('POST', '', {
      yaml: 'name: waits\nsteps: [{ when: { write: { model: 704 }, real_timeout: 1 min } }]\n',
    });
    await call('POST', '', { scenario: { name: 'alone', steps: [{ after: 1 }] } });
    await call('POST', '', { scenario: { name: 'judges', steps: [{ when: { message: { protocol: 'ocpp' } } }] } });
    const all = [
      ['waits', true],
      ['alone', false],
      ['judges', true],
    ];
    expect(await needs()).to.deep.equal(all);
    await app.stop();
    await start();
    expect((await call('GET', '/1')).needs_peer).to.equal(true);
    expect(await needs()).to.deep.equal(all);
    expect((await call('DELETE', '/3')).needs_peer).to.equal(true);
  });
});
