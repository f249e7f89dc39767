/** Documents in HTML other than the dashboard, before the Nu HTML checker: served pages, reports, the site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { judgedPeerId, judgePeer } from '../support/judged-peer.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { skip } from '../support/skip.ts';
import { remarksOn } from './support/html-checker.ts';
import { describeWith } from './support/peers.ts';

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** An assertion that holds, one that fails, and signals with a unit and without. */
const scenario = {
  name: 'Low "voltage" & <more>',
  description: 'One assertion holds, one does not.',
  parameters: { voltage: 0.95 },
  steps: [
    { grid: { voltage_pu: '${voltage}' }, expect: { point: '701.LLV', above: 200, within: '5 s' } },
    { after: '3 s', expect: { name: 'off', point: '701.InvSt', equals: 'OFF', within: '2 s' } },
  ],
};

describeWith(['vnu'], 'documents before the Nu HTML checker', function () {
  this.timeout(120_000);
  let running: RunningApp;

  before(async () => {
    running = await startApp(['PV-3Phase', 'EVSE'], ['--csip_website_port', '0']);
  });
  after(() => running.app.stop());

  async function text(path: string): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${running.port}${path}`);
    expect(answer.headers.get('content-type'), path).to.match(/^text\/html/);
    return answer.text();
  }
  async function post(path: string, body: object) {
    const answer = await fetch(`http://127.0.0.1:${running.port}/api/sim/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.ok, `${path}: ${answer.status}`).to.equal(true);
    return (await answer.json()) as { id: string };
  }

  async function runOf(id: string) {
    const answer = await fetch(`http://127.0.0.1:${running.port}/api/sim/scenarios/${id}`);
    return ((await answer.json()) as { run: { state: string } }).run;
  }

  it('the served pages are valid HTML', async () => {
    const documents = new Map([
      ['redoc', await text('/redoc')],
      ['docs', await text('/docs/')],
      ['csip', readFileSync(fileOf('dist/ui/csip.html'), 'utf8')],
      ['without a build', readFileSync(fileOf('src/api/description/pages/index.html'), 'utf8')],
    ]);
    expect(await remarksOn(documents)).to.deep.equal([]);
  });

  it('reports of scenarios, report cards and the evidence are valid HTML', async () => {
    judgePeer(running.app.findings, null);
    const { id } = await post('scenarios', { scenario });
    await post(`scenarios/${id}/start`, {});
    while ((await runOf(id)).state === 'running');
    const documents = new Map([
      ['scenario', await text(`/api/sim/scenarios/${id}/report?format=html`)],
      ['card', await text(`/api/sim/findings/peers/${judgedPeerId}/report?format=html`)],
      ['evidence', await text('/api/sim/evidence?format=html')],
    ]);
    expect(await remarksOn(documents)).to.deep.equal([]);
  });

  it('the pages of the site are valid HTML', async function skipWithoutSite() {
    const folder = fileOf('site/dist');
    if (!existsSync(folder)) skip(this, 'the site is not built (npm run docs:build)');
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'));
    expect(pages.length).to.be.above(40);
    const documents = new Map(pages.map((path) => [path, readFileSync(`${folder}/${path}`, 'utf8')]));
    expect(await remarksOn(documents)).to.deep.equal([]);
  });
});
