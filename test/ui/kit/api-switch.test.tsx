import { expect } from 'chai';
import { del, get, perform, post } from '../../../src/ui/api/call';
import { curlOf, lineOf, pythonOf, typescriptOf } from '../../../src/ui/api/call-text';
import { madeCalls } from '../../../src/ui/api/made-calls';
import { CallDrawer, CallLine } from '../../../src/ui/kit/api-switch';
import { notice } from '../../../src/ui/kit/notice';
import { Panel } from '../../../src/ui/kit/panel';
import { apiMode, toggleApiMode } from '../../../src/ui/store/api-mode';
import { useLive } from '../../../src/ui/store/live';
import { href } from '../../../src/ui/store/route';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, button, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const run = post('controls/time', { body: { mode: 'accelerated', rate: 60 } });
const language = 'Copy in a language: POST /api/sim/controls/time';

describe('API switch', () => {
  let daemon: Daemon;

  beforeEach(async () => {
    daemon = new Daemon();
    madeCalls.value = [];
    await address('#/scenarios');
  });

  afterEach(async () => {
    await leave();
    await pass(5000);
  });

  it('is in the address, and links keep it', async () => {
    expect(apiMode.value).to.equal(false);
    toggleApiMode();
    await settle();
    expect([location.hash, href('charts')]).to.deep.equal(['#/scenarios?api=1', '#/charts?api=1']);
    toggleApiMode();
    await settle();
    expect(location.hash).to.equal('#/scenarios');
  });

  it('leaves nothing in the document while it is off', async () => {
    const Time = () => <b>{useLive(get('controls/time'), 'once').data?.tick}</b>;
    const root = await show(
      <>
        <Panel title="Clock">
          <Time />
        </Panel>
        <CallLine call={run} />
        <CallDrawer />
      </>,
    );
    expect(root.innerHTML).not.to.include('/api/sim/');
    expect(all('.call, .calls, [title]')).to.deep.equal([]);
    toggleApiMode();
    await settle();
    expect(textOf('.call-line code')).to.equal('POST /api/sim/controls/time {"mode":"accelerated","rate":60}');
    expect(one('.panel .body').title).to.equal('GET /api/sim/controls/time');
    expect(all('.calls')).to.have.lengthOf(1);
  });

  describe('while it is on', () => {
    beforeEach(() => address('#/scenarios?api=1'));

    it('copies a call as curl, and in the languages of the clients', async () => {
      await show(<CallLine call={run} />);
      await press(`Copy as curl: ${lineOf(run)}`);
      expect([await navigator.clipboard.readText(), notice.value?.text]).to.deep.equal([curlOf(run), 'Copied as curl']);
      for (const [name, text] of [
        ['Python', pythonOf(run)],
        ['TypeScript', typescriptOf(run)],
      ] as const) {
        await press(language);
        await press(`Copy as ${name}`);
        expect([await navigator.clipboard.readText(), notice.value?.text]).to.deep.equal([text, `Copied as ${name}`]);
      }
      expect(all('.menu-box, .selected-text')).to.deep.equal([]);
    });

    it('selects the text where the browser gives no clipboard', async () => {
      const { clipboard } = navigator;
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
      await show(<CallLine call={run} />);
      await press(`Copy as curl: ${lineOf(run)}`);
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: clipboard });
      expect(one('.selected-text').textContent).to.equal(curlOf(run));
      expect(getSelection()?.toString()).to.equal(curlOf(run));
      await press(`Copy as curl: ${lineOf(run)}`);
      expect(all('.selected-text')).to.deep.equal([]);
    });

    it('lists the last 50 calls with their status, and a repeated GET once', async () => {
      daemon.on('POST controls/time', () => refusal(409, 'The clock is not paused.'));
      await show(<CallDrawer />);
      await perform(run).catch(() => undefined);
      for (let times = 0; times < 3; times += 1) await perform(get('controls/time'));
      globalThis.fetch = () => Promise.reject(new TypeError('network'));
      await perform(get('overview')).catch(() => undefined);
      await settle();
      const rows = all('.calls li').map((each) => each.textContent.replace(/\d+\u00a0ms/, 'ms'));
      expect(rows).to.deep.equal([
        'no answer GET /api/sim/overview ms',
        '200 GET /api/sim/controls/time ms, ×3',
        '409 POST /api/sim/controls/time ms',
      ]);
      for (let times = 0; times < 60; times += 1) await perform(run).catch(() => undefined);
      await settle();
      expect(all('.calls li')).to.have.lengthOf(50);
    });

    it('keeps no body, which may hold a secret', async () => {
      await perform(post('csip/connect', { body: { pin: 111_115 } as never })).catch(() => undefined);
      await show(<CallDrawer />);
      expect(one('.calls').textContent).to.include('csip/connect').and.not.to.include('111115');
      expect(JSON.stringify(madeCalls.value)).not.to.include('111115');
    });

    it('closes its menu with Escape', async () => {
      await show(<CallLine call={run} />);
      await press(language);
      expect(button('Copy as Python').textContent).to.equal('Copy as Python');
      dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
      await settle();
      expect(all('.menu-box')).to.deep.equal([]);
    });
  });
});

describe('call as text', () => {
  const origin = 'http://127.0.0.1:8111';
  const write = post('grid-support/max-power', {
    query: { device: 3 },
    body: { enabled: true, limit_pct: null } as never,
  });
  const remove = del('scenarios/{id}', { params: { id: 'a b' } });

  it('has method, path and body in one line', () => {
    expect(lineOf(write)).to.equal('POST /api/sim/grid-support/max-power?device=3 {"enabled":true,"limit_pct":null}');
    expect(lineOf(remove)).to.equal('DELETE /api/sim/scenarios/a%20b');
  });

  it('is a command of curl', () => {
    expect(curlOf(remove, origin)).to.equal(`curl -s -X DELETE '${origin}/api/sim/scenarios/a%20b'`);
    const quoted = post('scenarios', { body: { text: "it's" } as never });
    expect(curlOf(quoted, origin)).to.equal(
      `curl -s -H 'Content-Type: application/json' -d '{"text":"it'\\''s"}' '${origin}/api/sim/scenarios'`,
    );
  });

  it('is a program of Python, with its words for true, false and null', () => {
    expect(pythonOf(write, origin)).to.equal(
      `from derbench import Client\nprint(Client("${origin}").post("grid-support/max-power", ` +
        '{"enabled": True, "limit_pct": None}, **{"device": 3}))',
    );
    expect(pythonOf(remove, origin)).to.match(/\.delete\("scenarios\/a%20b"\)\)$/);
    const nested = post('x' as never, { body: { list: [1, false, { a: 'é"' }], none: undefined } as never });
    expect(pythonOf(nested, origin)).to.include('{"list": [1, False, {"a": "é\\""}]}');
  });

  it('is a program of TypeScript', () => {
    expect(typescriptOf(write, origin)).to.equal(
      `import { Client } from 'derbench';\nconsole.log(await new Client("${origin}").post("grid-support/max-power", ` +
        '{"query":{"device":3},"body":{"enabled":true,"limit_pct":null}}));',
    );
    expect(typescriptOf(get('overview'), origin)).to.match(/\.get\("overview"\)\);$/);
  });
});
