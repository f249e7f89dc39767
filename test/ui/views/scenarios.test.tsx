import { expect } from 'chai';
import { notice } from '../../../src/ui/kit/notice';
import ScenariosView from '../../../src/ui/views/scenarios/scenarios';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

const bundled = (name: string, changes: Json = {}) => ({
  name,
  title: name === 'volt-watt' ? 'Volt-watt' : 'Storm over a wind turbine',
  description: 'One sentence. Another one.',
  standard: 'IEEE 1547-2018 5.4.2',
  takes_s: 1080,
  devices: 'PV-3Phase',
  needs_peer: false,
  fits: true,
  differs: [],
  ...changes,
});

describe('scenarios', () => {
  let daemon: Daemon;
  let mode: string;
  let example: Json;
  let runs: Json[];
  const bodies = (name: string): readonly Json[] => daemon.to(name).map(({ body }) => body);
  const run = (id: string, changes: Json = {}, head: Json = {}) => {
    const [one] = daemon.exampleOf('GET', 'scenario-runs').runs;
    return {
      ...one,
      id,
      name: 'Volt-watt',
      bundled: null,
      scenario_id: null,
      beside: true,
      ...head,
      run: { ...one.run, ...changes },
    };
  };
  const open = async (hash: string) => {
    await address(`#/${hash}`);
    return show(<ScenariosView />);
  };

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    mode = 'paused';
    example = {
      ...daemon.exampleOf('GET', 'scenarios'),
      clock_owner: null,
      scenarios: [],
      bundled: [
        bundled('storm', { fits: false, differs: ['for a turbine', 'no feeder', 'another sky'], standard: null }),
        bundled('volt-watt'),
      ],
    };
    runs = [];
    daemon
      .on('GET controls/time', () => ({ ...daemon.exampleOf('GET', 'controls/time'), mode }))
      .on('GET scenarios', () => example)
      .on('GET scenario-runs', () => ({ max_runs: 50, runs }))
      .on('POST scenarios', () => ({ ...daemon.exampleOf('GET', 'scenarios/1'), id: '7' }))
      .on('POST scenarios/7/start', () => {
        runs = [run('12', {}, { scenario_id: '7', beside: false }), run('11', {}, { scenario_id: '7' })];
        return daemon.exampleOf('GET', 'scenarios/1');
      })
      .on('POST scenario-runs', () => run('13'));
  });
  afterEach(async () => {
    await leave();
    await pass(4000);
  });

  describe('in the library', () => {
    it('are cards: those that fit first, with time, standard and one sentence', async () => {
      await open('scenarios');
      expect(all('article').map((card) => card.getAttribute('aria-label'))).to.deep.equal([
        'Volt-watt',
        'Storm over a wind turbine',
      ]);
      const [fitting, other] = all('article').map((card) => card.textContent.replace(/\s+/g, ' '));
      expect(fitting).to.match(/Fits.*IEEE 1547-2018 5.4.2 · 18 min · PV-3Phase.*One sentence\.(?! Another)/);
      expect(other).to.contain('Needs a simulator of its own').and.to.contain('for a turbine and 2 more');
    });

    it('say that they need a peer', async () => {
      example['bundled'] = [bundled('volt-watt', { needs_peer: true })];
      example['scenarios'] = [{ ...daemon.exampleOf('GET', 'scenarios').scenarios[0], id: '7', needs_peer: true }];
      await open('scenarios');
      expect(all('article header').map(({ textContent }) => textContent)).to.deep.equal([
        'High voltageNeeds a peerrunning',
        'Volt-wattNeeds a peerFits',
      ]);
    });

    it('run with one press: added and started here, then the run is shown', async () => {
      await open('scenarios');
      await press('Run: Volt-watt');
      expect(bodies('POST scenarios')).to.deep.equal([{ bundled: 'volt-watt' }]);
      expect(bodies('POST scenarios/7/start')).to.deep.equal([{}]);
      expect(location.hash).to.equal('#/scenarios/runs/12');
    });

    it('that are kept already are not added again', async () => {
      example['scenarios'] = [
        { ...daemon.exampleOf('GET', 'scenarios').scenarios[0], id: '7', bundled: 'volt-watt', run: null },
      ];
      await open('scenarios?show=fits');
      await press('Run: Volt-watt');
      expect(bodies('POST scenarios')).to.deep.equal([]);
      expect(bodies('POST scenarios/7/start')).to.have.length(1);
    });

    it('run beside where they do not fit, whatever the clock does', async () => {
      mode = 'wall_clock';
      await open('scenarios');
      await press('Run beside: Storm over a wind turbine');
      expect(bodies('POST scenario-runs')).to.deep.equal([{ bundled: 'storm' }]);
      expect(location.hash).to.equal('#/scenarios/runs/13');
    });

    it('ask before they take a running clock, and can run beside instead', async () => {
      mode = 'wall_clock';
      await open('scenarios');
      await press('Run: Volt-watt');
      expect(textOf('dialog')).to.contain('about 18 min of simulated time');
      expect(bodies('POST scenarios')).to.deep.equal([]);
      await press('Run beside');
      expect(bodies('POST scenarios')).to.deep.equal([]);
      expect(bodies('POST scenario-runs')).to.deep.equal([{ bundled: 'volt-watt' }]);
    });

    it('do not run here while another one has the clock', async () => {
      example['clock_owner'] = 'High voltage';
      await open('scenarios');
      expect(button('Run: Volt-watt').disabled).to.equal(true);
      expect(button('Run: Volt-watt').title).to.equal('High voltage has the clock until it ends');
      expect(button('Run beside: Storm over a wind turbine').disabled).to.equal(false);
    });

    it('say why a start is refused', async () => {
      daemon.on('POST scenario-runs', () => refusal(409, '2 scenarios run beside already; one must end first'));
      await open('scenarios');
      await press('Run beside: Storm over a wind turbine');
      expect(textOf('article [role=alert]')).to.equal('2 scenarios run beside already; one must end first');
      expect(location.hash).to.equal('#/scenarios');
    });

    it('ask the daemon for parameters of one that does not fit, which then runs beside', async () => {
      daemon.on('POST scenarios/check', () => ({
        ...daemon.replyOf('POST', 'scenarios/check'),
        parameters: { wind: 12 },
      }));
      await open('scenarios');
      await press('More for Storm over a wind turbine');
      await press('Run with parameters');
      expect(bodies('POST scenarios/check')).to.deep.equal([{ bundled: 'storm' }]);
      expect(all('[name=place] option').map(({ value }) => value)).to.deep.equal(['beside']);
      one('dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
      await settle();
      expect(bodies('POST scenario-runs')).to.deep.equal([
        { bundled: 'storm', pace: 'fast', parameters: { wind: 12 } },
      ]);
    });

    it('are found by text and filter of the address', async () => {
      const titles = async (hash: string) => {
        await open(hash);
        return all('article').map((card) => card.getAttribute('aria-label'));
      };
      expect(await titles('scenarios?find=turbine')).to.deep.equal(['Storm over a wind turbine']);
      expect(await titles('scenarios?show=beside')).to.deep.equal(['Storm over a wind turbine']);
      expect(await titles('scenarios?show=yours')).to.deep.equal([]);
      expect(textOf('.empty')).to.contain('You have no scenarios yet');
      await open('scenarios?scenario=99');
      expect(textOf('.empty')).to.equal('The scenario of this address is not kept any more.');
    });
  });

  describe('runs', () => {
    const answerRun = (id: string, changes: Json, head: Json = {}) => {
      const detail = daemon.exampleOf('GET', 'scenario-runs/1');
      daemon.on(`GET scenario-runs/${id}`, () => ({
        ...detail,
        ...run(id, {}, head),
        run: { ...detail.run, ...changes },
      }));
    };
    const failing = (signal: string) => ({
      ...daemon.exampleOf('GET', 'scenario-runs/1').run.assertions[0],
      state: 'failed',
      signal,
      bounds: { low: 4, high: null },
      decided_s: 5,
    });

    it('show the present step and stop, and ask for the report only after the end', async () => {
      runs = [run('1', { state: 'running' })];
      const [step] = daemon.exampleOf('GET', 'scenario-runs/1').run.steps;
      const steps = [step, { ...step, name: 'limit comes', state: 'waiting' }];
      answerRun('1', { state: 'running', ended_at: null, steps, steps_done: 1, steps_in_all: 4, expected_s: 0 });
      await open('scenarios/runs/1');
      expect(textOf('[aria-label="Progress of the run"]')).to.equal('Step 2 of 4: limit comes');
      expect(one('progress').getAttribute('value')).to.equal('1');
      expect(daemon.to('GET scenario-runs/1/report')).to.deep.equal([]);
      await press('Stop');
      expect(daemon.to('POST scenario-runs/1/stop')).to.have.length(1);
    });

    it('say what failed first, and mark it on the chart of its signal, which comes first', async () => {
      runs = [run('1', { state: 'failed' })];
      answerRun('1', { state: 'failed', failures: ['a:1: first', 'a:2: second'], assertions: [failing('b')] });
      const report = daemon.exampleOf('GET', 'scenario-runs/1/report');
      const series = ['a', 'b'].map((signal) => ({
        signal,
        unit: 'V',
        samples: [
          [0, 1],
          [10, 2],
        ],
      }));
      daemon.on('GET scenario-runs/1/report', () => ({ ...report, series }));
      await open('scenarios/runs/1');
      expect(textOf('[aria-label="Failed first"]')).to.equal('Failed firsta:1: first');
      expect(all('[aria-label="Further failures"] li').map((each) => each.textContent)).to.deep.equal(['a:2: second']);
      expect(all('figure strong').map((each) => each.textContent)).to.deep.equal(['b', 'a']);
      expect(all('figure').map((each) => each.querySelectorAll('.failure').length)).to.deep.equal([1, 0]);
      expect(all('figure').map((each) => each.querySelectorAll('.bound.failed').length)).to.deep.equal([1, 0]);
      expect(textOf('figure .bad')).to.equal('✕ failed at 5 s');
      expect(all('[aria-label=Reports] a').map((link) => link.getAttribute('href'))).to.deep.equal(
        ['html', 'junit', 'json'].map((format) => `/api/sim/scenario-runs/1/report?format=${format}`),
      );
    });

    it('here list the captures that began in them, those of a run of the same name before them not', async () => {
      const ended = { started_at: '2026-06-21T10:00:00.000Z', ended_at: '2026-06-21T10:01:00.000Z' };
      const begun = ['09:59:59.999', '10:01:00.000', '10:00:00.000', '10:01:00.001', '10:00:30.000'];
      const { captures, ...book } = daemon.exampleOf('GET', 'captures');
      const capture = (time: string, n: number) => ({
        ...captures[0],
        id: 10 - n,
        title: `Sag ${n}`,
        scenario: n === 4 ? 'Other' : 'Volt-watt',
        started_wall_at: `2026-06-21T${time}Z`,
      });
      daemon.on('GET captures', () => ({ ...book, captures: begun.map(capture) }));
      runs = [run('5', ended, { beside: false })];
      answerRun('5', ended, { beside: false });
      await open('scenarios/runs/5');
      const links = all('[aria-label="Captures of the run"] a');
      expect(links.map((link) => [link.textContent, link.getAttribute('href')])).to.deep.equal([
        ['Sag 2', '#/events/captures/8'],
        ['Sag 1', '#/events/captures/9'],
      ]);
      await leave();
      answerRun('5', ended, { beside: true });
      await open('scenarios/runs/5');
      expect(all('[aria-label="Captures of the run"]')).to.deep.equal([]);
    });

    it('are compared with the one before of the same scenario', async () => {
      const ended = { ended_at: '2026-06-21T12:00:00Z' };
      runs = [run('5'), run('4', ended, { name: 'Other' }), run('3', ended)];
      answerRun('5', { state: 'passed' });
      await open('scenarios/runs/5');
      expect(
        all('a')
          .find((link) => link.textContent === 'Compare with run 3')
          ?.getAttribute('href'),
      ).to.equal('#/scenarios/runs/3/5');
    });

    it('beside run again as they ran, also from a text of their own, which can be edited', async () => {
      for (const head of [{ bundled: 'storm' }, { text_kept: true }]) {
        runs = [run('1', {}, head)];
        answerRun('1', { state: 'passed' }, head);
        await open('scenarios/runs/1');
        expect(all('.run-actions a[href$="editor?run=1"]').length).to.equal('text_kept' in head ? 1 : 0);
        await press('Run again');
        await leave();
      }
      expect(bodies('POST scenario-runs')).to.deep.equal([{ run: '1' }, { run: '1' }]);
    });

    it('here run again with the same pace and parameters, while their scenario is kept', async () => {
      const changes = { state: 'passed', pace: 'fast', parameters: { w: 3 } };
      answerRun('1', changes, { scenario_id: '7' });
      example['scenarios'] = [{ ...daemon.exampleOf('GET', 'scenarios').scenarios[0], id: '7' }];
      await open('scenarios/runs/1');
      await press('Run again');
      expect(bodies('POST scenarios/7/start')).to.deep.equal([{ pace: 'fast', parameters: { w: 3 } }]);
    });

    it('say why they cannot run again', async () => {
      for (const [head, reason] of [
        [{ text_kept: false }, 'Its text is not kept any more'],
        [{ scenario_id: '7' }, 'Its scenario is not kept any more'],
      ] as const) {
        answerRun('1', { state: 'passed' }, head);
        await open('scenarios/runs/1');
        expect(textOf('.run-actions')).to.contain(reason).and.not.contain('Run again');
        await leave();
      }
    });

    it('are listed; two marked ones can be compared, the older first', async () => {
      runs = [run('12', { state: 'failed', failures: ['a:1: first'] }), run('9'), run('2')];
      await open('scenarios/runs');
      expect(textOf('table')).to.contain('a:1: first');
      expect(button('Compare').disabled).to.equal(true);
      const marks = () => all('tbody input');
      for (const at of [2, 0, 1]) {
        marks()[at]?.click();
        await settle();
      }
      // the third mark takes the place of the first
      expect(marks().map(({ checked }) => checked)).to.deep.equal([true, true, false]);
      await press('Compare');
      expect(location.hash).to.equal('#/scenarios/runs/9/12');
    });

    it('of a comparison show the differences first', async () => {
      const [passed] = daemon.exampleOf('GET', 'scenario-runs/1').run.assertions;
      answerRun('1', {
        state: 'passed',
        assertions: [
          { ...passed, state: 'passed' },
          { ...passed, name: 'same' },
        ],
      });
      answerRun('2', {
        state: 'failed',
        assertions: [
          { ...passed, state: 'failed' },
          { ...passed, name: 'same' },
        ],
      });
      await open('scenarios/runs/1/2');
      expect(all('table[aria-label=Assertions] tbody tr')).to.have.length(1);
      expect(textOf('table[aria-label=Assertions] tbody')).to.match(/passed.*failed.*≠ differs/);
      await press('All');
      expect(all('table[aria-label=Assertions] tbody tr')).to.have.length(2);
    });

    it('that are gone say so', async () => {
      daemon.on('GET scenario-runs/77', () => refusal(404, 'there is no run "77"'));
      await open('scenarios/runs/77');
      expect(textOf('.empty')).to.equal('This run is not kept any more. All runs');
    });
  });

  describe('in the editor', () => {
    const write = async (text: string) => {
      const area = one('textarea');
      area.value = text;
      area.dispatchEvent(new Event('input', { bubbles: true }));
      await settle();
    };
    const issue = (detail: string) => ({ in: 'body', name: '/yaml', detail });
    const checked = (changes: Json = {}) => ({
      ...daemon.replyOf('POST', 'scenarios/check'),
      name: 'Mine',
      fits: true,
      differs: [],
      unused_settings: [],
      ...changes,
    });

    beforeEach(async () => {
      daemon.on('POST scenarios/check', () => checked());
      await open('scenarios/editor');
      await write('name: first\nsteps: []\n');
      await pass(600);
      daemon.asked.length = 0;
    });

    it('are checked half a second after the last key', async () => {
      await write('name: a\n');
      await pass(400);
      await write('name: ab\n');
      await pass(400);
      expect(bodies('POST scenarios/check')).to.deep.equal([]);
      await pass(200);
      expect(bodies('POST scenarios/check')).to.deep.equal([{ yaml: 'name: ab\n' }]);
      expect(textOf('[role=status]')).to.match(/^Fits/);
    });

    it('say that they need a peer', async () => {
      daemon.on('POST scenarios/check', () => checked({ needs_peer: true }));
      await write('name: ab\n');
      await pass(600);
      expect(textOf('[role=status]')).to.match(/^FitsNeeds a peer/);
    });

    it('have problems at their lines, and do not run', async () => {
      daemon.on('POST scenarios/check', () => refusal(422, 'no', [issue('line 2: steps[0].x: is not a member')]));
      await write('steps:\n  - x: 1\n');
      await pass(600);
      expect(all('.code-line.marked .code-number').map((each) => each.textContent)).to.deep.equal(['2']);
      expect(textOf('[aria-label=Problems]')).to.equal('line 2steps[0].x: is not a member');
      await press('line 2');
      const area = one('textarea');
      expect(area.value.slice(area.selectionStart ?? 0, area.selectionEnd ?? 0)).to.equal('  - x: 1');
      expect([button('Run: scenario').disabled, button('Save').disabled]).to.deep.equal([true, true]);
    });

    it('show no answer about an earlier text', async () => {
      let answerFirst: (answer: Response) => void = () => undefined;
      daemon.on('POST scenarios/check', ({ body }) =>
        body.yaml === 'old' ? new Promise((resolve) => (answerFirst = resolve)) : checked(),
      );
      await write('old');
      await pass(600);
      await write('new');
      await pass(600);
      answerFirst(refusal(422, 'no', [issue('line 1: old')]));
      await settle();
      expect(all('[aria-label=Problems]')).to.deep.equal([]);
    });

    it('are saved in the place of the one that was opened, and run here from then on', async () => {
      daemon.on('GET scenarios/text', () => 'name: kept\n');
      await address('#/scenarios/editor?kept=3');
      await settle();
      expect(one('textarea').value).to.equal('name: kept\n');
      expect(location.hash).to.equal('#/scenarios/editor');
      await write('name: changed\n');
      await pass(600);
      await press('Save');
      expect(bodies('POST scenarios')).to.deep.equal([{ yaml: 'name: changed\n' }]);
      expect(daemon.to('DELETE scenarios/3')).to.have.length(1);
      await press('Run: Mine');
      expect(bodies('POST scenarios')).to.have.length(1);
      expect(bodies('POST scenarios/7/start')).to.have.length(1);
    });

    it('for other devices are not kept here, and run beside', async () => {
      daemon.on('POST scenarios/check', () => checked({ fits: false, differs: ['the scenario is for a turbine'] }));
      await write('name: storm\n');
      await pass(600);
      expect(textOf('[role=status]')).to.contain('Needs a simulator of its own').and.to.contain('is for a turbine');
      expect(button('Save').disabled).to.equal(true);
      await press('Run beside: Mine');
      expect(bodies('POST scenario-runs')).to.deep.equal([{ yaml: 'name: storm\n' }]);
    });

    it('begin with a capture, or with a span of the timeline', async () => {
      const queries: unknown[] = [];
      daemon.on('GET scenarios/draft', ({ query }) => {
        queries.push(query);
        return `name: draft ${queries.length}\n`;
      });
      await press('From a capture');
      await press('Capture 1: Sag to 42 % for 1.20 s');
      expect(one('textarea').value).to.equal('name: draft 1\n');
      await press('From the timeline');
      await press('The last minute');
      expect(one('textarea').value).to.equal('name: draft 2\n');
      await address('#/scenarios/editor?capture=3');
      await settle();
      const now = Date.parse(daemon.exampleOf('GET', 'controls/time').sim_time);
      const since = new Date(now - 60_000).toISOString();
      await address('#/scenarios/editor?entries=41,43');
      await settle();
      expect(queries).to.deep.equal([{ capture: '1' }, { since }, { capture: '3' }, { ids: '41,43' }]);
      expect(location.hash).to.equal('#/scenarios/editor');
    });

    it('survive another view, and are not lost when another one is opened', async () => {
      await write('name: typed\n');
      await open('scenarios/runs');
      await open('scenarios/editor');
      expect(one('textarea').value).to.equal('name: typed\n');
      expect(JSON.parse(sessionStorage.getItem('derbench.scenario-draft') ?? '').text).to.equal('name: typed\n');
      daemon.on('GET scenarios/text', () => 'name: of the library\n');
      await address('#/scenarios/editor?bundled=storm');
      await settle();
      expect(one('textarea').value).to.equal('name: of the library\n');
      notice.value?.undo?.();
      await settle();
      expect(one('textarea').value).to.equal('name: typed\n');
    });

    it('are completed by Ctrl-Space', async () => {
      daemon.on('GET scenarios/schema', () => ({ properties: { name: { description: 'Its name.' }, steps: {} } }));
      await write('na');
      const area = one('textarea');
      area.setSelectionRange(2, 2);
      const key = async (init: KeyboardEventInit) => {
        area.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true }));
        await settle();
      };
      await key({ key: ' ', ctrlKey: true });
      expect(all('[role=option]').map((option) => option.textContent)).to.deep.equal(['name Its name.']);
      expect(area.getAttribute('aria-activedescendant')).to.equal(one('[role=option]').id);
      await key({ key: 'Enter' });
      expect(area.value).to.equal('name: ');
      expect(all('[role=option]')).to.deep.equal([]);
    });
  });
});
